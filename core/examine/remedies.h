#ifndef RINGSCOPE_CORE_EXAMINE_REMEDIES_H_
#define RINGSCOPE_CORE_EXAMINE_REMEDIES_H_

#include "core/gaps/gap_report.h"
#include "core/perfetto/trace_config_facts.h"
#include "core/session/replay_outcome.h"
#include "core/sweep/sweep.h"

namespace ringscope {

// The one list of changes of the trace config that would have kept what a session lost. All
// commands that name one have it from here.

/// Packets that come out of the buffers that a remedy concerns, by a replay.
struct TriedOutcome {
  uint64_t written = 0;
  uint64_t in_trace = 0;
  uint64_t lost = 0;     // to whatever
  uint64_t full = 0;     // of these, because a buffer was full
  uint64_t waiting = 0;  // not finished by their writers, or unread in a buffer at the end

  /// Returns true if it loses nothing, and no packet waits that does not without the remedy.
  bool loses_nothing(const TriedOutcome& now) const { return lost == 0 && waiting <= now.waiting; }
  TriedOutcome& operator+=(const TriedOutcome& other) {
    written += other.written, in_trace += other.in_trace;
    lost += other.lost, full += other.full, waiting += other.waiting;
    return *this;
  }
  friend bool operator==(const TriedOutcome&, const TriedOutcome&) = default;
};
/// Returns the outcome of a buffer as the session was replayed.
TriedOutcome OutcomeOf(const LedgerTotals& totals);

// The kinds of remedies, each with what no other has.

struct SizeRemedy {
  static constexpr const char* kName = "size";
  uint64_t least_size = 0;  // bytes: a page less loses more, by a replay; before, a lower bound
  bool holds_all = false;   // a ring of least_size never wraps
  std::optional<uint64_t> keep_ns = {};  // how far back it is to reach; absent: to the start
  uint64_t keep_from_ns = 0;             // what was committed by then is to be kept
};
struct SplitRemedy {
  static constexpr const char* kName = "split";
  std::vector<std::string> sources;  // data sources that get a buffer of their own
  bool keeps_others = false;         // the present one loses nothing, by the replay
};
struct PolicyRemedy {
  static constexpr const char* kName = "policy";
  bool is_of_file = false;  // the session is written into a file
};
struct ReadPeriodRemedy {
  static constexpr const char* kName = "read_period";
};
struct FlushRemedy {
  static constexpr const char* kName = "flush";
};
struct ClearStateRemedy {
  static constexpr const char* kName = "clear_state";
  uint64_t idle_ns = 0;  // the end of the session without data
};
struct SharedMemoryRemedy {
  static constexpr const char* kName = "shared_memory";
  ProducerId producer{};
  std::string otherwise;  // what helps in its place
};

/// A change of the trace config, its effect and its price.
struct Remedy {
  std::variant<SizeRemedy, SplitRemedy, PolicyRemedy, ReadPeriodRemedy, FlushRemedy,
               ClearStateRemedy, SharedMemoryRemedy>
      own;
  std::optional<BufferId> buffer;       // absent: of the session, or of a producer
  uint32_t index = 0;                   // of that buffer in the config
  uint64_t size = 0;                    // bytes, of the buffer or the shared memory
  uint64_t period_ns = 0;               // of reads, flushes or states
  std::optional<uint64_t> reach_ns;     // how far back the buffer does reach, by a replay
  uint64_t concerned = 0;               // packets whose loss it answers
  int64_t memory = 0;                   // bytes more that the session takes
  TriedOutcome now;                     // of the buffers that it concerns
  std::optional<TriedOutcome> outcome;  // by a replay; absent: an estimate
  std::string formula;                  // of an estimate, in words
  bool is_alternative = false;          // does instead of one that the config has
  std::vector<ConfigChange> changes;

  /// Returns what it has of this kind, or nullptr if it is of another.
  template <typename Kind>
  const Kind* As() const {
    return std::get_if<Kind>(&own);
  }
  const char* kind() const {
    return std::visit([](const auto& of) { return of.kName; }, own);
  }
  std::optional<uint64_t> keep_ns() const {
    return As<SizeRemedy>() == nullptr ? std::nullopt : As<SizeRemedy>()->keep_ns;
  }
  bool is_estimate() const { return !formula.empty(); }
  /// Returns true for a size that does not keep everything, and need not.
  bool is_for_reach() const { return keep_ns() && reach_ns && outcome && outcome->lost > 0; }
  /// Packets that it brings into the trace, by a replay.
  uint64_t kept() const {
    return outcome ? outcome->in_trace - std::min(outcome->in_trace, now.in_trace) : 0;
  }
};

/// The shortest file_write_period_ms.
inline constexpr uint64_t kShortestReadPeriodNs = 100'000'000;

/// What is known of a session, from one replay of it.
struct RemedyFacts {
  const GapReport& gaps;
  const ReplayOutcome& outcome;
  const SessionNotes& notes;
  TraceConfigFacts config;  // of the session as it was replayed
};

/// The remedies that the causes of a session's losses call for, by their effect once they are
/// tried.
struct RemedyList {
  bool is_tried = false;  // what the replays show of sizes is here, and estimates add nothing
  std::vector<Remedy> remedies;
  /// Sizes that bring nothing more into the trace, as a replay shows.
  std::vector<Remedy> refused;
  /// The changes that go together: one for a buffer, that of its first remedy.
  std::vector<ConfigChange> changes;
  TriedOutcome now;                      // of the session
  std::optional<TriedOutcome> together;  // by a replay with all changes; absent: not tried
};

/// How far back people want a ring to reach, unless they say so.
inline constexpr uint64_t kUsualKeepNs = 10'000'000'000;

/// Returns the remedies, none of which is tried.
/// @param keep_ns how far back each sequence is to reach; absent: to the session's start, and
///   kUsualKeepNs
RemedyList FindRemedies(const RemedyFacts& facts, std::optional<uint64_t> keep_ns);
/// The remedy for the size of a buffer, or nullptr.
const Remedy* FindSizeRemedy(const std::vector<Remedy>& remedies, BufferId buffer);

/// The session's trace config, and how its changes are made.
struct RemedyConfig {
  TraceConfigFacts facts;
  /// Writes the config with the changes as text and reads that. @return a TraceConfig message
  std::function<Result<std::string>(const std::vector<ConfigChange>&)> with;
};

/// Replays the session with each remedy that a replay can try, as its config is printed, and notes
/// what comes out. Sizes become those to recommend where the smallest is known that overwrites
/// nothing, or that reaches back as far as it is to; those that would take too much memory stay
/// estimates. Remedies that bring nothing more into the trace are removed, and the others are
/// ordered by their effect, then by their price. Warns of those that cannot be tried.
/// @param own choices of the replay as it was; sizes and policies are those of `config`
Status TryRemedies(const SweepInput& input, const ReplayOptions& own, const RemedyConfig& config,
                   RemedyList& list);

// In words. Source: core/examine/remedy_texts.cc.

/// A sentence for each remedy: "buffers[0].size_kb: 6548 keeps everything, as a replay shows."
std::vector<std::string> RemedyTexts(const RemedyList& list, const SessionNotes& notes);
/// A sentence for each size that a replay shows to be of no use, and for losses that no change of
/// the config prevents, each once: "No change of the config helps: the producer gave ...".
std::vector<std::string> OtherTexts(const GapReport& report, const RemedyList& list);
/// "keeps everything", "loses nothing", "keeps 12 of 14 packets; 2 packets remain unread": with a
/// remedy. @param now without it
Sentence OutcomeText(const TriedOutcome& outcome, const TriedOutcome& now);
/// Returns the size of the list that keeps all packets of a gap, by a replay, or nullptr.
const Remedy* SizeThatKeeps(const Gap& gap, const RemedyList& list);
/// Names the change of the list that keeps the packets of a gap, "buffers[0].size_kb: 6548", or
/// what helps that is no change of the config; empty: nothing is known.
std::string RemedyOf(const Gap& gap, const RemedyList& list);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_EXAMINE_REMEDIES_H_
