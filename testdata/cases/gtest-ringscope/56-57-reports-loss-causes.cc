// 56-57-reports-loss-causes: packet 1:1#1+0 (2991 bytes): loss bits overwrite
// from v2@57, present from v2@56.
// Expected is what v2@57 gives; v2@56 gives something else.
//
// 1:1#0 [ a1057 ]
// 1:1#1 [ b2993 ]
//
// The buffer before the last read, in bytes:
// v2@57: [ 1:1#1 3024 ] write cursor 3024
// v2@56: [ 1:1#1 3024 ] write cursor 3024

#include "core/testing/chunk_dsl.h"

namespace ringscope::testing {
namespace {

TEST(Reproducer, 5657ReportsLossCauses) {
  Buffer buffer = On("v2@57", 4096);
  buffer.Commit(Chunk(1, 1, 0)
                    .Whole(1055, 'a'));
  buffer.Commit(Chunk(1, 1, 1)
                    .Whole(2991, 'b'));
  EXPECT_THAT(buffer.ReadAll(),
              Packets("b2991!overwrite"));
  EXPECT_EQ(buffer.stats().bytes_written, 4112u);
  EXPECT_EQ(buffer.stats().bytes_overwritten, 1088u);
  EXPECT_EQ(buffer.stats().bytes_read, 3024u);
  EXPECT_EQ(buffer.stats().chunks_written, 2u);
  EXPECT_EQ(buffer.stats().chunks_overwritten, 1u);
  EXPECT_EQ(buffer.stats().chunks_read, 1u);
  EXPECT_EQ(buffer.stats().write_wrap_count, 1u);
}

}  // namespace
}  // namespace ringscope::testing
