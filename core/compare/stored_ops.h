#ifndef RINGSCOPE_CORE_COMPARE_STORED_OPS_H_
#define RINGSCOPE_CORE_COMPARE_STORED_OPS_H_

#include <memory>
#include <string>
#include <vector>

#include "core/log/op.h"

namespace ringscope {

/// A record that outlives its source. Copies share the bytes of a commit.
class StoredOp {
 public:
  explicit StoredOp(const Op& op);
  /// A commit whose request is `request`, otherwise like `like`.
  StoredOp(const Op& like, std::string request);

  const Op& op() const { return op_; }

 private:
  std::shared_ptr<const std::string> request_;
  Op op_;
};

/// The same stream with each chunk and each patched chunk of a commit as a commit of its own, and
/// the parts of a large request put together. The flush id of a request is left out.
std::vector<StoredOp> SplitCommits(const std::vector<StoredOp>& ops);

/// Variants of a record that contain less, the smallest first: a chunk with fewer or smaller
/// fragments, or with fragments that are filled with bytes without meaning; a smaller buffer.
/// Repeated use ends.
std::vector<StoredOp> SmallerVariants(const StoredOp& op);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_STORED_OPS_H_
