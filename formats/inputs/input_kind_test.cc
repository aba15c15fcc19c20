#include "formats/inputs/input_kind.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "formats/inputs/open_log.h"
#include "formats/io/output_file.h"
#include "formats/log/commit_log_writer.h"
#include "formats/testing/frames.h"
#include "formats/testing/make_zip.h"
#include "formats/testing/string_sink.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using ::testing::AllOf;
using testing::Gzipped;
using ::testing::HasSubstr;

TEST(ContentWords, NameWhatAFileIs) {
  using namespace std::string_literals;
  EXPECT_EQ(ContentWords("\x89PNG\r\n\x1A\n...."), "a PNG image");
  EXPECT_EQ(ContentWords("\x7F"
                         "ELF\x02\x01\x01"),
            "an ELF program");
  EXPECT_EQ(ContentWords("PK\x03\x04\x14"), "a zip archive");
  EXPECT_EQ(ContentWords("SQLite format 3\0\x10"s), "a SQLite database");
  EXPECT_EQ(ContentWords("%PDF-1.7"), "a PDF document");
  EXPECT_EQ(ContentWords("hello\nworld\n"), "a text file");
  EXPECT_EQ(ContentWords("<!DOCTYPE html>\n<html>"), "an HTML page");
  EXPECT_EQ(ContentWords("<?xml version=\"1.0\"?>\n<svg/>"), "an XML document");
  EXPECT_EQ(ContentWords("{\"sessions\":[]}"), "a JSON text");
  EXPECT_EQ(ContentWords("{\"event\":\"packet\"}\n"), "a file of events of a replay");
  EXPECT_EQ(ContentWords("{\"op\":\"read\"}\n"), "a log");
  EXPECT_EQ(ContentWords("\x0A\x02\x50\x01"), "a Perfetto trace");
  EXPECT_EQ(ContentWords(""), "an empty file");
  EXPECT_EQ(ContentWords("\x01\x02\x03\x04"), "") << "not known";
  EXPECT_EQ(ContentWords("# Mine.\n\nbuffers { size_kb: 4 }\n"), "a trace config");
  EXPECT_EQ(ContentWords("buffers overflow\n"), "a text file");
  EXPECT_EQ(ContentWords(Gzipped("hello")), "a text file, compressed");
  EXPECT_EQ(ContentWords(Gzipped("hello").substr(0, 11)),
            "a compressed file that is cut off or damaged");
  EXPECT_EQ(ContentWords(Gzipped("{\"op\":\"read\"}\n")), "a log, compressed");
}

/// Returns the bytes as a program writes them that takes them for characters of Latin-1.
std::string AsUtf8(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte >= 0x80) text += static_cast<char>(byte < 0xC0 ? 0xC2 : 0xC3);
    text += byte < 0x80 ? c : static_cast<char>(byte & 0xBF);
  }
  return text;
}

TEST(ContentWords, NameTracesThatWereConvertedToText) {
  const std::string trace = testing::ReadTestdata("traces/healthy-scheduler.pftrace");
  EXPECT_EQ(ContentWords(trace), "a Perfetto trace");
  EXPECT_EQ(ContentWords(AsUtf8(trace)), "UTF-8 text that was made of a trace");
  std::string replaced;
  for (const char c : trace)
    replaced += static_cast<uint8_t>(c) < 0x80 ? std::string(1, c) : "\xEF\xBF\xBD";
  EXPECT_EQ(ContentWords(replaced), "UTF-8 text that was made of a trace");
  EXPECT_EQ(ContentWords("\xFF\xFE\r" + std::string("\0\n\0\x12\0", 5)),
            "UTF-16 text that was made of a trace, as by PowerShell");
  EXPECT_EQ(KindOfStart(AsUtf8(trace)), InputKind::kOther);
  EXPECT_THAT(WhereOpened(ContentWords(replaced)), HasSubstr("copy the trace again"));
}

TEST(ContentWords, NameFilesOfOtherTools) {
  using namespace std::string_literals;
  struct Case {
    std::string start, words;
  };
  const Case cases[] = {
      {"{\"traceEvents\":[{\"ph\":\"X\"}]}", "a Chrome trace in JSON"},
      {"[{\"name\":\"a\",\"ph\":\"B\"},\n", "a Chrome trace in JSON"},
      {" {\n \"displayTimeUnit\": \"ns\", \"traceEvents\": [\n", "a Chrome trace in JSON"},
      {"{\"systemTraceEvents\":{},\"traceEvents\":[]}", "a Fuchsia trace in JSON"},
      {"\x10\0\x04\x46\x78\x54\x16\0"s + "more", "a Fuchsia trace (FXT)"},
      {"SIMPLEPERF\x01", "a recording of simpleperf"},
      {"PERFILE2\x68", "a recording of perf"},
      {"SLOW\x03\0"s, "a method trace of Android's ART"},
      {"*version\n3\n", "a method trace of Android's ART"},
      {"# tracer: nop\n#\n  a-1 [000] d..3 1.5: sched_switch: x\n", "a systrace text"},
      {"TRACE:\n# tracer: nop\n", "a systrace text"},
      {"  <idle>-0     [001] d..3  12.345678: sched_switch: prev_comm=swapper\n",
       "a systrace text"},
      {"<!DOCTYPE html>\n<script class=\"trace-data\">\n# tracer: nop\n", "a page of systrace"},
      {"TRACE:\n\x78\x9c\x01\x02", "a compressed systrace (ctrace)"},
      {"perf 1234/1235 [001] 123.456789: cycles:\n\tffff symbol (lib)\n", "a text of perf script"},
      {"swapper     0 [000]  1.000001:     250000 cpu-clock:\n", "a text of perf script"},
      {"main;run;step 12\nmain;run 3\n", "collapsed stacks"},
      {"2026-01-02 10:11:12.345  1000  1001 I tag: text\n", "a text of logcat"},
      {"1234 12:00:01.5 openat(AT_FDCWD, \"a\") = 3\n", "a text of strace"},
      {"{\"meta\":{\"version\":27}}", "a profile of Firefox (Gecko)"},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(ContentWords(each.start), each.words) << each.start;
    EXPECT_EQ(ContentWords(Gzipped(each.start)), each.words + ", compressed") << each.start;
    EXPECT_THAT(WhereOpened(each.words), HasSubstr("ui.perfetto.dev")) << each.start;
  }
  EXPECT_THAT(WhereOpened(ContentWords("buffers { size_kb: 4 }\n")), HasSubstr("doctor"));
  EXPECT_EQ(WhereOpened("a text file"), "");
}

/// The error of opening this as a log.
std::string ErrorOfLog(const std::string& content) {
  const auto log = OpenLog(MakeMemorySource(content, "file"));
  return log ? "" : log.error().ToString();
}

TEST(OpenLog, WrongFilesAreNamed) {
  EXPECT_THAT(ErrorOfLog("\x89PNG\r\n\x1A\n...."),
              AllOf(HasSubstr("file: this is a PNG image, not a log"), HasSubstr(".tblog")));
  EXPECT_THAT(ErrorOfLog("\x0A\x02\x50\x01"),
              AllOf(HasSubstr("this is a Perfetto trace, not a log"), HasSubstr("doctor")));
  EXPECT_THAT(ErrorOfLog("<svg>\n</svg>\n"), HasSubstr("this is an SVG picture, not a log"));
  EXPECT_THAT(ErrorOfLog(Gzipped("hello\n")),
              HasSubstr("this is a text file, compressed, not a log"));
  EXPECT_THAT(ErrorOfLog(""), HasSubstr("the file is empty"));
  EXPECT_THAT(ErrorOfLog(Gzipped("")), HasSubstr("the file is empty once it is decompressed"));
  EXPECT_THAT(ErrorOfLog(Gzipped(Gzipped("{\"op\":\"read\"}\n"))), HasSubstr("compressed twice"));
  EXPECT_EQ(ErrorOfLog("# nothing but a comment\n"), "");
}

TEST(OpenLog, GzipOfBothFormats) {
  const std::string text = "{\"op\":\"read\"}\n{\"op\":\"clone_read\"}\n";
  auto ops = OpenLog(MakeMemorySource(Gzipped(text)));
  ASSERT_TRUE(ops) << ops.error().ToString();
  EXPECT_EQ((*ops)->format(), LogFormat::kGzipOps);
  EXPECT_EQ((*ops)->size(), Gzipped(text).size()) << "progress is that of the file";
  EXPECT_TRUE(std::holds_alternative<ReadPass>((*ops)->Next().value()->body));
  EXPECT_TRUE(std::holds_alternative<CloneRead>((*ops)->Next().value()->body));
  EXPECT_FALSE((*ops)->Next().value());
  EXPECT_EQ((*ops)->damage_count(), 0U);

  StringSink sink;
  const auto writer = CommitLogWriter::Create(sink).value();
  ASSERT_TRUE(writer->Append({std::nullopt, ImportHeader()}));
  ASSERT_TRUE(writer->Append({std::nullopt, ReadPass{}}));
  ASSERT_TRUE(writer->Close());
  const LogInfo info = VerifyLog(MakeMemorySource(Gzipped(sink.text))).value();
  EXPECT_EQ(info.format, LogFormat::kCommitLog);
  EXPECT_EQ(info.damage_count, 0U);
  EXPECT_TRUE(info.cleanly_closed);
}

TEST(OpenLog, CutOffGzip_IsReadUpToTheCut) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "{\"op\":\"read\",\"ts\":" + std::to_string(i * i) + "}\n";
  std::string cut = Gzipped(text);
  cut.resize(cut.size() / 2);
  auto log = OpenLog(MakeMemorySource(cut)).value();
  uint64_t records = 0;
  while (log->Next().value()) ++records;
  EXPECT_GT(records, 1000U);
  EXPECT_LT(records, 5000U);
  ASSERT_EQ(log->damage_count(), 1U);
  EXPECT_THAT(log->damage()[0].what, HasSubstr("ends in the middle"));
  EXPECT_EQ(log->damage()[0].first_record, records);
}

}  // namespace
}  // namespace ringscope

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two packets: a uid, and a uid with a sequence id.
const std::string kTrace("\x0A\x02\x18\x07\x0A\x04\x18\x07\x50\x02", 10);

Result<std::vector<ArchiveMember>> OpenZip(const std::string& bytes) {
  return MembersOf(MakeMemorySource(bytes, "a.zip"));
}

std::vector<std::string> TracesIn(const std::string& bytes) {
  const auto members = OpenZip(bytes);
  EXPECT_TRUE(members) << members.error().ToString();
  std::vector<std::string> paths;
  for (const ArchiveMember& member : *members)
    if (member.is_trace()) paths.push_back(member.path);
  return paths;
}

/// All bytes of the first member, or the error.
Result<std::string> ReadFirst(const std::string& bytes) {
  RS_ASSIGN_OR_RETURN(const std::vector<ArchiveMember> members, OpenZip(bytes));
  RS_ASSIGN_OR_RETURN(const auto source, members.at(0).open());
  return ReadAll(*source, 1 << 20);
}

/// A tar archive of these files.
std::string MakeTar(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string tar;
  for (const auto& [name, content] : files) {
    std::string block(512, '\0');
    block.replace(0, name.size(), name);
    const std::string size = fmt::format("{:011o}", content.size());
    block.replace(124, size.size(), size);
    block[156] = '0';
    block.replace(257, 5, "ustar");
    tar += block + content + std::string((512 - content.size() % 512) % 512, '\0');
  }
  return tar + std::string(1024, '\0');
}

TEST(TraceMembers, ByNameOrContent) {
  EXPECT_THAT(TracesIn(MakeZip({{"main.txt", "text\n"},
                                {"FS/x.pftrace", "damaged"},
                                {"FS/y", kTrace},
                                {"inner.zip", MakeZip({{"z.pftrace", kTrace}})},
                                {"w.perfetto-trace.gz", ""}})),
              ElementsAre("a.zip:FS/x.pftrace", "a.zip:FS/y", "a.zip:inner.zip:z.pftrace",
                          "a.zip:w.perfetto-trace.gz"));
}

TEST(TraceMembers, OfTarsAndArchivesInArchives) {
  const std::string tar = MakeTar({{"notes.txt", "text\n"}, {"x", kTrace}});
  EXPECT_THAT(TracesIn(tar), ElementsAre("a.zip:x"));
  EXPECT_THAT(TracesIn(Gzipped(tar)), ElementsAre("a.zip:x"));
  EXPECT_THAT(
      TracesIn(MakeZip({{"b.tar", tar}, {"c.tgz", Gzipped(tar)}, {"d.gz", Gzipped(kTrace)}})),
      ElementsAre("a.zip:b.tar:x", "a.zip:c.tgz:x", "a.zip:d.gz"));
  const std::string deep = MakeZip({{"i.zip", MakeZip({{"j.zip", MakeZip({{"x", kTrace}})}})}});
  EXPECT_THAT(TracesIn(deep), ElementsAre()) << "one level";
  EXPECT_EQ(ReadFirst(MakeZip({{"b.tar", MakeTar({{"x", std::string(700, 'x')}})}})).value(),
            std::string(700, 'x'));
}

TEST(TraceMembers, OthersAreNamedIfThereIsNoTrace) {
  const auto members = OpenZip(MakeZip({{"chrome.json", "{\"traceEvents\":[]}"}, {"b", "text\n"}}));
  ASSERT_TRUE(members);
  EXPECT_THAT(NoTraceIn("a.zip", *members).ToString(),
              ::testing::AllOf(HasSubstr("has 2 files, and no Perfetto trace or log: "),
                               HasSubstr("chrome.json is a Chrome trace in JSON"),
                               HasSubstr("ui.perfetto.dev")));
}

TEST(TraceMembers, NoneInAnEmptyArchive) {
  EXPECT_THAT(TracesIn(std::string("PK\x05\x06", 4) + std::string(18, '\0')), ElementsAre());
}

TEST(TraceMembers, EncryptedOnesHaveTheNameOfATrace) {
  const std::string bytes = MakeZip({{"a.pftrace", kTrace, true}, {"b", kTrace, true}});
  EXPECT_THAT(TracesIn(bytes), ElementsAre("a.zip:a.pftrace"));
  const auto content = ReadFirst(bytes);
  ASSERT_FALSE(content);
  EXPECT_THAT(content.error().ToString(),
              ::testing::AllOf(HasSubstr("a.zip:a.pftrace: "), HasSubstr("is encrypted")));
}

TEST(ZipArchive, MembersAreReadWhole) {
  const std::string content(300'000, 'x');
  EXPECT_EQ(ReadFirst(MakeZip({{"a", content}})).value(), content);
}

TEST(ZipArchive, DamagedMember) {
  // A name that is nowhere else, as a letter may be in the time before it.
  const std::string name = "damaged.pftrace";
  std::string bytes = MakeZip({{name, std::string(1000, 'x') + kTrace}});
  bytes[bytes.find(name) + name.size() + 4] ^= 0x55;  // in the compressed bytes, which follow
  const auto content = ReadFirst(bytes);
  ASSERT_FALSE(content);
  EXPECT_THAT(content.error().ToString(), HasSubstr("a.zip:damaged.pftrace: "));
}

TEST(ZipArchive, CutOffArchive) {
  std::string bytes = MakeZip({{"a", kTrace}});
  bytes.resize(bytes.size() - 10);
  const auto archive = OpenZip(bytes);
  ASSERT_FALSE(archive);
  EXPECT_THAT(archive.error().ToString(), HasSubstr("the zip archive cannot be read"));
}

}  // namespace
}  // namespace ringscope::testing
