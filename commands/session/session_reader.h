#ifndef RINGSCOPE_COMMANDS_SESSION_SESSION_READER_H_
#define RINGSCOPE_COMMANDS_SESSION_SESSION_READER_H_

#include "commands/shell/options.h"
#include "core/session/read_policy.h"
#include "formats/inputs/recording.h"

namespace ringscope {

/// The logs of a command line, or only one of their sessions.
struct SessionSelection {
  std::vector<std::string> paths;
  std::optional<uint64_t> only;   // session number, from 1
  std::optional<uint64_t> clone;  // only sessions with this clone, each as far as the clone reaches
  bool quiet = false;             // no warnings of damage: the caller reports it

  /// Returns true if standard input is among them, which can be read only once.
  bool IsReadOnce() const { return Contains(paths, "-") && !RunFiles::CopyOf("-"); }
};

/// Inputs of a command: the shell opens them before the command runs.
struct Needs {
  enum class Logs : uint8_t { kOne, kSeveral } logs = Logs::kSeveral;
  Traces traces = Traces::kRefused;
  const char* activity = "replaying";  // for the progress line
};

/// Shows the progress of a pass over a recording, and keeps what is damaged or missing.
class ConsoleReporter : public RecordingReporter {
 public:
  /// @param activity for the progress line: "replaying"; empty: no progress is shown
  /// @param is_quiet what is damaged or missing is not printed
  ConsoleReporter(Console& console, std::string activity, bool is_quiet)
      : console_(console), activity_(std::move(activity)), is_quiet_(is_quiet) {}

  void OnAddedParts(const std::vector<std::string>& paths) override;
  void OnProgress(const std::string& path, uint64_t done, uint64_t total) override;
  void OnFileEnd(const std::string& path, const std::vector<Damage>& places,
                 uint64_t count) override;
  void OnProblem(const std::string& sentence) override;
  void OnAssumption(const std::string& sentence) override { assumptions.push_back(sentence); }
  void HideProgress() { progress_.reset(); }

  std::vector<std::string> problems, assumptions;  // sentences without a full stop
  std::vector<Damage> damage;  // at most LogSource::kMaxDamage places of each file
  uint64_t damage_count = 0;   // all places

 private:
  Console& console_;
  const std::string activity_;
  const bool is_quiet_;
  std::optional<Progress> progress_;
};

/// The sessions that a command line selects, one after the other, on the console. If a session or a
/// clone is selected, the records are read twice: first to find it.
class SessionReader : public RecordingPass {
 public:
  /// @param activity for the progress line: "replaying"; empty: no progress is shown
  SessionReader(Context& context, const SessionSelection& selection, std::string activity);
  /// Reads one session of another reader's recording again.
  SessionReader(const SessionReader& other, const SessionPlace& place, std::string activity);

  Recording& recording() { return *owned_; }
  const Recording& recording() const { return *owned_; }
  /// Moves to the next selected session, skipping the rest of this one. Call it first.
  /// @return false: there is none. A selected session or clone that does not exist is an error.
  Result<bool> NextSession();
  /// Opens the records of the session that it is at once more, as far as its clone.
  /// @param activity for the progress line; empty: none is shown
  OpenOps Again(std::string activity = "") const;

  /// The number of the clone that the session ends with; absent: it is read to its end.
  std::optional<uint64_t> clone_number() const {
    return clone() != nullptr ? std::optional(clone()->clone) : std::nullopt;
  }
  /// Returns the damage, the missing parts and the assumptions of the input that was read so far.
  const ConsoleReporter& reported() const { return *reporter_; }
  /// The caller reports Verdicts, so that nobody has to warn of them.
  void ReportsVerdicts() { reports_verdicts_ = true; }
  bool reports_verdicts() const { return reports_verdicts_; }
  /// Warns of what was not reported yet. Call it last.
  /// @return kNotice if any input was damaged or incomplete
  ExitCode Finish();
  void Stop();

 private:
  SessionReader(Context& context, std::shared_ptr<Recording> recording,
                std::optional<SessionPlace> place, std::shared_ptr<ConsoleReporter> reporter)
      : RecordingPass(*recording, place, reporter),
        context_(context),
        owned_(std::move(recording)),
        reporter_(std::move(reporter)) {}

  Context& context_;
  const std::shared_ptr<Recording> owned_;
  const std::shared_ptr<ConsoleReporter> reporter_;
  std::optional<uint64_t> only_, wanted_clone_;  // until they are found
  std::optional<Error> missing_clone_;
  bool reports_verdicts_ = false;
};

/// `result`; an error that has no file yet gets `path`.
template <typename T>
Result<T> InFile(const std::string& path, Result<T> result) {
  if (!result && result.error().where.path.empty()) result.error().where.path = path;
  return result;
}

/// Fails if the current session's log was made without payloads.
/// @param what needs them, as a sentence begins: "a trace"
Status ExpectPayload(const SessionReader& sessions, const char* what);

/// Fails if there is a further session, for a command that writes one file.
/// @param what is written, "a trace"
Status ExpectNoFurtherSession(SessionReader& sessions, const char* what);

/// Warns of damage: the first places, and how many there are.
void WarnOfDamage(Console& console, const std::string& path, const std::vector<Damage>& damage,
                  uint64_t count);
/// "a.tblog, b.tblog and 3 more"
std::string Shortened(const std::vector<std::string>& names);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SESSION_SESSION_READER_H_
