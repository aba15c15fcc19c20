#ifndef RINGSCOPE_COMMANDS_REPLAYS_SESSION_READER_H_
#define RINGSCOPE_COMMANDS_REPLAYS_SESSION_READER_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/shell/command.h"
#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "core/log/clones.h"
#include "core/log/op.h"
#include "core/log/record_filter.h"
#include "core/log/summary.h"
#include "core/log/verdict.h"
#include "formats/io/log_source.h"

namespace ringscope {

/// Where a session is. A run is a recording, or what it has of one run of the service: a service
/// that was started again numbers its buffers from 1 again. A run may have several tracing
/// sessions, also at the same time; each counts, and a run that names none counts as one.
struct SessionPlace {
  uint64_t number = 0;              // from 1, over all recordings
  uint64_t run = 0;                 // from 1
  std::optional<uint64_t> tracing;  // the tracing session; absent: all of the run
};

/// The logs of a command line, or only one of their sessions.
struct SessionSelection {
  std::vector<std::string> paths;
  std::optional<uint64_t> only;   // session number, from 1
  std::optional<uint64_t> clone;  // only sessions with this clone, each as far as the clone reaches
  bool quiet = false;             // no warnings of damage: another reader printed them
  std::optional<CloneFacts> view = {};     // the clone of `place`
  std::optional<SessionPlace> place = {};  // only this one, where it is known

  /// Returns true if standard input is among them, which can be read only once.
  bool IsReadOnce() const { return std::ranges::find(paths, "-") != paths.end(); }
  /// The same, unless standard input was spooled.
  bool IsReadOnce(const Context& context) const {
    return IsReadOnce() && !context.console.streams().input_again;
  }
};

enum class Logs : uint8_t { kOne, kSeveral };
/// LOG, --session and --clone, below "Input".
void AddInput(CLI::App& app, SessionSelection& input, Logs logs, Traces traces = Traces::kRefused);

/// The sessions of some logs, one after the other, with all parts of a recording. Shows progress,
/// and warns of what is damaged or missing: a RecorderGap is in the place of records that could not
/// be read. If a clone is selected, each session is read twice: first to find its buffers.
class SessionReader : public OpSource {
 public:
  /// @param activity for the progress line: "replaying"; empty: no progress is shown
  SessionReader(Context& context, SessionSelection selection, std::string activity);
  ~SessionReader() override;

  /// Sets the first path's content if it is already open. Call it before all else.
  void UseOpened(std::unique_ptr<ByteSource> source) { opened_ = std::move(source); }
  /// Moves to the next selected session, skipping the rest of this one. Call it first.
  /// @return false: there is none. A selected session or clone that does not exist is an error.
  Result<bool> NextSession();
  /// The next record of this session; nullopt at its end.
  Result<std::optional<Op>> Next() override;

  /// The selected clone of this session; nullptr if none is selected.
  const CloneFacts* clone() const { return view_ ? &*view_ : nullptr; }
  /// Selects the session that it is at, to open its records once more.
  SessionSelection SessionAlone() const {
    return {.paths = selection_.paths,
            .quiet = true,
            .place = place_.value_or(SessionPlace{session_, run_, {}})};
  }
  /// Number in its file of this session's first record.
  uint64_t first_record() const { return first_record_; }
  /// Number of this session, from 1; of several tracing sessions, the first one's.
  uint64_t session() const { return session_; }
  /// Returns true after the last record of an input that has one session, unless that was selected.
  bool is_only_session() const { return last_session_ == 1 && !in_session_ && !held_ && !place_; }
  /// The tracing sessions that the records so far are of, by the recorder's numbers.
  const std::vector<uint64_t>& tracing_sessions() const { return tracing_; }
  /// The content of this session's packets is not in its log.
  bool without_payload() const { return without_payload_; }
  /// Number in its file of the record that Next returned last; of damage, its first lost record.
  uint64_t record_number() const { return record_number_; }
  /// File of that record.
  const std::string& path() const { return path_; }

  /// Returns true if the session's recording ends here without its end: a log was not closed, or
  /// lacks its next part. At the session's end.
  bool is_cut_off() const { return is_cut_off_ || continues_; }
  /// Damaged places of the files that were read: at most LogSource::kMaxDamage of each, and the
  /// count of all.
  const std::vector<Damage>& damage() const { return damage_; }
  uint64_t damage_count() const { return damage_count_; }
  /// Records of kinds that this version does not know, which were skipped so far.
  uint64_t unknown_records() const {
    return unknown_records_ + (source_ ? source_->unknown_records() : 0);
  }
  /// Damaged or missing parts of the input, as far as it was read: sentences without a full stop.
  const std::vector<std::string>& problems() const { return problems_; }
  /// Assumptions on the input, in the same form.
  const std::vector<std::string>& assumptions() const { return assumptions_; }
  /// Inexact parts of this session's recording, by the records so far.
  std::vector<RecordingVerdict> Verdicts() const;
  /// The caller reports Verdicts, so that nobody has to warn of them.
  void ReportsVerdicts() { reports_verdicts_ = true; }
  bool reports_verdicts() const { return reports_verdicts_; }
  /// Warns of what was not reported yet. Call it last.
  /// @return kNotice if any input was damaged or incomplete
  ExitCode Finish();
  /// The rest of the input is not wanted: that its end was not seen is no problem.
  void Stop();

 private:
  /// A record of the files, or damage between two of them.
  struct Pulled {
    Op op;
    uint64_t number = 0;
    bool starts_session = false;
  };

  Result<SessionPlace> FindPlace(uint64_t number);
  Result<bool> NextOfAll();
  void NoteTracing(uint64_t session);
  Result<std::optional<Op>> NextOfSession();
  Result<std::optional<CloneFacts>> FindClone();
  Result<std::optional<Pulled>> Pull();
  std::optional<Pulled> Placed(Op op);
  void QueueDamage(std::optional<Op> op);
  void FindParts();
  Status OpenNext();
  void Note(const Pulled& record);
  void Warn(const std::string& problem);
  void CloseSource();
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

  std::deque<Pulled> queued_;   // damage, and the record that was read with it
  uint64_t damage_queued_ = 0;  // places in the file
  std::optional<Pulled> held_;  // the next record, already pulled
  bool in_session_ = false;
  SessionBounds bounds_;
  std::optional<SessionPlace> place_;  // that is selected
  std::optional<SessionFilter> filter_;
  uint64_t run_ = 0;
  uint64_t session_ = 0;
  uint64_t last_session_ = 0;      // number of the last one so far
  uint64_t before_recording_ = 0;  // sessions
  std::vector<uint64_t> tracing_;  // of the run
  bool service_ended_ = false;
  bool without_payload_ = false;
  std::optional<uint64_t> first_time_ns_;  // of a record of the session
  std::optional<uint64_t> last_time_ns_;   // of a record
  std::vector<std::string> problems_;
  bool is_cut_off_ = false;  // a file of the session was not closed
  bool continues_ = false;   // in a part that was not read so far
  std::vector<Damage> damage_;
  uint64_t damage_count_ = 0;
  uint64_t unknown_records_ = 0;  // in the files before
  std::vector<std::string> assumptions_;
  VerdictBuilder verdicts_;
  bool reports_verdicts_ = false;

  // Of the selected clone.
  std::unique_ptr<SpooledInput> standard_input_;
  std::optional<CloneFacts> view_;
  std::optional<Error> missing_clone_;
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

/// The error for a session that an input does not have.
Error NoSession(uint64_t session, uint64_t sessions, const std::string& path);

/// Fails if the current session's log was made without payloads.
/// @param what needs them, as a sentence begins: "a trace"
Status ExpectPayload(const SessionReader& sessions, const char* what);

/// Fails if the current session's records, which were read, are of several tracing sessions.
Status ExpectOneTracingSession(const SessionReader& sessions);

/// Fails if there is a further session, for a command that writes one file.
/// @param what is written, "a trace"
Status ExpectNoFurtherSession(SessionReader& sessions, const char* what);

/// Warns of damage: the first places, and how many there are.
void WarnOfDamage(Console& console, const std::string& path, const std::vector<Damage>& damage,
                  uint64_t count);
/// Returns for a log that has no end, if it is still being recorded, and how far it goes.
/// @param duration_ns from the first to the last record of its last session
std::string NotClosedText(const std::string& path, std::optional<uint64_t> duration_ns);
/// For a copy of such a log, which is complete in itself.
inline constexpr const char* kCutOffText =
    "the log is a copy of one that was not closed: the end of the recording may be missing";
/// For a log that begins with a part of a recording that is not its first.
std::string StartMissingText(const LogHeader& header);
/// "a.tblog, b.tblog and 3 more"
std::string Shortened(const std::vector<std::string>& names);

/// Returns true if an input is a trace, a zip archive or a folder: they have no commits to replay.
/// Standard input is taken as a log.
bool HasTraces(Context& context, const SessionSelection& input);
}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAYS_SESSION_READER_H_
