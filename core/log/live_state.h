#ifndef RINGSCOPE_CORE_LOG_LIVE_STATE_H_
#define RINGSCOPE_CORE_LOG_LIVE_STATE_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/log/op.h"
#include "core/perfetto/commit_request.h"

namespace ringscope {

/// The patches of requests that a log has in several parts: they take effect with the last part,
/// after the chunks of all parts. Memory: kMaxBytes for each producer.
class HeldPatches {
 public:
  /// Limits the encoded patches of a request; real ones are far smaller.
  static constexpr size_t kMaxBytes = size_t{1} << 20;

  /// Drops the patches of a request whose last part is missing. @return true if there were any
  bool DropUnfinished(const Commit& commit);
  /// Holds the patches of a part that is not the last.
  /// @return false if they exceed kMaxBytes, and are dropped
  bool Hold(const Commit& commit, std::span<const ChunkToPatch> patches);
  /// Returns the held patches of a producer's request, at its last part. Valid until the next call.
  std::span<const ChunkToPatch> Take(ProducerId producer);
  /// Drops the patches of a producer that disconnected.
  void Drop(ProducerId producer) { held_.erase(producer); }

 private:
  struct Request {
    uint64_t number = 0;
    std::string patches;  // encoded
  };

  std::map<ProducerId, Request> held_;
  std::string taken_;
  CommitRequestParser parser_;
};

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

  void ForgetSession(uint64_t session);
  void ForgetBuffer(BufferId buffer);

  std::map<Key, Entry> entries_;
  uint64_t order_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_LIVE_STATE_H_
