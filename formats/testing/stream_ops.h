#ifndef RINGSCOPE_FORMATS_TESTING_STREAM_OPS_H_
#define RINGSCOPE_FORMATS_TESTING_STREAM_OPS_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/testing/engine_agreement.h"

namespace ringscope::testing {

// Random streams as operations, and back.

/// A step that owns its bytes.
struct RecordedStep {
  RandomStream::Step step;  // its payload and patches are in the fields below
  std::string payload;
  std::vector<std::pair<uint64_t, std::string>> patches;

  /// Calls `use` with the step, pointing into this.
  template <typename Use>
  auto With(Use use) const {
    RandomStream::Step pointing = step;
    std::vector<Patch> list;
    for (const auto& [offset, data] : patches)
      list.push_back({.offset = offset, .data = reinterpret_cast<const uint8_t*>(data.data())});
    pointing.commit.payload =
        Bytes(reinterpret_cast<const uint8_t*>(payload.data()), payload.size());
    pointing.patches.patches = list;
    return use(pointing);
  }
};

struct RecordedStream {
  StreamTraits traits;
  EngineAgreement::Written written;  // empty: not known
  std::vector<RecordedStep> steps;
};

/// All of a stream, as CheckAgreement takes it.
RecordedStream Record(RandomStream stream, int steps);

/// @return the claim that does not hold, as CheckAgreement; those about a whole stream apart
std::string CheckRecorded(const RecordedStream& stream);

/// Leaves out steps as long as what remains still breaks the same claim.
RecordedStream CutDown(RecordedStream stream);

Status WriteOps(const RecordedStream& stream, const std::string& path);
/// Reads what WriteOps wrote: of one buffer, in order. What was written by whom is not known then.
Result<RecordedStream> ReadOps(const std::string& path);

}  // namespace ringscope::testing

#endif  // RINGSCOPE_FORMATS_TESTING_STREAM_OPS_H_
