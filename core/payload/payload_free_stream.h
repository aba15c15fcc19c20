#ifndef RINGSCOPE_CORE_PAYLOAD_PAYLOAD_FREE_STREAM_H_
#define RINGSCOPE_CORE_PAYLOAD_PAYLOAD_FREE_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/payload/payload_remover.h"

namespace ringscope {

/// A stream of records without payloads. A chunk that waits for patches is held back, with all that
/// follows it, until these are read: they show where in it sizes are missing, and so what of it is
/// structure. What waits too long is masked without them, see PayloadRemover.
class PayloadFreeStream {
 public:
  /// Bytes of requests that wait.
  static constexpr size_t kMostBytes = size_t{4} << 20;
  /// How long records wait.
  static constexpr uint64_t kMostWaitNs = 500'000'000;

  void Take(const Op& op);
  /// The next record, valid until the next call of any function. nullptr: it waits, or there is
  /// none.
  /// @param now_ns of the clock of the records' times; absent: time plays no part
  const Op* Next(std::optional<uint64_t> now_ns = {});
  /// The records have ended: none waits any more.
  void Finish() { is_finished_ = true; }

 private:
  struct Held {
    Op op;
    std::string request;
    std::vector<ChunkName> waiting;
  };
  bool Waits(const Held& held, std::optional<uint64_t> now_ns) const;

  PayloadRemover remover_;
  std::deque<std::unique_ptr<Held>> held_;
  size_t bytes_ = 0;  // of held requests
  bool is_finished_ = false;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PAYLOAD_PAYLOAD_FREE_STREAM_H_
