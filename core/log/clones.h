#ifndef RINGSCOPE_CORE_LOG_CLONES_H_
#define RINGSCOPE_CORE_LOG_CLONES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "core/log/op.h"

namespace ringscope {

// Clones of a tracing session (CloneSession). Each buffer has its own instant, its BufferCloned.

/// A clone, from its records. Its holder sees its buffers, each up to its instant.
struct CloneFacts {
  uint64_t clone = 0;               // its number, from 1
  std::optional<uint64_t> session;  // that was cloned
  std::set<BufferId> buffers;       // that it has
  bool failed = false;              // the service did not make it
  std::string error;                // why, if it failed
  /// The service wrote it into a file, after a copy of the session's file.
  bool is_in_file = false;
  std::vector<uint64_t> passes;  // bytes that limited its holder's reads, if recorded

  /// Returns true if the clone ends here: the service's reply to its request.
  bool IsEnd(const Op& op) const {
    const auto* ended = std::get_if<CloneEnded>(&op.body);
    return ended != nullptr && ended->clone == clone;
  }
};

/// Collects the clones of a session's records.
class CloneScan {
 public:
  void Add(const Op& op);
  /// Returns those with buffers and those that failed, by number.
  std::vector<CloneFacts> clones() const;

 private:
  CloneFacts& Of(uint64_t clone);

  std::map<uint64_t, CloneFacts> clones_;
};

/// Returns the clone of a number; kUsage if there is no such clone, or it failed.
Result<CloneFacts> FindMadeClone(const std::vector<CloneFacts>& clones, uint64_t clone);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_CLONES_H_
