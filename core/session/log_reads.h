#ifndef RINGSCOPE_CORE_SESSION_LOG_READS_H_
#define RINGSCOPE_CORE_SESSION_LOG_READS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/log/op.h"

namespace ringscope {

/// Opens a session's records, from the first one; called again where they are needed again.
using OpenOps = std::function<Result<std::unique_ptr<OpSource>>()>;

/// Facts about the reads of a log that only the whole session shows. Each is found when it is asked
/// for, by reading the records once more, and then kept.
class LogReads {
 public:
  explicit LogReads(OpenOps open) : open_(std::move(open)) {}
  /// The facts of a session that was read before, see the functions below.
  LogReads(bool any, std::vector<bool> finished) : any_(any), finished_(std::move(finished)) {}

  /// Returns true if the session has a read that touches its buffers. Reads of a consumer that the
  /// service answers with nothing do not, see ServiceReads.
  Result<bool> HasAny();
  /// Returns true if the session's pass over all buffers with this index, from 0, did not reach its
  /// limit, so that it left nothing in the recorded buffers. Time: a replay.
  Result<bool> IsFinished(size_t pass);
  /// Finds all facts, so that several threads may ask for them.
  Status FindAll();

 private:
  OpenOps open_;
  std::optional<bool> any_;
  std::optional<std::vector<bool>> finished_;
};

/// Facts about the reads of the log that is replayed; nullptr if it can be read only once.
using LookAhead = std::shared_ptr<LogReads>;

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_LOG_READS_H_
