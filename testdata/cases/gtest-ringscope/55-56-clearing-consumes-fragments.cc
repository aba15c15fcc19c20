// 55-56-clearing-consumes-fragments: bytes_overwritten is 1984 in v2@55, 2192
// in v2@56.
// Expected is what v2@55 gives; v2@56 gives something else.
//
// 1:1#0 [ a1953-> ]
// 1:1#1 [ ->b177 ]
// 1:2#0 [ c1889 ]
//
// The buffer before the last read, in bytes:
// v2@55: [ 1:2#0 1920 ][ padding 64 ][ 1:1#1 208 177 read ] write cursor 1920
// v2@56: [ 1:2#0 1920 ][ padding 64 ][ 1:1#1 208 177 read ] write cursor 1920

#include "core/testing/chunk_dsl.h"

namespace ringscope::testing {
namespace {

TEST(Reproducer, 5556ClearingConsumesFragments) {
  Buffer buffer = On("v2@55", 4096);
  buffer.Commit(Chunk(1, 1, 0)
                    .Begins(1951, 'a'));
  buffer.Commit(Chunk(1, 1, 1)
                    .Ends(175, 'b'));
  buffer.Commit(Chunk(1, 2, 0)
                    .Whole(1887, 'c'));
  EXPECT_THAT(buffer.ReadAll(),
              Packets("c1887"));
  EXPECT_EQ(buffer.stats().bytes_written, 4112u);
  EXPECT_EQ(buffer.stats().bytes_overwritten, 1984u);
  EXPECT_EQ(buffer.stats().bytes_read, 1920u);
  EXPECT_EQ(buffer.stats().padding_bytes_written, 64u);
  EXPECT_EQ(buffer.stats().chunks_written, 3u);
  EXPECT_EQ(buffer.stats().chunks_overwritten, 1u);
  EXPECT_EQ(buffer.stats().chunks_read, 1u);
  EXPECT_EQ(buffer.stats().write_wrap_count, 1u);
  EXPECT_EQ(buffer.stats().readaheads_succeeded, 1u);
}

}  // namespace
}  // namespace ringscope::testing
