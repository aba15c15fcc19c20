#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "core/base/wire.h"
#include "core/perfetto/commit_request.h"
#include "core/testing/smb_dsl.h"
#include "formats/log/commit_log_writer.h"
#include "formats/ops/ops_jsonl.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/string_sink.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Two producers, two buffers, times of 1 s to 3 s.
constexpr const char* kLog =
    R"({"op":"buffer","id":1,"size":65536,"policy":"ring_buffer","engine":"v2@58"})"
    "\n"
    R"({"op":"producer","ts":1000000000,"producer":1,"uid":10,"pid":100,"name":"app\u001b[1m"})"
    "\n"
    R"({"op":"writer","ts":1000000500,"producer":1,"writer":3,"buffer":1})"
    "\n"
    R"({"op":"commit","ts":2000000000,"buffer":1,"producer":1,"uid":10,"pid":100,"writer":3,)"
    R"("chunk":7,"fragments":2,"flags":6,"complete":true,"payload":"0161026263","origin":"shm"})"
    "\n"
    R"({"op":"patch","ts":2500000000,"buffer":1,"producer":1,"writer":3,"chunk":7,)"
    R"("patches":[{"offset":0,"data":"deadbeef"}],"more":true})"
    "\n"
    R"({"op":"commit","buffer":2,"producer":2,"uid":11,"writer":4,"chunk":0,"fragments":1,)"
    R"("complete":false,"payload":"0161"})"
    "\n"
    R"({"op":"read","ts":3000000000,"buffer":1,"max_packets":10})"
    "\n";

std::string Dump(std::vector<std::string> options) {
  options.push_back("-");
  const Ran ran = RunCommand(DumpCommand(), options, kLog);
  EXPECT_EQ(ran.error, "");
  return ran.out;
}

/// The lines of a log with this commit.
std::string DumpOf(const Commit& commit) {
  StringSink log;
  const auto writer = CommitLogWriter::Create(log).value();
  EXPECT_TRUE(writer->Append({.time_ns = {}, .body = ImportHeader()}));
  EXPECT_TRUE(writer->Append({.time_ns = {}, .body = commit}));
  EXPECT_TRUE(writer->Close());
  return RunCommand(DumpCommand(), {"-"}, log.text).out;
}

TEST(Dump, Text_SaysEverythingInLines) {
  EXPECT_EQ(
      Dump({}),
      "      0               -  buffer       id 1, size 64 KiB, policy ring_buffer, engine "
      "v2@58\n"
      "      1     0.000000000  producer     producer 1, uid 10, pid 100, name 'app\\x1b[1m'\n"
      "      2     0.000000500  writer       producer 1, writer 3, buffer 1\n"
      "      3     1.000000000  commit       1:3 chunk 7 to buffer 1: 2 fragments, 5 bytes, "
      "continues on next, needs patching [shm]\n"
      "      4     1.500000000  patch        1:3 chunk 7 in buffer 1: 1 patch at 0, more "
      "patches follow\n"
      "      5               -  commit       2:4 chunk 0 to buffer 2: 1 fragment, 2 bytes, "
      "incomplete uid 11\n"
      "      6     2.000000000  read         buffer 1, max_packets 10\n");
}

TEST(Dump, SequenceAndBuffer_AreThoseOfChunks) {
  const std::string sequence = Dump({"--seq", "1:3"});
  EXPECT_THAT(sequence, HasSubstr("writer "));
  EXPECT_THAT(sequence, HasSubstr("chunk 7 to"));
  EXPECT_THAT(sequence, Not(HasSubstr("2:4")));
  EXPECT_EQ(Dump({"--buffer", "2"}).substr(0, 7), "      5");
  EXPECT_EQ(Dump({"--seq", "1:3", "--buffer", "2"}), "") << "both must match";
}

TEST(Dump, TimeAndRecords_AreRanges) {
  const std::string dump = Dump({"--from", "1s", "--to", "2500000000"});
  EXPECT_THAT(dump, HasSubstr("chunk 7 to"));
  EXPECT_THAT(dump, HasSubstr("1 patch"));
  EXPECT_THAT(dump, HasSubstr("2:4"));  // without a time: that of the record before it
  EXPECT_THAT(dump, Not(HasSubstr("writer ")));
  EXPECT_THAT(dump, Not(HasSubstr("read ")));
  const std::string records = Dump({"--records", "2..3"});
  EXPECT_THAT(records, HasSubstr("writer "));
  EXPECT_THAT(records, Not(HasSubstr("patch ")));
}

TEST(Dump, RequestOfSeveralChunks_TakesALineForEach) {
  std::string request;
  CommitRequestBuilder builder(request);
  const std::string payload = "\x01x";
  builder.AddChunk(BufferId{1}, {ChunkId{0}, WriterId{3}, 1, 0}, wire::AsBytes(payload), true);
  builder.AddChunk(BufferId{1}, {ChunkId{5}, WriterId{4}, 1, 0x28}, wire::AsBytes(payload), true);
  builder.SetFlushRequestId(9);
  Commit commit;
  commit.producer = ProducerId{2};
  commit.request = wire::AsBytes(request);
  EXPECT_THAT(
      DumpOf(commit),
      HasSubstr(
          "      1               -  commit       2:3 chunk 0 to buffer 1: 1 fragment, 2 bytes\n"
          "                         commit       2:4 chunk 5 to buffer 1: 1 fragment, 2 bytes, "
          "unknown flags 0x28\n"
          "                         commit       producer 2: completes flush 9\n"));
}

TEST(Dump, MalformedRequests_AreSaidToBe) {
  Commit commit;
  commit.request = wire::AsBytes("\x0A\x7F");
  EXPECT_THAT(DumpOf(commit), HasSubstr("malformed request of 2 bytes"));
  commit.request = {};
  EXPECT_THAT(DumpOf(commit), HasSubstr("empty request"));
}

TEST(Dump, Json_IsOneDocument) {
  const auto document = testing::ParsedJson(Dump({"--format", "json"}));
  EXPECT_EQ(document["schema"], "ringscope.dump/1");
  EXPECT_EQ(document["input"], "-");
  ASSERT_EQ(document["records"].size(), 7u);
  EXPECT_EQ(document["records"][3]["op"], "commit");
  EXPECT_EQ(document["records"][3]["record"], 3);
  EXPECT_EQ(document["records"][3]["session"], 1);
  const std::string none = Dump({"--format", "json", "--seq", "77:1"});
  EXPECT_TRUE(testing::ParsedJson(none)["records"].empty());
}

// Fragments: dump shows them with their chunks.

/// A request with chunks of one page each.
std::string RequestOf(const std::string& chunks) {
  return R"({"op":"request","ts":30,"producer":1,"origin":"shm","chunks":[)" + chunks + "]}\n";
}
std::string ChunkOf(int page, int chunk, const std::string& what) {
  return R"({"page":)" + std::to_string(page) + R"(,"index":0,"buffer":1,"writer":1,"chunk":)" +
         std::to_string(chunk) + "," + what + "}";
}

std::string DumpOf(const std::string& log, std::vector<std::string> options) {
  options.push_back("-");
  const Ran ran = RunCommand(DumpCommand(), options, log);
  EXPECT_EQ(ran.error, "");
  return ran.out;
}

// [ c0: timestamp | track_event-> ][ c1: -> | empty | aborted ]
const std::string kTwoChunks =
    RequestOf(ChunkOf(0, 0, R"("fragments":2,"flags":2,"payload":"024005055a0a616263")") + "," +
              ChunkOf(1, 1, R"("fragments":3,"flags":1,"payload":"02646500ffffff7f")"));

TEST(DumpFragments, OfWholeAndContinuedPackets) {
  const std::string dump = DumpOf(kTwoChunks, {"--decode"});
  EXPECT_THAT(dump, HasSubstr("  # fragment 0 at 0: 2 bytes, a whole packet\n"));
  EXPECT_THAT(dump, HasSubstr("  # fragment 1 at 3: 5 bytes of a packet that continues in the next "
                              "chunk\n"));
  EXPECT_THAT(dump, HasSubstr("  # fragment 0 at 0: 2 bytes of a packet that began in a chunk "
                              "before\n"));
  EXPECT_THAT(dump, HasSubstr("  # fragment 1 at 3: 0 bytes, empty\n"));
  EXPECT_THAT(dump, HasSubstr("  # at 4: the marker of a packet that its writer aborted\n"));
}

TEST(DumpFragments, BrokenAndUnfinishedOnes) {
  const std::string broken = DumpOf(
      RequestOf(ChunkOf(0, 0, R"("fragments":2,"flags":0,"payload":"0240057f61")")), {"--decode"});
  EXPECT_THAT(broken, HasSubstr("  # at 3: 2 bytes that are not a fragment\n"));
  const std::string scraped =
      DumpOf(R"({"op":"commit","buffer":1,"producer":1,"writer":4,"chunk":0,"fragments":2,)"
             R"("complete":false,"payload":"02400502616263"})"
             "\n",
             {"--decode"});
  EXPECT_THAT(scraped, HasSubstr("  # at 3: 2 bytes of a fragment that may still grow\n"));
}

}  // namespace
}  // namespace ringscope
