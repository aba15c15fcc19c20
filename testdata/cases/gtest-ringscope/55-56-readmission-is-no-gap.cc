// 55-56-readmission-is-no-gap: bytes_overwritten is 80 in v2@55, 0 in v2@56.
// Expected is what v2@55 gives; v2@56 gives something else.
//
// 1:1#0 [ ] scraped
// 1:2#0 [ a4001 ]
//
// The buffer before the last read, in bytes:
// v2@55: [ 1:2#0 4032 ] write cursor 4032
// v2@56: [ 1:2#0 4032 ] write cursor 4032

#include "core/testing/chunk_dsl.h"

namespace ringscope::testing {
namespace {

TEST(Reproducer, 5556ReadmissionIsNoGap) {
  Buffer buffer = On("v2@55", 4096);
  buffer.Commit(Chunk(1, 1, 0)
                    .Raw(std::string(49, '\0'))
                    .Incomplete());
  buffer.Commit(Chunk(1, 2, 0)
                    .Whole(3999, 'a'));
  EXPECT_THAT(buffer.ReadAll(),
              Packets("a3999"));
  EXPECT_EQ(buffer.stats().bytes_written, 4112u);
  EXPECT_EQ(buffer.stats().bytes_overwritten, 80u);
  EXPECT_EQ(buffer.stats().bytes_read, 4032u);
  EXPECT_EQ(buffer.stats().chunks_written, 2u);
  EXPECT_EQ(buffer.stats().chunks_overwritten, 1u);
  EXPECT_EQ(buffer.stats().chunks_read, 1u);
  EXPECT_EQ(buffer.stats().write_wrap_count, 1u);
}

}  // namespace
}  // namespace ringscope::testing
