#ifndef RINGSCOPE_CORE_LOG_LIVE_STATE_H_
#define RINGSCOPE_CORE_LOG_LIVE_STATE_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/log/op.h"

namespace ringscope {

/// The records of a session that are still true of it: its buffers, producers, writers, data
/// sources and tracing sessions that have not ended. Memory: for what lives.
class LiveState {
 public:
  void Add(const OpBody& body);
  /// Returns the records, in the order in which they were added.
  std::vector<OpBody> Records() const;

 private:
  /// Kind of the record, session or producer, what is numbered within that, name.
  using Key = std::tuple<size_t, uint64_t, uint64_t, std::string>;
  struct Entry {
    uint64_t order = 0;
    OpBody body;
  };

  template <typename Record>
  void Keep(uint64_t owner, uint64_t number, const Record& record, std::string name = {});
  template <typename Record>
  void Forget(uint64_t owner, uint64_t number, const std::string& name = {});
  void ForgetSession(uint64_t session);
  void ForgetBuffer(BufferId buffer);

  std::map<Key, Entry> entries_;
  uint64_t order_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_LIVE_STATE_H_
