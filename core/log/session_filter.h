#ifndef RINGSCOPE_CORE_LOG_SESSION_FILTER_H_
#define RINGSCOPE_CORE_LOG_SESSION_FILTER_H_

#include <cstdint>
#include <set>
#include <utility>

#include "core/log/op.h"

namespace ringscope {

/// Leaves one of several tracing sessions in the records of a recording. What is about the service,
/// its producers and their commits stays; buffers of the other sessions are left out.
class SessionFilter {
 public:
  /// @param session by the recorder's number
  explicit SessionFilter(uint64_t session) : session_(session) {}

  /// Feed it all records. @return false: the record is about other sessions only
  bool Keeps(Op& op);

 private:
  const uint64_t session_;
  // Of other sessions.
  std::set<uint64_t> clones_;
  std::set<uint64_t> flushes_;
  std::set<std::pair<ProducerId, uint64_t>> instances_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_SESSION_FILTER_H_
