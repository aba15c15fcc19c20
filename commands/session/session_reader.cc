#include "commands/session/session_reader.h"

namespace ringscope {

void ConsoleReporter::OnAddedParts(const std::vector<std::string>& paths) {
  if (is_quiet_) return;
  console_.Say(fmt::format("the recording's {} read too: {}",
                           paths.size() == 1 ? "other part is" : "other parts are",
                           Shortened(paths)));
}

void ConsoleReporter::OnProgress(const std::string& path, uint64_t done, uint64_t total) {
  if (activity_.empty()) return;
  if (!progress_) progress_.emplace(console_, fmt::format("{} {}", activity_, Printable(path)));
  progress_->Update(done, total);
}

void ConsoleReporter::OnFileEnd(const std::string& path, const std::vector<Damage>& places,
                                uint64_t count) {
  HideProgress();
  if (count == 0) return;
  damage.insert(damage.end(), places.begin(), places.end());
  damage_count += count;
  if (!is_quiet_) WarnOfDamage(console_, path, places, count);
  problems.push_back(fmt::format("{}: {} could not be read", path, Count(count, "damaged place")));
}

void ConsoleReporter::OnProblem(const std::string& sentence) {
  problems.push_back(sentence);
  if (!is_quiet_) console_.Warn(sentence);
}

SessionReader::SessionReader(Context& context, const SessionSelection& selection,
                             std::string activity)
    : SessionReader(context,
                    std::make_shared<Recording>(
                        selection.paths,
                        [&context](const std::string& path) { return OpenInput(context, path); },
                        selection.IsReadOnce()),
                    {},
                    std::make_shared<ConsoleReporter>(context.console, std::move(activity),
                                                      selection.quiet)) {
  only_ = selection.only;
  wanted_clone_ = selection.clone;
}

SessionReader::SessionReader(const SessionReader& other, const SessionPlace& place,
                             std::string activity)
    : SessionReader(other.context_, other.owned_, place,
                    std::make_shared<ConsoleReporter>(other.context_.console, std::move(activity),
                                                      /*is_quiet=*/true)) {}

Result<bool> SessionReader::NextSession() {
  if (session() == 0 && (only_ || wanted_clone_)) RS_RETURN_IF_ERROR(owned_->Spool());
  if (session() == 0 && only_) {
    RS_ASSIGN_OR_RETURN(const SessionPlace place, owned_->Find(*only_));
    Select(place);
  }
  while (true) {
    RS_ASSIGN_OR_RETURN(const bool more, RecordingPass::NextSession());
    if (!more && clone() == nullptr && missing_clone_)
      return tl::unexpected<Error>(*missing_clone_);
    if (!more && session() == 0)
      context_.console.Warn(fmt::format("{}: there are no records", path()));
    if (!more || !wanted_clone_) return more;
    RS_ASSIGN_OR_RETURN(const SessionIndex index, recording().Index(place()));
    auto made = FindMadeClone(index.clones, *wanted_clone_);
    if (made) {
      EndWith(*std::move(made));
      return true;
    }
    if (missing_clone_ && index.clones.empty()) continue;
    missing_clone_ = std::move(made).error();
    missing_clone_->where.path = path();
  }
}

OpenOps SessionReader::Again(std::string activity) const {
  return [&console = context_.console, recording = owned_, place = place(),
          ending = clone() == nullptr ? std::nullopt : std::optional(*clone()),
          activity = std::move(activity)] {
    return recording->Records(
        place, ending ? &*ending : nullptr,
        std::make_shared<ConsoleReporter>(console, activity, /*is_quiet=*/true));
  };
}

void SessionReader::Stop() {
  reporter_->HideProgress();
  RecordingPass::Stop();
}

ExitCode SessionReader::Finish() {
  Close();
  return reporter_->problems.empty() ? ExitCode::kClean : ExitCode::kNotice;
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

std::string Shortened(const std::vector<std::string>& names) {
  constexpr size_t kShown = 3;
  std::vector<std::string> shown;
  for (size_t i = 0; i < names.size() && i < kShown; ++i) shown.push_back(Printable(names[i]));
  return Joined(shown) +
         (names.size() > kShown ? fmt::format(" and {} more", names.size() - kShown) : "");
}

}  // namespace ringscope
