#include "core/sweep/size_search.h"

#include <algorithm>

#include "core/perfetto/page.h"

namespace ringscope {
namespace {

constexpr uint64_t kParts = 4;

/// The sizes of one buffer that are left.
class Bracket {
 public:
  Bracket(std::vector<uint64_t> first, uint64_t enough) : next_(std::move(first)), enough_(enough) {
    if (next_.empty()) next_.push_back(enough_);
  }

  const std::vector<uint64_t>& next() const { return next_; }
  /// The size to use while other buffers are searched for.
  uint64_t best() const { return meets_.value_or(enough_); }

  void Note(const SweepRow& row, bool meets) {
    const bool is_better =
        meets ? !meets_ || row.size < *meets_
              : !meets_ && (!has_row_ || row.lost_packets() < row_.lost_packets() ||
                            (row.lost_packets() == row_.lost_packets() && row.size < row_.size));
    if (is_better) row_ = row;
    has_row_ = true;
    if (meets && (!meets_ || row.size < *meets_)) meets_ = row.size;
    if (!meets) failed_.push_back(row.size);
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
      const uint64_t size = *meets_;
      for (const uint64_t less : {uint64_t{1}, size / 64, size / 2})
        Add(PagesDown(size - less), 0, size);
      Add(kPageBytes, 0, size);
    } else if (*meets_ - fails > kPageBytes) {
      for (uint64_t part = 1; part < kParts; ++part)
        Add(PagesDown(fails + (*meets_ - fails) / kPageBytes * part / kParts * kPageBytes), fails,
            *meets_);
      Add(PagesUp(fails + 1), fails, next_.empty() ? *meets_ : 0);
    }
    std::ranges::sort(next_);
    next_.erase(std::unique(next_.begin(), next_.end()), next_.end());
  }
  SizeFound found() const { return {meets_, row_}; }

 private:
  void Add(uint64_t size, uint64_t above, uint64_t below) {
    if (size > above && size < below && size >= kPageBytes) next_.push_back(size);
  }

  std::vector<uint64_t> next_;
  const uint64_t enough_;
  std::optional<uint64_t> meets_;  // the smallest that does
  std::vector<uint64_t> failed_;
  SweepRow row_;
  bool has_row_ = false;
};

}  // namespace

Result<std::map<BufferId, SizeFound>> FindSmallestSizes(Sweep& sweep, const SizeSearch& search) {
  // A chunk takes less than four times its bytes in any buffer, the smallest ones apart.
  const uint64_t commits = std::min(sweep.input().commit_bytes, kMaxTriedSize);
  const uint64_t enough = std::min(PagesUp(commits * 4 + 65536), kMaxTriedSize);
  std::map<BufferId, Bracket> brackets;
  for (const auto& [id, first] : search.first) brackets.emplace(id, Bracket(first, enough));
  while (true) {
    size_t count = 0;
    for (const auto& [id, bracket] : brackets) count = std::max(count, bracket.next().size());
    if (count == 0) break;
    std::vector<SweepConfig> configs(count, search.config);
    for (size_t i = 0; i < count; ++i)
      for (const auto& [id, bracket] : brackets) {
        const std::vector<uint64_t>& next = bracket.next();
        configs[i].options.session.buffers[id].size =
            next.empty() ? bracket.best() : next[std::min(i, next.size() - 1)];
      }
    RS_ASSIGN_OR_RETURN(const std::vector<std::vector<SweepRow>> rows, sweep.Run(configs));
    for (size_t i = 0; i < count; ++i) {
      search.tried(configs[i], rows[i]);
      for (auto& [id, bracket] : brackets)
        if (const SweepRow* row = FindRow(rows[i], id)) bracket.Note(*row, search.meets(*row));
    }
    for (auto& [id, bracket] : brackets) bracket.Advance();
  }
  std::map<BufferId, SizeFound> found;
  for (const auto& [id, bracket] : brackets) found.emplace(id, bracket.found());
  return found;
}

}  // namespace ringscope
