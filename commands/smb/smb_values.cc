#include "commands/smb/smb_values.h"

#include <fmt/format.h>

#include "commands/shell/text.h"
#include "commands/shell/values.h"

namespace ringscope {
namespace {

constexpr size_t kMostMemorySizes = 64;

Result<uint64_t> ParseMemorySize(std::string_view text) {
  RS_ASSIGN_OR_RETURN(const uint64_t size, ParseSizeFrom(text, smb::kMinPageBytes));
  if (size > smb::kMaxMemoryBytes)
    return UsageError("'{}' is too large: shared memory has at most {}", text,
                      HumanSize(smb::kMaxMemoryBytes));
  if (size % smb::kMinPageBytes != 0)
    return UsageError("'{}' is not a whole number of pages of {}", text,
                      HumanSize(smb::kMinPageBytes));
  return size;
}

}  // namespace

Result<std::vector<uint64_t>> ParseMemorySizes(std::string_view text) {
  std::vector<uint64_t> sizes;
  const auto add = [&](std::string_view part) -> Status {
    const size_t dots = part.find("..");
    RS_ASSIGN_OR_RETURN(const uint64_t first, ParseMemorySize(part.substr(0, dots)));
    sizes.push_back(first);
    if (dots != std::string_view::npos) {
      RS_ASSIGN_OR_RETURN(const uint64_t last, ParseMemorySize(part.substr(dots + 2)));
      if (first > last)
        return UsageError("'{}' begins above its end; write the smaller size first", part);
      for (uint64_t size = 2 * first; size < last; size *= 2) sizes.push_back(size);
      if (last != first) sizes.push_back(last);
    }
    if (sizes.size() > kMostMemorySizes)
      return UsageError("'{}' has more than {} sizes", text, kMostMemorySizes);
    return {};
  };
  RS_RETURN_IF_ERROR(ForEachPart(text, add));
  return sizes;
}

Result<std::vector<uint64_t>> ParsePageSizes(std::string_view text) {
  std::vector<uint64_t> sizes;
  const auto add = [&](std::string_view part) -> Status {
    RS_ASSIGN_OR_RETURN(const uint64_t size, ParseSize(part));
    if (!smb::IsPageSize(size))
      return UsageError("'{}' is not a page size: they are 4k, 8k, 16k and 32k", part);
    sizes.push_back(size);
    return {};
  };
  RS_RETURN_IF_ERROR(ForEachPart(text, add));
  return sizes;
}

Result<std::vector<smb::WhenNoneIsFree>> ParseMemoryPolicies(std::string_view text) {
  std::vector<smb::WhenNoneIsFree> policies;
  const auto add = [&](std::string_view part) -> Status {
    const auto policy = FromName<smb::WhenNoneIsFree>(part);
    if (!policy) return UsageError("'{}' is neither drop nor stall", part);
    policies.push_back(*policy);
    return {};
  };
  RS_RETURN_IF_ERROR(ForEachPart(text, add));
  return policies;
}

}  // namespace ringscope
