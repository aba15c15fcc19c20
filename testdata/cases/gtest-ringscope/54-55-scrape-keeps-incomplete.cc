// 54-55-scrape-keeps-incomplete: chunks_discarded is 1 in v2@54, 0 in v2@55.
// Expected is what v2@54 gives; v2@55 gives something else.
//
// 1:1#0 [ a2 ] scraped
// 1:1#0 [ c2 ] scraped
// read
// 1:1#0 [ ]
//
// The buffer before the last read, in bytes:
// v2@54: [ padding 32 ] write cursor 32
// v2@55: [ 1:1#0 32 incomplete 2 read ] write cursor 32

#include "core/testing/chunk_dsl.h"

namespace ringscope::testing {
namespace {

TEST(Reproducer, 5455ScrapeKeepsIncomplete) {
  Buffer buffer = On("v2@54", 4096);
  buffer.Commit(Chunk(1, 1, 0)
                    .Whole(1, 'a')
                    .Whole(0, 'a')
                    .Incomplete());
  buffer.Commit(Chunk(1, 1, 0)
                    .Whole(1, 'c')
                    .Whole(0, 'a')
                    .Incomplete());
  EXPECT_THAT(buffer.ReadAll(),
              Packets("a1"));
  buffer.Commit(Chunk(1, 1, 0));
  EXPECT_THAT(buffer.ReadAll(), NoPackets());
  EXPECT_EQ(buffer.stats().bytes_written, 32u);
  EXPECT_EQ(buffer.stats().bytes_read, 32u);
  EXPECT_EQ(buffer.stats().chunks_written, 1u);
  EXPECT_EQ(buffer.stats().chunks_discarded, 1u);
  EXPECT_EQ(buffer.stats().chunks_read, 1u);
  EXPECT_EQ(buffer.stats().abi_violations, 0u);
}

}  // namespace
}  // namespace ringscope::testing
