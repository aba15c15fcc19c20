// What dump shows of chunks: the fragments in them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "core/testing/smb_dsl.h"
#include "formats/ops/ops_jsonl.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;

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
