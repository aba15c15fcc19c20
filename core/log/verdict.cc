#include "core/log/verdict.h"

#include <algorithm>

namespace ringscope {
namespace {

// Limits that only a log that was made to exhaust its readers exceeds.
constexpr size_t kMaxVerdicts = 256;
constexpr size_t kMaxDetail = 1024;
constexpr size_t kMaxLive = 4096;

}  // namespace

const RecordingVerdict* LossesBefore(const std::vector<RecordingVerdict>& verdicts) {
  const auto found = std::ranges::find(verdicts, InexactReason::kLosses, &RecordingVerdict::reason);
  return found == verdicts.end() ? nullptr : &*found;
}

void VerdictBuilder::AddTo(VerdictMap& verdicts, Key key, uint64_t times, std::string_view detail) {
  if (verdicts.size() >= kMaxVerdicts && !verdicts.contains(key)) key.second.reset();
  RecordingVerdict& verdict = verdicts[key];
  if (verdict.times == 0)
    verdict = {key.first, 0, key.second, std::string(detail.substr(0, kMaxDetail))};
  verdict.times += times;
}

bool VerdictBuilder::Add(const OpBody& body) {
  if (std::holds_alternative<Commit>(body)) return false;
  bool changed = false;
  const auto note = [&](Key key, const std::string& detail) {
    changed = true;
    AddTo(verdicts_, key, 1, detail);
  };
  std::visit(Overloaded{
                 [&](const SessionStarted& started) {
                   ++seen_.sessions;
                   if (live_.size() < kMaxLive) live_.insert(started.session);
                 },
                 [&](const SessionEnded& ended) { live_.erase(ended.session); },
                 [&](const TraceConfigRecord&) { has_config_ = true; },
                 [&](const ProducerConnected&) { ++seen_.producers; },
                 [&](const DataSourceSetUp&) { has_source_ = true; },
                 [&](const RecorderGap& gap) {
                   if (gap.is_damage) return;
                   ++seen_.gaps;
                   note({InexactReason::kRecords, {}}, gap.reason);
                 },
                 [&](const Inexact& mark) {
                   note({mark.reason, mark.session}, mark.detail);
                 },
                 [&](const RecordingEnded& end) {
                   changed = true;
                   AddEnd(end);
                 },
                 [](const auto&) {},
             },
             body);
  return changed;
}

/// Its verdicts are of the whole recording, also of records that are not here.
void VerdictBuilder::AddEnd(const RecordingEnded& end) {
  for (const RecordingVerdict& verdict : end.verdicts) {
    const Key key{verdict.reason, verdict.session};
    const auto known = verdicts_.find(key);
    const uint64_t counted = known == verdicts_.end() ? 0 : known->second.times;
    AddTo(verdicts_, key, std::max(counted, verdict.times) - counted, verdict.detail);
  }
}

void VerdictBuilder::AddRemovedParts(uint64_t parts) {
  AddTo(verdicts_, {InexactReason::kStart, {}}, parts, "the oldest parts were removed");
}

std::vector<RecordingVerdict> VerdictBuilder::ListOf(const VerdictMap& verdicts) {
  std::vector<RecordingVerdict> list;
  for (const auto& [key, verdict] : verdicts) list.push_back(verdict);
  return list;
}

RecordingEnded VerdictBuilder::Ended(RecordingEnding ending) const {
  RecordingEnded end = seen_;
  end.ending = ending;
  VerdictMap verdicts = verdicts_;
  if (ending != RecordingEnding::kNextPart) {
    if (has_source_ && !has_config_)
      AddTo(verdicts, {InexactReason::kReads, {}}, 1,
            "no consumer was recorded: when the buffers were read is not in the log");
    if (has_source_ && !has_config_)
      AddTo(verdicts, {InexactReason::kProducers, {}}, 0,
            "no consumer was recorded: the service was not asked for its producers");
    for (const uint64_t session : live_)
      AddTo(verdicts, {InexactReason::kEnd, session}, 1, "it had not ended");
  }
  end.verdicts = ListOf(verdicts);
  return end;
}

}  // namespace ringscope
