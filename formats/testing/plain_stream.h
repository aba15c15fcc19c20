#ifndef RINGSCOPE_FORMATS_TESTING_PLAIN_STREAM_H_
#define RINGSCOPE_FORMATS_TESTING_PLAIN_STREAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/compare/stream_notation.h"
#include "core/engine/engine.h"
#include "core/perfetto/chunk.h"

namespace ringscope {

// Operations on one buffer, without a session around it: what a test of a buffer consists of.

/// An operation that owns its bytes.
struct PlainStep {
  StreamStep step;      // without payload and patches, which are in the fields below
  std::string payload;  // of a commit
  std::vector<std::pair<uint64_t, std::string>> patches;  // offset, four bytes

  PlainStep() = default;
  explicit PlainStep(const StreamStep& of);

  /// Calls `use` with the step, referring to this.
  template <typename Use>
  auto With(Use use) const {
    StreamStep view = step;
    std::vector<Patch> list;
    for (const auto& [offset, data] : patches)
      list.push_back({.offset = offset, .data = reinterpret_cast<const uint8_t*>(data.data())});
    view.commit.payload = Bytes(reinterpret_cast<const uint8_t*>(payload.data()), payload.size());
    view.patches.patches = list;
    return use(view);
  }
};

/// Steps are shared: copies of a stream are small.
using PlainSteps = std::vector<std::shared_ptr<const PlainStep>>;

struct PlainStream {
  uint64_t size = kPageBytes;  // of the buffer, bytes
  FillPolicy policy = FillPolicy::kRingBuffer;
  PlainSteps steps;

  void Add(const StreamStep& step) { steps.push_back(std::make_shared<PlainStep>(step)); }
};

/// The buffer that the operations below are of.
inline constexpr BufferId kPlainBuffer = kStreamBuffer;

/// The stream as the records of a log: a buffer's set-up, then a record for each step.
std::vector<StoredOp> ToOps(const PlainStream& stream);

/// Adds the operations of a record to a stream: commits, patches, reads and clones, of whichever
/// buffer. A set-up gives the stream its size and policy.
void AddOp(const Op& op, PlainStream& stream);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TESTING_PLAIN_STREAM_H_
