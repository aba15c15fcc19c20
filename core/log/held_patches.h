#ifndef RINGSCOPE_CORE_LOG_HELD_PATCHES_H_
#define RINGSCOPE_CORE_LOG_HELD_PATCHES_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>

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

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_HELD_PATCHES_H_
