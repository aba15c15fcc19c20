#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "commands/gaps/gaps_words.h"
#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "core/ledger/ledger.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;

Ran Gaps(std::vector<std::string> options, const char* capture = "ring-v2") {
  options.push_back(testing::CapturePath(capture));
  return RunCommand(GapsCommand(), options);
}

TEST(GapsCommand, Status_SaysWhetherPacketsWereLost) {
  EXPECT_EQ(Gaps({}).code, ExitCode::kNotice);
  // A writer broke a rule, and abi_violations is 1: with nothing but packets that were there.
  EXPECT_EQ(Gaps({}, "lossless-v2").code, ExitCode::kClean);
  EXPECT_EQ(Gaps({"--packets"}, "lossless-v2").code, ExitCode::kClean);
  const std::string clean = std::string(RS_TESTDATA) + "/inputs/clean.ops.jsonl";
  EXPECT_EQ(RunCommand(GapsCommand(), {clean}).code, ExitCode::kClean);
}

TEST(GapsCommand, Status_IsOfWhatTheFilterSelects) {
  EXPECT_EQ(Gaps({"--seq", "9:9"}).code, ExitCode::kClean);
  EXPECT_EQ(Gaps({"--from", "60s"}).code, ExitCode::kClean);
  EXPECT_EQ(Gaps({"--buffer", "1"}).code, ExitCode::kNotice);
}

// No file has such a name, and a search for its parts fails.
TEST(GapsCommand, NameThatIsTooLong_IsAnError) {
  const std::string name(5000, 'x');
  EXPECT_THAT(RunCommand(GapsCommand(), {name}).error, HasSubstr(name));
}

// Every lost packet of the session, with the commit that took its space.
TEST(GapsCommand, Packets_AreAllListedWithTheirCulprits) {
  std::vector<Json> packets =
      testing::ParsedJsonLines(Gaps({"--packets", "--format", "jsonl"}).out);
  EXPECT_EQ(packets.front()["schema"], "ringscope.gaps/1");
  packets.erase(packets.begin());
  EXPECT_EQ(packets.back()["type"], "reads");
  packets.pop_back();
  EXPECT_EQ(packets.size(), 123'378u);
  uint64_t bytes = 0;
  for (const Json& packet : packets) {
    ASSERT_EQ(packet["type"], "packet");
    ASSERT_EQ(packet["fate"], "overwritten");
    ASSERT_TRUE(packet["culprit"].is_string());
    bytes += packet["size"].get<uint64_t>();
  }
  for (const Json& line : testing::ParsedJsonLines(Gaps({"--format", "jsonl"}).out)) {
    if (!line.contains("type") || line["type"] != "buffer") continue;
    EXPECT_EQ(line["lost"]["packets"], packets.size());
    EXPECT_EQ(line["lost"]["bytes"], bytes);
  }
}

TEST(GapsCommand, Packets_NoneOfALosslessSession) {
  const std::vector<Json> lines =
      testing::ParsedJsonLines(Gaps({"--packets", "--format", "jsonl"}, "lossless-v2").out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1]["type"], "reads");
}

TEST(GapsCommand, Json_HasTheSameGapsAsLinesAndRows) {
  const auto printed = [](const char* format) {
    return Gaps({"--reads", "every=300ms", "--format", format}).out;
  };
  const Json document = testing::ParsedJson(printed("json"));
  EXPECT_EQ(document["schema"], "ringscope.gaps/1");
  const Json gaps = document["sessions"][0]["gaps"];
  EXPECT_GT(gaps.size(), 20u);
  const std::vector<Json> lines = testing::ParsedJsonLines(printed("jsonl"));
  EXPECT_EQ(static_cast<size_t>(
                std::count_if(lines.begin(), lines.end(),
                              [](const Json& line) { return line.value("type", "") == "gap"; })),
            gaps.size());
  const std::string rows = printed("csv");
  EXPECT_EQ(static_cast<size_t>(std::count(rows.begin(), rows.end(), '\n')), gaps.size() + 1);
}

TEST(GapsCommand, Text_FitsOnAScreen) {
  for (const char* capture : {"ring-v1", "ring-v2", "two-buffers-v2", "stream-v2", "short-v2"}) {
    const std::string text = Gaps({}, capture).out;
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 40) << text;
  }
  const std::string text = WithoutLineBreaks(Gaps({}).out);
  EXPECT_THAT(text, HasSubstr("7 sequences, 7 gaps, 123,378 packets (5.97 MiB): overwritten before "
                              "they were read; buffers[0].size_kb: 8192 keeps them"));
  EXPECT_THAT(
      text,
      HasSubstr("128,295 packets were written: 5 were unfinished in shared memory; buffers[0] lost "
                "123,378 (96.2%); 4,912 are in the trace, 2 of them usable."));
}

TEST(GapsCommand, All_ExplainsEachGap) {
  const std::string text = Gaps({"--all"}).out;
  EXPECT_THAT(text, HasSubstr("\nsequence 2 (demo-app/appbin, 1:1), buffers[0]"));
  EXPECT_THAT(text, HasSubstr("\nsequence 8 (demo-app, 1:7), buffers[0]"));
}

TEST(GapsCommand, TheAnswerComesFirst) {
  const std::string text = Gaps({}).out;
  EXPECT_LT(text.find("Only the last 101.7 ms of 3.006 s are left"),
            text.find("128,295 packets w"));
  EXPECT_LT(text.find("buffers[0].size_kb 256 ->\n8192, which loses nothing;"),
            text.find("128,295 packets w"));
  const Json document = testing::ParsedJson(Gaps({"--format", "json"}).out);
  EXPECT_EQ(document["sessions"][0]["answer"]["severity"], "error");
}

TEST(GapsCommand, Filter_SaysWhatItSelects) {
  const std::string none = Gaps({"--seq", "9:9"}).out;
  EXPECT_THAT(none, HasSubstr("The filters select 0 of the 7 sequences"));
  EXPECT_THAT(none, ::testing::Not(HasSubstr("Nothing was lost")));
  EXPECT_THAT(Gaps({"--seq", "1:2"}).out,
              HasSubstr("1 of the 7 sequences: 1 gap, 50,126 lost packets"));
}

TEST(GapsCommand, GapsOfOneCauseAreOneGroup) {
  const std::string text = Gaps({"--reads", "every=300ms", "--all"}).out;
  EXPECT_THAT(text, HasSubstr(" gaps: "));
  EXPECT_THAT(text, HasSubstr("\n  largest     chunk"));
  EXPECT_THAT(text, HasSubstr("\n  others      chunk"));
}

TEST(GapsCommand, Packets_RefuseWhatHasNoPlaceForThem) {
  EXPECT_EQ(Gaps({"--packets", "--format", "json"}).error_code, ErrorCode::kUsage);
  EXPECT_EQ(Gaps({"--packets", "--all"}).error_code, ErrorCode::kUsage);
}

/// Options, the log below testdata, and parts of the text.
struct TextCase {
  std::vector<std::string> options;
  const char* log;
  std::vector<std::string> parts;
};

TEST(GapsCommand, Text_NamesCausesAndSigns) {
  const TextCase cases[] = {
      {{"--all"},
       "inputs/never-patched.ops.jsonl",
       {"1 overwritten while waiting for a patch",
        "chunk #0 of writer 1:3 (app) waited for a patch from record 2 (20.0 ms) on: 1 read "
        "stopped at it, it was overwritten in record 7 (70.0 ms) for 4 KiB of newer data, 50.0% of "
        "it by sequence 3 (app, 1:4), and its patch is not in the log; 2 packets after it",
        "evicted by 100% 1:4", "no buffer size or read period helps"}},
      {{"--all", "--size", "12k"},
       "inputs/never-patched.ops.jsonl",
       {"writer 1:3 (app), buffers[0]: 3 packets (2.44 KiB) wait for a patch of chunk #0, "
        "committed at "
        "record 2 (20.0 ms); no buffer size helps"}},
      {{"--all"},
       "inputs/missing-chunk.ops.jsonl",
       {"No packet of the log was lost, but more may be missing: ",
        "sequence 2 (app, 1:3), buffers[0], chunk #1: an unknown number of packets. Where: between "
        "record 2 "
        "(20.0 ms) and record 4 (40.0 ms). Cause: chunks with these ids were never committed. In "
        "the trace: the next packet is flagged 'missing chunks'.",
        "sequence_packet_loss: 1"}},
      {{"--all"},
       "inputs/damaged.ops.jsonl",
       {"one of their chunks is not in the log, which is not complete there",
        "record 4 (15.0 ms), between 15.0 ms and 30.0 ms: damage in the log",
        "1:3), buffers[0], chunk #1: an unknown number of packets."}},
      {{"--all"}, "conformance/cases/edge-gap-remembered.jsonl.zst", {"Lost by a buffer bug"}},
      {{"--all"},
       "inputs/clones.ops.jsonl",
       {"3 packets (6 B): moved into a clone, which took their buffer over"}},
      {{"--clone", "1"}, "inputs/clones.ops.jsonl", {"1 of 8 packets (12.5%) was lost"}},
      {{}, "inputs/streamed.ops.jsonl", {"Nothing was lost with these reads."}},
      {{"--all", "--seq", "1:6"},
       "captures/two-buffers-v2/session.ops.jsonl.zst",
       {"The filters select 1 of the 10 sequences: 1 gap, 1,144 lost packets.", "filled by",
        "discarded: the buffer was already full"}},
      {{"--packets", "--seq", "1:6"},
       "captures/ring-v2/session.ops.jsonl.zst",
       {"1:6#0.1 45 B track_descriptor written 7.0 ms, lost 117.8 ms: overwritten before they "
        "were read, for 1:2#9",
        "Session 1: buffers were read as recorded."}},
  };
  for (const TextCase& one : cases) {
    SCOPED_TRACE(one.log);
    std::vector<std::string> args = one.options;
    args.push_back(testing::TestdataPath(one.log));
    const std::string text = WithoutLineBreaks(RunCommand(GapsCommand(), args).out);
    for (const std::string& part : one.parts) EXPECT_THAT(text, HasSubstr(part));
  }
}

// No packet is lost, and the session may lack what a producer did not send.
TEST(GapsCommand, FlushThatFailed_IsNoLossAndNoProof) {
  const Ran ran = RunCommand(GapsCommand(), {"-"},
                             R"({"op":"buffer","ts":1,"id":1,"size":65536,"policy":"ring_buffer"})"
                             "\n"
                             R"({"op":"flush","ts":2,"flush":7})"
                             "\n"
                             R"({"op":"flush_timeout","ts":3,"flush":7})"
                             "\n");
  EXPECT_THAT(WithoutLineBreaks(ran.out), HasSubstr("more may be missing: flushes_failed: 1."));
  EXPECT_THAT(ran.out, ::testing::Not(HasSubstr("Nothing was lost")));
}

// The first record is number 0.
TEST(PacketRows, FormatsHaveTheSameFields) {
  PacketAccount account;
  account.written.record = 0;
  account.fate = Fate::kOverwritten;
  const auto written = testing::ParsedJson(PacketLine(RowPart::kMembers, account, 1, 7, "a,b"));
  EXPECT_EQ(written["written_record"], 0);
  EXPECT_EQ(written["culprit"], nullptr);
  EXPECT_EQ(written["name"], "a,b");
  std::set<std::string> keys, titles;
  for (const auto& [key, value] : written.items())
    if (key != "type") keys.insert(key);
  std::string text = CsvTitles(/*of_packets=*/true);
  for (text.back() = ','; !text.empty(); text.erase(0, text.find(',') + 1))
    titles.insert(text.substr(0, text.find(',')));
  EXPECT_EQ(titles, keys);
  EXPECT_THAT(PacketLine(RowPart::kValues, account, 1, 7, "a,b"),
              ::testing::EndsWith(",7,\"a,b\"\n"));
}

}  // namespace
}  // namespace ringscope
