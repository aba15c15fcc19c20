#ifndef RINGSCOPE_COMMANDS_REPLAYS_SESSION_READER_H_
#define RINGSCOPE_COMMANDS_REPLAYS_SESSION_READER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/shell/context.h"
#include "commands/shell/exit_code.h"
#include "commands/shell/input.h"
#include "core/log/clones.h"
#include "core/log/op.h"
#include "core/log/session_bounds.h"
#include "core/log/verdict.h"
#include "formats/inputs/log_check.h"
#include "formats/io/log_source.h"

namespace ringscope {

/// What a command reads: the logs of its command line, one after the other, or only one of their
/// sessions.
struct SessionSelection {
  std::vector<std::string> paths;
  std::optional<uint64_t> only;   // session number, from 1
  std::optional<uint64_t> clone;  // only sessions with this clone, each as far as the clone reaches
  bool quiet = false;             // no warnings of damage: another reader printed them
  /// The same as `clone`, where it was looked for before; of `only`.
  std::optional<CloneView> view = {};
};

/// The sessions of some logs, one after the other. A session starts with a log's first record and
/// with each header of part 0 or of another uuid; the next part of the same uuid continues it.
/// All parts of a recording are read, in their order, if one of them is named. Shows progress, and
/// warns of damage that was skipped, of parts that are missing, and of logs that were not closed or
/// begin in the middle of a recording. Where records could not be read, it returns a RecorderGap
/// that says so in their place. If a clone is selected, the logs are read
/// twice: first to find its buffers. Standard input is kept in a temporary file for that.
class SessionReader : public OpSource {
 public:
  /// @param activity for the progress line: "replaying"; it is a step of what the console's command
  ///   does. Empty: no progress is shown
  SessionReader(Context& context, SessionSelection selection, std::string activity);
  ~SessionReader() override;

  /// Sets the first path's content if it is already open. Call it before all else.
  void UseOpened(std::unique_ptr<ByteSource> source) { opened_ = std::move(source); }
  /// Moves to the next selected session, skipping the rest of this one. Call it first.
  /// @return false: there is none. A selected session or clone that does not exist is an error.
  Result<bool> NextSession();
  /// The next record of this session; nullopt at its end.
  Result<std::optional<Op>> Next() override;

  /// The selected clone of this session; nullptr: none is selected.
  const CloneView* clone() const { return view_ ? &*view_ : nullptr; }
  /// The session that it is at alone, so that its records can be opened once more.
  SessionSelection SessionAlone() const {
    return {.paths = selection_.paths, .only = session_, .quiet = true};
  }
  /// Number in its file of this session's first record.
  uint64_t first_record() const { return first_record_; }
  /// Number of this session, from 1.
  uint64_t session() const { return session_; }
  /// What is in this session's packets is left out of its log.
  bool without_payload() const { return without_payload_; }
  /// Number in its file of the record that Next returned last; of damage, its first lost record.
  uint64_t record_number() const { return record_number_; }
  /// File of that record.
  const std::string& path() const { return path_; }

  /// What of the input is damaged or missing, as far as it was read: a sentence each, without a
  /// full stop. All of it after Finish.
  const std::vector<std::string>& problems() const { return problems_; }
  /// What had to be assumed of the input, in the same form.
  const std::vector<std::string>& assumptions() const { return assumptions_; }
  /// In what the recording of this session is not exact, by the records so far.
  std::vector<RecordingVerdict> Verdicts() const { return verdicts_.Verdicts(); }
  /// The caller reports Verdicts, so that nobody has to warn of them.
  void ReportsVerdicts() { reports_verdicts_ = true; }
  bool reports_verdicts() const { return reports_verdicts_; }
  /// Warns of what was not reported yet. Call it last.
  /// @return kNotice if any input was damaged or incomplete
  ExitCode Finish();
  /// The rest of the input is not wanted: that its end was not seen is no problem.
  void Stop();

 private:
  Result<bool> NextOfAll();
  Result<std::optional<Op>> NextOfSession();
  Status FindClones();
  /// The next record of all files; sets `starts_session_` and `pulled_number_`.
  Result<std::optional<Op>> Pull();
  void QueueDamage(std::optional<Op> op);
  std::optional<Op> TakeQueued();
  void FindParts();
  Status OpenNext();
  void Note(const Op& op);
  void Warn(const std::string& problem);
  void CloseSource();
  std::optional<uint64_t> Duration() const;
  Result<bool> NoFurtherSession();

  Context& context_;
  const SessionSelection selection_;
  const std::string activity_;
  std::unique_ptr<ByteSource> opened_;
  std::unique_ptr<LogSource> source_;
  std::unique_ptr<Progress> progress_;
  std::optional<std::vector<std::string>> files_;  // in their order; absent: not looked for yet
  size_t next_file_ = 0;
  std::string path_;
  uint64_t record_number_ = 0;
  uint64_t first_record_ = 0;

  struct Queued {
    Op op;
    uint64_t number = 0;
    bool starts_session = false;
  };
  std::deque<Queued> queued_;         // damage, and the record that was read with it
  std::optional<DamageGaps> damage_;  // of the file

  std::optional<Op> held_;  // first record of the next session, already pulled
  uint64_t held_number_ = 0;
  bool starts_session_ = false;  // what Pull returned last, and its number
  uint64_t pulled_number_ = 0;
  bool in_session_ = false;
  SessionBounds bounds_;
  uint64_t session_ = 0;
  bool without_payload_ = false;
  std::optional<uint64_t> first_time_ns_;  // of a record of the session
  std::optional<uint64_t> last_time_ns_;   // of a record
  std::vector<std::string> problems_;
  bool is_damaged_ = false;  // an input so far
  std::vector<std::string> assumptions_;
  VerdictBuilder verdicts_;
  bool reports_verdicts_ = false;

  // Of the selected clone.
  std::unique_ptr<SpooledInput> standard_input_;
  std::optional<std::map<uint64_t, CloneView>> clones_;  // by session; absent: not looked for yet
  std::optional<CloneView> view_;
  bool at_clone_end_ = false;
};

/// `result`; an error that has no file yet gets `path`.
template <typename T>
Result<T> InFile(const std::string& path, Result<T> result) {
  if (!result && result.error().where.path.empty()) result.error().where.path = path;
  return result;
}

/// Opens the first selected session.
/// @param activity for the progress line: "replaying"
Result<std::unique_ptr<OpSource>> OpenSession(Context& context, SessionSelection selection,
                                              std::string activity);

/// Warns of damage, of at most a screenful of it.
void WarnOfDamage(Console& console, const std::string& path, const std::vector<Damage>& damage,
                  uint64_t count);

/// Fails if the current session's log was made without payloads.
/// @param what needs them, as a sentence begins: "a trace"
Status ExpectPayload(const SessionReader& sessions, const char* what);

/// Fails if there is a further session, for a command that writes one file.
/// @param what is written, "a trace"
Status ExpectNoFurtherSession(SessionReader& sessions, const char* what);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAYS_SESSION_READER_H_
