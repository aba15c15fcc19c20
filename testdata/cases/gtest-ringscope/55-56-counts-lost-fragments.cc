// 55-56-counts-lost-fragments: bytes_overwritten is 80 in v2@55, 64 in v2@56.
// Expected is what v2@55 gives; v2@56 gives something else.
//
// 1:1#0 [ ]
// 1:2#0 [ a33 ]
// 1:2#1 [ b4001 ]
//
// The buffer before the last read, in bytes:
// v2@55: [ 1:2#1 4032 ] write cursor 4032
// v2@56: [ 1:2#1 4032 ] write cursor 4032

#include "core/testing/chunk_dsl.h"

namespace ringscope::testing {
namespace {

TEST(Reproducer, 5556CountsLostFragments) {
  Buffer buffer = On("v2@55", 4096);
  buffer.Commit(Chunk(1, 1, 0));
  buffer.Commit(Chunk(1, 2, 0)
                    .Whole(32, 'a'));
  buffer.Commit(Chunk(1, 2, 1)
                    .Whole(3999, 'b'));
  EXPECT_THAT(buffer.ReadAll(),
              Packets("b3999!present"));
  EXPECT_EQ(buffer.stats().bytes_written, 4112u);
  EXPECT_EQ(buffer.stats().bytes_overwritten, 80u);
  EXPECT_EQ(buffer.stats().bytes_read, 4032u);
  EXPECT_EQ(buffer.stats().chunks_written, 3u);
  EXPECT_EQ(buffer.stats().chunks_overwritten, 2u);
  EXPECT_EQ(buffer.stats().chunks_read, 1u);
  EXPECT_EQ(buffer.stats().write_wrap_count, 1u);
}

}  // namespace
}  // namespace ringscope::testing
