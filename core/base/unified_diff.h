#ifndef RINGSCOPE_CORE_BASE_UNIFIED_DIFF_H_
#define RINGSCOPE_CORE_BASE_UNIFIED_DIFF_H_

#include <string>
#include <string_view>

namespace ringscope {

/// Two texts line by line, as `diff -u` prints it and `patch` takes it; empty: they are equal.
/// @param name of the file that the first text is from
std::string UnifiedDiff(std::string_view name, std::string_view before, std::string_view after);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_BASE_UNIFIED_DIFF_H_
