// counter chunks_read: it differs.
// Expected is what v2@57 gives; v2@58 gives something else.
//
// 1:2#4294967295 [ a2 ]
// 1:2#0 [ ] scraped
// 1:3#0 [ ]
// 1:2#0 is patched
// clone
// read of at most 1 packet
//
// The buffer before the last read, in bytes:
// v2@57: [ 1:2#4294967295 32 2 read ][ 1:2#0 32 incomplete ][ 1:3#0 16 ] write
// cursor 80
// v2@58: [ 1:2#4294967295 32 2 read ][ 1:2#0 32 incomplete ][ 1:3#0 16 ] write
// cursor 80

#include "core/testing/chunk_dsl.h"

namespace ringscope::testing {
namespace {

TEST(Reproducer, CounterChunksRead) {
  Buffer buffer = On("v2@57", 4096, FillPolicy::kDiscard);
  buffer.Commit(Chunk(1, 2, 4294967295u)
                    .Whole(1, 'a')
                    .Raw(std::string_view("zz", 2))
                    .From({7, 8}));
  buffer.Commit(Chunk(1, 2, 0)
                    .Raw(std::string_view("\177", 1))
                    .Counting(1)
                    .Incomplete()
                    .From({7, 8}));
  {
    const std::string_view payload("", 0);
    buffer.engine().Commit({.sequence = {ProducerId{1}, WriterId{3}},
                            .identity = {7, 8},
                            .chunk = ChunkId{0},
                            .fragments = 0,
                            .flags = 1,
                            .complete = true,
                            .payload = wire::AsBytes(payload)});
  }
  {
    const Patch patches[] = {{.offset = 1, .data = reinterpret_cast<const uint8_t*>("abcd")},
                             {.offset = 5, .data = reinterpret_cast<const uint8_t*>("wxyz")}};
    EXPECT_FALSE(buffer.engine().ApplyPatches(
        {.sequence = {ProducerId{1}, WriterId{2}}, .chunk = ChunkId{0},
         .patches = patches, .more = true}));
  }
  {
    const std::unique_ptr<Engine> clone = buffer.engine().Clone().value();
    clone->BeginRead();
    {
      const Packet* const packet = (*clone).NextPacket();
      ASSERT_NE(packet, nullptr);
      EXPECT_EQ(Describe(*packet), "a1");
      EXPECT_EQ(LossBitsToString(packet->dropped), "none");
      EXPECT_EQ(packet->identity, (Identity{7, 8}));
    }
    EXPECT_EQ((*clone).NextPacket(), nullptr);
  }
  buffer.engine().BeginRead();
  {
    const Packet* const packet = buffer.engine().NextPacket();
    ASSERT_NE(packet, nullptr);
    EXPECT_EQ(Describe(*packet), "a1");
    EXPECT_EQ(LossBitsToString(packet->dropped), "none");
    EXPECT_EQ(packet->identity, (Identity{7, 8}));
  }
  buffer.engine().BeginRead();
  EXPECT_EQ(buffer.engine().NextPacket(), nullptr);
  EXPECT_EQ(buffer.stats().bytes_written, 80u);
  EXPECT_EQ(buffer.stats().bytes_read, 32u);
  EXPECT_EQ(buffer.stats().chunks_written, 3u);
  EXPECT_EQ(buffer.stats().chunks_read, 1u);
  EXPECT_EQ(buffer.stats().patches_failed, 1u);
}

}  // namespace
}  // namespace ringscope::testing
