#include "core/compare/list_alignment.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace ringscope {
namespace {

/// Most pairs of equal elements that are compared at a time.
constexpr size_t kMaxCandidates = size_t{1} << 22;
constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

using List = std::span<const uint64_t>;

class Aligner {
 public:
  Aligner(List a, List b) : a_(a), b_(b) {}

  std::vector<AlignedPair> Run() {
    todo_ = {{0, static_cast<uint32_t>(a_.size()), 0, static_cast<uint32_t>(b_.size())}};
    while (!todo_.empty()) {
      Stretch stretch = todo_.back();
      todo_.pop_back();
      TakeCommonEnds(stretch);
      if (stretch.a_begin < stretch.a_end && stretch.b_begin < stretch.b_end) AlignMiddle(stretch);
    }
    std::ranges::sort(pairs_);
    return std::move(pairs_);
  }

 private:
  struct Stretch {
    uint32_t a_begin, a_end;
    uint32_t b_begin, b_end;
    int cuts = 0;  // with which it was cut out of the lists, one after the other
  };
  using Place = std::pair<uint64_t, uint32_t>;  // element and index
  using Places = std::span<const Place>;

  void TakeCommonEnds(Stretch& s) {
    while (s.a_begin < s.a_end && s.b_begin < s.b_end && a_[s.a_begin] == b_[s.b_begin])
      pairs_.emplace_back(s.a_begin++, s.b_begin++);
    while (s.a_begin < s.a_end && s.b_begin < s.b_end && a_[s.a_end - 1] == b_[s.b_end - 1])
      pairs_.emplace_back(--s.a_end, --s.b_end);
  }

  /// The places in a part of a list, by element.
  /// @param run how many elements are taken as one; where they begin is the place
  static std::vector<Place> PlacesIn(List list, uint32_t begin, uint32_t end, uint32_t run = 1) {
    std::vector<Place> places;
    for (uint32_t i = begin; i < end && end - i >= run; ++i) {
      uint64_t hash = 0;
      for (const uint64_t element : list.subspan(i, run))
        hash = hash * 0x9E3779B97F4A7C15 + element;
      places.emplace_back(hash, i);
    }
    std::ranges::sort(places);
    return places;
  }

  void AlignMiddle(const Stretch& s) {
    const std::vector<Place> in_a = PlacesIn(a_, s.a_begin, s.a_end);
    const std::vector<Place> in_b = PlacesIn(b_, s.b_begin, s.b_end);
    size_t equal = 0;  // pairs
    ForEachCommon(in_a, in_b,
                  [&](Places of_a, Places of_b) { equal += of_a.size() * of_b.size(); });
    size_t reach = std::max(in_a.size(), in_b.size());
    const size_t most = std::min(kMaxCandidates, 4096 + 16 * in_a.size());
    if (equal > most) {
      constexpr int kMaxCuts = 8;  // each looks at all elements
      constexpr uint32_t kRun = 16;
      if (s.cuts < kMaxCuts && (CutAtUnique(s, 1) || CutAtUnique(s, kRun))) return;
      reach = most / in_a.size() / 2;
    }
    std::vector<AlignedPair> candidates;
    ForEachCommon(in_a, in_b, [&](Places of_a, Places of_b) {
      for (size_t n = 0; n < of_a.size(); ++n)
        for (size_t m = n - std::min(n, reach); m < of_b.size() && m <= n + reach; ++m)
          candidates.emplace_back(of_a[n].second, of_b[m].second);
    });
    std::ranges::copy(LongestOf(std::move(candidates)), std::back_inserter(pairs_));
  }

  /// Pairs the runs of elements that occur once on each side by their beginnings, and leaves the
  /// stretches between them for later.
  bool CutAtUnique(Stretch rest, uint32_t run) {
    std::vector<AlignedPair> unique;
    ForEachCommon(PlacesIn(a_, rest.a_begin, rest.a_end, run),
                  PlacesIn(b_, rest.b_begin, rest.b_end, run), [&](Places of_a, Places of_b) {
                    const uint32_t i = of_a[0].second, j = of_b[0].second;
                    if (of_a.size() == 1 && of_b.size() == 1 && a_[i] == b_[j])
                      unique.emplace_back(i, j);
                  });
    if (unique.empty()) return false;
    ++rest.cuts;
    for (const auto& [i, j] : LongestOf(std::move(unique))) {
      pairs_.emplace_back(i, j);
      todo_.push_back({rest.a_begin, i, rest.b_begin, j, rest.cuts});
      rest.a_begin = i + 1;
      rest.b_begin = j + 1;
    }
    todo_.push_back(rest);
    return true;
  }

  /// Calls visit(Places, Places) for each element that occurs in both.
  template <typename Visit>
  static void ForEachCommon(Places in_a, Places in_b, Visit visit) {
    while (!in_a.empty() && !in_b.empty()) {
      if (in_a[0].first != in_b[0].first) {
        Places& lower = in_a[0].first < in_b[0].first ? in_a : in_b;
        lower = lower.subspan(1);
        continue;
      }
      const Places of_a = PlacesOfFirst(in_a), of_b = PlacesOfFirst(in_b);
      visit(of_a, of_b);
      in_a = in_a.subspan(of_a.size());
      in_b = in_b.subspan(of_b.size());
    }
  }
  static Places PlacesOfFirst(Places places) {
    size_t count = 1;
    while (count < places.size() && places[count].first == places[0].first) ++count;
    return places.first(count);
  }

  /// The most of these pairs that ascend in both indices.
  static std::vector<AlignedPair> LongestOf(std::vector<AlignedPair> pairs) {
    // Of an element of a, the last in b first, so that only one of its pairs can be in a run.
    std::ranges::sort(pairs, [](const AlignedPair& x, const AlignedPair& y) {
      return x.first != y.first ? x.first < y.first : x.second > y.second;
    });
    std::vector<uint32_t> in_b;
    for (const auto& [i, j] : pairs) in_b.push_back(j);
    std::vector<AlignedPair> longest;
    for (const uint32_t n : LongestAscending(in_b)) longest.push_back(pairs[n]);
    return longest;
  }

  const List a_;
  const List b_;
  std::vector<Stretch> todo_;  // still to be aligned
  std::vector<AlignedPair> pairs_;
};

}  // namespace

std::vector<AlignedPair> Align(std::span<const uint64_t> a, std::span<const uint64_t> b) {
  return Aligner(a, b).Run();
}

std::vector<uint32_t> LongestAscending(std::span<const uint32_t> values) {
  std::vector<uint32_t> tails;                         // index of the least end of each length
  std::vector<uint32_t> before(values.size(), kNone);  // index before it in its run
  for (uint32_t i = 0; i < values.size(); ++i) {
    const auto place =
        std::lower_bound(tails.begin(), tails.end(), values[i],
                         [&](uint32_t tail, uint32_t value) { return values[tail] < value; });
    if (place != tails.begin()) before[i] = *(place - 1);
    if (place == tails.end())
      tails.push_back(i);
    else
      *place = i;
  }
  std::vector<uint32_t> run;
  for (uint32_t i = tails.empty() ? kNone : tails.back(); i != kNone; i = before[i])
    run.push_back(i);
  std::reverse(run.begin(), run.end());
  return run;
}

}  // namespace ringscope
