#include "commands/replays/session_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "commands/replays/imported_trace.h"
#include "commands/replays/log_words.h"
#include "commands/shell/input.h"
#include "commands/shell/text.h"
#include "formats/inputs/log_parts.h"
#include "formats/inputs/open_log.h"

namespace ringscope {

void WarnOfDamage(Console& console, const std::string& path, const std::vector<Damage>& damage,
                  uint64_t count) {
  constexpr size_t kShown = 10;
  const size_t shown = std::min(kShown, damage.size());
  for (size_t i = 0; i < shown; ++i)
    console.Warn(fmt::format("{}: damaged {}", path, damage[i].ToString()));
  if (count > shown) {
    console.Warn(fmt::format("{}: damaged in {} more; 'ringscope verify' lists them", path,
                             Count(count - shown, "place")));
  }
}

SessionReader::SessionReader(Context& context, SessionSelection selection, std::string activity)
    : context_(context), selection_(std::move(selection)), activity_(std::move(activity)) {
  // Before any output is: what is read must not be replaced. Opening them reports it.
  for (const std::string& path : selection_.paths) static_cast<void>(RunFiles::AddInput(path));
}

SessionReader::~SessionReader() = default;

Result<bool> SessionReader::NextSession() {
  const bool selects_clone = selection_.clone || selection_.view;
  if (selects_clone && !clones_) RS_RETURN_IF_ERROR(FindClones());
  while (true) {
    RS_ASSIGN_OR_RETURN(const bool more, NextOfAll());
    if (!more || !selects_clone) return more;
    const auto view = clones_->find(session_);
    if (view == clones_->end()) continue;
    view_ = view->second;
    at_clone_end_ = false;
    return true;
  }
}

/// Finds the sessions that have the selected clone.
Status SessionReader::FindClones() {
  std::map<uint64_t, CloneView>& views = clones_.emplace();
  if (selection_.view) {
    views.emplace(selection_.only.value_or(1), *selection_.view);
    return {};
  }
  const std::vector<std::string>& paths = selection_.paths;
  if (std::find(paths.begin(), paths.end(), "-") != paths.end()) {
    RS_ASSIGN_OR_RETURN(standard_input_, SpooledInput::Read(context_));
  }
  SessionReader sessions(context_, {.paths = paths, .only = selection_.only, .quiet = true},
                         "reading");
  std::optional<Error> missing;
  while (true) {
    RS_ASSIGN_OR_RETURN(const bool more, sessions.NextSession());
    if (!more) break;
    CloneScan scan;
    while (true) {
      RS_ASSIGN_OR_RETURN(const std::optional<Op> op, sessions.Next());
      if (!op) break;
      scan.Add(*op);
    }
    auto view = ViewOfClone(scan.clones(), *selection_.clone);
    if (view) {
      views.emplace(sessions.session(), std::move(*view));
    } else if (!missing || !scan.clones().empty()) {
      missing = std::move(view).error();
      missing->where.path = sessions.path();
    }
  }
  if (views.empty() && missing) return tl::unexpected<Error>(std::move(*missing));
  return {};
}

Result<bool> SessionReader::NextOfAll() {
  if (selection_.only && session_ >= *selection_.only) return false;
  do {
    while (in_session_) {
      RS_ASSIGN_OR_RETURN(const std::optional<Op> skipped, NextOfSession());
      if (!skipped) break;
    }
    if (!held_) {
      RS_ASSIGN_OR_RETURN(held_, Pull());
      held_number_ = pulled_number_;
    }
    if (!held_) return NoFurtherSession();
    first_record_ = held_number_;
    ++session_;
    const auto* const header = std::get_if<LogHeader>(&held_->body);
    without_payload_ = header != nullptr && header->without_payload;
    verdicts_ = {};
    in_session_ = true;
  } while (selection_.only && session_ < *selection_.only);
  return true;
}

Result<bool> SessionReader::NoFurtherSession() {
  if (!selection_.only) {
    if (session_ > 0) return false;
    if (is_damaged_)
      return Fail(ErrorCode::kCorrupt, "no record of it can be read", {path_, {}, {}},
                  "'ringscope verify' lists the damage");
    context_.console.Warn(fmt::format("{}: there are no records", path_));
    return false;
  }
  return Fail(
      ErrorCode::kUsage,
      fmt::format("no session {}: the input has {}", *selection_.only, Count(session_, "session")),
      {selection_.paths.back(), {}, {}}, "see 'ringscope info'");
}

Result<std::optional<Op>> SessionReader::Next() {
  if (!view_) return NextOfSession();
  if (at_clone_end_) return std::optional<Op>();
  RS_ASSIGN_OR_RETURN(std::optional<Op> op, NextOfSession());
  if (op) at_clone_end_ = view_->IsEnd(*op);
  return op;
}

Result<std::optional<Op>> SessionReader::NextOfSession() {
  if (!in_session_) return std::optional<Op>();
  std::optional<Op> op;
  if (held_) {
    op.swap(held_);
    record_number_ = held_number_;
    verdicts_.Add(op->body);
    return op;
  }
  RS_ASSIGN_OR_RETURN(op, Pull());
  if (!op) {
    in_session_ = false;
  } else if (starts_session_) {
    held_.swap(op);
    held_number_ = pulled_number_;
    in_session_ = false;
    op.reset();
  } else {
    record_number_ = pulled_number_;
    verdicts_.Add(op->body);
  }
  return op;
}

void SessionReader::FindParts() {
  LogParts parts = FindLogParts(selection_.paths);
  files_ = std::move(parts.paths);
  problems_ = parts.problems;
  if (selection_.quiet) return;
  if (!parts.added.empty())
    context_.console.Say(fmt::format("the recording's {} read too: {}",
                                     parts.added.size() == 1 ? "other part is" : "other parts are",
                                     Shortened(parts.added)));
  for (const std::string& problem : parts.problems) context_.console.Warn(problem);
}

Status SessionReader::OpenNext() {
  path_ = (*files_)[next_file_++];
  const bool is_opened = opened_ && path_ == selection_.paths.front();
  std::unique_ptr<ByteSource> source;
  if (is_opened) {
    source = std::move(opened_);
  } else {
    RS_ASSIGN_OR_RETURN(source, OpenInput(context_, path_));
  }
  RS_ASSIGN_OR_RETURN(source, AsLog(context_, path_, std::move(source), selection_.quiet));
  const ImportedTrace imported = context_.imported->Find(path_);
  if (imported != ImportedTrace::kNone)
    assumptions_.push_back(
        fmt::format("{} is a trace, whose packets are taken as committed at their timestamps; what "
                    "was lost before it was written is not in it",
                    path_));
  if (imported == ImportedTrace::kDamaged)
    problems_.push_back(path_ + ": not all of the trace could be read");
  RS_ASSIGN_OR_RETURN(source_, OpenLog(std::move(source)));
  damage_.emplace("damage in the log");
  if (!activity_.empty()) {
    if (next_file_ == 1) context_.console.BeginStep();
    progress_ = std::make_unique<Progress>(context_.console,
                                           fmt::format("{} {}", activity_, Printable(path_)));
  }
  bounds_.StartFile();
  return {};
}

Result<std::optional<Op>> SessionReader::Pull() {
  if (!files_) FindParts();
  while (true) {
    if (!queued_.empty()) return TakeQueued();
    if (!source_) {
      if (next_file_ == files_->size()) return std::optional<Op>();
      RS_RETURN_IF_ERROR(OpenNext());
    }
    RS_ASSIGN_OR_RETURN(std::optional<Op> op, source_->Next());
    if (damage_->Has(*source_)) {
      QueueDamage(std::move(op));
      continue;
    }
    if (!op) {
      CloseSource();
      continue;
    }
    if (progress_) progress_->Update(source_->position(), source_->size().value_or(0));
    const SessionBounds::Place place = bounds_.Add(*op, source_->record_number());
    if (place == SessionBounds::Place::kRepeated) continue;
    starts_session_ = place == SessionBounds::Place::kStart;
    pulled_number_ = source_->record_number();
    Note(*op);
    return op;
  }
}

/// What was damaged is in front of `op`, the record after it, but behind a file's first record: no
/// session is before that.
void SessionReader::QueueDamage(std::optional<Op> op) {
  std::vector<DamageGaps::Gap> gaps = damage_->Take(*source_);
  const bool is_first = bounds_.at_start();
  if (is_first && !op) return;
  const uint64_t number = source_->record_number();
  const std::optional<uint64_t> from_ns = is_first ? std::nullopt : last_time_ns_;
  const std::optional<uint64_t> to_ns = op ? op->time_ns : std::nullopt;
  std::optional<Queued> record;
  if (op) {
    const SessionBounds::Place place = bounds_.Add(*op, number);
    starts_session_ = place == SessionBounds::Place::kStart;
    if (place != SessionBounds::Place::kRepeated) {
      Note(*op);
      record = {std::move(*op), number, starts_session_};
    }
  }
  if (is_first && record) queued_.push_back(*std::exchange(record, {}));
  for (DamageGaps::Gap& gap : gaps) {
    gap.gap.from_ns = from_ns;
    gap.gap.to_ns = to_ns;
    queued_.push_back({Op{std::nullopt, std::move(gap.gap)}, gap.first_record.value_or(number)});
  }
  if (record) queued_.push_back(std::move(*record));
}

std::optional<Op> SessionReader::TakeQueued() {
  Queued next = std::move(queued_.front());
  queued_.pop_front();
  starts_session_ = next.starts_session;
  pulled_number_ = next.number;
  return std::move(next.op);
}

/// Warns of what a record states about the log as a whole.
void SessionReader::Note(const Op& op) {
  constexpr uint64_t kOddNs = 1'000'000'000;
  constexpr size_t kMaxAssumptions = 16;  // of a log whose time goes back at every other record
  if (op.time_ns && !starts_session_ && last_time_ns_ &&
      *op.time_ns<*last_time_ns_&& * last_time_ns_ - *op.time_ns> kOddNs &&
      assumptions_.size() < kMaxAssumptions)
    assumptions_.push_back(
        fmt::format("{}: time goes back by {} at record {}, and all of it is taken as one session; "
                    "if these are "
                    "two logs, give each as a file of its own",
                    path_, HumanDuration(*last_time_ns_ - *op.time_ns), source_->record_number()));
  if (starts_session_) {
    first_time_ns_.reset();
  }
  if (op.time_ns) last_time_ns_ = op.time_ns;
  if (op.time_ns && !first_time_ns_) first_time_ns_ = op.time_ns;
  const auto* header = std::get_if<LogHeader>(&op.body);
  if (header != nullptr && starts_session_ && header->part > 0)
    Warn(fmt::format("{}: {}", path_, StartMissingText(*header)));
  const auto* end = std::get_if<RecordingEnded>(&op.body);
  if (end != nullptr && end->ending == RecordingEnding::kCutOff)
    Warn(fmt::format("{}: {}", path_, kCutOffText));
}

void SessionReader::Warn(const std::string& problem) {
  problems_.push_back(problem);
  if (!selection_.quiet) context_.console.Warn(problem);
}

/// From the first record of the session to the last one.
std::optional<uint64_t> SessionReader::Duration() const {
  if (!first_time_ns_) return std::nullopt;
  return *last_time_ns_ - std::min(*first_time_ns_, *last_time_ns_);
}

void SessionReader::CloseSource() {
  if (!source_) return;
  progress_.reset();
  if (!selection_.quiet)
    WarnOfDamage(context_.console, path_, source_->damage(), source_->damage_count());
  is_damaged_ |= source_->damage_count() > 0;
  if (source_->damage_count() > 0)
    problems_.push_back(fmt::format("{}: {} could not be read", path_,
                                    Count(source_->damage_count(), "damaged place")));
  if (!source_->closed()) Warn(fmt::format("{}: {}", path_, NotClosedText(path_, Duration())));
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

Status ExpectPayload(const SessionReader& sessions, const char* what) {
  if (!sessions.without_payload()) return {};
  return Fail(ErrorCode::kUsage,
              fmt::format("{} needs the content of packets, and this log has no payloads", what),
              {sessions.path(), {}, {}},
              "name the log that it was made from, or record without --no-payload");
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

}  // namespace ringscope
