#ifndef RINGSCOPE_CORE_BASE_LOOKUP_H_
#define RINGSCOPE_CORE_BASE_LOOKUP_H_

#include <algorithm>
#include <functional>
#include <ranges>

namespace ringscope {

/// Returns the value of a key in a map, or nullptr if it has none.
template <typename Map>
auto FindIn(Map& map, const typename Map::key_type& key) -> decltype(&map.find(key)->second) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

/// Returns the first element of a list whose member has this value, or nullptr.
template <typename List, typename Value, typename Member>
auto FindBy(List& list, const Value& value, Member member) -> decltype(&*std::ranges::begin(list)) {
  const auto found = std::ranges::find(list, value, member);
  return found == std::ranges::end(list) ? nullptr : &*found;
}

/// Returns true if a list has an element that is this value, or whose member is.
template <typename List, typename Value, typename Member = std::identity>
bool Contains(const List& list, const Value& value, Member member = {}) {
  return std::ranges::find(list, value, member) != std::ranges::end(list);
}

/// Returns the first of the numbers from `low` to below `high` that does not come before something,
/// or `high`, by binary search.
template <typename Number>
Number FirstNotBefore(Number low, Number high, auto comes_before) {
  while (low < high) {
    const Number middle = low + (high - low) / 2;
    if (comes_before(middle))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_BASE_LOOKUP_H_
