#ifndef RINGSCOPE_COMMANDS_GAPS_GAPS_LOGS_H_
#define RINGSCOPE_COMMANDS_GAPS_GAPS_LOGS_H_

#include <optional>
#include <string>
#include <vector>

#include "commands/many_logs/each_log.h"
#include "commands/many_logs/shards.h"
#include "commands/view/json_fields.h"
#include "commands/view/report.h"
#include "core/gaps/gap_report.h"

namespace ringscope {

// The totals of 'ringscope gaps', and the report on many logs that is made of them.

struct GapsBuffer {
  BufferId buffer{};
  // Absent: the buffer was never set up.
  std::optional<std::string> engine;
  std::optional<uint64_t> size;
  std::optional<FillPolicy> policy;
  LedgerTotals totals;
};

struct GapsSequence : SequenceLosses {
  std::string producer;  // its name, fit for a terminal
  uint64_t gaps = 0;
};

struct GapsSession {
  std::string input;
  uint64_t session = 0;
  std::optional<uint64_t> clone;  // whose holder's view this is; absent: the session's own
  bool nothing_lost = true;       // and the log proves it
  std::string reads;              // see ReadsMode
  bool reads_assumed = false;     // nobody chose them, and the log does not show them
  std::vector<GapsBuffer> buffers;
  std::vector<GapsSequence> sequences;
  std::vector<FtraceCpuLosses> ftrace;
  std::vector<StaleSequence> stale;
};

template <typename Io>
void ListFates(Io& io, std::array<FateCount, kFates>& by_fate) {
  io.Object("fates", [&](auto& fates) {
    for (size_t i = 0; i < kFates; ++i) fates(Name(static_cast<Fate>(i)), by_fate[i]);
  });
}

template <typename Io>
void ListFields(Io& io, GapsBuffer& buffer) {
  io("buffer", buffer.buffer, "engine", buffer.engine, "size", buffer.size, "policy", buffer.policy,
     "written", buffer.totals.written);
  io.Derived("lost", buffer.totals.lost());
  io("own_fault", buffer.totals.own_fault, "duplicates", buffer.totals.duplicates);
  ListFates(io, buffer.totals.by_fate);
}

template <typename Io>
void ListFields(Io& io, UnusablePackets& unusable) {
  ListFields(io, unusable.count);
  io("from_ns", unusable.from_ns, "to_ns", unusable.to_ns, "reset", unusable.reset);
}

template <typename Io>
void ListFields(Io& io, GapsSequence& sequence) {
  io("buffer", sequence.buffer, "sequence", sequence.sequence, "producer", sequence.producer);
  io.Derived("written", sequence.written(), "lost", sequence.lost());
  io("own_fault", sequence.own_fault, "gaps", sequence.gaps, "unusable", sequence.unusable,
     "unusable_times", sequence.unusable_spans, "producer_flags", sequence.producer_flags,
     "producer_flags_hidden", sequence.hidden_flags, "producer_bits", sequence.producer_bits,
     "producer_flags_after_abort", sequence.flags_after_abort, "missing_chunks",
     sequence.missing_chunks, "first_chunk", sequence.first_chunk);
  ListFates(io, sequence.by_fate);
}

template <typename Io>
void ListFields(Io& io, FtraceCpuLosses& cpu) {
  io("cpu", cpu.cpu, "bundles", cpu.bundles, "bundles_after_loss", cpu.bundles_after_loss,
     "overrun", cpu.overrun, "commit_overrun", cpu.commit_overrun, "dropped_events",
     cpu.dropped_events);
}

template <typename Io>
void ListFields(Io& io, StaleSequence& stale) {
  io("buffer", stale.buffer, "sequence", stale.sequence, "packets", stale.packets, "stale",
     stale.stale, "longest_ns", stale.longest_ns, "longest_chunk", stale.longest_chunk);
}

template <typename Io>
void ListFields(Io& io, GapsSession& session) {
  io("input", session.input, "session", session.session);
  io.UnlessEmpty("clone", session.clone);
  io("nothing_lost", session.nothing_lost, "reads", session.reads, "reads_assumed",
     session.reads_assumed, "buffers", session.buffers, "sequences", session.sequences, "ftrace",
     session.ftrace, "stale", session.stale);
}

using GapsLogs = std::vector<LogResult<GapsSession>>;
inline constexpr const char* kGapsLogs = "gaps_logs";

/// A line for each log, and totals.
/// @param format text or json
/// @param shards that the logs are of
/// @return how a run over these logs ends
Result<ExitCode> ReportLogs(Console& console, const std::string& format, const GapsLogs& logs,
                            const ShardsHeld& shards);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GAPS_GAPS_LOGS_H_
