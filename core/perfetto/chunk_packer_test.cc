#include "core/perfetto/chunk_packer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/perfetto/fragment.h"

namespace ringscope {
namespace {

using ::testing::ElementsAre;

struct PackedChunk {
  ChunkHeader header;
  std::string payload;
};

/// Chunks of a sequence, and the packets read back from them.
class Packed {
  auto Keep() {
    return [this](const ChunkHeader& header, Bytes payload) {
      chunks_.push_back({header, std::string(wire::AsText(payload))});
    };
  }

 public:
  Packed& Add(const std::string& packet) {
    packer_.Add(wire::AsBytes(packet), Keep());
    return *this;
  }
  Packed& Finish() {
    packer_.Finish(Keep());
    return *this;
  }
  const std::vector<PackedChunk>& chunks() const { return chunks_; }
  std::vector<int> Flags() const {
    std::vector<int> flags;
    for (const PackedChunk& chunk : chunks_) flags.push_back(chunk.header.flags);
    return flags;
  }

  std::vector<std::string> Packets() const {
    std::vector<std::string> packets;
    for (const PackedChunk& chunk : chunks_) {
      uint32_t offset = 0;
      for (int i = 0; i < chunk.header.fragments; ++i) {
        Fragment fragment;
        const auto* payload = reinterpret_cast<const uint8_t*>(chunk.payload.data());
        const auto size = static_cast<uint32_t>(chunk.payload.size());
        EXPECT_EQ(ReadFragment(payload, size, offset, fragment), FragmentStatus::kFragment);
        const FragmentKind kind = KindOf(fragment, size, chunk.header.flags);
        const std::string fragment_bytes = chunk.payload.substr(fragment.body, fragment.size());
        if (kind == FragmentKind::kWhole || kind == FragmentKind::kBegin)
          packets.push_back(fragment_bytes);
        else
          packets.back() += fragment_bytes;
        offset = fragment.end;
      }
    }
    return packets;
  }

 private:
  ChunkPacker packer_{WriterId{7}};
  std::vector<PackedChunk> chunks_;
};

TEST(ChunkPacker, SmallPackets_ShareAChunkOfAWholePage) {
  Packed packed;
  packed.Add("abc").Add(std::string(200, 'x')).Finish();
  ASSERT_EQ(packed.chunks().size(), 1u);
  const PackedChunk& chunk = packed.chunks()[0];
  EXPECT_EQ(chunk.header,
            (ChunkHeader{.chunk = ChunkId{0}, .writer = WriterId{7}, .fragments = 2, .flags = 0}));
  EXPECT_EQ(chunk.payload.size(), 4080u);
  EXPECT_EQ(chunk.payload.substr(0, 9), std::string("\x03"
                                                    "abc\xC8\x81\x80\x00x",
                                                    9));
  EXPECT_EQ(chunk.payload.back(), '\0');
}

TEST(ChunkPacker, Nothing_MakesNoChunk) {
  Packed packed;
  EXPECT_TRUE(packed.Finish().chunks().empty());
}

// [ ffff> ][ >ffff> ][ >ff ]
TEST(ChunkPacker, LongPacket_IsContinued) {
  Packed packed;
  const std::string packet(10'000, 'f');
  packed.Add(packet).Finish();
  EXPECT_THAT(packed.Flags(), ElementsAre(2, 3, 1));
  EXPECT_THAT(packed.Packets(), ElementsAre(packet));
  EXPECT_EQ(packed.chunks()[2].header.chunk, ChunkId{2});
}

TEST(ChunkPacker, FullChunk_IsEmittedAtOnce) {
  Packed packed;
  packed.Add(std::string(4076, 'a'));
  EXPECT_THAT(packed.Flags(), ElementsAre(0));
  packed.Add("b").Finish();
  EXPECT_THAT(packed.Flags(), ElementsAre(0, 0)) << "the next one continues nothing";
}

TEST(ChunkPacker, TooLittleRoom_StartsTheNextChunk) {
  for (const size_t space : {1u, 4u, 10u, 11u, 12u}) {
    Packed packed;
    packed.Add(std::string(4076 - space, 'a')).Add(std::string(300, 'b')).Finish();
    EXPECT_THAT(packed.Flags(), space < 11 ? ElementsAre(0, 0) : ElementsAre(2, 1)) << space;
    EXPECT_THAT(packed.Packets(),
                ElementsAre(std::string(4076 - space, 'a'), std::string(300, 'b')));
  }
}

TEST(ChunkPacker, ChunkHoldsAsManyFragmentsAsItsHeaderCanCount) {
  Packed packed;
  for (int i = 0; i < 1024; ++i) packed.Add("x");
  packed.Finish();
  ASSERT_EQ(packed.chunks().size(), 2u);
  EXPECT_EQ(packed.chunks()[0].header.fragments, 1023);
  EXPECT_EQ(packed.chunks()[1].header.fragments, 1);
}

TEST(ChunkPacker, EveryPairOfSizes_ComesBack) {
  for (size_t first = 3900; first < 4090; ++first) {
    for (const size_t second : {1u, 5u, 127u, 128u, 4076u, 4077u, 9000u}) {
      Packed packed;
      const std::string a(first, 'a'), b(second, 'b');
      packed.Add(a).Add(b).Finish();
      ASSERT_THAT(packed.Packets(), ElementsAre(a, b)) << first << " " << second;
    }
  }
}

}  // namespace
}  // namespace ringscope
