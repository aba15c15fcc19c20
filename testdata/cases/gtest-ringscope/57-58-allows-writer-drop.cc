// 57-58-allows-writer-drop: abi_violations is 1 in v2@57, 0 in v2@58.
// Expected is what v2@57 gives; v2@58 gives something else.
//
// 1:1#0 [ abort marker ]
//
// The buffer before the last read, in bytes:
// v2@57: [ 1:1#0 16 ] write cursor 16
// v2@58: [ 1:1#0 16 ] write cursor 16

#include "core/testing/chunk_dsl.h"

namespace ringscope::testing {
namespace {

TEST(Reproducer, 5758AllowsWriterDrop) {
  Buffer buffer = On("v2@57", 4096);
  buffer.Commit(Chunk(1, 1, 0)
                    .Raw(std::string_view("\377\377\377\177", 4))
                    .Counting(1));
  EXPECT_THAT(buffer.ReadAll(), NoPackets());
  EXPECT_EQ(buffer.stats().bytes_written, 16u);
  EXPECT_EQ(buffer.stats().chunks_written, 1u);
  EXPECT_EQ(buffer.stats().abi_violations, 1u);
  EXPECT_EQ(buffer.stats().trace_writer_packet_loss, 1u);
}

}  // namespace
}  // namespace ringscope::testing
