#ifndef RINGSCOPE_CORE_COMPARE_PAYLOAD_PARTS_H_
#define RINGSCOPE_CORE_COMPARE_PAYLOAD_PARTS_H_

#include <string>
#include <vector>

#include "core/compare/plain_stream.h"

namespace ringscope {

/// A commit's payload as its fragments, and what follows them.
struct PayloadParts {
  std::vector<std::string> fragments;
  std::string rest;

  std::string Join() const;
};
PayloadParts PartsOf(const PlainStep& step);

/// The same fragments, with about this part of their bytes: such that the chunk takes as much less
/// of a buffer.
PayloadParts Scaled(PayloadParts parts, double ratio);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_PAYLOAD_PARTS_H_
