#include "commands/log/story_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "commands/replays/story_words.h"
#include "commands/shell/text.h"

namespace ringscope {
namespace {

/// Lines of a group that are shown; of the others only the number is.
constexpr uint64_t kShownInGroup = 6;
std::string SecondsText(std::optional<uint64_t> time_ns, std::optional<uint64_t> start_ns) {
  if (!time_ns || !start_ns) return "-";
  const bool before = *time_ns < *start_ns;
  const uint64_t ns = before ? *start_ns - *time_ns : *time_ns - *start_ns;
  const uint64_t ms = (ns + 500'000) / 1'000'000;
  return fmt::format("{}{}.{:03}", before && ms > 0 ? "-" : "", ms / 1000, ms % 1000);
}

/// "flushes (periodic)" of "flush (periodic)", "requests to ..." of "request to ...".
std::string Plural(const std::string& text) {
  const size_t end = std::min(text.find(' '), text.size());
  const bool is_flush = text.starts_with("flush");
  return text.substr(0, end) + (is_flush ? "es" : "s") + text.substr(end);
}

}  // namespace

void StoryLines::AddRoutine(const std::string& what, std::optional<uint64_t> time_ns,
                            uint64_t slowest_ns, std::optional<ProducerId> producer) {
  Routine& routine = routine_[what];
  if (routine.count++ == 0) routine.first_ns = time_ns;
  routine.last_ns = time_ns;
  if (!producer || slowest_ns < routine.slowest_ns) return;
  routine.slowest_ns = slowest_ns;
  routine.slowest = producer;
}

void StoryLines::EndRoutine() {
  if (routine_.empty()) return;
  EndGroup();
  std::vector<const std::pair<const std::string, Routine>*> in_order;
  for (const auto& entry : routine_) in_order.push_back(&entry);
  std::ranges::stable_sort(in_order, [](const auto* a, const auto* b) {
    return a->second.first_ns.value_or(0) < b->second.first_ns.value_or(0);
  });
  for (const auto* entry : in_order) {
    const Routine& routine = entry->second;
    const bool is_flush = entry->first.starts_with("flush");
    // "6 flushes (periodic), until 30.000: all acknowledged, at the latest after 18 ms by ..."
    std::string text = entry->first;
    if (routine.count > 1) {
      text = fmt::format("{} {}, until {}", WithCommas(routine.count), Plural(entry->first),
                         SecondsText(routine.last_ns, start_ns_));
    }
    if (is_flush) text += routine.count > 1 ? ": all acknowledged" : ": acknowledged";
    if (routine.slowest) {
      text += fmt::format("{} after {} by {}", routine.count > 1 ? ", at the latest" : "",
                          LatencyText(routine.slowest_ns), name_of_(*routine.slowest));
    }
    lines_.push_back({SecondsText(routine.first_ns, start_ns_), text});
  }
  routine_.clear();
}

void StoryLines::EndGroup() {
  if (in_group_ > kShownInGroup)
    lines_.push_back(
        {"", fmt::format("and {} more of these, until {}", WithCommas(in_group_ - kShownInGroup),
                         SecondsText(group_last_ns_, start_ns_))});
  in_group_ = 0;
  group_.clear();
}

void StoryLines::Line(std::optional<uint64_t> time_ns, const std::string& text,
                      const std::string& group) {
  EndRoutine();
  if (group.empty() || group != group_) EndGroup();
  group_ = group;
  ++in_group_;
  group_last_ns_ = time_ns;
  if (!group.empty() && in_group_ > kShownInGroup) return;
  if (group.empty()) in_group_ = 0;
  lines_.push_back({SecondsText(time_ns, start_ns_), text});
}

std::vector<StoryLine> StoryLines::Take() {
  EndRoutine();
  EndGroup();
  return std::move(lines_);
}

}  // namespace ringscope
