#include "commands/replays/session_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "core/base/wire.h"
#include "formats/inputs/log_parts.h"
#include "formats/inputs/open_log.h"
#include "formats/io/growing_file.h"

namespace ringscope {

void AddInput(CLI::App& app, SessionSelection& input, Logs logs, Traces traces) {
  AddLogs(app, input.paths, traces, logs == Logs::kOne ? 1 : 0);
  AddSession(app, input.only);
  AddClone(app, input.clone);
}

SessionReader::SessionReader(Context& context, SessionSelection selection, std::string activity)
    : context_(context),
      selection_(std::move(selection)),
      activity_(std::move(activity)),
      place_(selection_.place) {
  // Before any output is made: it must not replace them.
  for (const std::string& path : selection_.paths) RunFiles::AddInput(path);
}

SessionReader::~SessionReader() = default;

Result<bool> SessionReader::NextSession() {
  const bool is_searched =
      (selection_.only && !selection_.place) || (selection_.clone && !selection_.view);
  if (run_ == 0 && is_searched && selection_.IsReadOnce()) {
    RS_ASSIGN_OR_RETURN(standard_input_, SpooledInput::Read(context_));
  }
  if (selection_.only && !place_) {
    RS_ASSIGN_OR_RETURN(place_, FindPlace(*selection_.only));
  }
  if (!selection_.clone && !selection_.view) return NextOfAll();
  while (true) {
    RS_ASSIGN_OR_RETURN(const bool more, NextOfAll());
    if (!more && !view_ && missing_clone_) return tl::unexpected<Error>(*missing_clone_);
    if (!more) return false;
    RS_ASSIGN_OR_RETURN(auto view, FindClone());
    if (!view) continue;
    view_ = std::move(view);
    at_clone_end_ = false;
    return true;
  }
}

Result<SessionPlace> SessionReader::FindPlace(uint64_t number) {
  SessionReader again(context_, {.paths = selection_.paths, .quiet = true}, "");
  while (true) {
    RS_ASSIGN_OR_RETURN(const bool more, again.NextSession());
    if (!more)
      return tl::unexpected(NoSession(number, again.last_session_, selection_.paths.back()));
    while (true) {
      RS_ASSIGN_OR_RETURN(const std::optional<Op> op, again.Next());
      if (!op) break;
      if (again.last_session_ == number && !again.tracing_.empty())
        return SessionPlace{number, again.run_, again.tracing_.back()};
    }
    if (again.last_session_ == number && again.tracing_.empty())
      return SessionPlace{number, again.run_, {}};
  }
}

/// Finds the selected clone in the session that it is at.
Result<std::optional<CloneFacts>> SessionReader::FindClone() {
  if (selection_.view) return selection_.view;
  SessionReader again(context_, SessionAlone(), "reading");
  RS_RETURN_IF_ERROR(again.NextSession());
  CloneScan scan;
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, again.Next());
    if (!op) break;
    scan.Add(*op);
  }
  auto view = FindMadeClone(scan.clones(), *selection_.clone);
  if (view) return std::move(*view);
  if (!missing_clone_ || !scan.clones().empty()) {
    missing_clone_ = std::move(view).error();
    missing_clone_->where.path = again.path();
  }
  return std::optional<CloneFacts>();
}

Result<bool> SessionReader::NextOfAll() {
  if (place_ && run_ >= place_->run) return false;
  do {
    while (in_session_) RS_RETURN_IF_ERROR(NextOfSession());
    if (!held_) {
      RS_ASSIGN_OR_RETURN(held_, Pull());
    }
    if (!held_) return NoFurtherSession();
    held_->starts_session = false;
    first_record_ = held_->number;
    ++run_;
    session_ = ++last_session_;
    tracing_.clear();
    const auto* const header = std::get_if<LogHeader>(&held_->op.body);
    if (!std::holds_alternative<ServiceChanged>(held_->op.body)) {
      before_recording_ = last_session_ - 1;
      without_payload_ = header != nullptr && header->without_payload;
    }
    verdicts_ = {};
    is_cut_off_ = continues_ = false;
    in_session_ = true;
  } while (place_ && run_ < place_->run);
  if (place_) session_ = place_->number;
  if (place_ && place_->tracing) filter_.emplace(*place_->tracing);
  return true;
}

/// Numbers a tracing session. A run of the service has at least one.
void SessionReader::NoteTracing(uint64_t session) {
  if (filter_ && session != place_->tracing) return;
  if (tracing_.empty() && !place_) session_ = before_recording_ + session;
  tracing_.push_back(session);
  last_session_ = before_recording_ + session;
}

std::vector<RecordingVerdict> SessionReader::Verdicts() const {
  std::vector<RecordingVerdict> verdicts = verdicts_.Verdicts();
  if (filter_)
    std::erase_if(verdicts, [&](const RecordingVerdict& verdict) {
      return verdict.session && verdict.session != place_->tracing;
    });
  return verdicts;
}

Result<bool> SessionReader::NoFurtherSession() {
  if (session_ > 0) return false;
  if (damage_count_ > 0)
    return Fail(ErrorCode::kCorrupt, "no record of it can be read", {path_, {}, {}},
                "'ringscope verify' lists the damage");
  context_.console.Warn(fmt::format("{}: there are no records", path_));
  return false;
}

Result<std::optional<Op>> SessionReader::Next() {
  if (!view_) return NextOfSession();
  if (at_clone_end_) return std::optional<Op>();
  RS_ASSIGN_OR_RETURN(std::optional<Op> op, NextOfSession());
  if (op) at_clone_end_ = view_->IsEnd(*op);
  return op;
}

Result<std::optional<Op>> SessionReader::NextOfSession() {
  while (in_session_) {
    if (!held_) {
      RS_ASSIGN_OR_RETURN(held_, Pull());
      in_session_ = held_ && !held_->starts_session;
      if (!in_session_) break;
    }
    record_number_ = held_->number;
    std::optional<Op> op = std::move(held_->op);
    held_.reset();
    verdicts_.Add(op->body);
    if (const auto* started = std::get_if<SessionStarted>(&op->body)) NoteTracing(started->session);
    if (std::holds_alternative<LogHeader>(op->body)) continues_ = false;
    if (const auto* ended = std::get_if<RecordingEnded>(&op->body))
      continues_ = ended->ending == RecordingEnding::kNextPart;
    if (!filter_ || filter_->Keeps(*op)) return op;
  }
  return std::optional<Op>();
}

void SessionReader::FindParts() {
  LogParts parts = FindLogParts(selection_.paths);
  files_ = std::move(parts.paths);
  if (!selection_.quiet && !parts.added.empty())
    context_.console.Say(fmt::format("the recording's {} read too: {}",
                                     parts.added.size() == 1 ? "other part is" : "other parts are",
                                     Shortened(parts.added)));
  for (const std::string& problem : parts.problems) Warn(problem);
}

Status SessionReader::OpenNext() {
  path_ = (*files_)[next_file_++];
  std::unique_ptr<ByteSource> source;
  if (opened_ && path_ == selection_.paths.front()) {
    source = std::move(opened_);
  } else {
    RS_ASSIGN_OR_RETURN(source, OpenInput(context_, path_));
  }
  RS_ASSIGN_OR_RETURN(source_, OpenLog(std::move(source)));
  damage_queued_ = 0;
  if (!activity_.empty())
    progress_ = std::make_unique<Progress>(context_.console,
                                           fmt::format("{} {}", activity_, Printable(path_)));
  bounds_.StartFile();
  return {};
}

/// The next record of all files.
Result<std::optional<SessionReader::Pulled>> SessionReader::Pull() {
  if (!files_) FindParts();
  while (true) {
    if (!queued_.empty()) {
      std::optional<Pulled> next = std::move(queued_.front());
      queued_.pop_front();
      return next;
    }
    if (!source_) {
      if (next_file_ == files_->size()) return std::optional<Pulled>();
      RS_RETURN_IF_ERROR(OpenNext());
    }
    RS_ASSIGN_OR_RETURN(std::optional<Op> op, source_->Next());
    if (source_->damage_count() > damage_queued_) {
      QueueDamage(std::move(op));
    } else if (!op) {
      CloseSource();
    } else {
      if (progress_) progress_->Update(source_->position(), source_->size().value_or(0));
      if (std::optional<Pulled> record = Placed(std::move(*op))) return record;
    }
  }
}

/// The record that was read last, with its place; nullopt if it repeats one of the part before.
std::optional<SessionReader::Pulled> SessionReader::Placed(Op op) {
  Pulled record{std::move(op), source_->record_number()};
  const SessionBounds::Place place = bounds_.Add(record.op, record.number);
  if (place == SessionBounds::Place::kRepeated) return std::nullopt;
  record.starts_session = place == SessionBounds::Place::kStart;
  if (const auto* service = std::get_if<ServiceChanged>(&record.op.body))
    record.starts_session |= std::exchange(service_ended_, !service->running) && service->running;
  Note(record);
  return record;
}

/// Queues the damage that was met with `op` as gaps: before it, but after a file's first record, as
/// no session is before that.
void SessionReader::QueueDamage(std::optional<Op> op) {
  const uint64_t first = std::exchange(damage_queued_, source_->damage_count());
  const bool is_first = bounds_.at_start();
  if (is_first && !op) return;
  const uint64_t number = source_->record_number();
  const RecorderGap between{.from_ns = is_first ? std::nullopt : last_time_ns_,
                            .to_ns = op ? op->time_ns : std::nullopt,
                            .is_damage = true};
  const auto queue = [&](RecorderGap gap, std::optional<uint64_t> first_record) {
    queued_.push_back({Op{std::nullopt, std::move(gap)}, first_record.value_or(number)});
  };
  std::optional<Pulled> record;
  if (op) record = Placed(std::move(*op));
  if (is_first && record) queued_.push_back(*std::exchange(record, {}));
  const std::vector<Damage>& damage = source_->damage();
  for (uint64_t i = first; i < damage.size(); ++i) {
    if (damage[i].records == 0) continue;
    RecorderGap gap = between;
    gap.reason = fmt::format("damage in the log: {}", damage[i].ToString());
    gap.records = damage[i].records;
    if (damage[i].bytes > 0) gap.bytes = damage[i].bytes;
    queue(std::move(gap), damage[i].first_record);
  }
  // The list is limited.
  if (const uint64_t listed = std::max<uint64_t>(first, damage.size()); damage_queued_ > listed) {
    RecorderGap gap = between;
    gap.reason = fmt::format("further damage in the log ({} places)", damage_queued_ - listed);
    queue(std::move(gap), {});
  }
  if (record) queued_.push_back(std::move(*record));
}

/// Warns of what a record states about the log as a whole.
void SessionReader::Note(const Pulled& record) {
  constexpr uint64_t kOddNs = 1'000'000'000;
  constexpr size_t kMaxAssumptions = 16;  // of a log whose time goes back at every other record
  const Op& op = record.op;
  if (record.starts_session) {
    first_time_ns_.reset();
  } else if (const uint64_t last = last_time_ns_.value_or(0);
             op.time_ns && last > kOddNs && *op.time_ns < last - kOddNs &&
             assumptions_.size() < kMaxAssumptions) {
    assumptions_.push_back(
        fmt::format("{}: time goes back by {} at record {}, and all of it is taken as one session; "
                    "if these are two logs, give each as a file of its own",
                    path_, HumanDuration(last - *op.time_ns), record.number));
  }
  if (op.time_ns) last_time_ns_ = op.time_ns;
  if (op.time_ns && !first_time_ns_) first_time_ns_ = op.time_ns;
  const auto* header = std::get_if<LogHeader>(&op.body);
  if (header != nullptr && record.starts_session && header->part > 0)
    Warn(fmt::format("{}: {}", path_, StartMissingText(*header)));
  const auto* end = std::get_if<RecordingEnded>(&op.body);
  if (end != nullptr && end->ending == RecordingEnding::kCutOff)
    Warn(fmt::format("{}: {}", path_, kCutOffText));
}

void SessionReader::Warn(const std::string& problem) {
  problems_.push_back(problem);
  if (!selection_.quiet) context_.console.Warn(problem);
}

void SessionReader::CloseSource() {
  if (!source_) return;
  progress_.reset();
  unknown_records_ += source_->unknown_records();
  if (const uint64_t places = source_->damage_count(); places > 0) {
    const std::vector<Damage>& damage = source_->damage();
    damage_.insert(damage_.end(), damage.begin(), damage.end());
    damage_count_ += places;
    if (!selection_.quiet) WarnOfDamage(context_.console, path_, damage, places);
    problems_.push_back(
        fmt::format("{}: {} could not be read", path_, Count(places, "damaged place")));
  }
  is_cut_off_ |= !source_->closed();
  if (!source_->closed()) {
    std::optional<uint64_t> duration;
    if (first_time_ns_) duration = *last_time_ns_ - std::min(*first_time_ns_, *last_time_ns_);
    Warn(fmt::format("{}: {}", path_, NotClosedText(path_, duration)));
  }
  source_.reset();
}

void SessionReader::Stop() {
  progress_.reset();
  source_.reset();
  if (files_) next_file_ = files_->size();
}

ExitCode SessionReader::Finish() {
  CloseSource();
  return problems_.empty() ? ExitCode::kClean : ExitCode::kNotice;
}

Error NoSession(uint64_t session, uint64_t sessions, const std::string& path) {
  return {ErrorCode::kUsage,
          fmt::format("no session {}: the input has {}", session, Count(sessions, "session")),
          {path, {}, {}},
          "see 'ringscope info'"};
}

Status ExpectPayload(const SessionReader& sessions, const char* what) {
  if (!sessions.without_payload()) return {};
  return Fail(ErrorCode::kUsage,
              fmt::format("{} needs the content of packets, and this log has no payloads", what),
              {sessions.path(), {}, {}},
              "name the log that it was made from, or record without --no-payload");
}

Status ExpectOneTracingSession(const SessionReader& sessions) {
  const size_t count = sessions.tracing_sessions().size();
  if (count <= 1) return {};
  return Fail(ErrorCode::kUsage,
              fmt::format("the log has {}, and a trace is of one", Count(count, "tracing session")),
              {sessions.path(), {}, {}},
              fmt::format("choose one: --session {}", sessions.session()));
}

Status ExpectNoFurtherSession(SessionReader& sessions, const char* what) {
  const uint64_t session = sessions.session();
  RS_ASSIGN_OR_RETURN(const bool more, sessions.NextSession());
  if (!more) return {};
  return Fail(ErrorCode::kUsage,
              fmt::format("the input has more than one session, and {} holds one", what),
              {sessions.path(), {}, {}}, fmt::format("choose one: --session {}", session));
}

Result<std::unique_ptr<OpSource>> OpenSession(Context& context, SessionSelection selection,
                                              std::string activity) {
  auto reader = std::make_unique<SessionReader>(context, std::move(selection), std::move(activity));
  RS_RETURN_IF_ERROR(reader->NextSession());
  return reader;
}

void WarnOfDamage(Console& console, const std::string& path, const std::vector<Damage>& damage,
                  uint64_t count) {
  constexpr size_t kShown = 2;
  const size_t shown = std::min(kShown, damage.size());
  for (size_t i = 0; i < shown; ++i)
    console.Warn(fmt::format("{}: damaged {}", path, damage[i].ToString()));
  if (count > shown)
    console.Warn(fmt::format("{}: damaged in {} more; 'ringscope verify' lists them", path,
                             Count(count - shown, "place")));
}

std::string NotClosedText(const std::string& path, std::optional<uint64_t> duration_ns) {
  const std::string until = duration_ns
                                ? fmt::format("its last record is {} after its session's first",
                                              HumanDuration(*duration_ns))
                                : "it has no times";
  if (const auto by = RecordedBy(path))
    return fmt::format("the log is {}; {}, and what follows is missing", *by, until);
  return fmt::format("the log was not closed: {}, and what followed may be missing", until);
}

std::string StartMissingText(const LogHeader& header) {
  const std::string start = fmt::format(
      "the log begins with part {} of a recording: the records before are missing", header.part);
  if (header.repeated_records == 0)
    return start + ", also those that set up its buffers, producers and writers";
  return start +
         ", so that buffers which were there before are replayed from empty: packets of chunks "
         "that were committed before are missing, and a ring holds what the service's did, except "
         "at its write position, when all of it has been written once";
}

std::string Shortened(const std::vector<std::string>& names) {
  constexpr size_t kShown = 3;
  std::vector<std::string> shown;
  for (size_t i = 0; i < names.size() && i < kShown; ++i) shown.push_back(Printable(names[i]));
  return Joined(shown) +
         (names.size() > kShown ? fmt::format(" and {} more", names.size() - kShown) : "");
}

bool HasTraces(Context& context, const SessionSelection& input) {
  return std::ranges::any_of(input.paths, [&](const std::string& path) {
    if (path == "-") return false;
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) return true;
    const Result<KnownInput> known = OpenKnownInput(context, path);
    return known && (known->kind == InputKind::kTrace || IsZip(wire::AsBytes(known->start)) ||
                     (known->start.empty() && IsTraceName(path)));
  });
}

}  // namespace ringscope
