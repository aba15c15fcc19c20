#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/wire.h"
#include "core/session/replay_outcome.h"
#include "core/testing/message_text.h"

namespace ringscope::testing {
namespace {

constexpr uint64_t kClears = 1;
constexpr uint64_t kNeeds = 2;

size_t IndexOf(LossBit bit) {
  size_t i = 0;
  while (kLossBitNames.at(i).bit != bit) ++i;
  return i;
}

/// Feeds packets of one buffer's sequences to an analysis.
class Feeder {
 public:
  /// @param flags sequence_flags; 0: absent
  Feeder& Add(uint16_t writer, uint32_t dropped, uint64_t flags) {
    return AddBytes(writer, dropped, {Uint(8, 12345) + (flags != 0 ? Uint(13, flags) : "")});
  }
  Feeder& AddBytes(uint16_t writer, uint32_t dropped, const std::vector<std::string>& parts) {
    std::vector<Bytes> slices;
    for (const std::string& part : parts) slices.push_back(wire::AsBytes(part));
    Packet packet;
    packet.sequence = {ProducerId{1}, WriterId{writer}};
    packet.dropped = dropped;
    packet.slices = slices;
    for (const Bytes slice : slices) packet.size += slice.size();
    std::string joined;
    analysis_.AddPacket({.buffer = buffer_, .packet = &packet},
                        ReadPacketFacts(Joined(slices, joined)));
    return *this;
  }
  Feeder& In(uint16_t buffer) {
    buffer_ = BufferId{buffer};
    return *this;
  }
  BufferLosses Result(uint16_t buffer = 0) { return analysis_.Result()[BufferId{buffer}]; }
  size_t buffers() const { return analysis_.Result().size(); }

 private:
  LossAnalysis analysis_;
  BufferId buffer_{};
};

TEST(Loss_PacketLoss, ASequencesFirstPacketIsNone) {
  const BufferLosses losses =
      Feeder().Add(1, 1, 0).Add(1, 0, 0).Add(2, kLossPresent | kLossOverwrite, 0).Result();
  EXPECT_EQ(losses.sequence_packet_loss, 0u);
  for (const uint64_t count : losses.by_bit) EXPECT_EQ(count, 0u);
}

TEST(Loss_PacketLoss, CountsPacketsAndTheirBits) {
  const BufferLosses losses = Feeder()
                                  .Add(1, 0, 0)
                                  .Add(1, kLossPresent | kLossOverwrite | kLossReadGap, 0)
                                  .Add(2, 0, 0)
                                  .Add(2, kLossPresent | kLossOverwrite, 0)
                                  .Add(2, kLossPresent, 0)
                                  .Result();
  EXPECT_EQ(losses.sequence_packet_loss, 3u);
  EXPECT_EQ(losses.by_bit[IndexOf(kLossOverwrite)], 2u);
  EXPECT_EQ(losses.by_bit[IndexOf(kLossReadGap)], 1u);
  EXPECT_EQ(losses.by_bit[IndexOf(kLossWriterAbort)], 0u);
}

TEST(Loss_PacketLoss, TheProducersOwnFieldCountsUnlessTheServiceAddsOne) {
  const std::string own = Uint(42, kLossPresent | kLossSmbFull);
  const BufferLosses losses = Feeder()
                                  .Add(1, 0, 0)
                                  .AddBytes(1, 0, {own})
                                  .AddBytes(1, kLossPresent | kLossReadGap, {own})
                                  .Result();
  EXPECT_EQ(losses.sequence_packet_loss, 2u);
  EXPECT_EQ(losses.by_bit[IndexOf(kLossSmbFull)], 1u);
  EXPECT_EQ(losses.by_bit[IndexOf(kLossReadGap)], 1u);
}

TEST(Loss_PacketLoss, IsByBuffer) {
  Feeder feeder;
  feeder.In(4).Add(1, 0, 0).Add(1, 1, 0).In(5).Add(2, 0, 0);
  EXPECT_EQ(feeder.buffers(), 2u);
  EXPECT_EQ(feeder.Result(4).sequence_packet_loss, 1u);
  EXPECT_EQ(feeder.Result(5).sequence_packet_loss, 0u);
}

TEST(Loss_IncrementalState, DroppedIfNoPacketCouldUseIt) {
  // Writer 1 never clears, 2 clears too late but then uses it, 3 needs none, 4 clears and loses.
  const BufferLosses losses = Feeder()
                                  .Add(1, 0, kNeeds)
                                  .Add(1, 0, kNeeds)
                                  .Add(2, 0, kNeeds)
                                  .Add(2, 0, kClears)
                                  .Add(2, 0, kNeeds)
                                  .Add(3, 0, 0)
                                  .Add(4, 0, kClears)
                                  .Add(4, 1, kNeeds)
                                  .Add(4, 0, kNeeds)
                                  .Result();
  EXPECT_EQ(losses.incremental_sequences_dropped, 2u);
}

TEST(Loss_IncrementalState, ClearingInTheSamePacketHealsALoss) {
  EXPECT_EQ(Feeder().Add(1, 1, kClears | kNeeds).Result().incremental_sequences_dropped, 0u);
  const std::string cleared = Uint(41, 1) + Uint(13, kNeeds);
  EXPECT_EQ(Feeder().AddBytes(1, 1, {cleared}).Result().incremental_sequences_dropped, 0u);
}

TEST(Loss_IncrementalState, FlagsAreFoundAcrossSlices) {
  const std::string bytes = Sub(1, "some content") + Uint(13, kNeeds);
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    const BufferLosses losses =
        Feeder().AddBytes(1, 0, {bytes.substr(0, cut), bytes.substr(cut)}).Result();
    EXPECT_EQ(losses.incremental_sequences_dropped, 1u) << cut;
  }
}

TEST(Loss_IncrementalState, OtherWireTypesAreNotMistaken) {
  const std::string bytes = Sub(13, "\x02") + Sub(42, "\x01");
  const BufferLosses losses = Feeder().Add(1, 0, 0).AddBytes(1, 0, {bytes}).Result();
  EXPECT_EQ(losses.incremental_sequences_dropped, 0u);
  EXPECT_EQ(losses.sequence_packet_loss, 0u);
}

}  // namespace
}  // namespace ringscope::testing
