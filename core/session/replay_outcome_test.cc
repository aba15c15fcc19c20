#include "core/session/replay_outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <string>
#include <vector>

#include "core/base/wire.h"
#include "core/testing/message_text.h"
#include "core/testing/session_log.h"

namespace ringscope::testing {
namespace {

class TraceProcessorStatsTest : public ::testing::Test {
 protected:
  void Apply(const Op& op) { ASSERT_TRUE(replay_.Apply(op)); }
  template <typename Body>
  void ApplyBody(Body body) {
    Apply(Op{.time_ns = {}, .body = std::move(body)});
  }
  /// A packet that has the field.
  void Packet(uint32_t number, const std::string& content) {
    const std::string packet = Sub(number, content);
    std::string payload;
    wire::AppendVarint(payload, packet.size());
    payload += packet;
    Apply(Request(1).Move(0, Chunk(1, 1, chunk_++).Counting(1).Raw(payload)).op());
  }
  static std::string CpuStats(uint64_t phase, uint64_t cpu, uint64_t overrun, uint64_t dropped) {
    return Uint(1, phase) + Sub(2, Uint(1, cpu) + Uint(3, overrun) + Uint(8, dropped));
  }
  /// "severity value" of a row; "-": there is none.
  std::string Row(const std::string& name, std::optional<uint32_t> index = {}) {
    if (!outcome_) outcome_ = replay_.Finish().value();
    for (const StatRow& row : TraceProcessorStats(*outcome_))
      if (row.name == name && row.index == index)
        return std::string(Name(row.severity)) + " " + std::to_string(row.value);
    return "-";
  }

  CountedReplay replay_{{}, {}};
  std::optional<ReplayOutcome> outcome_;
  uint32_t chunk_ = 0;
};

TEST_F(TraceProcessorStatsTest, Ftrace_PerCpu) {
  Apply(BufferOp(0));
  Packet(34, CpuStats(1, 3, 100, 7));
  Packet(1, Uint(1, 3) + Uint(3, 1));
  Packet(34, CpuStats(2, 3, 140, 9));
  EXPECT_EQ(Row("ftrace_cpu_overrun_begin", 3), "info 100");
  EXPECT_EQ(Row("ftrace_cpu_overrun_end", 3), "info 140");
  EXPECT_EQ(Row("ftrace_cpu_overrun_delta", 3), "info 40");
  EXPECT_EQ(Row("ftrace_cpu_dropped_events_delta", 3), "error 2");
  EXPECT_EQ(Row("ftrace_cpu_has_data_loss", 3), "data_loss 1");
  EXPECT_EQ(Row("ftrace_cpu_entries_begin", 3), "-");  // was not in the packets
  EXPECT_EQ(Row("ftrace_cpu_has_data_loss", 0), "-");
}

TEST_F(TraceProcessorStatsTest, Ftrace_TimesAreNanoseconds) {
  Apply(BufferOp(0));
  std::string of_cpu = Uint(1, 0);
  wire::AppendTag(of_cpu, 7, wire::Type::kFixed64);
  const auto bits = std::bit_cast<uint64_t>(12.5);
  for (unsigned i = 0; i < 8; ++i) of_cpu.push_back(static_cast<char>(bits >> (8 * i)));
  Packet(34, Uint(1, 2) + Sub(2, of_cpu));
  EXPECT_EQ(Row("ftrace_cpu_now_ts_end", 0), "info 12500000000");
  EXPECT_EQ(Row("ftrace_cpu_now_ts_delta", 0), "-");
}

TEST_F(TraceProcessorStatsTest, Ftrace_Kprobes) {
  Apply(BufferOp(0));
  for (const uint64_t phase : {1, 2})
    Packet(34, Uint(1, phase) + Sub(10, Uint(1, 10 * phase) + Uint(2, 5 * phase)));
  EXPECT_EQ(Row("ftrace_kprobe_hits_delta"), "info 10");
  EXPECT_EQ(Row("ftrace_kprobe_misses_delta"), "data_loss 5");
}

TEST_F(TraceProcessorStatsTest, WrittenIntoAFile_OverwrittenBytesAreALoss) {
  const std::string config = Uint(8, 1);
  ApplyBody(TraceConfigRecord{.config = config, .session = 1});
  ApplyBody(BufferSetUp{.id = BufferId{0}, .index = 0, .size = 4096, .session = 1});
  ApplyBody(BufferSetUp{
      .id = BufferId{1}, .index = 1, .size = 4096, .policy = FillPolicy::kDiscard, .session = 1});
  ApplyBody(BufferSetUp{.id = BufferId{2}, .index = 2, .size = 4096, .session = 2});
  for (uint32_t i = 0; i < 10; ++i) Apply(Request(1).Move(0, Chunk(1, 1, i).Whole(1000, 'a')).op());
  const std::string overwritten = Row("traced_buf_bytes_overwritten", 0);
  EXPECT_NE(overwritten, "info 0");
  EXPECT_EQ("data_loss" + overwritten.substr(4), Row("long_trace_mode_bytes_overwritten", 0));
  EXPECT_EQ(Row("long_trace_mode_bytes_overwritten", 1), "data_loss 0");
  EXPECT_EQ(Row("config_write_into_file_discard", 0), "-");
  EXPECT_EQ(Row("config_write_into_file_discard", 1), "data_loss 1");
  EXPECT_EQ(Row("long_trace_mode_bytes_overwritten", 2), "-");  // of another session
}

TEST_F(TraceProcessorStatsTest, FinalFlush) {
  constexpr uint64_t kAtStopByService = 2 | 1 << 4;
  ApplyBody(FlushRequested{
      .flush = 1, .producer = ProducerId{1}, .instances = {}, .flags = kAtStopByService});
  EXPECT_EQ(Row("traced_final_flush_succeeded"), "info 0");
  EXPECT_EQ(Row("traced_final_flush_failed"), "data_loss 1");
  EXPECT_EQ(Row("traced_flushes_failed"), "data_loss 1");
}

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
