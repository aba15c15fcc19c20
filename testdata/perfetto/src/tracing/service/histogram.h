#ifndef STANDIN_HISTOGRAM_H_
#define STANDIN_HISTOGRAM_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace perfetto {

struct Histogram {
  size_t num_buckets() const { return 11; }
  uint64_t GetBucketCount(size_t i) const { return counts[i]; }
  int64_t GetBucketSum(size_t i) const { return sums[i]; }

  std::array<uint64_t, 11> counts{};
  std::array<int64_t, 11> sums{};
};

}  // namespace perfetto

#endif  // STANDIN_HISTOGRAM_H_
