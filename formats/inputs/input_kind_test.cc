#include "formats/inputs/input_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "formats/inputs/log_check.h"
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
  EXPECT_EQ(ContentWords(Gzipped("hello")), "a text file, compressed");
  EXPECT_EQ(ContentWords(Gzipped("{\"op\":\"read\"}\n")), "a log, compressed");
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

Result<ZipArchive> OpenZip(const std::string& bytes) {
  RS_ASSIGN_OR_RETURN(const auto file, TemporaryFile::Create());
  RS_RETURN_IF_ERROR(file->Write(bytes));
  return ZipArchive::Open(file->OwnName(), "a.zip");
}

ZipArchive Opened(const std::string& bytes) {
  auto archive = OpenZip(bytes);
  EXPECT_TRUE(archive) << archive.error().ToString();
  return *archive;
}

std::vector<std::string> TracesIn(const std::string& bytes) {
  std::vector<std::string> names;
  ZipArchive archive = Opened(bytes);
  for (const ZipMember& member : FindTraces(archive)) names.push_back(member.name);
  return names;
}

/// All bytes of the first member, or the error.
Result<std::string> ReadFirst(const std::string& bytes) {
  ZipArchive archive = Opened(bytes);
  RS_ASSIGN_OR_RETURN(const auto source, archive.OpenMember(archive.members().at(0)));
  return ReadAll(*source, 1 << 20);
}

TEST(TraceMembers, ByNameOrContent) {
  EXPECT_THAT(TracesIn(MakeZip({{"main.txt", "text\n"},
                                {"FS/x.pftrace", "damaged"},
                                {"FS/y", kTrace},
                                {"inner.zip", MakeZip({{"z.pftrace", kTrace}})},
                                {"w.perfetto-trace.gz", ""}})),
              ElementsAre("FS/x.pftrace", "FS/y", "w.perfetto-trace.gz"));
}

TEST(TraceMembers, NoneInAnEmptyArchive) {
  EXPECT_THAT(TracesIn(std::string("PK\x05\x06", 4) + std::string(18, '\0')), ElementsAre());
}

TEST(TraceMembers, EncryptedOnesHaveTheNameOfATrace) {
  const std::string bytes = MakeZip({{"a.pftrace", kTrace, true}, {"b", kTrace, true}});
  EXPECT_THAT(TracesIn(bytes), ElementsAre("a.pftrace"));
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
