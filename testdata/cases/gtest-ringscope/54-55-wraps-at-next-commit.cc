// 54-55-wraps-at-next-commit: write_wrap_count is 0 in v2@54, 1 in v2@55.
// Expected is what v2@54 gives; v2@55 gives something else.
//
// 1:1#0 [ a4065 ]
// 1:2#0 [ ]
//
// The buffer before the last read, in bytes:
// v2@54: [ 1:2#0 16 ][ padding 4080 ] write cursor 16
// v2@55: [ 1:2#0 16 ][ padding 4080 ] write cursor 16

#include "core/testing/chunk_dsl.h"

namespace ringscope::testing {
namespace {

TEST(Reproducer, 5455WrapsAtNextCommit) {
  Buffer buffer = On("v2@54", 4096);
  buffer.Commit(Chunk(1, 1, 0)
                    .Whole(4063, 'a'));
  buffer.Commit(Chunk(1, 2, 0));
  EXPECT_THAT(buffer.ReadAll(), NoPackets());
  EXPECT_EQ(buffer.stats().bytes_written, 4112u);
  EXPECT_EQ(buffer.stats().bytes_overwritten, 4096u);
  EXPECT_EQ(buffer.stats().padding_bytes_written, 4080u);
  EXPECT_EQ(buffer.stats().chunks_written, 2u);
  EXPECT_EQ(buffer.stats().chunks_overwritten, 1u);
  EXPECT_EQ(buffer.stats().write_wrap_count, 0u);
}

}  // namespace
}  // namespace ringscope::testing
