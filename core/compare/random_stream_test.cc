// That random streams bring about what they are for: situations that are easily missed.

#include "core/compare/random_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/base/wire.h"
#include "core/engine/catalogue.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/fragment.h"
#include "core/testing/stream_sets.h"

namespace ringscope::testing {
namespace {

/// Counts situations in a buffer by what it reports.
class Situations : public EngineObserver {
 public:
  void OnCommitted(const ObservedChunk& chunk) override {
    std::set<uint32_t>& held = held_[chunk.sequence];
    opposite_ids += held.count(Raw(chunk.chunk) ^ 0x80000000);
    held.insert(Raw(chunk.chunk));
    longest_list = std::max(longest_list, held.size());
    identities_[{chunk.sequence, chunk.chunk}] = by;
  }
  void OnErased(const ObservedChunk& chunk) override {
    held_[chunk.sequence].erase(Raw(chunk.chunk));
  }
  void OnPacketReturned(const Packet& packet) override {
    foreign_identities +=
        identities_[{packet.sequence, packet.place.first_chunk}] != packet.identity;
    widest_packet =
        std::max(widest_packet, Distance(packet.place.first_chunk, packet.place.last_chunk));
  }
  void OnPacketAbandoned(SequenceKey, const PacketPlace& place, uint32_t cause) override {
    constexpr uint32_t kLong = 20;
    long_holes +=
        cause == kLossReassemblyGap && Distance(place.first_chunk, place.last_chunk) >= kLong;
    // A read-ahead reports an invalid fragment, what it reads after that, and then the packet's
    // beginning.
    if (cause == kLossOrphanContinuation) {
      rest_read_ |= invalid_ && Distance(*invalid_, place.first_chunk) == 1;
      return;
    }
    read_past_invalid += rest_read_ && Distance(place.first_chunk, *invalid_) < 1000;
    invalid_ = place.first_chunk;
    rest_read_ = false;
  }

  Identity by;  // of the commit under way
  uint64_t opposite_ids = 0;
  size_t longest_list = 0;
  uint32_t widest_packet = 0;  // in chunks
  uint64_t long_holes = 0;     // packets abandoned for a missing chunk after many
  uint64_t foreign_identities = 0;
  uint64_t read_past_invalid = 0;

 private:
  std::map<SequenceKey, std::set<uint32_t>> held_;
  std::map<std::pair<SequenceKey, ChunkId>, Identity> identities_;
  std::optional<ChunkId> invalid_;
  bool rest_read_ = false;
};

/// Bad sizes among the fragments that chunks count.
struct SizeCounts {
  uint64_t unterminated = 0, overlong = 0, too_large = 0, huge = 0, aborts = 0;

  void Add(const ChunkCommit& commit) {
    uint32_t offset = 0;
    const auto size = static_cast<uint32_t>(commit.payload.size());
    for (uint32_t i = 0; i < commit.fragments && offset < size; ++i) {
      const wire::Varint varint = wire::ReadVarint(commit.payload.subspan(offset));
      if (varint.size == 0) {
        ++unterminated;
        return;
      }
      overlong += varint.size > wire::VarintSize(varint.value);
      if (varint.value == kWriterDropSize) {
        ++aborts;
        return;
      }
      if (varint.value > size - offset - varint.size) {
        ++(varint.value > UINT32_MAX ? huge : too_large);
        return;
      }
      offset += static_cast<uint32_t>(varint.size + varint.value);
    }
  }
};

void RunStreams(const char* engine_name, Conduct conduct, Situations& seen, SizeCounts& sizes,
                StreamSet set = {.streams = 300, .steps = 400}) {
  for (uint32_t seed = 0; seed < set.streams; ++seed) {
    RandomStream stream(seed, conduct);
    const auto engine =
        FindEngine(engine_name)
            .value()
            ->create(
                {.size = stream.traits().size, .policy = stream.traits().policy, .observer = &seen})
            .value();
    for (int i = 0; i < set.steps; ++i) {
      const RandomStream::Step step = stream.Next();
      switch (step.kind) {
        case RandomStream::Kind::kCommit:
          seen.by = step.commit.identity;
          sizes.Add(step.commit);
          engine->Commit(step.commit);
          break;
        case RandomStream::Kind::kPatch:
          engine->ApplyPatches(step.patches);
          break;
        case RandomStream::Kind::kRead:
          engine->BeginRead();
          for (uint64_t n = 0; n < step.max_packets && engine->NextPacket() != nullptr; ++n)
            continue;
          break;
        case RandomStream::Kind::kClone:
          break;
      }
    }
  }
}

TEST(RandomStreamReaches, IdsHalfTheRangeApartAndLongLists) {
  Situations seen;
  SizeCounts sizes;
  RunStreams("v2@58", Conduct::kHostile, seen, sizes);
  EXPECT_GT(seen.opposite_ids, 20u);
  EXPECT_GT(seen.longest_list, 100u);
}

TEST(RandomStreamReaches, PacketsOverHundredsOfChunksAndHolesInThem) {
  Situations seen;
  SizeCounts sizes;
  RunStreams("v2@58", Conduct::kCorrect, seen, sizes);
  EXPECT_GT(seen.widest_packet, 100u);
  EXPECT_GT(seen.long_holes, 5u);
}

TEST(RandomStreamReaches, ReadAheadsThatLoseAPacketInV1) {
  for (const StreamSet set : {kAgreementStreams, kObserverStreams}) {
    SCOPED_TRACE(set.streams);
    Situations seen;
    SizeCounts sizes;
    RunStreams("v1", Conduct::kHostile, seen, sizes, set);
    EXPECT_GT(seen.read_past_invalid, 5u);
    // The packets after it have the identity of the lost one.
    EXPECT_GT(seen.foreign_identities, 5u);
  }
}

TEST(RandomStreamReaches, SizesOfEveryBadKind) {
  Situations seen;
  SizeCounts sizes;
  RunStreams("v1", Conduct::kHostile, seen, sizes);
  EXPECT_GT(sizes.unterminated, 20u);
  EXPECT_GT(sizes.overlong, 20u);
  EXPECT_GT(sizes.too_large, 20u);
  EXPECT_GT(sizes.huge, 20u);
  EXPECT_GT(sizes.aborts, 20u);
}

}  // namespace
}  // namespace ringscope::testing
