#ifndef RINGSCOPE_FORMATS_TESTING_SPARSE_LOG_H_
#define RINGSCOPE_FORMATS_TESTING_SPARSE_LOG_H_

#include <cstdint>
#include <functional>

#include "core/base/result.h"
#include "core/base/wire.h"

namespace ringscope::testing {

/// A log of any size that is mostly a hole: index and seek table are those of a whole log, but only
/// the frames at some places exist. For measurements of what reading parts of a log costs.
struct SparseLog {
  uint64_t file_bytes = uint64_t{1} << 40;  // about
  /// Where the frames exist: at the file's start and end, and between them at equal distances.
  uint32_t places = 17;
  uint32_t frames_per_place = 4;
  uint64_t duration_ns = uint64_t{7} * 24 * 3600 * 1'000'000'000;

  /// The number of the first data frame at a place, of a log with so many.
  uint64_t FirstFrame(uint64_t frames, uint32_t place) const {
    return (frames - frames_per_place) * place / (places - 1);
  }
};

/// Takes bytes of the file, at ascending offsets.
using WriteAtFn = std::function<Status(uint64_t offset, Bytes bytes)>;

/// The same values give the same log.
Status GenerateSparseLog(const SparseLog& log, const WriteAtFn& write);

}  // namespace ringscope::testing

#endif  // RINGSCOPE_FORMATS_TESTING_SPARSE_LOG_H_
