#include "core/compare/list_alignment.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace ringscope {
namespace {

using List = std::span<const uint64_t>;

/// Parts of two lists, still to be aligned.
struct Stretch {
  uint32_t a_begin, a_end;
  uint32_t b_begin, b_end;
};

/// An element of a stretch.
struct Occurrences {
  uint32_t in_a = 0;
  std::vector<uint32_t> in_b;  // places
  size_t paired = 0;

  bool are_unique() const { return in_a == 1 && in_b.size() == 1; }
};

/// Pairs as many equal elements as keep the order. If there are too many to choose from, pairs
/// those that occur once on each side, and leaves the stretches between for later; and if there
/// are none of these, the n-th of equal elements with the n-th.
void PairEqual(List a, List b, const Stretch& s, std::vector<AlignedPair>& pairs,
               std::vector<Stretch>& todo) {
  std::unordered_map<uint64_t, Occurrences> elements;
  for (uint32_t i = s.a_begin; i < s.a_end; ++i) ++elements[a[i]].in_a;
  for (uint32_t j = s.b_begin; j < s.b_end; ++j) elements[b[j]].in_b.push_back(j);
  uint64_t candidates = 0;
  bool any_unique = false;
  for (const auto& [element, equal] : elements) {
    candidates += uint64_t{equal.in_a} * equal.in_b.size();
    any_unique |= equal.are_unique();
  }
  const bool is_exact = candidates <= kMaxCandidates;
  const bool cuts = !is_exact && any_unique;
  std::vector<uint32_t> from_a, to_b;
  const auto add = [&](uint32_t i, uint32_t j) {
    from_a.push_back(i);
    to_b.push_back(j);
  };
  for (uint32_t i = s.a_begin; i < s.a_end; ++i) {
    Occurrences& equal = elements[a[i]];
    if (is_exact) {
      // In descending order, so that no ascending run has two of them.
      for (size_t n = equal.in_b.size(); n-- > 0;) add(i, equal.in_b[n]);
    } else if (equal.paired < equal.in_b.size() && (!cuts || equal.are_unique())) {
      add(i, equal.in_b[equal.paired++]);
    }
  }
  const std::vector<uint32_t> kept = LongestAscending(to_b);
  Stretch rest = s;
  for (size_t n = kept.size(); n-- > 0;) {  // the last first, as the first is taken first
    const uint32_t i = from_a[kept[n]], j = to_b[kept[n]];
    pairs.emplace_back(i, j);
    if (cuts) todo.push_back({i + 1, rest.a_end, j + 1, rest.b_end});
    rest.a_end = i;
    rest.b_end = j;
  }
  if (cuts) todo.push_back(rest);
}

}  // namespace

std::vector<AlignedPair> AlignLists(List a, List b) {
  std::vector<AlignedPair> pairs;
  // The first stretch in the lists is taken first.
  std::vector<Stretch> todo = {
      {0, static_cast<uint32_t>(a.size()), 0, static_cast<uint32_t>(b.size())}};
  while (!todo.empty()) {
    Stretch s = todo.back();
    todo.pop_back();
    const auto is_left = [&] { return s.a_begin < s.a_end && s.b_begin < s.b_end; };
    while (is_left() && a[s.a_begin] == b[s.b_begin]) pairs.emplace_back(s.a_begin++, s.b_begin++);
    while (is_left() && a[s.a_end - 1] == b[s.b_end - 1]) pairs.emplace_back(--s.a_end, --s.b_end);
    if (is_left()) PairEqual(a, b, s, pairs, todo);
  }
  std::ranges::sort(pairs);
  return pairs;
}

std::vector<uint32_t> LongestAscending(std::span<const uint32_t> values) {
  constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  std::vector<uint32_t> tails;                         // index of the least end of each length
  std::vector<uint32_t> before(values.size(), kNone);  // index before it in its run
  for (uint32_t i = 0; i < values.size(); ++i) {
    const auto place =
        std::ranges::lower_bound(tails, values[i], {}, [&](uint32_t tail) { return values[tail]; });
    if (place != tails.begin()) before[i] = *(place - 1);
    if (place == tails.end())
      tails.push_back(i);
    else
      *place = i;
  }
  std::vector<uint32_t> run;
  for (uint32_t i = tails.empty() ? kNone : tails.back(); i != kNone; i = before[i])
    run.push_back(i);
  std::ranges::reverse(run);
  return run;
}

}  // namespace ringscope
