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

/// A clone, from its records.
struct CloneFacts {
  uint64_t clone = 0;                   // its number, from 1
  std::optional<uint64_t> session;      // that was cloned
  std::set<BufferId> buffers;           // that it has
  std::set<BufferId> transferred;       // of these, taken over instead of copied
  std::set<BufferId> cleared;           // emptied before
  std::optional<uint64_t> time_ns;      // of the last of its buffers' instants
  bool failed = false;                  // the service did not make it
  std::string error;                    // why, if it failed
  bool is_in_file = false;              // the service wrote it into a file
  std::optional<uint64_t> own_session;  // of the clone, as the service numbers it
  std::vector<uint64_t> passes;         // bytes that limited its holder's reads, if recorded
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
  uint64_t requested_ = 0;  // the clone requested last
};

/// The view of a clone's holder: its buffers, each up to its instant.
struct CloneView {
  uint64_t clone = 0;
  std::set<BufferId> buffers;
  /// The clone begins with a copy of the file that the session was written into until then.
  bool has_file = false;
  std::vector<uint64_t> passes = {};  // as of CloneFacts

  /// Returns true if the clone ends here: the service's reply to its request.
  bool IsEnd(const Op& op) const {
    const auto* ended = std::get_if<CloneEnded>(&op.body);
    return ended != nullptr && ended->clone == clone;
  }
};

/// Returns the view of a clone. kUsage: there is no such clone, or it failed.
Result<CloneView> ViewOfClone(const std::vector<CloneFacts>& clones, uint64_t clone);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_CLONES_H_
