// 54-55-readmits-grown-chunk: bytes_written is 4112 in v2@54, 4144 in v2@55.
// Expected is what v2@54 gives; v2@55 gives something else.
//
// 1:1#0 [ ] scraped
// 1:2#0 [ a4001 ]
// 1:1#0 [ *1 ]
//
// The buffer before the last read, in bytes:
// v2@54: [ 1:2#0 4032 ] write cursor 4032
// v2@55: [ 1:2#0 4032 ][ 1:1#0 32 ] write cursor 4064

#include "core/testing/chunk_dsl.h"

namespace ringscope::testing {
namespace {

TEST(Reproducer, 5455ReadmitsGrownChunk) {
  Buffer buffer = On("v2@54", 4096);
  buffer.Commit(Chunk(1, 1, 0)
                    .Raw(std::string(49, '\0'))
                    .Incomplete());
  buffer.Commit(Chunk(1, 2, 0)
                    .Whole(3999, 'a'));
  buffer.Commit(Chunk(1, 1, 0)
                    .Whole(0, 'a'));
  EXPECT_THAT(buffer.ReadAll(),
              Packets("a3999"));
  EXPECT_EQ(buffer.stats().bytes_written, 4112u);
  EXPECT_EQ(buffer.stats().bytes_overwritten, 80u);
  EXPECT_EQ(buffer.stats().bytes_read, 4032u);
  EXPECT_EQ(buffer.stats().chunks_written, 2u);
  EXPECT_EQ(buffer.stats().chunks_overwritten, 1u);
  EXPECT_EQ(buffer.stats().chunks_discarded, 1u);
  EXPECT_EQ(buffer.stats().chunks_read, 1u);
  EXPECT_EQ(buffer.stats().write_wrap_count, 1u);
}

}  // namespace
}  // namespace ringscope::testing
