#include "core/sweep/size_search.h"

#include <algorithm>

#include "core/perfetto/page.h"

namespace ringscope {
namespace {

/// The sizes of one buffer that are left.
class Bracket {
 public:
  Bracket(std::vector<uint64_t> first, uint64_t enough) : next_(std::move(first)), enough_(enough) {
    if (next_.empty()) next_.push_back(enough_);
  }

  const std::vector<uint64_t>& next() const { return next_; }
  /// The size to use while other buffers are searched for.
  uint64_t best() const { return meets_.value_or(enough_); }

  void Note(uint64_t size, const TriedSize& tried) {
    if (tried.meets) {
      meets_ = std::min(size, meets_.value_or(size));
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
  std::optional<uint64_t> meets_;  // the smallest that is large enough
  std::vector<uint64_t> failed_;
  std::optional<std::pair<uint64_t, uint64_t>> least_lost_;  // packets, and with which size
};

}  // namespace

Result<std::map<BufferId, SizeFound>> FindSmallestSizes(const SizeSearch& search) {
  // A chunk takes less than four times its bytes in any buffer, the smallest ones apart.
  const uint64_t commits = std::min(search.commit_bytes, kMaxTriedSize);
  const uint64_t enough = std::min(PagesUp(commits * 4 + 65536), kMaxTriedSize);
  std::map<BufferId, Bracket> brackets;
  for (const auto& [id, first] : search.first) brackets.emplace(id, Bracket(first, enough));
  while (true) {
    size_t count = 0;
    for (const auto& [id, bracket] : brackets) count = std::max(count, bracket.next().size());
    if (count == 0) break;
    std::vector<BufferSizes> sizes(count);
    for (size_t i = 0; i < count; ++i)
      for (const auto& [id, bracket] : brackets) {
        const std::vector<uint64_t>& next = bracket.next();
        sizes[i][id] = next.empty() ? bracket.best() : next[std::min(i, next.size() - 1)];
      }
    RS_ASSIGN_OR_RETURN(const auto tried, search.replay(sizes));
    for (size_t i = 0; i < count; ++i)
      for (auto& [id, bracket] : brackets)
        if (const auto one = tried[i].find(id); one != tried[i].end())
          bracket.Note(sizes[i].at(id), one->second);
    for (auto& [id, bracket] : brackets) bracket.Advance();
  }
  std::map<BufferId, SizeFound> found;
  for (const auto& [id, bracket] : brackets) found.emplace(id, bracket.found());
  return found;
}

}  // namespace ringscope
