#include "core/plugin/place_finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/wire.h"
#include "core/plugin/place_index.h"
#include "core/testing/chunk_dsl.h"
#include "core/testing/silent_engine.h"

namespace ringscope {
namespace {

using testing::Chunk;
using ::testing::ElementsAre;

std::unique_ptr<Engine> MakeFinder(uint64_t size) {
  return testing::SilentEngine::Info().create({.size = size}).value();
}

std::vector<std::string> PlacesOf(Engine& engine) {
  std::vector<std::string> places;
  engine.BeginRead();
  while (const Packet* packet = engine.NextPacket()) {
    places.push_back(std::to_string(Raw(packet->place.first_chunk)) + "+" +
                     std::to_string(packet->place.first_offset) + ".." +
                     std::to_string(Raw(packet->place.last_chunk)));
  }
  return places;
}

// [ c0: a20 a20 | b12-> ][ c1: ][ c2: ->b8 a20 ]
TEST(PlaceFinderTest, EqualPacketsAreToldApartByTheirOrder) {
  const auto engine = MakeFinder(4096);
  engine->Commit(Chunk(1, 1, 0).Whole(20, 'a').Whole(20, 'a').Begins(12, 'b').commit());
  engine->Commit(Chunk(1, 1, 1).commit());
  engine->Commit(Chunk(1, 1, 2).Ends(8, 'b').Whole(20, 'a').commit());
  EXPECT_THAT(PlacesOf(*engine), ElementsAre("0+0..0", "0+21..0", "0+42..2", "2+9..2"));
}

TEST(PlaceFinderTest, PatchedPacketsAreFound) {
  const auto engine = MakeFinder(4096);
  engine->Commit(Chunk(1, 1, 0).Begins(12, 'b').NeedsPatching().commit());
  engine->Commit(Chunk(1, 1, 1).Ends(8, 'b').commit());
  const std::string bytes = "PPPP";
  const Patch patch{.offset = 3, .data = wire::AsBytes(bytes).data()};
  EXPECT_TRUE(engine->ApplyPatches(
      {.sequence = {ProducerId{1}, WriterId{1}}, .chunk = ChunkId{0}, .patches = {&patch, 1}}));
  EXPECT_THAT(PlacesOf(*engine), ElementsAre("0+0..1"));
}

// Twice the buffer's size was committed since.
TEST(PlaceFinderTest, APacketThatIsNotKeptHasNoPlace) {
  const auto engine = MakeFinder(4096);
  engine->Commit(Chunk(1, 1, 0).Whole(20, 'a').commit());
  for (uint32_t i = 0; i < 3; ++i)
    engine->Commit(Chunk(1, 2, i).Whole(10, 'b').Raw(std::string(4000, 'c')).commit());
  engine->BeginRead();
  const Packet* packet = engine->NextPacket();
  ASSERT_NE(packet, nullptr);
  EXPECT_EQ(packet->place, kUnknownPlace);
}

TEST(PlaceFinderTest, AClonesPacketsAreFoundToo) {
  const auto engine = MakeFinder(4096);
  engine->Commit(Chunk(1, 1, 7).Whole(20, 'a').Whole(4, 'b').commit());
  const auto clone = engine->Clone().value();
  EXPECT_THAT(PlacesOf(*clone), ElementsAre("7+0..7", "7+21..7"));
}

// 2,000 packets that all are kept, and as many that are not.
TEST(PlaceIndexTest, WorkDoesNotGrowWithTheChunksKept) {
  constexpr uint32_t kPackets = 2000;
  PlaceIndex index;
  std::vector<std::string> contents;
  for (uint32_t i = 0; i < kPackets; ++i) {
    contents.push_back("packet number " + std::to_string(10000 + i));
    std::string payload(1, static_cast<char>(contents.back().size()));
    payload += contents.back();
    index.Keep(i, {.chunk = ChunkId{i}, .fragments = 1, .payload = wire::AsBytes(payload)}, i);
  }
  const auto find = [&index](const std::string& content) {
    const Bytes slice = wire::AsBytes(content);
    Packet packet;
    packet.slices = {&slice, 1};
    packet.size = slice.size();
    return index.Find(packet);
  };
  for (uint32_t i = 0; i < kPackets; ++i) {
    const uint32_t backwards = kPackets - 1 - i;
    ASSERT_EQ(Raw(find(contents[backwards]).first_chunk), backwards);
    ASSERT_EQ(find("no " + contents[i]), kUnknownPlace);
  }
  EXPECT_EQ(index.compared(), kPackets);
}

// [ c0: b60-> ][ c1: ->b8 ], one slice or two, and a beginning without bytes: [ c2: -> ][ c3: ->d9
// ].
TEST(PlaceIndexTest, PacketsAreFoundBySomeOfTheirFirstBytes) {
  for (const uint32_t begin : {0u, 1u, 63u, 64u, 65u, 500u}) {
    SCOPED_TRACE(begin);
    const auto engine = MakeFinder(4096);
    engine->Commit(Chunk(1, 1, 0).Whole(8, 'a').Begins(begin, 'b').commit());
    engine->Commit(Chunk(1, 1, 1).Ends(8, 'b').commit());
    EXPECT_THAT(PlacesOf(*engine), ElementsAre("0+0..0", "0+9..1"));
  }
}

}  // namespace
}  // namespace ringscope
