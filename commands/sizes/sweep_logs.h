#ifndef RINGSCOPE_COMMANDS_SIZES_SWEEP_LOGS_H_
#define RINGSCOPE_COMMANDS_SIZES_SWEEP_LOGS_H_

#include <optional>
#include <string>
#include <vector>

#include "commands/many_logs/each_log.h"
#include "commands/many_logs/shards.h"
#include "commands/view/json_fields.h"
#include "commands/view/report.h"
#include "core/sweep/sweep_result.h"

namespace ringscope {

// The result of sweeping a session, and the report on many logs that is made of such results.

/// All but the sizes of a configuration; comparable between logs.
struct SweptSetting {
  std::optional<std::string> engine;  // absent: the log's
  std::optional<FillPolicy> policy;   // absent: the log's
  std::string reads;
  bool reads_assumed = false;           // nobody chose them, and the log does not show them
  std::optional<std::string> programs;  // "on", "off" or a memory limit; absent: as configured

  friend auto operator<=>(const SweptSetting&, const SweptSetting&) = default;
};

/// What distinguishes configurations, whatever the log.
struct SweptKey {
  SweptSetting setting;
  std::optional<double> scale;   // times the log's own sizes; absent: `size`
  std::optional<uint64_t> size;  // of all buffers that have no size of their own

  friend auto operator<=>(const SweptKey&, const SweptKey&) = default;
};

struct SweptConfiguration {
  SweptKey key;
  std::vector<SweepRow> buffers;
};

struct SweptBuffer {
  BufferId buffer{};
  uint64_t size = 0;
  FillPolicy policy = FillPolicy::kRingBuffer;
};

struct FoundBuffer {
  BufferId buffer{};
  uint64_t size = 0;
};

/// The smallest buffers that meet the targets in a setting.
struct FoundBuffers {
  SweptSetting setting;
  std::vector<std::string> target;
  bool found = false;
  bool verified = false;               // by an exact replay
  std::optional<std::string> why_not;  // absent: found
  std::vector<FoundBuffer> buffers;    // empty: not found
};

struct SweptSession {
  std::string input;
  uint64_t session = 0;
  std::optional<uint64_t> clone;  // whose holder's view this is; absent: the session's own
  uint64_t records = 0;
  uint64_t recorder_gaps = 0;
  std::vector<std::string> inexact;  // reasons why the recording is not exact
  uint64_t duration_ns = 0;
  std::vector<SweptBuffer> buffers;  // as the log sets them up
  std::vector<SweptConfiguration> configurations;
  std::vector<FoundBuffers> targets;  // empty: not searched
};

template <typename Io>
void ListFields(Io& io, SweptSetting& setting) {
  io("engine", setting.engine, "policy", setting.policy, "reads", setting.reads, "reads_assumed",
     setting.reads_assumed);
  io.UnlessEmpty("protovm", setting.programs);
}

template <typename Io>
void ListFields(Io& io, SweptKey& key) {
  ListFields(io, key.setting);
  io("scale", key.scale, "size", key.size);
}

template <typename Io>
void ListFields(Io& io, SweepSequence& sequence) {
  io("sequence", sequence.sequence, "written", sequence.written, "read", sequence.read,
     "overwritten", sequence.overwritten, "history_ns", sequence.history_ns);
}

template <typename Io>
void ListFields(Io& io, SweepRow& row) {
  io("buffer", row.id, "engine", row.engine, "policy", row.policy, "size", row.size, "written",
     row.written, "read", row.read, "unread", row.unread, "overwritten", row.overwritten,
     "discarded", row.discarded, "history_ns", row.history_ns, "shortest_history_ns",
     row.shortest_history_ns, "shortest_sequence", row.shortest_sequence, "sequence_packet_loss",
     row.losses.sequence_packet_loss, "incremental_sequences_dropped",
     row.losses.incremental_sequences_dropped, "used_bytes", row.used_bytes);
  io.UnlessEmpty("folded", row.folded);
  io.UnlessEmpty("state_bytes", row.state_bytes);
  io.UnlessEmpty("lost", row.lost);
  io.Derived("lost_otherwise", row.lost_otherwise(), "waiting", row.waiting_packets());
  io.Object("stats", [&](auto& stats) {
    for (const StatField& field : kStatFields) stats(field.name, row.stats.*field.value);
  });
  io("sequences", row.sequences);
}

template <typename Io>
void ListFields(Io& io, SweptConfiguration& configuration) {
  ListFields(io, configuration.key);
  io("buffers", configuration.buffers);
}

template <typename Io>
void ListFields(Io& io, SweptBuffer& buffer) {
  io("buffer", buffer.buffer, "size", buffer.size, "policy", buffer.policy);
}

template <typename Io>
void ListFields(Io& io, FoundBuffer& buffer) {
  io("buffer", buffer.buffer, "size", buffer.size);
}

template <typename Io>
void ListFields(Io& io, FoundBuffers& found) {
  ListFields(io, found.setting);
  io("target", found.target, "found", found.found, "verified", found.verified, "why_not",
     found.why_not, "buffers", found.buffers);
}

template <typename Io>
void ListFields(Io& io, SweptSession& session) {
  io("input", session.input, "session", session.session);
  io.UnlessEmpty("clone", session.clone);
  io("records", session.records, "recorder_gaps", session.recorder_gaps, "duration_ns",
     session.duration_ns, "buffers", session.buffers, "configurations", session.configurations);
  io.UnlessEmpty("inexact", session.inexact);
  io.UnlessEmpty("targets", session.targets);
}

using SweepLogs = std::vector<LogResult<SweptSession>>;
inline constexpr const char* kSweepLogs = "sweep_logs";

/// A line for each log, and totals: for each configuration what all logs lost, and the worst of
/// them.
/// @param format text, json or csv
/// @param shards that the logs are of
/// @return how a run over these logs ends
Result<ExitCode> ReportLogs(Console& console, const std::string& format, const SweepLogs& logs,
                            const ShardsHeld& shards);

/// Rows of numbers; the first columns are the same for all tools that compare sizes.
Table SweepCsv();
void AddToCsv(const SweptSession& session, const std::string& log, Table& rows);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SIZES_SWEEP_LOGS_H_
