#include "core/sweep/smallest_size.h"

#include "core/perfetto/trace_config_facts.h"

namespace ringscope {
namespace {

/// The sizes that are left for one goal.
class Bracket {
 public:
  Bracket(const SizeGoal& goal, uint64_t enough)
      : next_(goal.first), enough_(enough), with_recommended_(goal.with_recommended) {
    if (next_.empty()) next_.push_back(enough_);
    if (const uint64_t size = PagesDown(goal.too_small); size > 0) failed_.push_back(size);
  }

  const std::vector<uint64_t>& next() const { return next_; }
  /// The size to use while other buffers are searched for.
  uint64_t best() const { return meets_.value_or(enough_); }

  void Note(uint64_t size, const TriedSize& tried) {
    if (size >= estimated_at_) estimated_at_ = size, estimate_ = tried.estimate;
    if (tried.meets) {
      meets_ = std::min(tried.same_from, meets_.value_or(tried.same_from));
      if (tried.is_least) failed_.push_back(tried.same_from - kPageBytes);
      return;
    }
    failed_.push_back(size);
    if (!least_lost_ || std::pair(tried.lost, size) < *least_lost_)
      least_lost_ = {tried.lost, size};
  }
  /// Chooses the sizes of the next pass; none if the search is done.
  void Advance() {
    next_.clear();
    uint64_t fails = 0;
    for (const uint64_t size : failed_)
      if (!meets_ || size < *meets_) fails = std::max(fails, size);
    if (const uint64_t estimate = std::exchange(estimate_, 0); estimate > 0)
      for (const uint64_t size : {estimate - kPageBytes, estimate,
                                  with_recommended_ ? RecommendedSize(estimate) : estimate})
        Add(size, fails, meets_.value_or(enough_ + 1));
    if (!next_.empty()) return;
    if (!meets_) {
      // Close to the largest first, then far above.
      for (const uint64_t size : {fails + fails / 64, fails + fails / 4, fails * 4, enough_})
        Add(PagesUp(size), fails, enough_ + 1);
    } else if (fails == 0) {
      for (const uint64_t less : {uint64_t{1}, *meets_ / 64, *meets_ / 2})
        Add(PagesDown(*meets_ - less), 0, *meets_);
    } else {
      // The pages between are split into four parts; what is next to the largest is known last.
      const uint64_t pages = (*meets_ - fails - 1) / kPageBytes;
      for (uint64_t part = 1; part <= 3; ++part)
        Add(PagesDown(fails) + (pages * part + 3) / 4 * kPageBytes, fails, *meets_);
    }
    std::ranges::sort(next_);
    next_.erase(std::unique(next_.begin(), next_.end()), next_.end());
  }
  SizeFound found() const {
    return {meets_, meets_ ? *meets_ : least_lost_ ? least_lost_->second : enough_};
  }

 private:
  void Add(uint64_t size, uint64_t above, uint64_t below) {
    if (size > above && size < below && size >= kPageBytes) next_.push_back(size);
  }

  std::vector<uint64_t> next_;
  const uint64_t enough_;
  const bool with_recommended_;
  std::optional<uint64_t> meets_;  // the smallest that is large enough
  std::vector<uint64_t> failed_;
  uint64_t estimate_ = 0;      // by the largest size that was tried; 0: used
  uint64_t estimated_at_ = 0;  // that size
  std::optional<std::pair<uint64_t, uint64_t>> least_lost_;  // packets, and with which size
};

}  // namespace

Result<std::vector<SizeFound>> FindSmallestSizes(std::span<const SizeGoal> goals,
                                                 uint64_t commit_bytes, const TrySizes& replay) {
  // A chunk takes less than four times its bytes in any buffer, the smallest ones apart.
  const uint64_t commits = std::min(commit_bytes, kMaxTriedSize);
  const uint64_t enough = std::min(PagesUp(commits * 4 + 65536), kMaxTriedSize);
  std::vector<Bracket> brackets;
  for (const SizeGoal& goal : goals) brackets.emplace_back(goal, enough);
  while (true) {
    std::map<BufferId, std::set<uint64_t>> next;
    size_t count = 0;
    for (size_t i = 0; i < goals.size(); ++i) {
      std::set<uint64_t>& of_buffer = next[goals[i].buffer];
      of_buffer.insert(brackets[i].next().begin(), brackets[i].next().end());
      count = std::max(count, of_buffer.size());
    }
    if (count == 0) break;
    std::vector<BufferSizes> sizes(count);
    for (size_t i = 0; i < goals.size(); ++i) {
      // The largest go together. A buffer with fewer sizes keeps the last one, or the best.
      const std::set<uint64_t>& of_buffer = next[goals[i].buffer];
      auto size = of_buffer.rbegin();
      for (BufferSizes& each : sizes) {
        each[goals[i].buffer] = of_buffer.empty() ? brackets[i].best() : *size;
        if (size != of_buffer.rend() && std::next(size) != of_buffer.rend()) ++size;
      }
    }
    RS_ASSIGN_OR_RETURN(const auto rows, replay(sizes));
    for (size_t i = 0; i < goals.size(); ++i) {
      for (size_t tried = 0; tried < count; ++tried)
        if (const SweepRow* const row = FindBy(rows[tried], goals[i].buffer, &SweepRow::id))
          brackets[i].Note(sizes[tried].at(goals[i].buffer), goals[i].judge(*row));
      brackets[i].Advance();
    }
  }
  std::vector<SizeFound> found;
  for (const Bracket& bracket : brackets) found.push_back(bracket.found());
  return found;
}

}  // namespace ringscope
