#ifndef RINGSCOPE_FORMATS_INPUTS_RECORDING_H_
#define RINGSCOPE_FORMATS_INPUTS_RECORDING_H_

#include "core/log/op.h"
#include "core/log/session_index.h"
#include "core/log/summary.h"
#include "formats/inputs/open_log.h"
#include "formats/io/log_source.h"
#include "formats/io/output_file.h"

namespace ringscope {

/// Where a session is. A run is a recording, or what it has of one run of the service: a service
/// that was started again numbers its buffers from 1 again. A run may have several tracing
/// sessions, also at the same time; each counts, and a run that names none counts as one.
struct SessionPlace {
  /// A file that begins with the start of a run, and what is in the files before it.
  struct File {
    size_t index = 0;
    uint64_t runs_before = 0, sessions_before = 0;
  };
  uint64_t number = 0;              // from 1, over all recordings
  uint64_t run = 0;                 // from 1
  std::optional<uint64_t> tracing;  // the tracing session; absent: all of the run
  File file = {};                   // where to begin to look for it
};

/// Gets what a pass over a recording meets. A pass without one is silent.
class RecordingReporter {
 public:
  virtual ~RecordingReporter() = default;
  /// Parts of the recording that were not named are read, too.
  virtual void OnAddedParts(const std::vector<std::string>& /*paths*/) {}
  /// @param total bytes of the file; 0: not known
  virtual void OnProgress(const std::string& /*path*/, uint64_t /*done*/, uint64_t /*total*/) {}
  /// The file was read, and had this damage: at most LogSource::kMaxDamage places, and their count.
  virtual void OnFileEnd(const std::string& /*path*/, const std::vector<Damage>& /*damage*/,
                         uint64_t /*count*/) {}
  /// A part of the input is damaged or missing: a sentence without a full stop.
  virtual void OnProblem(const std::string& /*sentence*/) {}
  virtual void OnAssumption(const std::string& /*sentence*/) {}
};

/// Logs that a user named, opened once, and the passes over their records.
///
///   files     cap.tblog            cap.0001.tblog          other.ops.jsonl.zst
///             ├──────────────────┤ ├──────────────────┤    ├─────────────┤
///   runs      1                      (repeated)│2          3
///   tracing   [── 1 ──]   [──── 2 ──────]      │ [─ 1 ─]
///   sessions  1           2                      3         4
///
/// A recording holds the paths, the files that they name with all further parts, in order, and
/// whether these can be read again: standard input cannot, unless it was spooled. It holds no
/// records.
/// - A run begins with a recording, or where the service was started again within one.
/// - A session is a tracing session of a run; a run that names none is one session. Sessions are
///   counted over all files. Sessions of one run may overlap: each is found by its run and by the
///   recorder's number (SessionPlace).
///
/// Order of calls: UseOpened, HasTraces, Spool; from then on it does not change, and a
/// RecordingPass (or Records, Find, Index, which make one) may begin at any time, also while
/// another is under way. A pass:
///
///   NextSession ─► true ─► Next ─► op ... ─► nullopt ─► NextSession ─► ... ─► false ─► Close
///                  (or Stop at any point: the rest is not wanted)
///
/// Between the calls of a pass it is true that
/// - NextSession skips what Next has not returned, so that Verdicts() are complete at nullopt only;
/// - each record is returned once: those that a part repeats of the part before are left out, and a
///   RecorderGap is in the place of records that cannot be read;
/// - the reporter is called once for each file, problem and assumption, however many sessions a run
///   is divided into (DivideRuns): the further ones are read again from the run's first file;
/// - Index of the session that some pass has read last to its end costs nothing.
/// Passes find no parts, look at no kinds and print nothing. An error ends a pass.
class Recording {
 public:
  /// Opens an input; "-" is standard input.
  using OpenBytes = std::function<Result<std::unique_ptr<ByteSource>>(const std::string& path)>;

  /// @param is_read_once standard input is among the paths, and cannot be opened again
  Recording(std::vector<std::string> paths, OpenBytes open, bool is_read_once);

  /// Sets the first path's content if it is already open.
  void UseOpened(std::unique_ptr<ByteSource> source) { opened_ = std::move(source); }
  /// Returns true if an input is a trace, an archive or a folder: they have no commits to replay.
  bool HasTraces();
  /// Copies standard input into a temporary file, if it is among the paths. The run's other
  /// commands open the copy, too.
  Status Spool();

  /// Has passes return the records as they are logged, without the corrections of RecordingPass.
  void KeepAsLogged() { corrects_ = false; }

  bool is_read_once() const { return is_read_once_; }
  const std::vector<std::string>& named() const { return named_; }
  const LogParts& parts() const;

  /// Finds a session by its number. kUsage: there is no such session.
  Result<SessionPlace> Find(uint64_t number) const;
  /// The records of a session, from its first one.
  /// @param clone the records end with it; nullptr: with the session
  /// @param reporter gets the progress; nullptr: nothing does
  Result<std::unique_ptr<OpSource>> Records(
      const SessionPlace& place, const CloneFacts* clone = nullptr,
      std::shared_ptr<RecordingReporter> reporter = nullptr) const;
  /// Returns the facts of a session.
  /// @param is_enough ends that once it returns true; clones and verdicts may be missing then
  Result<SessionIndex> Index(const SessionPlace& place,
                             const std::function<bool(const SessionIndex&)>& is_enough = {}) const;

 private:
  friend class RecordingPass;
  Result<std::unique_ptr<ByteSource>> OpenFile(const std::string& path) const;

  const std::vector<std::string> named_;
  const OpenBytes open_;
  bool is_read_once_;
  bool corrects_ = true;
  // Known from the first pass that needs it.
  mutable std::unique_ptr<ByteSource> opened_;
  mutable std::optional<LogParts> parts_;
  mutable std::optional<std::pair<SessionPlace, SessionIndex>> known_;
};

/// One pass over a recording: its sessions, one after the other. Corrects what a recorder before
/// version 0.2 provably logged wrong: it logged a clone before reads for a file that it saw before
/// the service's reply, and one such read as two where the file grew twice within 50 ms.
class RecordingPass : public OpSource {
 public:
  /// @param recording outlives this
  explicit RecordingPass(const Recording& recording, std::optional<SessionPlace> place = {},
                         std::shared_ptr<RecordingReporter> reporter = nullptr);

  /// @return false: there is none
  Result<bool> NextSession();
  Result<std::optional<Op>> Next() override;
  /// This session, and those that follow, end with this clone.
  void EndWith(CloneFacts clone) { clone_ = std::move(clone); }
  /// Reads each tracing session of a run by itself, if the log has its start before all that is of
  /// it. An input that can be read once is not divided. Call it first.
  void DivideRuns() { divides_ = !recording_.is_read_once(); }
  void Stop();
  /// Reports on the file that was read last.
  void Close();

  /// Where the session is that it is at.
  SessionPlace place() const {
    return place_.value_or(SessionPlace{session_, run_, tracing_, file_});
  }
  /// The clone that the session ends with; nullptr if it is read to its end.
  const CloneFacts* clone() const { return clone_ ? &*clone_ : nullptr; }
  /// Number in its file of this session's first record.
  uint64_t first_record() const { return first_record_; }
  /// Number of this session, from 1; of several tracing sessions, the first one's.
  uint64_t session() const { return session_; }
  /// Returns true after the last record of an input that has one session, unless that was selected.
  bool is_only_session() const { return last_session_ == 1 && !in_session_ && !held_ && !place_; }
  /// Inexact parts of this session's recording, by the records so far.
  std::vector<RecordingVerdict> Verdicts() const { return index_->Verdicts(); }
  /// The tracing sessions that the records so far are of, by the recorder's numbers.
  const std::vector<uint64_t>& tracing_sessions() const { return index_->facts().tracing; }
  /// The content of this session's packets is not in its log.
  bool without_payload() const { return without_payload_; }
  /// Number in its file of the record that Next returned last; of damage, its first lost record.
  uint64_t record_number() const { return record_number_; }
  /// File of that record.
  const std::string& path() const { return path_; }
  /// Returns true if the session's recording ends here without its end: a log was not closed, or
  /// lacks its next part. At the session's end.
  bool is_cut_off() const { return is_cut_off_ || continues_; }
  /// Records of kinds that this version does not know, which were skipped so far.
  uint64_t unknown_records() const {
    return unknown_records_ + (source_ ? source_->unknown_records() : 0);
  }

 protected:
  /// Before the first session: only this one is read.
  void Select(const SessionPlace& place);

 private:
  friend class Recording;
  /// A record of the files, or damage between two of them.
  struct Pulled {
    Op op;
    uint64_t number = 0;
    bool starts_session = false;
  };

  void StartSession();
  Status Correct();
  void Divide(uint64_t tracing);
  void ToNextOfRun();
  Result<std::optional<Op>> NextOfSession();
  Result<std::optional<Pulled>> Pull();
  std::optional<Pulled> Placed(Op op);
  void QueueDamage(std::optional<Op> op);
  void Note(const Pulled& record);

  const Recording& recording_;
  std::optional<SessionPlace> place_;  // the only session that is read
  std::shared_ptr<RecordingReporter> reporter_;
  std::unique_ptr<LogSource> source_;
  size_t next_file_ = 0;
  SessionPlace::File file_;  // the last one that began with the start of a run
  std::string path_;
  uint64_t record_number_ = 0;
  uint64_t first_record_ = 0;

  std::deque<Pulled> queued_;   // damage, and the record that was read with it
  uint64_t damage_queued_ = 0;  // places in the file
  uint64_t damage_count_ = 0;   // places in all files
  std::optional<Pulled> held_;  // the next record, already pulled
  bool in_session_ = false;
  bool is_early_ = false;        // the session's recorder, see above
  std::optional<Op> file_read_;  // nothing was committed or changed since
  bool noted_clones_ = false, noted_reads_ = false;
  std::optional<CloneFacts> clone_;
  bool at_clone_end_ = false;
  SessionBounds bounds_;
  std::optional<SessionIndexBuilder> index_{std::in_place};  // of the session
  uint64_t run_ = 0;
  uint64_t session_ = 0;
  uint64_t last_session_ = 0;      // number of the last one so far
  uint64_t before_recording_ = 0;  // sessions
  bool service_ended_ = false;
  /// The tracing sessions of a run that is divided. Each further one is a pass of its own from the
  /// run's file on, in which nothing is reported again.
  struct Divided {
    std::deque<uint64_t> others;  // that follow
    uint64_t last_session = 0, before_recording = 0;
    std::shared_ptr<RecordingReporter> reporter;
  };
  bool divides_ = false;
  std::optional<uint64_t> tracing_;  // of the run, the tracing session that is read first
  Divided divided_;
  bool without_payload_ = false;
  std::optional<uint64_t> first_time_ns_;  // of a record of the session
  std::optional<uint64_t> last_time_ns_;   // of a record
  size_t assumptions_ = 0;
  bool is_cut_off_ = false;       // a file of the session was not closed
  bool continues_ = false;        // in a part that was not read so far
  uint64_t unknown_records_ = 0;  // in the files before
};

/// Copies an input to its end into a temporary file.
Result<std::shared_ptr<TemporaryFile>> SpoolInput(ByteSource& input);

/// The error for a session that an input does not have.
Error NoSession(uint64_t session, uint64_t sessions, const std::string& path);
/// Returns for a log that has no end, if it is still being recorded, and how far it goes.
/// @param duration_ns from the first to the last record of its last session
std::string NotClosedText(const std::string& path, std::optional<uint64_t> duration_ns);
/// For a copy of such a log, which is complete in itself.
inline constexpr const char* kCutOffText =
    "the log is a copy of one that was not closed: the end of the recording may be missing";
/// For a log that begins with a part of a recording that is not its first.
std::string StartMissingText(const LogHeader& header);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_INPUTS_RECORDING_H_
