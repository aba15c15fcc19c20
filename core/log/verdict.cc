#include "core/log/verdict.h"

#include <optional>
#include <string>
#include <utility>

namespace ringscope {
namespace {

// Limits that only a log that was made to exhaust its readers exceeds.
constexpr size_t kMaxVerdicts = 256;
constexpr size_t kMaxDetail = 1024;
constexpr size_t kMaxLive = 4096;

/// Returns the verdict for this reason and session in a list that is sorted by them; a new one is
/// of no times yet. Of a list that is full, sessions have one verdict together.
RecordingVerdict& VerdictIn(std::vector<RecordingVerdict>& verdicts, InexactReason reason,
                            std::optional<uint64_t> session, const std::string& detail) {
  const std::pair key(reason, session);
  const auto key_of = [](const RecordingVerdict& verdict) {
    return std::pair(verdict.reason, verdict.session);
  };
  const auto at = std::ranges::lower_bound(verdicts, key, {}, key_of);
  if (at != verdicts.end() && key_of(*at) == key) return *at;
  if (verdicts.size() >= kMaxVerdicts && session) return VerdictIn(verdicts, reason, {}, detail);
  return *verdicts.insert(at, {reason, 0, session, detail.substr(0, kMaxDetail)});
}

}  // namespace

bool VerdictBuilder::Add(const OpBody& body) {
  if (std::holds_alternative<Commit>(body)) return false;
  bool changed = false;
  const auto note = [&](InexactReason reason, std::optional<uint64_t> session,
                        const std::string& detail) {
    changed = true;
    ++VerdictIn(seen_.verdicts, reason, session, detail).times;
  };
  VisitRecord(
      body,
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
        note(InexactReason::kRecords, {}, gap.reason);
      },
      [&](const Inexact& mark) { note(mark.reason, mark.session, mark.detail); },
      [&](const RecordingEnded& end) {
        changed = true;
        // The verdicts of the last part cover the whole recording, also records that are
        // not here.
        for (const RecordingVerdict& whole : end.verdicts) {
          RecordingVerdict& verdict =
              VerdictIn(seen_.verdicts, whole.reason, whole.session, whole.detail);
          verdict.times = std::max(verdict.times, whole.times);
        }
      });
  return changed;
}

void VerdictBuilder::AddRemovedParts(uint64_t parts) {
  VerdictIn(seen_.verdicts, InexactReason::kStart, {}, "the oldest parts were removed").times +=
      parts;
}

RecordingEnded VerdictBuilder::Ended(RecordingEnding ending) const {
  RecordingEnded end = seen_;
  end.ending = ending;
  if (ending == RecordingEnding::kNextPart) return end;
  if (has_source_ && !has_config_) {
    ++VerdictIn(end.verdicts, InexactReason::kReads, {},
                "no consumer was recorded: when the buffers were read is not in the log")
          .times;
    VerdictIn(end.verdicts, InexactReason::kProducers, {},
              "no consumer was recorded: the service was not asked for its producers");
  }
  for (const uint64_t session : live_)
    ++VerdictIn(end.verdicts, InexactReason::kEnd, session, "it had not ended").times;
  return end;
}

}  // namespace ringscope
