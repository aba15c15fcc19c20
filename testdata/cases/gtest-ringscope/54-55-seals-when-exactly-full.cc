// 54-55-seals-when-exactly-full: bytes_written is 4112 in v2@54, 4096 in v2@55.
// Expected is what v2@54 gives; v2@55 gives something else.
//
// 1:1#0 [ a4065 ]
// 1:2#0 [ ]
//
// The buffer before the last read, in bytes:
// v2@54: [ 1:2#0 16 ][ padding 4080 ] write cursor 16
// v2@55: [ 1:1#0 4096 ] write cursor 4096

#include "core/testing/chunk_dsl.h"

namespace ringscope::testing {
namespace {

TEST(Reproducer, 5455SealsWhenExactlyFull) {
  Buffer buffer = On("v2@54", 4096, FillPolicy::kDiscard);
  buffer.Commit(Chunk(1, 1, 0)
                    .Whole(4063, 'a'));
  buffer.Commit(Chunk(1, 2, 0));
  EXPECT_THAT(buffer.ReadAll(), NoPackets());
  EXPECT_EQ(buffer.stats().bytes_written, 4112u);
  EXPECT_EQ(buffer.stats().bytes_overwritten, 4096u);
  EXPECT_EQ(buffer.stats().bytes_read, 0u);
  EXPECT_EQ(buffer.stats().padding_bytes_written, 4080u);
  EXPECT_EQ(buffer.stats().chunks_written, 2u);
  EXPECT_EQ(buffer.stats().chunks_overwritten, 1u);
  EXPECT_EQ(buffer.stats().chunks_discarded, 0u);
  EXPECT_EQ(buffer.stats().chunks_read, 0u);
}

}  // namespace
}  // namespace ringscope::testing
