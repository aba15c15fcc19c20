// What packets of a trace lack, as trace processor counts it.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/testing/message_text.h"
#include "core/trace/stat_rows.h"
#include "core/trace/trace_scan.h"

namespace ringscope {
namespace {

using proto::TracePacket;

constexpr uint32_t kCounterPacket = 52;

using Fields = testing::MessageText;

/// Rows that are not 0, of packets on a sequence, as "name[index]=value".
class ReportedScan {
 public:
  ReportedScan& Packet(uint32_t content, const Fields& message, uint64_t ns = 1000) {
    Fields packet;
    if (ns > 0) packet.Uint(TracePacket::kTimestamp, ns);
    packet.Inner(content, message).Uint(TracePacket::kTrustedPacketSequenceId, 7);
    scan_.AddPacket(offset_++, wire::AsBytes(packet.text()));
    return *this;
  }
  ReportedScan& Raw(const Fields& packet) {
    scan_.AddPacket(offset_++, wire::AsBytes(packet.text()));
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

TEST(MissingFields, DescriptorsNeedTheirNumbers) {
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

TEST(MissingFields, PacketsWithoutASequenceOrATime) {
  EXPECT_EQ(ReportedScan()
                .Raw(Fields().Uint(TracePacket::kTimestamp, 5).Inner(TracePacket::kTrackEvent, {}))
                .Raw(Fields().Inner(44, Fields().Uint(1, 4)))
                .Packet(kCounterPacket, Fields().Inner(2, Fields().Uint(1, 1)), 0)
                .Packet(kCounterPacket, Fields().Inner(2, Fields().Uint(1, 1)))
                .Rows(),
            (Rows{"track_event_missing_sequence_id=1", "thread_descriptor_missing_sequence_id=1",
                  "gpu_counters_missing_timestamp=1"}));
}

}  // namespace
}  // namespace ringscope
