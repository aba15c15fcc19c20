#include "core/trace/trace_scan.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/packet_facts.h"
#include "core/testing/message_text.h"
#include "core/testing/protovm_dsl.h"
#include "core/trace/stat_rows.h"

namespace ringscope {
namespace {

using proto::TracePacket;

/// A TracePacket, field by field.
class PacketText {
 public:
  explicit PacketText(uint32_t sequence = 7) {
    if (sequence != 0) Uint(TracePacket::kTrustedPacketSequenceId, sequence);
  }
  PacketText& Uint(uint32_t field, uint64_t value) {
    wire::AppendUint(text_, field, value);
    return *this;
  }
  PacketText& Message(uint32_t field, const PacketText& message) {
    wire::AppendBytes(text_, field, wire::AsBytes(message.text_));
    return *this;
  }
  PacketText& Text(uint32_t field, std::string_view text) {
    wire::AppendBytes(text_, field, wire::AsBytes(text));
    return *this;
  }
  PacketText& Event() { return Message(TracePacket::kTrackEvent, PacketText(0)); }
  PacketText& At(uint64_t ns) { return Uint(TracePacket::kTimestamp, ns); }
  PacketText& Dropped(uint64_t bits) { return Uint(TracePacket::kPreviousPacketDropped, bits); }
  PacketText& Flags(uint64_t flags) { return Uint(TracePacket::kSequenceFlags, flags); }
  Bytes bytes() const { return wire::AsBytes(text_); }

 private:
  std::string text_;
};
PacketText Nested() { return PacketText(0); }

/// A snapshot of clocks, as {id, ns} pairs, on a sequence.
PacketText Snapshot(std::initializer_list<std::pair<uint64_t, uint64_t>> clocks,
                    uint32_t sequence = 1) {
  PacketText snapshot = Nested();
  for (const auto& [id, ns] : clocks)
    snapshot.Message(proto::ClockSnapshot::kClocks,
                     Nested()
                         .Uint(proto::ClockSnapshot::Clock::kClockId, id)
                         .Uint(proto::ClockSnapshot::Clock::kTimestamp, ns));
  return PacketText(sequence).Message(TracePacket::kClockSnapshot, snapshot);
}
PacketText ServiceEvent(uint32_t event) {
  return PacketText(1).At(1).Message(TracePacket::kServiceEvent, Nested().Uint(event, 1));
}
/// Statistics that name sequence 7 as a writer of buffer 0.
PacketText Statistics() {
  return PacketText(1).Message(
      TracePacket::kTraceStats,
      Nested()
          .Message(proto::TraceStats::kBufferStats, Nested().Uint(2, 10))
          .Message(proto::TraceStats::kWriterStats,
                   Nested()
                       .Uint(proto::TraceStats::WriterStats::kSequenceId, 7)
                       .Uint(proto::TraceStats::WriterStats::kBuffer, 0)));
}

class TraceScanned : public ::testing::Test {
 protected:
  void Add(const PacketText& packet) { scan_.AddPacket(offset_++, packet.bytes()); }
  /// Values by name, as "name[index]"; what is not there is 0.
  uint64_t Value(const std::string& name, std::optional<uint32_t> index = {}) {
    if (!facts_) facts_ = scan_.Finish();
    for (const StatRow& row : StatRowsOf(*facts_))
      if (row.name == name && row.index == index) return row.value;
    return 0;
  }
  const TraceFacts& facts() {
    if (!facts_) facts_ = scan_.Finish();
    return *facts_;
  }
  TraceScan scan_;
  uint64_t offset_ = 0;
  std::optional<TraceFacts> facts_;
};

TEST_F(TraceScanned, TheFirstPacketOfASequenceReportsNoLoss) {
  Add(PacketText().Event().Dropped(kLossPresent));
  Add(PacketText().Event().Dropped(kLossPresent | kLossOverwrite));
  Add(PacketText().Event());
  Add(Statistics());
  EXPECT_EQ(Value("traced_buf_sequence_packet_loss", 0), 1u);
  EXPECT_EQ(Value("traced_buf_data_loss_overwrite", 0), 1u);
  EXPECT_EQ(Value("traced_buf_data_loss_read_gap", 0), 0u);
}

/// Rows of the machine that are no information, as "name[index]=value".
std::vector<std::string> RowsOf(const TraceFacts& facts, uint32_t machine) {
  std::vector<std::string> rows;
  for (const StatRow& row : StatRowsOf(facts)) {
    if (row.machine != machine || row.value == 0 || row.severity == StatSeverity::kInfo) continue;
    rows.push_back(row.name + (row.index ? "[" + std::to_string(*row.index) + "]" : "") + "=" +
                   std::to_string(row.value));
  }
  return rows;
}

TEST_F(TraceScanned, RowsOfRemoteMachinesAreTheirOwn) {
  constexpr uint32_t kCpu = 1, kLostEvents = 3;
  const auto on = [](uint32_t machine, uint32_t sequence = 7) {
    return PacketText(sequence).Uint(TracePacket::kMachineId, machine);
  };
  const auto bundle = [](uint64_t cpu) { return Nested().Uint(kCpu, cpu).Uint(kLostEvents, 1); };
  Add(PacketText().Message(TracePacket::kFtraceEvents, bundle(0)));
  Add(on(5).Message(TracePacket::kFtraceEvents, bundle(2)));
  // Sequences are those of the machine, so that this is its second packet.
  Add(on(5).Event().At(1).Dropped(kLossPresent | kLossOverwrite));
  Add(on(5, 0).Event().At(1));
  Add(on(9, 0).Event().Flags(1));
  Add(on(9).Event().At(1).Uint(TracePacket::kTimestampClockId, 77));
  Add(Statistics());
  EXPECT_EQ(RowsOf(facts(), 0), std::vector<std::string>({"ftrace_cpu_has_data_loss[0]=1"}));
  EXPECT_EQ(RowsOf(facts(), 5), std::vector<std::string>({"ftrace_cpu_has_data_loss[2]=1",
                                                          "track_event_missing_sequence_id=1"}));
  EXPECT_EQ(RowsOf(facts(), 9),
            std::vector<std::string>({"clock_sync_failure_unknown_source_clock=1",
                                      "track_event_missing_sequence_id=1",
                                      "incremental_state_cleared_missing_sequence_id=1"}));
}

TEST_F(TraceScanned, WritersAreOfTheBufferThatTheLastStatisticsName) {
  const auto statistics = [](uint32_t buffer) {
    return PacketText(1).Message(
        TracePacket::kTraceStats,
        Nested().Message(proto::TraceStats::kWriterStats,
                         Nested()
                             .Uint(proto::TraceStats::WriterStats::kSequenceId, 8)
                             .Uint(proto::TraceStats::WriterStats::kBuffer, buffer)));
  };
  Add(PacketText(8).Event());
  Add(statistics(3));
  Add(statistics(1));
  EXPECT_EQ(facts().sequences.back().id, 8u);
  EXPECT_EQ(facts().sequences.back().buffer, 1u);
}

TEST_F(TraceScanned, LossesBehindTheLastStatisticsDoNotCount) {
  Add(PacketText().Event());
  Add(Statistics());
  Add(PacketText().Event().Dropped(kLossPresent));
  EXPECT_EQ(Value("traced_buf_sequence_packet_loss", 0), 0u);
  EXPECT_EQ(facts().sequences.back().losses.sequence_packet_loss, 1u);
  EXPECT_EQ(facts().packets_after_stats, 1u);
}

TEST_F(TraceScanned, LossesOfARemoteMachineAreOfNoBuffer) {
  for (int i = 0; i < 2; ++i)
    Add(PacketText().Event().Uint(TracePacket::kMachineId, 5).Dropped(kLossPresent));
  Add(PacketText().Event());
  Add(Statistics());
  EXPECT_EQ(Value("traced_buf_sequence_packet_loss", 0), 0u);
}

TEST_F(TraceScanned, AClearingPacketThatReportsALossStaysValid) {
  constexpr uint64_t kClearsState = 1, kNeedsState = 2;
  Add(PacketText().Event().Flags(kNeedsState));  // never cleared so far
  Add(PacketText().Event().Flags(kClearsState).Dropped(kLossPresent));
  Add(PacketText().Event().Flags(kNeedsState));
  Add(PacketText().Event().Flags(kNeedsState).Dropped(kLossPresent));
  EXPECT_EQ(facts().sequences.front().needing, 3u);
  EXPECT_EQ(facts().sequences.front().skipped, 2u);
}

TEST_F(TraceScanned, StateWithoutASequenceIsAnError) {
  Add(PacketText(0).Event().Flags(1));
  Add(PacketText(0).Event().Dropped(1));
  Add(PacketText(0).Event().Message(TracePacket::kInternedData, Nested()));
  Add(PacketText(0).Event().Message(TracePacket::kTracePacketDefaults, Nested()));
  EXPECT_EQ(Value("incremental_state_cleared_missing_sequence_id"), 1u);
  EXPECT_EQ(Value("previous_packet_dropped_missing_sequence_id"), 1u);
  EXPECT_EQ(Value("interned_data_missing_sequence_id"), 1u);
  EXPECT_EQ(Value("trace_packet_defaults_missing_sequence_id"), 1u);
}

TEST_F(TraceScanned, FinalFlushesAddUp) {
  for (const uint64_t outcome : {2, 2, 1})
    Add(PacketText(1).Message(TracePacket::kTraceStats,
                              Nested().Uint(proto::TraceStats::kFinalFlushOutcome, outcome)));
  EXPECT_EQ(Value("traced_final_flush_failed"), 2u);
  EXPECT_EQ(Value("traced_final_flush_succeeded"), 1u);
}

TEST_F(TraceScanned, TimesOfUnknownClocksFailAtTheEnd) {
  constexpr uint64_t kMonotonic = 3, kOwn = 64;
  Add(PacketText().Event().At(5).Uint(TracePacket::kTimestampClockId, kMonotonic));
  Add(PacketText().Event().At(5).Uint(TracePacket::kTimestampClockId, kOwn));
  Add(Snapshot({{6, 1000}, {3, 900}}));  // makes the first one known
  EXPECT_EQ(Value("clock_sync_failure_unknown_source_clock"), 1u);
  ASSERT_EQ(facts().clock_problems.size(), 1u);
  EXPECT_EQ(facts().clock_problems[0].clock, (ClockKey{7, kOwn}));
}

TEST_F(TraceScanned, ChainsOfSnapshotsConvert) {
  Add(Snapshot({{6, 1000}, {3, 900}}));
  Add(Snapshot({{3, 950}, {64, 10}}, 7));
  Add(PacketText().Event().At(20).Uint(TracePacket::kTimestampClockId, 64));
  ASSERT_TRUE(facts().all.span);
  EXPECT_EQ(facts().all.span->first_ns, 1060);  // 20 -> 960 -> 1060
  EXPECT_EQ(Value("clock_sync_failure_no_path"), 0u);
}

TEST_F(TraceScanned, ClocksThatAreNotJoinedHaveNoPath) {
  Add(Snapshot({{6, 1000}, {3, 900}}));
  Add(Snapshot({{65, 950}, {64, 10}}, 7));
  Add(PacketText().Event().At(20).Uint(TracePacket::kTimestampClockId, 64));
  EXPECT_EQ(Value("clock_sync_failure_no_path"), 1u);
}

TEST_F(TraceScanned, ASnapshotWithAClockTwiceIsInvalid) {
  Add(Snapshot({{6, 1000}, {3, 900}, {3, 901}}));
  Add(Snapshot({{6, 2000}, {3, 1900}}));
  Add(Snapshot({{6, 1500}, {3, 2000}}));  // the trace's clock goes back
  EXPECT_EQ(Value("invalid_clock_snapshots"), 2u);
}

TEST_F(TraceScanned, EventsOlderThanASortedWindowAreDropped) {
  const auto flush_and_read = [this] {
    Add(ServiceEvent(proto::TracingServiceEvent::kAllDataSourcesFlushed));
    Add(ServiceEvent(proto::TracingServiceEvent::kAllDataSourcesFlushed));
    Add(ServiceEvent(proto::TracingServiceEvent::kReadTracingBuffersCompleted));
  };
  Add(Snapshot({{6, 1}}));
  Add(PacketText().Event().At(100));
  flush_and_read();
  Add(PacketText().Event().At(50));  // leaves the sorter after the one before: dropped
  Add(PacketText().Event().At(200));
  flush_and_read();
  Add(PacketText().Event().At(150));  // with the end, together with that of 200: kept
  Add(PacketText().Event().At(99));   // older than 100, which is out: dropped
  EXPECT_EQ(Value("sorter_push_event_out_of_order"), 2u);
}

TEST_F(TraceScanned, OneFlushBetweenReadsLetsNothingOut) {
  Add(Snapshot({{6, 1}}));
  for (const uint64_t ns : {100, 50, 25, 12}) {
    Add(PacketText().Event().At(ns));
    Add(ServiceEvent(proto::TracingServiceEvent::kReadTracingBuffersCompleted));
  }
  EXPECT_EQ(Value("sorter_push_event_out_of_order"), 0u);
  EXPECT_EQ(facts().sort_windows, 0u);
}

TEST_F(TraceScanned, FtraceEventsAreTimedOneByOne) {
  const auto event = [](uint64_t ns) { return Nested().Uint(1, ns); };
  Add(PacketText().Message(TracePacket::kFtraceEvents, Nested()
                                                           .Uint(proto::FtraceEventBundle::kCpu, 3)
                                                           .Message(2, event(500))
                                                           .Message(2, event(700))
                                                           .Message(2, Nested().Uint(2, 9))
                                                           .Uint(3, 1)));
  Add(PacketText().Message(TracePacket::kFtraceEvents, Nested().Message(2, event(800))));
  EXPECT_EQ(facts().all.span->first_ns, 500);
  EXPECT_EQ(Value("ftrace_cpu_has_data_loss", 3), 1u);
  EXPECT_EQ(Value("ftrace_bundle_tokenizer_errors"), 2u);  // one without a time, one without a CPU
}

TEST_F(TraceScanned, ConfigsThatDiscardIntoAFileCount) {
  const PacketText config = PacketText(1).Message(
      TracePacket::kTraceConfig,
      Nested()
          .Message(proto::TraceConfig::kBuffers, Nested().Uint(1, 64))
          .Message(proto::TraceConfig::kBuffers,
                   Nested().Uint(1, 64).Uint(proto::TraceConfig::BufferConfig::kFillPolicy, 2))
          .Uint(proto::TraceConfig::kWriteIntoFile, 1));
  Add(config);
  EXPECT_EQ(Value("config_write_into_file_discard", 1), 1u);
  EXPECT_EQ(Value("config_write_into_file_discard", 0), 0u);
  EXPECT_EQ(Value("config_write_into_file_no_flush"), 1u);  // of a service that is not known
}

TEST_F(TraceScanned, MalformedPacketsEndTheImport) {
  scan_.AddPacket(12, wire::AsBytes("\x0A"));
  EXPECT_EQ(facts().error_count, 1u);
  EXPECT_EQ(facts().errors[0].offset, 12u);
}

TEST(ServiceRelease, IsReadFromItsText) {
  EXPECT_EQ(ServiceRelease("Perfetto v58.2-5f4e1d2 (5f4e1d2)"), 58u);
  EXPECT_EQ(ServiceRelease("v54"), 54u);
  EXPECT_EQ(ServiceRelease("unknown version"), std::nullopt);
}

/// Letters for packets: c config, u uuid, k clock snapshot, e service event, s statistics, i system
/// info, p a producer's, k of a producer: K.
class SplitLetters : public SessionPackets {
 public:
  SplitLetters& Packets(std::string_view letters) {
    for (const char letter : letters) Add(letter);
    return *this;
  }
  std::string End() {
    EXPECT_TRUE(split_.Finish());
    return text_;
  }
  Status OnPacket(const RawPacket& packet, const TracePacketView&) override {
    text_ += wire::AsText(packet.bytes);
    return {};
  }
  Status OnNextSession(uint64_t) override {
    text_ += '|';
    return {};
  }
  SessionSplit split_{*this};

 private:
  void Add(char letter) {
    constexpr uint32_t kSystemInfo = 45;
    TracePacketView view;
    view.has_sequence_id = true;
    view.sequence_id = letter == 'p' || letter == 'K' ? 7 : kServiceSequenceId;
    view.content = letter == 'c'                    ? TracePacket::kTraceConfig
                   : letter == 'u'                  ? TracePacket::kTraceUuid
                   : letter == 'k' || letter == 'K' ? TracePacket::kClockSnapshot
                   : letter == 'e'                  ? TracePacket::kServiceEvent
                   : letter == 's'                  ? TracePacket::kTraceStats
                   : letter == 'i'                  ? kSystemInfo
                                                    : TracePacket::kTrackEvent;
    const std::string bytes(1, letter);
    EXPECT_TRUE(split_.Add({.bytes = wire::AsBytes(bytes)}, view));
  }
  std::string text_;
};

std::string Split(std::string_view letters) { return SplitLetters().Packets(letters).End(); }

TEST(SessionSplit, ASessionBeginsWithTheSnapshotsBeforeItsConfig) {
  EXPECT_EQ(Split("kcuippses"
                  "kkcuips"),
            "kcuippses|kkcuips");
}

TEST(SessionSplit, OneSessionStaysWhole) {
  EXPECT_EQ(Split("kcuipkpeksppkks"), "kcuipkpeksppkks");
  EXPECT_EQ(Split("ppkppk"), "ppkppk");
  EXPECT_EQ(Split("kcukipKpKs"), "kcukipKpKs");
}

TEST(SessionSplit, AnOpeningThatIsRepeatedAtOnceIsOne) { EXPECT_EQ(Split("kcckcuip"), "kcckcuip"); }

TEST(SessionSplit, SessionsWithoutAConfigHaveAUuid) {
  EXPECT_EQ(Split("kuipskuips"), "kuips|kuips");
  EXPECT_EQ(Split("kuipskcuip"), "kuips|kcuip");
}

// Old services write statistics with each pass, before the config.
TEST(SessionSplit, StatisticsBeforeTheConfigAreOfItsSession) {
  EXPECT_EQ(Split("kkscipkksppkks"
                  "kkscip"),
            "kkscipkksppkks|kkscip");
}

TEST(SessionSplit, TheFirstStatisticsAreOfTheSessionThatHasBegun) {
  EXPECT_EQ(Split("ucikppks"
                  "ucikps"),
            "ucikppks|ucikps");
}

TEST(SessionSplit, PacketsBeforeTheOpeningAreOfTheFirstSession) {
  EXPECT_EQ(Split("pkcpuip"), "pkcpuip");
}

TEST(SessionSplit, AfterAStopNothingBegins) {
  SplitLetters letters;
  letters.Packets("kcuip");
  letters.split_.Stop();
  EXPECT_EQ(letters.Packets("kcuip").End(), "kcuipkcuip");
  EXPECT_TRUE(letters.split_.has_missed());
}

}  // namespace
}  // namespace ringscope
