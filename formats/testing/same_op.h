#ifndef RINGSCOPE_FORMATS_TESTING_SAME_OP_H_
#define RINGSCOPE_FORMATS_TESTING_SAME_OP_H_

#include <algorithm>
#include <tuple>

#include "core/log/op.h"

namespace ringscope::testing {

/// Whether two records are equal, a commit's bytes included.
inline bool SameOp(const Op& a, const Op& b) {
  if (a.time_ns != b.time_ns || a.body.index() != b.body.index()) return false;
  return std::visit(
      [&b]<typename T>(const T& body) {
        const T& other = std::get<T>(b.body);
        if constexpr (std::is_same_v<T, Commit>) {
          const auto fields = [](const Commit& c) {
            return std::tie(c.producer, c.uid, c.pid, c.origin, c.number, c.part, c.last);
          };
          return fields(body) == fields(other) && std::ranges::equal(body.request, other.request);
        } else {
          return body == other;
        }
      },
      a.body);
}

}  // namespace ringscope::testing

#endif  // RINGSCOPE_FORMATS_TESTING_SAME_OP_H_
