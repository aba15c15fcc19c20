#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "commands/report/page_parts.h"
#include "commands/report/page_sections.h"
#include "commands/report/page_sources.h"
#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "core/base/sha256.h"
#include "core/base/text.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using PageJson = nlohmann::json;

std::string PageCapture(const std::string& capture) {
  return std::string(RS_TESTDATA) + "/captures/" + capture + "/session.ops.jsonl.zst";
}

std::string PageOf(const std::string& log, std::vector<std::string> options = {},
                   const std::string& input = "") {
  options.push_back(log);
  const Ran ran = RunCommand(ReportCommand(), options, input);
  EXPECT_EQ(ran.error, "");
  return ran.out;
}

/// The section with that id, up to the next.
std::string SectionOf(const std::string& page, const std::string& id) {
  const size_t begin = page.find("<section id=\"" + id + "\"");
  if (begin == std::string::npos) return {};
  return page.substr(begin, page.find("</section>", begin) - begin);
}

/// What is wrong with how elements are opened and closed; empty: nothing.
std::string WrongNesting(const std::string& page) {
  const std::set<std::string> voids = {"meta", "br", "input", "!DOCTYPE", "!--"};
  std::vector<std::string> open;
  for (size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1)) {
    const size_t end = page.find('>', at);
    std::string tag = page.substr(at + 1, end - at - 1);
    const bool is_empty = tag.ends_with('/');
    tag = tag.substr(0, tag.find_first_of(" \n"));
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1))
        return fmt::format("{} closes {} at {}", tag, open.empty() ? "nothing" : open.back(), at);
      open.pop_back();
    } else if (!is_empty && !voids.contains(tag)) {
      open.push_back(tag);
      // Their content is no markup.
      if (tag == "script" || tag == "style") at = page.find("</" + tag, at) - 1;
    }
  }
  return open.empty() ? "" : open.back() + " is not closed";
}

PageJson GapsJson(const std::string& log) {
  const Ran ran = RunCommand(GapsCommand(), {"--format", "json", log});
  return PageJson::parse(ran.out)["sessions"][0];
}

class PageOfCapture : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Captures, PageOfCapture,
                         ::testing::Values("ring-v2", "two-buffers-v2", "discard-v2", "ring-v1",
                                           "short-v2"));

TEST_P(PageOfCapture, Numbers_AreThoseOfGaps) {
  const std::string log = PageCapture(GetParam());
  const std::string page = PageOf(log, {"--quick"});
  EXPECT_EQ(WrongNesting(page), "");
  const PageJson gaps = GapsJson(log);
  const auto value = [](const PageJson& number) {
    return fmt::format("data-value=\"{}\"", number.get<uint64_t>());
  };
  uint64_t lost = 0, written = 0;
  const std::string fates = SectionOf(page, "fates");
  for (const PageJson& buffer : gaps["buffers"]) {
    EXPECT_THAT(fates, HasSubstr(value(buffer["written"]["packets"])));
    EXPECT_THAT(fates, HasSubstr(value(buffer["written"]["bytes"])));
    written += buffer["written"]["packets"].get<uint64_t>();
    lost += buffer["lost"]["packets"].get<uint64_t>();
  }
  if (lost > 0) {
    EXPECT_THAT(
        SectionOf(page, "answer"),
        HasSubstr(fmt::format("{} of {} packets (", WithCommas(lost), WithCommas(written))));
  }
  const std::string rows = SectionOf(page, "gaps");
  size_t listed = 0;
  for (const PageJson& gap : gaps["gaps"]) {
    ++listed;
    if (gaps["gaps"].size() > kPageGaps) break;
    EXPECT_THAT(rows, HasSubstr(value(gap["packets"])));
    EXPECT_THAT(rows, HasSubstr(gap["sequence"].get<std::string>()));
  }
  EXPECT_EQ(CountOf(rows, "<tbody"), std::min<size_t>(gaps["gaps"].size(), kPageGaps));
  EXPECT_EQ(listed == 0, rows.empty());
}

TEST(Page, Sections_AreThereWithTheCommandsThatGiveTheSame) {
  const std::string log = PageCapture("ring-v2");
  const std::string page = PageOf(log);
  EXPECT_EQ(WrongNesting(page), "");
  for (const char* id : {"answer", "fates", "timeline", "evictions", "groups", "gaps", "sizes",
                         "layouts", "memory", "findings", "story", "config", "environment"}) {
    if (std::string(id) == "memory") continue;  // not in this log
    const std::string section = SectionOf(page, id);
    ASSERT_NE(section, "") << id;
    EXPECT_THAT(page, HasSubstr(fmt::format("href=\"#{}\"", id)));
    if (std::string(id) != "config") {
      EXPECT_THAT(section, HasSubstr("ringscope ")) << id;
    }
  }
  EXPECT_THAT(SectionOf(page, "sizes"), HasSubstr("keeps everything, as a replay shows"));
  EXPECT_THAT(SectionOf(page, "sizes"), HasSubstr("history of the sequence that has the shortest"));
  EXPECT_THAT(SectionOf(page, "gaps"), HasSubstr("overwritten before they were read"));
  EXPECT_THAT(SectionOf(page, "gaps"), HasSubstr("Chunks of 1:1, from #0"));
  EXPECT_EQ(CountOf(SectionOf(page, "timeline"), "<figure"), 8u);  // a buffer, seven sequences
  EXPECT_EQ(CountOf(SectionOf(page, "layouts"), "<svg"), 2u);
  EXPECT_THAT(SectionOf(page, "environment"), HasSubstr("v2@58"));
}

TEST(Page, Matrix_HasEachOverwrittenPacketOnce) {
  const std::string page = PageOf(PageCapture("ring-v2"), {"--quick"});
  EXPECT_THAT(SectionOf(page, "evictions"), HasSubstr("50,530"));  // of 1:1, all of its losses
}

TEST(Page, NeedsNothingFromElsewhere) {
  const std::string page = PageOf(PageCapture("two-buffers-v2"));
  for (const char* absent : {"http:", "https:", "//www", " src=", "<link", "@import", "url(",
                             "<iframe", "<object", " style=", " onclick", " onload", "javascript:"})
    EXPECT_THAT(page, Not(HasSubstr(absent)));
  // The policy allows the page's own style and script by what they are.
  const auto content = [&](const std::string& tag) {
    const size_t begin = page.find("<" + tag + ">") + tag.size() + 2;
    return page.substr(begin, page.find("</" + tag + ">") - begin);
  };
  EXPECT_THAT(page, HasSubstr("Content-Security-Policy"));
  EXPECT_THAT(page,
              HasSubstr("default-src 'none'; style-src 'sha256-" + Sha256Base64(content("style")) +
                        "'; script-src 'sha256-" + Sha256Base64(content("script")) + "'"));
  EXPECT_EQ(content("script"), PageScript());
  EXPECT_EQ(CountOf(page, "<script"), 1u);
  EXPECT_EQ(CountOf(page, "<style"), 1u);
}

TEST(Page, Trace_IsStatedAsAssumed) {
  const std::string page =
      PageOf(std::string(RS_TESTDATA) + "/captures/ring-v2/trace.pftrace.zst", {"--quick"});
  EXPECT_THAT(SectionOf(page, "answer"), HasSubstr("is a trace, whose packets are taken as"));
  EXPECT_THAT(SectionOf(page, "environment"), HasSubstr("What was assumed"));
  EXPECT_EQ(WrongNesting(page), "");
}

TEST(Page, NothingLost_IsTheHeadline) {
  const std::string page = PageOf(std::string(RS_TESTDATA) + "/inputs/clean.ops.jsonl");
  EXPECT_THAT(SectionOf(page, "answer"), HasSubstr("Nothing was lost"));
  for (const char* id : {"groups", "gaps", "evictions"}) EXPECT_EQ(SectionOf(page, id), "");
  EXPECT_EQ(WrongNesting(page), "");
}

/// A log of operations, line by line.
class OpsText {
 public:
  OpsText& Add(const PageJson& line) {
    text_ += line.dump() + "\n";
    return *this;
  }
  /// A chunk of ten packets of 20 bytes that the service takes.
  OpsText& Commit(int producer, int writer, int chunk, int buffer = 1) {
    std::string payload;
    for (int i = 0; i < 10; ++i) {
      payload += "14";
      for (int byte = 0; byte < 20; ++byte) payload += "68";
    }
    time_ns_ += 100'000;
    return Add({{"op", "commit"},
                {"buffer", buffer},
                {"producer", producer},
                {"writer", writer},
                {"chunk", chunk},
                {"fragments", 10},
                {"payload", payload},
                {"ts", time_ns_}});
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  uint64_t time_ns_ = 1'000'000'000;
};

PageJson BufferLine(int id, int size) {
  return {{"op", "buffer"}, {"id", id}, {"size", size}, {"policy", "ring_buffer"}};
}

TEST(Page, SeveralSessions_NeedAChoice) {
  OpsText ops;
  for (int session = 0; session < 2; ++session) {
    ops.Add({{"op", "header"}, {"uuid", std::string(32, static_cast<char>('a' + session))}})
        .Add(BufferLine(1, 4096));
    for (int chunk = 0; chunk < 40 * (session + 1); ++chunk) ops.Commit(1, 1, chunk);
  }
  const Ran ran = RunCommand(ReportCommand(), {"-"}, ops.text());
  EXPECT_THAT(ran.error, HasSubstr("more than one session"));
  EXPECT_EQ(ran.out, "");
  const std::string page = PageOf("-", {"--session", "2"}, ops.text());
  EXPECT_THAT(page, HasSubstr("of 800 packets ("));
  EXPECT_THAT(page, HasSubstr("ringscope gaps --summary --session 2 -"));
}

TEST(Page, HostileNames_AreOnlyText) {
  const std::string script = "<script>alert(1)</script>";
  const std::string quotes = "\"'><img src=x onerror=alert(1)>";
  const std::string direction = "a\u202egnp.exe";
  OpsText ops;
  ops.Add({{"op", "header"}, {"tool", script}, {"host", quotes}, {"description", direction}});
  // unique_session_name of the config.
  std::string config = "b201" + fmt::format("{:02x}", script.size());
  for (const char c : script) config += fmt::format("{:02x}", static_cast<uint8_t>(c));
  ops.Add({{"op", "config"}, {"config", config}}).Add(BufferLine(1, 4096));
  int producer = 0;
  for (const std::string& name :
       {script, quotes, direction, std::string("</title></style>"), std::string(5000, 'x')}) {
    ++producer;
    ops.Add({{"op", "producer"}, {"producer", producer}, {"name", name}, {"sdk", name}})
        .Add({{"op", "data_source"}, {"producer", producer}, {"name", name}})
        .Add({{"op", "data_source_setup"},
              {"producer", producer},
              {"instance", producer},
              {"name", name},
              {"buffer", 1}})
        .Add({{"op", "trigger"}, {"producer", producer}, {"name", name}});
  }
  ops.Add({{"op", "producer"}, {"producer", 9}, {"name_hex", "ff3c623eff"}});
  for (int chunk = 0; chunk < 60; ++chunk)
    for (const int writer : {1, 2, 3, 4, 5, 9}) ops.Commit(writer, 1, chunk);
  const TempFolder folder;
  const std::string log = folder.Write("a'\"><b>&.ops.jsonl", ops.text());
  const std::string page = PageOf(log);
  EXPECT_EQ(WrongNesting(page), "");
  EXPECT_TRUE(IsUtf8(page));
  EXPECT_EQ(CountOf(page, "<script"), 1u);
  EXPECT_EQ(CountOf(page, "</script"), 1u);
  EXPECT_EQ(CountOf(page, "</title></style>"), 0u);
  EXPECT_EQ(CountOf(page, "<img"), 0u);
  EXPECT_EQ(CountOf(page, "<b>"), 0u);
  EXPECT_EQ(CountOf(page, "\u202e"), 0u);
  EXPECT_EQ(CountOf(page, std::string(1000, 'x')), 0u);
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;"));
  EXPECT_THAT(page, HasSubstr("\\xff&lt;b&gt;\\xff"));
  EXPECT_THAT(page, HasSubstr("a\\xe2\\x80\\xaegnp.exe"));
}

TEST(Page, SharedMemory_IsDrawnOverTime) {
  const std::string page =
      PageOf(std::string(RS_TESTDATA) + "/inputs/shared-memory.ops.jsonl", {"--quick"});
  EXPECT_EQ(WrongNesting(page), "");
  EXPECT_THAT(page, HasSubstr("How full it was"));
  EXPECT_THAT(page,
              HasSubstr("at most 8 of 8 chunks in use; no chunk free, by the last look, in 42 "
                        "of 480 intervals"));
  EXPECT_THAT(page, HasSubstr(R"(<path class="s4" d="M0 100)"));
  EXPECT_THAT(page, HasSubstr(R"(<path class="lost" d="M)"));
  EXPECT_THAT(page, HasSubstr("ringscope smb "));
}

/// A session in which there are very many of all that a page lists, with long names that take more
/// when escaped.
std::string LargeSession(int producers) {
  OpsText ops;
  std::string config;
  for (int i = 0; i < 40'000; ++i) config += "1204120222221a";  // malformed in the end, too
  ops.Add({{"op", "header"}, {"tool", std::string(100'000, '<')}})
      .Add({{"op", "config"}, {"config", config}});
  for (int buffer = 1; buffer <= 300; ++buffer) ops.Add(BufferLine(buffer, 4096));
  for (int producer = 1; producer <= producers; ++producer) {
    const std::string name = fmt::format("{}{}", producer, std::string(400, '"'));
    ops.Add({{"op", "producer"},
             {"producer", producer},
             {"name", name},
             {"sdk", name},
             {"smb_size", 4096}})
        .Add({{"op", "data_source"}, {"producer", producer}, {"name", name}})
        .Add({{"op", "data_source_setup"},
              {"producer", producer},
              {"instance", producer},
              {"name", name},
              {"buffer", producer % 300 + 1}})
        .Add({{"op", "data_source_start"}, {"producer", producer}, {"instance", producer}})
        .Add({{"op", "trigger"}, {"producer", producer}, {"name", name}});
  }
  // Each writer loses several times.
  for (int chunk = 0; chunk < 12; ++chunk) {
    for (int producer = 1; producer <= producers; ++producer)
      ops.Commit(producer, 1, chunk, producer % 60 + 1);
    if (chunk % 2 == 1) ops.Add({{"op", "read"}, {"buffer", "all"}});
  }
  return ops.text();
}

class LargePage : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Producers, LargePage, ::testing::Values(100, 1500));

TEST_P(LargePage, AnySession_HasLessThanTwoMegabytes) {
  const TempFolder folder;
  const std::string log = folder.Write("big.ops.jsonl", LargeSession(GetParam()));
  const bool is_quick = GetParam() > 100;  // advice on that many sources takes half a minute
  const std::string page =
      PageOf(log, is_quick ? std::vector<std::string>{"--quick"} : std::vector<std::string>());
  EXPECT_LT(page.size(), kMaxPageBytes);
  EXPECT_GT(page.size(), 200'000u);
  EXPECT_EQ(WrongNesting(page), "");
  EXPECT_GT(CountOf(page, "left out of this page"), 4u);
  EXPECT_EQ(CountOf(page, "This is too large for the page."), 0u);
}

}  // namespace
}  // namespace ringscope
