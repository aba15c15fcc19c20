#ifndef RINGSCOPE_CORE_FINDINGS_EXAMINER_H_
#define RINGSCOPE_CORE_FINDINGS_EXAMINER_H_

#include "core/base/lookup.h"
#include "core/findings/finding.h"

namespace ringscope {

inline constexpr uint64_t kKiB = 1024;  // bytes, the unit of size_kb
inline constexpr uint64_t kMsInNs = 1'000'000;
/// Returns a time of a config in ns; one that is longer than can be counted is cut.
inline uint64_t ConfigNs(uint64_t ms) { return std::min(ms, uint64_t{1} << 40) * kMsInNs; }

/// Input of the examinations below, and their findings so far.
class Examiner : public Problems {
 public:
  explicit Examiner(const TraceFacts& trace, const ReplayFacts* replayed = nullptr);

  const TraceFacts& facts;
  const ReplayFacts* const replay;  // nullptr if the trace is not of a replay
  const TraceConfigFacts config;    // empty if the trace has none
  /// Time of the session, by the log's records, or else by its packets and by the service's events;
  /// nullopt if nothing has a time.
  const std::optional<TimeSpan> session;

  bool has_config() const { return facts.config.has_value(); }
  /// Returns true for the replay of a log: what its records do not have is not known, and the trace
  /// that the replay makes lacks it in any case.
  bool is_of_log() const { return replay != nullptr; }
  /// Returns true if the service read the buffers for a file during the session; false: it read
  /// them once, at the end.
  bool IsStreamed() const;
  /// Returns true if the session is known to be as long as the period of its reads.
  bool HasLengthOfPeriod() const;
  /// Returns true if the service flushes by itself before it writes into the file.
  /// @param of_unknown the answer for a service whose release is not known
  bool FlushesByItself(bool of_unknown = false) const {
    constexpr uint64_t kFirst = 54;
    return config.write_into_file && config.write_flush_mode != WriteFlushMode::kDisabled &&
           ServiceRelease(facts.service_version).value_or(of_unknown ? kFirst : 0) >= kFirst;
  }

  /// Calls examine(const MachineFacts&) for the service's machine and each remote one. What that
  /// finds is of this machine.
  template <typename Examine>
  void OnEachMachine(const Examine& examine) {
    examine(static_cast<const MachineFacts&>(facts));
    for (const auto& [machine, remote] : facts.remotes) {
      const size_t first = findings.size();
      is_remote_ = true;
      examine(remote);
      is_remote_ = false;
      for (Finding& found : std::span(findings).subspan(first))
        found.where = Say("machine {}{}{}", machine, found.where.empty() ? "" : ": ", found.where);
    }
  }

  /// Adds a finding; the reference is valid until the next one.
  /// @param parts what is known beside rule and sentence; severity and remedy are else the rule's
  Finding& Add(const char* rule, Sentence what, Finding parts = {});
  /// Notes a check without a finding on the service's machine; other machines are not mentioned.
  void Well(const Sentence& sentence) {
    if (!is_remote_) Keep(sentence, well);
  }
  void Unknown(const Sentence& sentence) { Keep(sentence, unknown); }
  bool HasFound(std::string_view rule) const {
    return Contains(findings, &RuleOf(rule), &Finding::rule);
  }

 private:
  void Keep(const Sentence& sentence, std::vector<std::string>& texts) {
    texts.push_back(sentence.text);
    AddFigures(figures, sentence);
  }

  bool is_remote_ = false;
};

/// The severity of a finding that is harmless in some cases: else the rule's.
inline Harm InfoIf(bool is_harmless) { return is_harmless ? Harm::kInfo : Harm::kOk; }

/// A counter that CPUs, processes or sessions have, each by its number.
struct IndexSum {
  uint64_t sum = 0;
  std::vector<std::string> indexes;  // where it is not 0

  void Add(uint64_t index, uint64_t count) {
    sum += count;
    if (count > 0) indexes.push_back(std::to_string(index));
  }
};
/// "1, 2, 3, ...": the first few of a list.
std::string FirstOf(const std::vector<std::string>& names, size_t most = 8);

// The examinations, by their subject.

void ExamineSources(Examiner& examiner);
void ExamineFile(Examiner& examiner);
void ExamineBuffers(Examiner& examiner);
void ExamineService(Examiner& examiner);  // its flushes and counters
void ExamineFtrace(Examiner& examiner);
void ExamineProfilers(Examiner& examiner);
void ExamineClocks(Examiner& examiner);
void ExamineConfig(Examiner& examiner);  // also of a config alone

/// Returns the size of the kernel's buffer of a CPU that writes 5 MB/s and is drained that often,
/// which trace processor finds enough: KiB, a power of two, at least 1 MiB.
uint64_t KernelBufferKb(uint64_t drain_period_ms);

/// Returns true for a data source that writes track events.
inline bool IsOfTrackEvents(std::string_view source) {
  return source == "track_event" || source == "org.chromium.trace_event";
}

// Words that several of them use.

/// Returns true if the statistics of all buffers prove that they lost nothing.
bool LostNothing(const Examiner& examiner);
/// Returns the replay's facts of the buffer, or nullptr if there are none.
const ReplayedBuffer* ReplayedOf(const Examiner& examiner, size_t index);
/// "sequence 7 (com.example/worker)"
std::string SequenceName(const Examiner& examiner, const TraceSequence& sequence);
/// A time of the trace from its beginning: "2.130 s".
Sentence TimeOf(const Examiner& examiner, const char* name, int64_t ns);
/// "from 2.130 s to 4.500 s"; the times are named first_ns and last_ns.
Sentence SpanText(const Examiner& examiner, const TimeSpan& span);

/// Returns how far back a ring reaches that overwrote unread data; nullopt if it is no such ring,
/// or if the session was written into a file.
std::optional<Reach> ReachOf(const Examiner& examiner, size_t index);
/// Returns the time of the data in the ring that holds least, of those that overwrote unread data;
/// of one that is read for a file, between two reads, by the mean rate.
std::optional<uint64_t> ShortestHeldNs(const Examiner& examiner);
/// Returns true if the sizes that were found keep all that the rings overwrote: then there is no
/// state to be repeated. Of a trace they are estimates.
bool SizesKeepAll(const Examiner& examiner);
inline constexpr const char* kClearPeriodPath = "incremental_state_config.clear_period_ms";
/// Adds a clear_period_ms for a ring that holds so much, unless the config has one as short
/// (ClearPeriodFor); an alternative if the sizes keep all.
/// @return false: the ring is too small for it, and the finding's remedy is a larger one
bool AddClearPeriod(const Examiner& examiner, std::optional<uint64_t> held_ns, Finding& finding);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_FINDINGS_EXAMINER_H_
