#ifndef RINGSCOPE_CORE_SMB_TIME_SPREAD_H_
#define RINGSCOPE_CORE_SMB_TIME_SPREAD_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ringscope::smb {

/// How many values of each size there were, by which percentiles are known to a 32nd of the value.
/// Memory: at most 15 KB.
class TimeSpread {
 public:
  void Add(uint64_t ns) {
    const size_t bucket = BucketOf(ns);
    if (bucket >= counts_.size()) counts_.resize(bucket + 1);
    ++counts_[bucket];
    ++count_;
    most_ = std::max(most_, ns);
  }
  uint64_t count() const { return count_; }
  uint64_t most() const { return most_; }
  /// A value that so many percent of the values do not exceed; 0: there is no value.
  uint64_t Percentile(uint64_t percent) const {
    uint64_t wanted = (count_ * percent + 99) / 100;
    for (size_t bucket = 0; bucket < counts_.size(); ++bucket) {
      if (counts_[bucket] >= wanted) return std::min(LastOf(bucket), most_);
      wanted -= counts_[bucket];
    }
    return most_;
  }

 private:
  static constexpr int kBits = 5;  // of a value that its bucket has
  static constexpr size_t kPerPower = size_t{1} << kBits;

  static constexpr size_t BucketOf(uint64_t value) {
    if (value < kPerPower) return static_cast<size_t>(value);
    const int shift = static_cast<int>(std::bit_width(value)) - kBits - 1;
    return static_cast<size_t>(shift) * kPerPower + static_cast<size_t>(value >> shift);
  }
  /// The largest value of the bucket.
  static constexpr uint64_t LastOf(size_t bucket) {
    if (bucket < 2 * kPerPower) return bucket;
    const size_t shift = bucket / kPerPower - 1;
    const uint64_t first = uint64_t{bucket % kPerPower + kPerPower} << shift;
    return first + ((uint64_t{1} << shift) - 1);
  }

  std::vector<uint64_t> counts_;  // up to the largest value's bucket
  uint64_t count_ = 0;
  uint64_t most_ = 0;
};

}  // namespace ringscope::smb

#endif  // RINGSCOPE_CORE_SMB_TIME_SPREAD_H_
