#include "core/trace/content_stats.h"

#include <gtest/gtest.h>

#include <functional>
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

// What packets of a trace lack, as trace processor counts it.

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

// One packet or two with what each counter counts, and beside it what it does not count.

struct CountCase {
  const char* name;
  std::function<void(ReportedScan&)> add;
  Rows rows;
};

class ContentStatTest : public ::testing::TestWithParam<CountCase> {};

TEST_P(ContentStatTest, Counts) {
  ReportedScan scan;
  GetParam().add(scan);
  EXPECT_EQ(scan.Rows(), GetParam().rows);
}

Fields Ftrace(uint32_t event, const Fields& content) {
  return Fields().Uint(1, 0).Inner(2, Fields().Uint(1, 5000).Uint(2, 40).Inner(event, content));
}
void Print(ReportedScan& scan, std::string_view text) {
  scan.Packet(TracePacket::kFtraceEvents, Ftrace(3, Fields().Text(2, text)));
}
Fields Counter(uint64_t uuid) { return Fields().Uint(1, uuid).Inner(8, Fields()); }

INSTANTIATE_TEST_SUITE_P(
    Contents, ContentStatTest,
    ::testing::Values(
        CountCase{"PerfSamples",
                  [](ReportedScan& s) {
                    s.Packet(66, Fields().Uint(1, 3).Uint(17, 40));
                    s.Packet(66, Fields().Uint(1, 3).Uint(17, 2).Uint(18, 1));
                    s.Packet(66, Fields().Uint(18, 1)).Packet(66, Fields().Uint(18, 2));
                    s.Packet(66, Fields().Uint(18, 3)).Packet(66, Fields().Uint(18, 4));
                    s.Packet(66, Fields().Inner(19, Fields().Uint(1, 1)), 7777);
                  },
                  {"perf_cpu_lost_records[3]=42", "perf_samples_skipped=2",
                   "perf_samples_skipped_dataloss=1", "perf_guardrail_stop_ts[0]=7777"}},
        CountCase{"HeapProfiles",
                  [](ReportedScan& s) {
                    const auto dump = [](uint32_t field, uint64_t value) {
                      return Fields().Uint(1, 700).Uint(field, value);
                    };
                    s.Packet(37, Fields().Uint(7, 1).Inner(5, dump(7, 1)).Inner(5, dump(14, 1)));
                    s.Packet(37, Fields().Uint(7, 2).Inner(5, dump(8, 1)).Inner(5, dump(4, 1)));
                    s.Packet(37, Fields().Uint(7, 4).Inner(5, dump(10, 1)).Inner(5, dump(6, 1)));
                  },
                  {"heapprofd_buffer_overran[700]=2", "heapprofd_client_error[700]=1",
                   "heapprofd_buffer_corrupted[700]=1", "heapprofd_rejected_concurrent[700]=1",
                   "heapprofd_hit_guardrail[700]=1", "heapprofd_missing_packet=2"}},
        CountCase{"HeapDumpWithAGap",
                  [](ReportedScan& s) {
                    for (const uint64_t index : {0, 1, 3})
                      s.Packet(56, Fields()
                                       .Uint(1, 500)
                                       .Uint(5, index < 3 ? 1 : 0)
                                       .Uint(6, index)
                                       .Inner(2, Fields().Uint(1, 1)));
                    s.Packet(56, Fields().Uint(1, 500).Inner(2, Fields().Uint(1, 1)));
                  },
                  {"heap_graph_missing_packet[500]=1"}},
        CountCase{"HeapDumpWithoutEnd",
                  [](ReportedScan& s) { s.Packet(56, Fields().Uint(1, 500).Uint(5, 1)); },
                  {"heap_graph_non_finalized_graph=1"}},
        CountCase{"HeapDumpsOfTwoProcesses",
                  [](ReportedScan& s) {
                    for (const uint64_t pid : {500, 501})
                      s.Packet(56, Fields()
                                       .Uint(1, pid)
                                       .Uint(5, pid == 500 ? 1 : 0)
                                       .Uint(6, pid - 500)
                                       .Inner(2, Fields().Uint(1, 1))
                                       .Inner(7, Fields()));
                  },
                  {"heap_graph_non_finalized_graph=2"}},
        CountCase{"HeapDumpLocations",
                  [](ReportedScan& s) {
                    s.Packet(56, Fields()
                                     .Inner(8, Fields().Uint(1, 3))
                                     .Inner(9, Fields().Uint(2, 3))
                                     .Inner(9, Fields().Uint(2, 4))
                                     .Inner(9, Fields().Uint(1, 9)));
                  },
                  {"heap_graph_invalid_string_id[0]=1"}},
        CountCase{"Prints",
                  [](ReportedScan& s) {
                    for (const char* whole :
                         {"B|500|x\n", "E|500\n", "E", "C|500|x|7", "S|5|x|9", "I|5|x", "N|5|t|n",
                          "G|5|t|n|7", "H|5|t|7", "trace_event_clock_sync: x"})
                      Print(s, whole);
                    for (const char* bad : {"", "|", "B|x", "C|500|x", "C|500||7", "S|5|x|y", "I|5",
                                            "N|5|t", "G|5|t|n", "H|5|t", "hello"})
                      Print(s, bad);
                  },
                  {"systrace_parse_failure=11"}},
        CountCase{
            "FtraceEvents",
            [](ReportedScan& s) {
              for (const uint64_t type : {6, 7}) s.Packet(1, Ftrace(328, Fields().Uint(4, type)));
              for (const uint64_t flag : {2, 8}) s.Packet(1, Ftrace(331, Fields().Uint(1, flag)));
              for (const uint64_t zone : {6, 7}) s.Packet(1, Ftrace(506, Fields().Uint(1, zone)));
              s.Packet(1, Fields());
            },
            {"mm_unknown_type=1", "systrace_parse_failure=1",
             "ftrace_thermal_exynos_acpm_unknown_tz_id=1", "ftrace_bundle_tokenizer_errors=1"}},
        CountCase{"SysStats",
                  [](ReportedScan& s) {
                    const auto key = [](uint64_t value) { return Fields().Uint(1, value); };
                    s.Packet(7, Fields()
                                    .Inner(1, key(38))
                                    .Inner(1, key(39))
                                    .Inner(2, key(188))
                                    .Inner(2, key(189))
                                    .Inner(3, key(0))
                                    .Inner(3, Fields())
                                    .Inner(14, key(7))
                                    .Inner(14, key(8)));
                  },
                  {"meminfo_unknown_keys=1", "vmstat_unknown_keys=1", "invalid_cpu_times=1",
                   "psi_unknown_resource=1"}},
        CountCase{"ProcessStats",
                  [](ReportedScan& s) {
                    s.Packet(9, Fields().Inner(
                                    1, Fields().Uint(1, 5).Uint(13, 1).Uint(14, 1).Uint(24, 1).Uint(
                                           25, 1)));
                  },
                  {"proc_stat_unknown_counters=2"}},
        CountCase{"PowerRails",
                  [](ReportedScan& s) {
                    const Fields rail = Fields().Uint(1, 4);
                    s.Packet(40, Fields().Inner(1, rail));
                    s.Packet(40, Fields().Inner(2, rail).Inner(2, Fields().Uint(1, 5)));
                    s.Packet(40, Fields().Inner(2, rail).Uint(3, 8));
                  },
                  {"power_rail_empty_packet=1", "power_rail_unknown_index=2"}},
        CountCase{"Energy",
                  [](ReportedScan& s) {
                    const Fields consumer = Fields().Uint(1, 6);
                    s.Packet(77, Fields().Inner(1, Fields().Inner(1, consumer).Inner(1, Fields())));
                    s.Packet(77, Fields().Uint(2, 6).Uint(3, 9).Inner(4, consumer));
                    s.Packet(77, Fields().Uint(2, 7).Uint(3, 9));
                    s.Packet(77, Fields().Uint(2, 6));
                  },
                  {"energy_descriptor_invalid=1", "energy_breakdown_missing_values=2",
                   "energy_uid_breakdown_missing_values=1"}},
        CountCase{"EntityStates",
                  [](ReportedScan& s) {
                    const Fields state = Fields().Uint(1, 1).Uint(2, 2),
                                 other = Fields().Uint(1, 1);
                    s.Packet(91, Fields().Inner(1, state).Inner(1, other));
                    s.Packet(91, Fields().Inner(2, state));
                    s.Packet(91, Fields().Inner(2, other).Inner(2, other));
                  },
                  {"energy_descriptor_invalid=1", "entity_state_residency_invalid=1",
                   "entity_state_residency_lookup_failed=1"}},
        CountCase{"Wakelocks",
                  [](ReportedScan& s) {
                    const Fields lock = Fields().Uint(1, 1);
                    s.Packet(115,
                             Fields().Inner(1, lock).Uint(2, 1).Uint(2, 2).Uint(3, 9).Uint(3, 9));
                    s.Packet(115, Fields().Inner(1, lock));
                  },
                  {"kernel_wakelock_unknown_id=1", "kernel_wakelock_reused_id=1"}},
        CountCase{"GpuCounters",
                  [](ReportedScan& s) {
                    const Fields spec = Fields().Uint(1, 1).Text(2, "a");
                    s.Packet(52, Fields().Inner(1, Fields().Inner(1, spec).Inner(1, spec).Inner(
                                                       1, Fields().Uint(1, 2))));
                    s.Packet(52, Fields().Uint(4, 9));
                    s.Packet(52, Fields().Inner(2, Fields()), 0);
                  },
                  {"gpu_counters_invalid_spec=3", "gpu_counters_missing_timestamp=1"}},
        CountCase{"Reports",
                  [](ReportedScan& s) {
                    s.Packet(47, Fields().Uint(2, 1).Uint(3, 1)).Packet(83, Fields().Uint(2, 1));
                    s.Packet(39, Fields().Inner(2, Fields().Uint(2, 3)));
                    s.Packet(39, Fields().Inner(2, Fields().Uint(2, 5)));
                    s.Packet(132, Fields().Uint(21, 4));
                  },
                  {"packages_list_has_parse_errors=1", "packages_list_has_read_errors=1",
                   "game_intervention_has_parse_errors=1", "android_log_num_failed=5",
                   "systemd_journal_num_failed=4"}},
        CountCase{"Others",
                  [](ReportedScan& s) {
                    s.Packet(67, Fields()).Packet(123, Fields().Uint(2, UINT64_MAX));
                    s.Packet(127, Fields().Text(2, "x")).Packet(134, Fields().Uint(1, 6));
                    s.Packet(134, Fields().Uint(1, 5)).Packet(49, Fields().Uint(6, 1));
                    s.Packet(5, Fields().Inner(2, Fields().Text(1, "x")), 0).Packet(90, Fields());
                    s.Packet(1001, Fields().Uint(2, 1)).Packet(1001, Fields().Uint(2, 7));
                    s.Packet(84, Fields().Inner(1, Fields()).Inner(1, Fields()).Uint(2, 5));
                    s.Packet(110, Fields().Uint(2, UINT64_MAX));
                  },
                  {"cpu_info_empty=1", "user_list_errors=1", "android_aflags_errors=1",
                   "concurrent_session_event_unknown_state=1", "metatrace_overruns=1",
                   "empty_chrome_metadata=1", "track_event_range_of_interest_missing_start_us=1",
                   "android_video_size_cap_hit=1", "android_video_virtual_display_failed=1",
                   "atom_timestamp_missing=1", "pixel_modem_negative_timestamp=1"}},
        CountCase{
            "CounterEvents",
            [](ReportedScan& s) {
              s.Packet(60, Counter(5)).Packet(60, Fields().Uint(1, 6));
              s.Packet(11, Fields().Uint(9, 4).Uint(11, 5).Uint(30, 1));
              s.Packet(11, Fields().Uint(9, 4).Uint(30, 1));
              s.Packet(11, Fields().Uint(9, 4).Uint(11, 5));
              s.Packet(11, Fields().Uint(9, 4).Uint(11, 6).Uint(30, 1));
              s.Packet(11, Fields().Uint(9, 5)).Packet(11, Fields().Uint(9, 5).Uint(11, 6));
            },
            {"track_event_counter_missing_track_uuid=1", "track_event_counter_missing_value=1",
             "track_event_counter_invalid_track_uuid=1", "track_event_state_missing_track_uuid=1"}},
        CountCase{"ExtraCounters",
                  [](ReportedScan& s) {
                    s.Packet(60, Counter(5));
                    s.Packet(11, Fields().Uint(12, 1).Uint(31, 5)).Packet(11, Fields().Uint(12, 1));
                    s.Packet(11, Fields().Uint(12, 1).Uint(12, 1).Uint(31, 5));
                    s.Packet(11, Fields().Uint(12, 1).Uint(31, 6));
                    Fields many;
                    for (int i = 0; i < 9; ++i) many.Uint(12, 1).Uint(31, 5);
                    s.Packet(11, many);
                  },
                  {"track_event_extra_counter_missing_track_uuids=1",
                   "track_event_extra_counter_track_uuid_mismatch=1",
                   "track_event_extra_counter_invalid_track=1",
                   "track_event_extra_counter_exceeds_max=1"}},
        CountCase{"DefaultsOfTheSequence",
                  [](ReportedScan& s) {
                    const Fields defaults = Fields().Uint(11, 5).Uint(31, 5);
                    s.Packet(60, Counter(5));
                    s.Packet(59, Fields().Inner(11, defaults));
                    s.Packet(11, Fields().Uint(9, 4).Uint(30, 1).Uint(12, 1));
                  },
                  {}},
        CountCase{"TimesOfTrackEvents",
                  [](ReportedScan& s) {
                    s.Packet(11, Fields(), 0).Packet(11, Fields().Uint(16, UINT64_MAX));
                    s.Packet(11, Fields(), UINT64_MAX);
                  },
                  {"track_event_missing_timestamp=1", "track_event_invalid_timestamp=2"}},
        CountCase{"Tracks",
                  [](ReportedScan& s) {
                    s.Packet(60, Fields().Uint(1, 5).Uint(11, 4))
                        .Packet(60, Fields().Uint(1, 0).Uint(5, 7));
                    s.Packet(60, Fields().Uint(1, 5).Uint(5, 1).Text(2, "a"));
                    s.Packet(60, Fields().Uint(1, 5).Uint(5, 1).Text(2, "another name"));
                    s.Packet(60, Fields().Uint(1, 5).Uint(5, 2));
                  },
                  {"track_descriptor_invalid_child_ordering=1",
                   "track_descriptor_default_track_with_parent=1",
                   "track_descriptor_conflicting_reservation=1"}},
        CountCase{"LegacyFlows",
                  [](ReportedScan& s) {
                    s.Packet(11, Fields().Inner(6, Fields().Uint(2, 's')));
                    s.Packet(11, Fields().Inner(6, Fields().Uint(2, 's').Uint(6, 1)));
                    s.Packet(11, Fields().Inner(6, Fields().Uint(2, 'B')));
                  },
                  {"flow_invalid_id=1"}}),
    [](const auto& one) { return one.param.name; });

// A trace in MONOTONIC time without BOOTTIME: times of the latter cannot be placed.
TEST(ContentStat, ClocksThatAreNotRelatedAreCountedOnce) {
  const auto snapshot = [](std::initializer_list<uint64_t> ids) {
    Fields clocks = Fields().Uint(2, 3);
    for (const uint64_t id : ids) clocks.Inner(1, Fields().Uint(1, id).Uint(2, 100));
    return clocks;
  };
  EXPECT_EQ(ReportedScan()
                .Packet(TracePacket::kClockSnapshot, snapshot({3}), 0)
                .Packet(9, Fields())
                .Packet(9, Fields())
                .Rows(),
            (Rows{"clock_sync_unrelatable_clock_domains=1"}));
  EXPECT_EQ(ReportedScan()
                .Packet(TracePacket::kClockSnapshot, snapshot({3, 6}), 0)
                .Packet(9, Fields())
                .Rows(),
            Rows());
}

}  // namespace
}  // namespace ringscope
