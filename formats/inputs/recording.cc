#include "formats/inputs/recording.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/lookup.h"
#include "core/base/text.h"
#include "formats/inputs/input_kind.h"

namespace ringscope {

Recording::Recording(std::vector<std::string> paths, OpenBytes open, bool is_read_once)
    : named_(std::move(paths)), open_(std::move(open)), is_read_once_(is_read_once) {
  // Before any output is made: it must not replace them.
  for (const std::string& path : named_) RunFiles::AddInput(path);
}

Result<std::unique_ptr<ByteSource>> Recording::OpenFile(const std::string& path) const {
  if (opened_ && path == named_.front()) return std::move(opened_);
  return open_(path);
}

bool Recording::HasTraces() {
  return std::ranges::any_of(named_, [&](const std::string& path) {
    if (path == "-" && path != named_.front()) return false;  // it could not be read again
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) return true;
    Result<std::unique_ptr<ByteSource>> source = OpenFile(path);
    if (!source) return false;
    Result<KnownInput> known = FindInputKind(*std::move(source));
    if (!known) return false;
    if (path == named_.front()) UseOpened(std::move(known->source));
    return known->kind == InputKind::kTrace || IsArchive(known->start) ||
           (known->start.empty() && IsTraceName(path));
  });
}

Status Recording::Spool() {
  if (!is_read_once_) return {};
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> input, OpenFile("-"));
  RS_ASSIGN_OR_RETURN(auto copy, SpoolInput(*input));
  RunFiles::SetCopy("-", std::move(copy));
  is_read_once_ = false;
  return {};
}

const LogParts& Recording::parts() const {
  if (!parts_) parts_ = FindLogParts(named_);
  return *parts_;
}

Result<SessionPlace> Recording::Find(uint64_t number) const {
  RecordingPass pass(*this);
  while (true) {
    RS_ASSIGN_OR_RETURN(const bool more, pass.NextSession());
    if (!more) return tl::unexpected(NoSession(number, pass.last_session_, named_.back()));
    while (true) {
      RS_ASSIGN_OR_RETURN(const std::optional<Op> op, pass.Next());
      const bool is_at = pass.last_session_ == number;
      if (is_at && !pass.tracing_sessions().empty())
        return SessionPlace{number, pass.run_, pass.tracing_sessions().back(), pass.file_};
      if (!op && is_at) return SessionPlace{number, pass.run_, {}, pass.file_};
      if (!op) break;
    }
  }
}

Result<std::unique_ptr<OpSource>> Recording::Records(
    const SessionPlace& place, const CloneFacts* clone,
    std::shared_ptr<RecordingReporter> reporter) const {
  auto pass = std::make_unique<RecordingPass>(*this, place, std::move(reporter));
  if (clone != nullptr) pass->EndWith(*clone);
  RS_RETURN_IF_ERROR(pass->NextSession());
  return pass;
}

Result<SessionIndex> Recording::Index(
    const SessionPlace& place, const std::function<bool(const SessionIndex&)>& is_enough) const {
  if (known_ && known_->first.run == place.run && known_->first.tracing == place.tracing)
    return known_->second;
  RecordingPass pass(*this, place);
  RS_RETURN_IF_ERROR(pass.NextSession());
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, pass.Next());
    if (!op || (is_enough && is_enough(pass.index_->facts()))) return pass.index_->Index();
  }
}

RecordingPass::RecordingPass(const Recording& recording, std::optional<SessionPlace> place,
                             std::shared_ptr<RecordingReporter> reporter)
    : recording_(recording),
      place_(place),
      reporter_(reporter ? std::move(reporter) : std::make_shared<RecordingReporter>()) {
  if (place_) Select(*place_);
}

void RecordingPass::Select(const SessionPlace& place) {
  place_ = place;
  file_ = place.file;
  next_file_ = file_.index;
  run_ = file_.runs_before;
  last_session_ = file_.sessions_before;
}

Result<bool> RecordingPass::NextSession() {
  if (divides_) {
    while (in_session_) RS_RETURN_IF_ERROR(NextOfSession());  // it may have more of them
    ToNextOfRun();
  }
  if (place_ && run_ >= place_->run) return false;
  do {
    while (in_session_) RS_RETURN_IF_ERROR(NextOfSession());
    if (!held_) {
      RS_ASSIGN_OR_RETURN(held_, Pull());
    }
    if (!held_ && session_ == 0 && damage_count_ > 0)
      return Fail(ErrorCode::kCorrupt, "no record of it can be read", {path_, {}, {}},
                  "'ringscope verify' lists the damage");
    if (!held_) return false;
    StartSession();
  } while (place_ && run_ < place_->run);
  if (place_) session_ = place_->number;
  return true;
}

/// A tracing session of the run starts. The first one is read, the others after it.
void RecordingPass::Divide(uint64_t tracing) {
  const SessionIndex& facts = index_->facts();
  if (!tracing_ && !facts.sets_up_buffers && facts.commits == 0) {
    tracing_ = tracing;
    index_->Select(tracing);
  } else if (tracing_ && tracing != *tracing_ && !Contains(divided_.others, tracing)) {
    divided_.others.push_back(tracing);
  }
}

/// Goes back to the beginning of the run for its next tracing session, or on to the next run.
void RecordingPass::ToNextOfRun() {
  if (divided_.others.empty()) {
    if (!divided_.reporter) return;
    place_.reset();
    last_session_ = divided_.last_session;
    before_recording_ = divided_.before_recording;
    reporter_ = std::move(divided_.reporter);
    return;
  }
  if (!divided_.reporter) {
    divided_.last_session = last_session_;
    divided_.before_recording = before_recording_;
    divided_.reporter = std::exchange(reporter_, std::make_shared<RecordingReporter>());
  }
  const uint64_t tracing = divided_.others.front();
  divided_.others.pop_front();
  source_.reset();
  queued_.clear();
  held_.reset();
  bounds_ = SessionBounds();
  service_ended_ = false;
  Select({divided_.before_recording + tracing, run_, tracing, file_});
}

/// Starts the session of the record that is held.
void RecordingPass::StartSession() {
  held_->starts_session = false;
  if (held_->number == 0) file_ = {next_file_ - 1, run_, last_session_};
  first_record_ = held_->number;
  ++run_;
  session_ = ++last_session_;
  index_.emplace(place_ && run_ == place_->run ? place_->tracing : std::nullopt);
  const auto* const header = std::get_if<LogHeader>(&held_->op.body);
  if (!std::holds_alternative<ServiceChanged>(held_->op.body)) {
    before_recording_ = last_session_ - 1;
    without_payload_ = header != nullptr && header->without_payload;
    is_early_ = header != nullptr && header->tool.starts_with("ringscope 0.1.");
  }
  is_cut_off_ = continues_ = at_clone_end_ = false;
  tracing_.reset();
  in_session_ = true;
}

Result<std::optional<Op>> RecordingPass::Next() {
  if (at_clone_end_) return std::optional<Op>();
  RS_ASSIGN_OR_RETURN(std::optional<Op> op, NextOfSession());
  at_clone_end_ = op && clone_ && clone_->IsEnd(*op);
  return op;
}

/// Corrects the record that is held: a clone follows the reads for a file that are logged before
/// anything else; of two such reads without anything between them the second is left out.
Status RecordingPass::Correct() {
  constexpr uint64_t kOneReadNs = 50'000'000;  // half of the shortest period of reads
  const auto note = [this](bool& noted, const char* logged) {
    if (!std::exchange(noted, true))
      reporter_->OnAssumption(
          fmt::format("{}: a recorder before version 0.2 logged {}", path_, logged));
  };
  const auto file_read = [](const Pulled& record) {
    const auto* const read = std::get_if<ReadPass>(&record.op.body);
    return read != nullptr && read->file_bytes ? read : nullptr;
  };
  const auto is_clone = [](const Pulled& record) { return record.op.body.Is<BufferCloned>(); };
  const auto is_look = [](const Pulled& record) { return record.op.body.Is<SharedMemoryLook>(); };
  if (is_clone(*held_)) {
    std::vector<Pulled> moved;
    while (held_ && !held_->starts_session &&
           (is_clone(*held_) || is_look(*held_) || file_read(*held_) != nullptr)) {
      if (file_read(*held_) != nullptr)
        note(noted_clones_,
             "a clone before a read that the service made first, as its reply shows");
      moved.push_back(*std::exchange(held_, std::nullopt));
      RS_ASSIGN_OR_RETURN(held_, Pull());
    }
    std::stable_partition(moved.begin(), moved.end(), std::not_fn(is_clone));
    if (held_) moved.push_back(*std::move(held_));
    queued_.insert(queued_.begin(), moved.begin() + 1, moved.end());
    held_ = std::move(moved.front());
  }
  if (is_look(*held_)) return {};
  const auto* const read = file_read(*held_);
  const std::optional<Op> before =
      std::exchange(file_read_, read != nullptr ? std::optional(held_->op) : std::nullopt);
  if (read == nullptr || !before || read->own_bytes != 0u ||
      std::get<ReadPass>(before->body).session != read->session ||
      held_->op.time_ns.value_or(UINT64_MAX) - before->time_ns.value_or(0) >= kOneReadNs)
    return {};
  note(noted_reads_, "a read for a file as two, of which the second is left out");
  held_->op.body =
      ringscope::Note{"the read before continues"};  // the records after it keep their numbers
  return {};
}

Result<std::optional<Op>> RecordingPass::NextOfSession() {
  while (in_session_) {
    if (!held_) {
      RS_ASSIGN_OR_RETURN(held_, Pull());
      in_session_ = held_ && !held_->starts_session;
      if (!in_session_) recording_.known_ = {place(), index_->Index()};
      if (!in_session_) break;
    }
    if (is_early_ && recording_.corrects_) RS_RETURN_IF_ERROR(Correct());
    record_number_ = held_->number;
    std::optional<Op> op = std::move(held_->op);
    held_.reset();
    const auto* started = std::get_if<SessionStarted>(&op->body);
    if (started != nullptr && divides_ && !place_) Divide(started->session);
    // A run of the service has at least one tracing session.
    if (started != nullptr && (!place_ || started->session == place_->tracing)) {
      if (!place_ && tracing_sessions().empty()) session_ = before_recording_ + started->session;
      last_session_ = before_recording_ + started->session;
    }
    if (std::holds_alternative<LogHeader>(op->body)) continues_ = false;
    if (const auto* ended = std::get_if<RecordingEnded>(&op->body))
      continues_ = ended->ending == RecordingEnding::kNextPart;
    if (index_->Add(*op)) return op;
  }
  return std::optional<Op>();
}

/// The next record of all files.
Result<std::optional<RecordingPass::Pulled>> RecordingPass::Pull() {
  while (true) {
    if (!queued_.empty()) {
      std::optional<Pulled> next = std::move(queued_.front());
      queued_.pop_front();
      return next;
    }
    if (!source_) {
      const LogParts& parts = recording_.parts();
      if (next_file_ == parts.paths.size()) return std::optional<Pulled>();
      if (next_file_ == 0) {
        if (!parts.added.empty()) reporter_->OnAddedParts(parts.added);
        for (const std::string& problem : parts.problems) reporter_->OnProblem(problem);
      }
      path_ = parts.paths[next_file_++];
      RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> bytes, recording_.OpenFile(path_));
      RS_ASSIGN_OR_RETURN(source_, OpenLog(std::move(bytes)));
      damage_queued_ = 0;
      bounds_.StartFile();
    }
    RS_ASSIGN_OR_RETURN(std::optional<Op> op, source_->Next());
    if (source_->damage_count() > damage_queued_) {
      QueueDamage(std::move(op));
    } else if (!op) {
      Close();
    } else {
      reporter_->OnProgress(path_, source_->position(), source_->size().value_or(0));
      if (std::optional<Pulled> record = Placed(std::move(*op))) return record;
    }
  }
}

/// The record that was read last, with its place; nullopt if it repeats one of the part before.
std::optional<RecordingPass::Pulled> RecordingPass::Placed(Op op) {
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
void RecordingPass::QueueDamage(std::optional<Op> op) {
  const uint64_t first = std::exchange(damage_queued_, source_->damage_count());
  const bool is_first = bounds_.at_start();
  if (is_first && !op) return;
  const uint64_t number = source_->record_number();
  const std::optional<uint64_t> from_ns = is_first ? std::nullopt : last_time_ns_;
  const std::optional<uint64_t> to_ns = op ? op->time_ns : std::nullopt;
  const auto queue = [&](std::string reason, const Damage& damage) {
    RecorderGap gap{.reason = std::move(reason),
                    .records = damage.records,
                    .from_ns = from_ns,
                    .to_ns = to_ns,
                    .is_damage = true};
    if (damage.bytes > 0) gap.bytes = damage.bytes;
    queued_.push_back({Op{std::nullopt, std::move(gap)}, damage.first_record.value_or(number)});
  };
  std::optional<Pulled> record;
  if (op) record = Placed(std::move(*op));
  if (is_first && record) queued_.push_back(*std::exchange(record, {}));
  const std::vector<Damage>& damage = source_->damage();
  for (uint64_t i = first; i < damage.size(); ++i)
    if (damage[i].records != 0)
      queue(fmt::format("damage in the log: {}", damage[i].ToString()), damage[i]);
  // The list is limited.
  if (const uint64_t listed = std::max<uint64_t>(first, damage.size()); damage_queued_ > listed)
    queue(fmt::format("further damage in the log ({} places)", damage_queued_ - listed), {});
  if (record) queued_.push_back(std::move(*record));
}

/// Reports what a record states about the log as a whole.
void RecordingPass::Note(const Pulled& record) {
  constexpr uint64_t kOddNs = 1'000'000'000;
  constexpr size_t kMaxAssumptions = 16;  // of a log whose time goes back at every other record
  const Op& op = record.op;
  if (record.starts_session) {
    first_time_ns_.reset();
  } else if (const uint64_t last = last_time_ns_.value_or(0); op.time_ns && last > kOddNs &&
                                                              *op.time_ns < last - kOddNs &&
                                                              assumptions_ < kMaxAssumptions) {
    ++assumptions_;
    reporter_->OnAssumption(
        fmt::format("{}: time goes back by {} at record {}, and all of it is taken as one session; "
                    "if these are two logs, give each as a file of its own",
                    path_, HumanDuration(last - *op.time_ns), record.number));
  }
  if (op.time_ns) last_time_ns_ = op.time_ns;
  if (op.time_ns && !first_time_ns_) first_time_ns_ = op.time_ns;
  const auto* header = std::get_if<LogHeader>(&op.body);
  if (header != nullptr && record.starts_session && header->part > 0)
    reporter_->OnProblem(fmt::format("{}: {}", path_, StartMissingText(*header)));
  const auto* end = std::get_if<RecordingEnded>(&op.body);
  if (end != nullptr && end->ending == RecordingEnding::kCutOff)
    reporter_->OnProblem(fmt::format("{}: {}", path_, kCutOffText));
}

void RecordingPass::Close() {
  if (!source_) return;
  unknown_records_ += source_->unknown_records();
  damage_count_ += source_->damage_count();
  reporter_->OnFileEnd(path_, source_->damage(), source_->damage_count());
  is_cut_off_ |= !source_->closed();
  if (!source_->closed()) {
    std::optional<uint64_t> duration;
    if (first_time_ns_) duration = *last_time_ns_ - std::min(*first_time_ns_, *last_time_ns_);
    reporter_->OnProblem(fmt::format("{}: {}", path_, NotClosedText(path_, duration)));
  }
  source_.reset();
}

void RecordingPass::Stop() {
  source_.reset();
  next_file_ = recording_.parts().paths.size();
}

Result<std::shared_ptr<TemporaryFile>> SpoolInput(ByteSource& input) {
  RS_ASSIGN_OR_RETURN(
      std::shared_ptr<TemporaryFile> file,
      TemporaryFile::Create(
          {.what = "a temporary copy of it",
           .path = input.path(),
           .hint = "set TMPDIR to a folder with free space, or name a file instead of -"}));
  RS_RETURN_IF_ERROR(CopyBytes(input, *file));
  return file;
}

Error NoSession(uint64_t session, uint64_t sessions, const std::string& path) {
  return {ErrorCode::kUsage,
          fmt::format("no session {}: the input has {}", session, Count(sessions, "session")),
          {path, {}, {}},
          sessions > 1 ? fmt::format("choose one from 1 to {}", sessions) : "leave --session out"};
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

}  // namespace ringscope
