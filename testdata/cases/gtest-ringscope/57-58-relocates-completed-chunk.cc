// 57-58-relocates-completed-chunk: packet 1:1#0+0 (1 bytes): loss bits present
// from v1, none from v2@58.
// Expected is what v1 gives; v2@58 gives something else.
//
// 1:1#0 [ a2 ]
//
// The buffer before the last read, in bytes:
// v1: [ 1:1#0 32 ] write cursor 32
// v2@58: [ 1:1#0 32 ] write cursor 32

#include "core/testing/chunk_dsl.h"

namespace ringscope::testing {
namespace {

TEST(Reproducer, 5758RelocatesCompletedChunk) {
  Buffer buffer = On("v1", 4096);
  buffer.Commit(Chunk(1, 1, 0)
                    .Whole(1, 'a'));
  EXPECT_THAT(buffer.ReadAll(),
              Packets("a1!present"));
  EXPECT_EQ(buffer.stats().bytes_written, 32u);
  EXPECT_EQ(buffer.stats().bytes_read, 32u);
  EXPECT_EQ(buffer.stats().chunks_written, 1u);
  EXPECT_EQ(buffer.stats().chunks_read, 1u);
}

}  // namespace
}  // namespace ringscope::testing
