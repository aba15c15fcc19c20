#ifndef RINGSCOPE_CORE_FINDINGS_EXAMINER_H_
#define RINGSCOPE_CORE_FINDINGS_EXAMINER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/findings/finding.h"
#include "core/perfetto/trace_config_facts.h"

namespace ringscope {

inline constexpr uint64_t kKiB = 1024;  // bytes, the unit of size_kb
inline constexpr uint64_t kMsInNs = 1'000'000;

/// Input of the examinations below, and their findings so far.
class Examiner {
 public:
  explicit Examiner(const TraceFacts& trace, const ReplayFacts* replayed = nullptr);

  const TraceFacts& facts;
  const ReplayFacts* const replay;  // nullptr if the trace is not of a replay
  const TraceConfigFacts config;    // empty if the trace has none
  bool has_config() const { return facts.config.has_value(); }
  /// Returns true for the replay of a log: what its records do not have is not known, and the trace
  /// that the replay makes lacks it in any case.
  bool is_of_log() const { return replay != nullptr; }
  /// Time of the session, by the log's records, or else by its packets and by the service's events;
  /// nullopt if nothing has a time.
  const std::optional<TimeSpan>& session() const { return session_; }
  /// Returns true if the service read the buffers for a file during the session; false: it read
  /// them once, at the end.
  bool IsStreamed() const;
  /// Returns true if the session is known to be as long as the period of its reads.
  bool HasLengthOfPeriod() const;

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
      for (size_t i = first; i < findings.size(); ++i) SetMachine(findings[i], machine);
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
  bool HasFound(std::string_view rule) const;

  std::vector<Finding> findings;
  std::vector<SourceAccount> sources;
  std::vector<std::string> well, unknown;
  Figures figures;  // of these two

 private:
  void Keep(const Sentence& sentence, std::vector<std::string>& texts) {
    texts.push_back(sentence.text);
    AddFigures(figures, sentence);
  }
  static void SetMachine(Finding& finding, uint32_t machine) {
    finding.where =
        Say("machine {}{}{}", machine, finding.where.empty() ? "" : ": ", finding.where);
  }

  bool is_remote_ = false;
  std::optional<TimeSpan> session_;
};

// The examinations, by their subject.

void ExamineFile(Examiner& examiner);
void ExamineBuffers(Examiner& examiner);
void ExamineSequences(Examiner& examiner);
void ExamineFlushes(Examiner& examiner);
void ExamineService(Examiner& examiner);
void ExamineFtrace(Examiner& examiner);
void ExamineSources(Examiner& examiner);
void ExamineProfilers(Examiner& examiner);
void ExamineClocks(Examiner& examiner);
/// These look at the config alone: what the service refuses or ignores, data sources, the rest.
void ExamineRefusals(Examiner& examiner);
void ExamineIgnored(Examiner& examiner);
void ExamineConfigSources(Examiner& examiner);
void ExamineConfig(Examiner& examiner);

/// Returns the size of the kernel's buffer of a CPU that writes 5 MB/s and is drained that often,
/// which trace processor finds enough: KiB, a power of two, at least 1 MiB.
uint64_t KernelBufferKb(uint64_t drain_period_ms);

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
/// Returns the shortest time that a ring holds which overwrote unread data.
std::optional<Reach> ShortestReach(const Examiner& examiner);
/// Returns true if the sizes that were found keep all that the rings overwrote: then there is no
/// state to be repeated. Of a trace they are estimates.
bool SizesKeepAll(const Examiner& examiner);
/// Adds a clear_period_ms for the reach, unless the config has one as short (ClearPeriodFor); an
/// alternative if the sizes keep all.
/// @return false: the ring is too small for it, and the finding's remedy is a larger one
bool AddClearPeriod(const Examiner& examiner, std::optional<Reach> reach, Finding& finding);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_FINDINGS_EXAMINER_H_
