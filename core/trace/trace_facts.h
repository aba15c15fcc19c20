#ifndef RINGSCOPE_CORE_TRACE_TRACE_FACTS_H_
#define RINGSCOPE_CORE_TRACE_TRACE_FACTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/perfetto/data_loss.h"
#include "core/perfetto/trace_stats.h"
#include "core/trace/content_stats.h"
#include "core/trace/ftrace_counters.h"
#include "core/trace/trace_clocks.h"

namespace ringscope {

/// Packets and bytes of a kind.
struct Amount {
  uint64_t packets = 0;
  uint64_t bytes = 0;
  std::optional<TimeSpan> span = {};

  Amount& operator+=(const Amount& more) {
    packets += more.packets, bytes += more.bytes;
    AddTo(span, more.span);
    return *this;
  }
};

/// Packets of a sequence that have the same kind of content.
struct ContentAmount {
  uint32_t content = 0;  // field of TracePacket; 0: none
  Amount amount = {};    // the span is of events
  uint64_t skipped = 0;  // packets that cannot be used as their state is not valid
};

/// A place at which packets of a sequence are missing.
struct TraceHole {
  TimeSpan span;           // from the packet before it to that after it
  uint32_t loss_bits = 0;  // of the packet after it
  uint64_t places = 1;     // that are joined in it
};

/// A sequence of a trace: what one writer wrote.
struct TraceSequence {
  uint32_t id = 0;       // trusted_packet_sequence_id; 0: packets without one
  uint32_t machine = 0;  // 0: the service's own
  std::optional<int32_t> pid;
  /// As its track descriptor has it; 0: not known, and `pid` is of another process that connected
  /// for several, as Chrome's browser or a recorder.
  std::optional<int32_t> own_pid;
  std::optional<uint32_t> buffer;       // index, by the last statistics, the listing or the config
  bool is_listed = false;               // by trace_provenance or writer_stats
  Amount all;                           // of a producer or a tool; the span is of events
  std::vector<ContentAmount> contents;  // of these, at most kMaxContents kinds
  std::string thread_name;              // as its track descriptor has it
  uint64_t track = 0;                   // uuid of that; 0: it has none
  // Losses as trace processor counts them.
  LossCounts losses;
  std::vector<TraceHole> holes;  // in order; further ones are joined to the last
  uint32_t first_loss_bits = 0;  // of the sequence's first packet, which trace processor leaves out
  // Incremental state.
  uint64_t clears = 0;   // packets that clear it
  uint64_t needing = 0;  // packets that need it
  uint64_t skipped = 0;  // of these, packets that cannot be used as it is not valid
  std::optional<TimeSpan> skipped_span;
  uint64_t nameless = 0;  // track events whose interned name is ignored as no state is valid

  static constexpr size_t kMaxContents = 16;
  /// Returns true if its first packet reports a loss before it: one with a cause, as V1 buffers and
  /// services before v57 flag every first packet.
  bool lost_beginning() const { return (first_loss_bits & ~kLossPresent) != 0; }
  bool is_dropped() const { return skipped > 0 && skipped == needing; }
  /// Returns true if producers wrote packets of it, or the service lists it as one of theirs.
  bool is_of_producer() const { return all.packets > 0 || is_listed; }
  /// Returns true if the service lists it, and no packet of it is in the trace.
  bool is_lost() const { return all.packets == 0 && is_listed; }
};

/// A buffer of a trace's session, by its index.
struct TraceBuffer {
  BufferStats stats;
  bool has_stats = false;
  // Losses of its sequences, in the file before the last statistics that name them.
  bool has_losses = false;
  LossCounts losses;
  uint64_t dropped_sequences = 0;
  std::optional<TimeSpan> span = {};  // of all packets of its sequences
};

/// Packets whose time trace processor cannot convert.
struct ClockProblem {
  ClockKey clock;
  ClockFailure failure = ClockFailure::kUnknownSource;
  uint64_t packets = 0;
};

/// A place where trace processor would abort the import.
struct ImportError {
  uint64_t offset = 0;
  std::string what;
};

/// A time without an event that is longer than half of the trace.
struct TimeHole {
  TimeSpan span;         // from the packet before it to that after it
  uint64_t packets = 0;  // before it
  uint64_t after = 0;    // packets after it

  bool has_few_before() const { return packets * 50 <= packets + after; }
};

/// A data source of a producer that the service waited for.
struct SlowSource {
  std::string producer, source;
};

/// Counters that trace processor has by machine.
struct MachineFacts {
  static constexpr size_t kMaxCategories = 1024, kMaxCategoryBytes = 256;

  ContentCounts content;
  ProfilerFacts profilers;
  std::vector<ClockProblem> clock_problems;
  uint64_t undeferrable = 0;  // of these packets, those lost as the sorter had given out events
  FtraceCounters ftrace;      // of the kernel
  std::set<std::string> categories;   // of track events, as interned; at most kMaxCategories
  bool has_other_categories = false;  // of events, not in `categories`
  bool has_clock_sync = false;        // of a remote machine: remote_clock_sync relates its clocks
  uint64_t packets = 0;               // of a remote machine
};

/// Facts of a session of a trace file, by trace processor's rules. As MachineFacts it is the
/// service's own machine.
struct TraceFacts : MachineFacts {
  static constexpr size_t kMaxErrors = 16;
  static constexpr size_t kMaxConfigBytes = size_t{1} << 20;
  static constexpr size_t kMaxMachines = 16;

  // The file.
  uint64_t session = 1, sessions = 1;  // number of this session, from 1, and of all
  bool has_others = false;       // sessions of the file that were not distinguished from this one
  Amount all;                    // packets, those inside compressed ones too; the span is of events
  uint64_t trusted_packets = 0;  // with the fields that the service adds
  uint64_t service_packets = 0;  // that the service wrote itself
  uint64_t own_packets = 0;      // of tracks that ringscope added; they are left out
  uint64_t file_bytes = 0;       // of the session in the file; 0: not known
  uint64_t largest_packet = 0;   // bytes
  bool is_cut_off = false;       // it ends within a packet
  bool has_more_bytes = false;   // that are no packet, after all of the session
  std::vector<ImportError> errors;  // the first kMaxErrors
  uint64_t error_count = 0;

  // The session as its own packets report it.
  std::optional<std::string> config;                // TraceConfig of the last one
  std::map<uint32_t, uint64_t> discards_into_file;  // buffers of configs that cannot work
  uint64_t stats_packets = 0;
  std::optional<uint64_t> packets_after_stats;  // after the last one; absent: there is none
  ServiceStats service;                         // of the last one
  ServiceStats first_service;                   // of the first one
  uint64_t final_flushes_failed = 0, final_flushes_succeeded = 0;
  uint64_t filter_errors = 0;
  bool has_filter = false;
  std::string service_version;                // of system_info
  std::optional<TimeSpan> lifetime;           // from tracing_started to tracing_disabled
  std::optional<int64_t> sources_started_ns;  // all_data_sources_started
  std::vector<SlowSource> slow_to_start, slow_to_flush;
  std::vector<std::string> triggers;  // that were received
  bool is_clone = false;
  std::vector<TraceBuffer> buffers;
  /// Counters of the last statistics that ringscope does not know, by buffer and field number.
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> unknown_counters;
  std::vector<TraceSequence> sequences;
  uint64_t sequences_left_out = 0;
  std::map<int32_t, std::string> process_names;

  // Clocks and order.
  uint64_t snapshots = 0;                 // of the service's machine
  std::optional<TimeSpan> snapshot_span;  // of those of the service, BOOTTIME
  std::optional<TimeSpan> awake_span;  // of the same, MONOTONIC, which stops while a device sleeps
  uint64_t invalid_snapshots = 0;      // of all machines
  uint64_t snapshots_left_out = 0;     // beyond what is kept
  uint64_t events = 0;                 // with a time
  uint64_t negative_times = 0;         // events
  uint64_t before_boot = 0;            // of these, events with a time of day before the boot
  uint64_t late_events = 0;            // that the sorter drops
  std::optional<TimeHole> hole;
  uint64_t sort_windows = 0;
  int64_t sorter_left_ns = 0;  // later events than this are kept if they follow the file
  uint32_t trace_clock = 0;

  /// Remote machines, by machine_id; the packets of those beyond kMaxMachines are not counted.
  std::map<uint32_t, MachineFacts> remotes;

  // Counts of the data that is not kept or not read, as the file has too much of it.
  uint64_t config_bytes_left_out = 0;  // of the last config, if it is too large
  uint64_t times_left_out = 0;         // of packets with very many events
  uint64_t too_large = 0;              // packets

  uint64_t data_packets = 0;  // of producers

  /// Returns what a counter of the service's lifetime rose by in the session, from its first to its
  /// last statistics; nullopt: there are no two.
  std::optional<uint64_t> RiseOf(uint64_t ServiceStats::*counter) const {
    if (stats_packets < 2) return std::nullopt;
    const uint64_t before = first_service.*counter, after = service.*counter;
    return after > before ? after - before : 0;
  }
  /// Returns the packets that were appended to the file: they follow the last statistics, which
  /// name other sequences alone.
  uint64_t appended_packets() const;
  /// Returns true if the last statistics of the buffers are those of the session's end.
  bool HasFinalStats() const {
    return stats_packets > 0 && (is_clone || packets_after_stats == appended_packets());
  }
  /// Returns true if all of the session is there: the service's event at its end, and then the
  /// statistics.
  bool HasEnd() const { return HasFinalStats() && lifetime && lifetime->length_ns() > 0; }
  /// Returns true if a tool or a library wrote the trace: no packet has a field that the service
  /// adds to each, and none is of those that only a service has a reason to write.
  bool IsOfTool() const {
    return trusted_packets == 0 && data_packets > 0 && stats_packets == 0 && !lifetime;
  }

  void AddError(uint64_t offset, std::string what) {
    ++error_count;
    if (errors.size() < kMaxErrors) errors.push_back({offset, std::move(what)});
  }
};

/// How far back from its session's end a ring reaches that overwrote data which nobody had read.
/// Of a log it counts from the newest packet that was overwritten, by the packet's own time; of a
/// trace alone from the latest first packet among the sequences that hold most of the ring's bytes:
/// a writer of little has all its packets, since the final flush commits them.
struct Reach {
  uint64_t ns = 0;
  bool is_estimate = false;  // by size and mean rate, as the packets' times are not known
  uint64_t idle_ns = 0;      // of this, the end of the session in which nothing was written

  /// Returns the time of the data that the ring holds.
  uint64_t held_ns() const { return ns - std::min(ns, idle_ns); }
  friend bool operator==(const Reach&, const Reach&) = default;
};

/// Returns the time at the session's end in which nothing was written, by its newest event and by
/// how often there are events, ns.
uint64_t IdleEndOf(int64_t newest_ns, uint64_t events, const TimeSpan& session);

/// Returns the time that a ring holds at the mean rate of the session up to its idle end; nullopt
/// if nothing was written.
std::optional<Reach> ReachByRate(const BufferStats& stats, const TimeSpan& session,
                                 uint64_t idle_ns = 0);
/// Returns the reach of a ring of a trace; nullopt if it overwrote nothing.
/// @param index of the buffer in the trace config
std::optional<Reach> ReachOf(const TraceFacts& facts, size_t index, const TimeSpan& session);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TRACE_TRACE_FACTS_H_
