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
  /// A commit with another request. @param like has all other fields
  StoredOp(const Op& like, std::string request);

  const Op& op() const { return op_; }

 private:
  std::shared_ptr<const std::string> request_;
  Op op_;
};

/// Makes each chunk and each patched chunk of a commit a commit of its own, and puts the parts of a
/// large request together. The flush id of a request is left out.
std::vector<StoredOp> SplitCommits(const std::vector<StoredOp>& ops);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_STORED_OPS_H_
