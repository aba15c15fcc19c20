#include "core/trace/packet_reports.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/trace/known_stats.h"
#include "core/trace/trace_scan.h"

namespace ringscope {
namespace {

using proto::TracePacket;

constexpr uint32_t kProfilePacket = 37, kLogPacket = 39, kPerfPacket = 66, kCounterPacket = 52;

/// A message, field by field.
class Fields {
 public:
  Fields& Uint(uint32_t field, uint64_t value) {
    wire::AppendUint(text_, field, value);
    return *this;
  }
  Fields& Inner(uint32_t field, const Fields& message) {
    wire::AppendBytes(text_, field, wire::AsBytes(message.text_));
    return *this;
  }
  Bytes bytes() const { return wire::AsBytes(text_); }

 private:
  std::string text_;
};

/// Rows that are not 0, of packets on a sequence, as "name[index]=value".
class ReportedScan {
 public:
  ReportedScan& Packet(uint32_t content, const Fields& message, uint64_t ns = 1000) {
    Fields packet;
    if (ns > 0) packet.Uint(TracePacket::kTimestamp, ns);
    packet.Inner(content, message).Uint(TracePacket::kTrustedPacketSequenceId, 7);
    scan_.AddPacket(offset_++, packet.bytes());
    return *this;
  }
  ReportedScan& Raw(const Fields& packet) {
    scan_.AddPacket(offset_++, packet.bytes());
    return *this;
  }
  std::set<std::string> Rows() {
    std::set<std::string> rows;
    for (const StatRow& row : StatRowsOf(scan_.Finish()))
      if (row.value != 0 && row.severity != StatSeverity::kInfo)
        rows.insert(row.name + (row.index ? "[" + std::to_string(*row.index) + "]" : "") + "=" +
                    std::to_string(row.value));
    return rows;
  }

 private:
  TraceScan scan_;
  uint64_t offset_ = 0;
};

using Rows = std::set<std::string>;

TEST(PacketReports, HeapProfilesReportByProcess) {
  const auto dump = [](uint64_t index, const Fields& process) {
    return Fields().Inner(5, process).Uint(7, index);
  };
  EXPECT_EQ(ReportedScan()
                .Packet(kProfilePacket, dump(0, Fields().Uint(1, 40).Uint(7, 1).Uint(8, 1)))
                .Packet(kProfilePacket, dump(1, Fields().Uint(1, 40).Uint(7, 1)))
                .Packet(kProfilePacket, dump(2, Fields().Uint(1, 41).Uint(10, 1).Uint(14, 2)))
                .Packet(kProfilePacket, dump(3, Fields().Uint(1, 42).Uint(4, 1)))
                .Rows(),
            (Rows{"heapprofd_buffer_overran[40]=2", "heapprofd_buffer_corrupted[40]=1",
                  "heapprofd_hit_guardrail[41]=1", "heapprofd_client_error[41]=2",
                  "heapprofd_rejected_concurrent[42]=1"}));
}

TEST(PacketReports, NumbersOfHeapProfilePacketsShowThoseThatAreMissing) {
  const auto numbered = [](uint64_t index) { return Fields().Uint(7, index); };
  // The first is lost, then 4 and 5.
  EXPECT_EQ(ReportedScan()
                .Packet(kProfilePacket, numbered(1))
                .Packet(kProfilePacket, numbered(2))
                .Packet(kProfilePacket, numbered(3))
                .Packet(kProfilePacket, numbered(6))
                .Rows(),
            (Rows{"heapprofd_missing_packet=2"}));
}

TEST(PacketReports, PerfSamplesReportByCpu) {
  EXPECT_EQ(ReportedScan()
                .Packet(kPerfPacket, Fields().Uint(1, 2).Uint(17, 30))
                .Packet(kPerfPacket, Fields().Uint(1, 2).Uint(17, 12))
                .Packet(kPerfPacket, Fields().Uint(1, 0).Uint(18, 1))
                .Packet(kPerfPacket, Fields().Uint(1, 0).Uint(18, 3))
                .Packet(kPerfPacket, Fields().Uint(1, 0).Uint(18, 4))  // not in scope: no loss
                .Packet(kPerfPacket, Fields().Uint(1, 3).Inner(19, Fields().Uint(1, 1)), 5000)
                .Rows(),
            (Rows{"perf_cpu_lost_records[2]=42", "perf_samples_skipped=2",
                  "perf_samples_skipped_dataloss=1", "perf_guardrail_stop_ts[3]=5000"}));
}

TEST(PacketReports, TheLastListAndTheLastLogStatisticsCount) {
  EXPECT_EQ(ReportedScan()
                .Packet(TracePacket::kPackagesList, Fields().Uint(2, 1).Uint(3, 1))
                .Packet(TracePacket::kPackagesList, Fields().Uint(3, 1))
                .Packet(kLogPacket, Fields().Inner(2, Fields().Uint(2, 9)))
                .Packet(kLogPacket, Fields().Inner(2, Fields().Uint(2, 4)))
                .Rows(),
            (Rows{"packages_list_has_read_errors=1", "android_log_num_failed=4"}));
}

TEST(PacketReports, DescriptorsNeedTheirNumbers) {
  EXPECT_EQ(
      ReportedScan()
          .Packet(TracePacket::kTrackDescriptor, Fields())
          .Packet(TracePacket::kTrackDescriptor, Fields().Uint(1, 5).Inner(3, Fields()))
          .Packet(TracePacket::kTrackDescriptor, Fields().Uint(1, 6).Inner(4, Fields().Uint(1, 40)))
          .Packet(TracePacket::kTrackDescriptor,
                  Fields().Uint(1, 7).Inner(4, Fields().Uint(1, 40).Uint(2, 41)))
          .Rows(),
      (Rows{"track_descriptor_missing_uuid=1", "track_descriptor_process_missing_pid=1",
            "track_descriptor_thread_missing_pid_tid=1"}));
}

TEST(PacketReports, PacketsWithoutASequenceOrATime) {
  EXPECT_EQ(ReportedScan()
                .Raw(Fields().Uint(TracePacket::kTimestamp, 5).Inner(TracePacket::kTrackEvent, {}))
                .Raw(Fields().Inner(44, Fields().Uint(1, 4)))
                .Packet(kCounterPacket, Fields().Inner(2, Fields().Uint(1, 1)), 0)
                .Packet(kCounterPacket, Fields().Inner(2, Fields().Uint(1, 1)))
                .Rows(),
            (Rows{"track_event_missing_sequence_id=1", "thread_descriptor_missing_sequence_id=1",
                  "gpu_counters_missing_timestamp=1"}));
}

TEST(PacketReports, PacketsThatCannotBeUsedReportNothing) {
  EXPECT_EQ(ReportedScan()
                .Raw(Fields()
                         .Uint(TracePacket::kTrustedPacketSequenceId, 7)
                         .Uint(TracePacket::kSequenceFlags, 2)
                         .Inner(kPerfPacket, Fields().Uint(17, 30)))
                .Rows(),
            Rows{});
}

/// A trace that has every row there can be.
TraceFacts FactsWithAllRows() {
  TraceFacts facts;
  facts.stats_packets = 1;
  facts.has_filter = true;
  facts.buffers.resize(1);
  facts.buffers[0].has_stats = facts.buffers[0].has_losses = true;
  facts.discards_into_file[0] = 1;
  std::string config;
  wire::AppendUint(config, proto::TraceConfig::kWriteIntoFile, 1);
  facts.config = config;
  facts.ftrace.AddBundle(Fields().Uint(1, 0).Uint(3, 1).bytes());
  for (const uint64_t phase : {1, 2}) {
    Fields cpu;
    for (uint32_t field = 2; field <= 9; ++field) cpu.Uint(field, phase);
    facts.ftrace.AddStats(
        Fields().Uint(1, phase).Inner(2, cpu).Inner(10, Fields().Uint(1, 1).Uint(2, 1)).bytes());
  }
  for (size_t i = 0; i < kReportedRows.size(); ++i)
    facts.reported.Count(static_cast<Reported>(i), 0);
  return facts;
}

TEST(KnownStats, AreThoseThatAreCounted) {
  std::set<std::string> counted, all;
  for (const KnownStats& stats : AllKnownStats()) {
    EXPECT_EQ(stats.is_counted, stats.why.empty()) << stats.title;
    for (const std::string_view name : stats.names) {
      EXPECT_TRUE(all.insert(std::string(name)).second) << name << " is in it twice";
      if (stats.is_counted) counted.insert(std::string(name));
    }
  }
  std::set<std::string> rows;
  for (const StatRow& row : StatRowsOf(FactsWithAllRows()))
    if (row.severity != StatSeverity::kInfo) rows.insert(row.name);
  EXPECT_EQ(rows, counted);
}

}  // namespace
}  // namespace ringscope
