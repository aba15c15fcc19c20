// 57-58-completed-chunk-moves: bytes_written is 64 in v2@58, 32 in v2@57.
// Expected is what v2@58 gives; v2@57 gives something else.
//
// 1:1#0 [ ] scraped
// 1:1#0 [ *1 ]
//
// The buffer before the last read, in bytes:
// v2@58: [ padding 32 ][ 1:1#0 32 ] write cursor 64
// v2@57: [ 1:1#0 32 ] write cursor 32

#include "core/testing/chunk_dsl.h"

namespace ringscope::testing {
namespace {

TEST(Reproducer, 5758CompletedChunkMoves) {
  Buffer buffer = On("v2@58", 4096);
  buffer.Commit(Chunk(1, 1, 0)
                    .Raw(std::string_view("\000", 1))
                    .Incomplete());
  buffer.Commit(Chunk(1, 1, 0)
                    .Whole(0, 'a'));
  EXPECT_THAT(buffer.ReadAll(), NoPackets());
  EXPECT_EQ(buffer.stats().bytes_written, 64u);
  EXPECT_EQ(buffer.stats().bytes_read, 32u);
  EXPECT_EQ(buffer.stats().chunks_written, 2u);
  EXPECT_EQ(buffer.stats().chunks_rewritten, 0u);
  EXPECT_EQ(buffer.stats().chunks_relocated, 1u);
  EXPECT_EQ(buffer.stats().chunks_read, 1u);
}

}  // namespace
}  // namespace ringscope::testing
