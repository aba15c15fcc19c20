#include "core/log/verdict.h"

#include <algorithm>

namespace ringscope {
namespace {

// What a recorder does not reach, but a log that was made to exhaust its readers may.
constexpr size_t kMaxVerdicts = 256;
constexpr size_t kMaxDetail = 1024;
constexpr size_t kMaxLive = 4096;

}  // namespace

const RecordingVerdict* LossesBefore(const std::vector<RecordingVerdict>& verdicts) {
  const auto found = std::ranges::find(verdicts, InexactReason::kLosses, &RecordingVerdict::reason);
  return found == verdicts.end() ? nullptr : &*found;
}

bool VerdictBuilder::Concerns(const OpBody& body) {
  return std::holds_alternative<SessionStarted>(body) ||
         std::holds_alternative<SessionEnded>(body) ||
         std::holds_alternative<TraceConfigRecord>(body) ||
         std::holds_alternative<ProducerConnected>(body) ||
         std::holds_alternative<DataSourceSetUp>(body) ||
         std::holds_alternative<RecorderGap>(body) || std::holds_alternative<Inexact>(body) ||
         std::holds_alternative<RecordingEnded>(body);
}

void VerdictBuilder::AddTo(VerdictMap& verdicts, Key key, uint64_t times, std::string_view detail) {
  if (verdicts.size() >= kMaxVerdicts && !verdicts.contains(key)) key.second.reset();
  Verdict& verdict = verdicts[key];
  if (verdict.first == 0) verdict.second = detail.substr(0, kMaxDetail);
  verdict.first += times;
}

bool VerdictBuilder::Add(const OpBody& body) {
  if (const auto* started = std::get_if<SessionStarted>(&body)) {
    ++seen_.sessions;
    if (live_.size() < kMaxLive) live_.insert(started->session);
  } else if (const auto* ended = std::get_if<SessionEnded>(&body)) {
    live_.erase(ended->session);
  } else if (std::holds_alternative<TraceConfigRecord>(body)) {
    has_config_ = true;
  } else if (std::holds_alternative<ProducerConnected>(body)) {
    ++seen_.producers;
  } else if (std::holds_alternative<DataSourceSetUp>(body)) {
    has_source_ = true;
  } else if (const auto* gap = std::get_if<RecorderGap>(&body)) {
    if (IsDamage(body)) return false;
    ++seen_.gaps;
    AddTo(verdicts_, {InexactReason::kRecords, {}}, 1, gap->reason);
    return true;
  } else if (const auto* mark = std::get_if<Inexact>(&body)) {
    AddTo(verdicts_, {mark->reason, mark->session}, 1, mark->detail);
    return true;
  } else if (const auto* end = std::get_if<RecordingEnded>(&body)) {
    AddEnd(*end);
    return true;
  }
  return false;
}

/// Its verdicts are of the whole recording, also of records that are not here.
void VerdictBuilder::AddEnd(const RecordingEnded& end) {
  for (const RecordingVerdict& verdict : end.verdicts) {
    const Key key{verdict.reason, verdict.session};
    const auto known = verdicts_.find(key);
    const uint64_t counted = known == verdicts_.end() ? 0 : known->second.first;
    AddTo(verdicts_, key, std::max(counted, verdict.times) - counted, verdict.detail);
  }
}

void VerdictBuilder::AddRemovedParts(uint64_t parts) {
  AddTo(verdicts_, {InexactReason::kStart, {}}, parts, "the oldest parts were removed");
}

std::vector<RecordingVerdict> VerdictBuilder::ListOf(const VerdictMap& verdicts) {
  std::vector<RecordingVerdict> list;
  for (const auto& [key, verdict] : verdicts)
    list.push_back({key.first, verdict.first, key.second, verdict.second});
  return list;
}

std::vector<RecordingVerdict> VerdictBuilder::Verdicts() const { return ListOf(verdicts_); }

RecordingEnded VerdictBuilder::Ended(RecordingEnding ending) const {
  RecordingEnded end = seen_;
  end.ending = ending;
  VerdictMap verdicts = verdicts_;
  if (ending != RecordingEnding::kNextPart) {
    if (has_source_ && !has_config_)
      AddTo(verdicts, {InexactReason::kReads, {}}, 1,
            "no consumer was recorded: when the buffers were read is not in the log");
    for (const uint64_t session : live_)
      AddTo(verdicts, {InexactReason::kEnd, session}, 1, "it had not ended");
  }
  end.verdicts = ListOf(verdicts);
  return end;
}

}  // namespace ringscope
