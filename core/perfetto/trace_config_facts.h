#ifndef RINGSCOPE_CORE_PERFETTO_TRACE_CONFIG_FACTS_H_
#define RINGSCOPE_CORE_PERFETTO_TRACE_CONFIG_FACTS_H_

#include "core/base/sentence.h"
#include "core/perfetto/chunk.h"

namespace ringscope {

/// A buffer of a trace config.
struct ConfiguredBuffer {
  std::string name;
  uint64_t size_kb = 0;
  FillPolicy policy = FillPolicy::kRingBuffer;
  bool is_v2 = false;
  bool transfer_on_clone = false;
  bool clear_before_clone = false;

  /// Engine of a service that uses V1 unless it is asked for another. The mode 2 of v54 to v57 is
  /// V1, too: V2 in its shadow is only compared with it.
  const char* engine() const { return is_v2 ? "v2" : "v1"; }
  friend bool operator==(const ConfiguredBuffer&, const ConfiguredBuffer&) = default;
};

/// The data source of the kernel's ftrace.
inline constexpr const char* kFtraceSource = "linux.ftrace";

/// A data source of a trace config, and the index of the buffer that it writes to.
struct ConfiguredSource {
  std::string name;
  uint64_t target_buffer = 0;
  std::string own = {};                    // OwnFieldsOf its config
  bool filtered = false;                   // not every producer that has it takes part
  std::string target_name = {};            // target_buffer_name; empty: it has none
  std::optional<uint64_t> set_index = {};  // target_buffer as the config has it
  // Events and categories of the kernel's ftrace.
  std::vector<std::string> ftrace_events = {};
  std::vector<std::string> atrace_categories = {};
  std::vector<std::string> track_categories = {};  // enabled_categories of track events
  bool asks_for_events = false;  // in any way: events, atrace, kprobes, a function graph
  std::optional<uint64_t> ftrace_buffer_kb = {};
  std::optional<uint64_t> ftrace_drain_period_ms = {};
  bool has_all_syscalls = false;
  bool preserves_ftrace = false;  // keeps what the kernel's buffers had before
  // Settings of profilers; 0: not set.
  uint64_t perf_ring_pages = 0, heap_shm_bytes = 0;

  friend bool operator==(const ConfiguredSource&, const ConfiguredSource&) = default;
};

/// Settings of a producer's shared memory in a trace config.
struct ConfiguredProducer {
  std::string name;
  uint64_t shm_size_kb = 0, page_size_kb = 0;  // 0: not set

  friend bool operator==(const ConfiguredProducer&, const ConfiguredProducer&) = default;
};

/// TraceConfig.WriteFlushMode: whether the service asks for a flush before it writes into the file.
enum class WriteFlushMode : uint8_t { kUnspecified, kAuto, kDisabled, kEnabled };
/// TraceConfig.TriggerConfig.TriggerMode
enum class TriggerMode : uint8_t { kUnspecified, kStart, kStop, kCloneSnapshot = 4 };

/// Facts of a TraceConfig on reads, buffers and data sources.
struct TraceConfigFacts {
  bool is_well_formed = true;  // else read as far as it is
  bool write_into_file = false;
  std::optional<uint64_t> file_write_period_ms;
  /// The service's events at the end of reads are in the file as they are: they are neither left
  /// out nor filtered, and nothing is compressed.
  bool shows_ends_of_reads = true;
  WriteFlushMode write_flush_mode = WriteFlushMode::kUnspecified;
  uint64_t flush_timeout_ms = 5000;
  bool deferred_start = false;
  TriggerMode trigger_mode = TriggerMode::kUnspecified;
  std::vector<std::string> triggers;  // their names
  uint64_t trigger_timeout_ms = 0;
  bool clones_if_available = false;  // use_clone_snapshot_if_available
  bool has_extra_guardrails = false;
  uint64_t most_buffers_kb = 0;             // max_tracing_buffer_size_kb of guardrail_overrides
  std::optional<uint64_t> clear_period_ms;  // of incremental state
  std::optional<uint64_t> flush_period_ms;
  std::optional<uint64_t> duration_ms;
  uint64_t snapshot_interval_ms = 10'000;  // of clocks, and after which statistics are due
  std::string unique_session_name;
  std::string output_path;
  std::string bugreport_filename;
  uint64_t max_file_size_bytes = 0;       // 0: no limit
  std::vector<ConfiguredBuffer> buffers;  // by index; the first kMaxBuffers
  uint64_t buffer_count = 0;              // all
  std::vector<ConfiguredSource> sources;
  std::vector<ConfiguredProducer> producers;

  static constexpr size_t kMaxBuffers = 128;  // the service refuses more

  /// Returns true if the service reads the buffers for a file during the session. One with a period
  /// of a day or more is a plain ring: it is read at its end.
  bool IsStreamed() const;
  /// With what period the service writes into the file. Source: the service's rules for periods.
  uint64_t PeriodNs() const;
  /// Returns true if the session does not start with its config, but by StartTracing or by a
  /// trigger.
  bool StartsLater() const { return deferred_start || trigger_mode == TriggerMode::kStart; }
  /// Returns true if the service asks for a flush before it writes into the file, and reads when
  /// that is completed. Source: the service's rules since Perfetto v54.
  bool FlushesBeforeWrite() const;
};

/// The service's period for a file_write_period_ms: none is 5 s, and 100 ms the shortest.
uint64_t FileWritePeriodNs(uint64_t file_write_period_ms);

/// A data source's config without what the service fills in, in an order that does not depend on
/// who encoded it: equal for a session's config and what a producer gets of it.
std::string OwnFieldsOf(Bytes data_source_config);

/// Reads the message as far as it is well-formed.
TraceConfigFacts ReadTraceConfigFacts(Bytes config);

/// Rounds a size up to one that people type: a power of two, or above 1 MiB half as much again.
uint64_t TypedSize(uint64_t bytes);
/// Returns the size to recommend where `least` is just enough: a fifth more as a reserve for
/// sessions that write more, as people type it.
inline uint64_t RecommendedSize(uint64_t least) { return TypedSize(least + least / 5); }
/// Rounds a period down to one that people type: 1, 2, 2.5, 3, 4 or 5 times a power of ten.
/// @return ms, 0 of 0
uint64_t TypedPeriod(uint64_t ms);

/// How often producers are to repeat their incremental state: an estimate.
struct ClearPeriod {
  uint64_t ms = 0;  // clear_period_ms; 0: the ring reaches back too little for any period to help
  Sentence reason;  // empty: the config has a period as short
};
/// Returns a tenth of what the ring reaches back, as people type it: in a ring, all that is newer
/// than one period has the state that it needs.
/// @param reach_ns absent: it is not known; a tenth of the session counts then, and at most 5 s
ClearPeriod ClearPeriodFor(std::optional<uint64_t> reach_ns, const TraceConfigFacts& config);

/// A line of the session's trace config that is to be another.
struct ConfigChange {
  std::string path;   // "buffers[0].size_kb"
  std::string value;  // as text format has it: "65536", "RING_BUFFER"
  std::string reason;
  bool is_estimate = false;     // not proved by a replay
  std::string was = {};         // the present value as text; empty: not set, or not known
  bool is_alternative = false;  // does in place of the others: no config has both

  friend bool operator==(const ConfigChange&, const ConfigChange&) = default;
};

/// Returns the lines that give a producer so much shared memory: in its entry, or in a new one.
/// @param reason of the size; a line with the name of a new entry has none
/// @param entries of the config with those that were added, which it counts
std::vector<ConfigChange> SharedMemoryChanges(const TraceConfigFacts& config,
                                              const std::string& producer, uint64_t kb,
                                              std::string reason, size_t& entries);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_TRACE_CONFIG_FACTS_H_
