#ifndef RINGSCOPE_CORE_BASE_WRITE_RATE_H_
#define RINGSCOPE_CORE_BASE_WRITE_RATE_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace ringscope {

/// Bytes over time, in bins, to find the largest burst of any length. Memory: at most kMaxBins
/// bins; a longer log has wider ones.
class WriteRate {
 public:
  static constexpr uint64_t kFinestBin = 1'000'000;  // ns
  static constexpr size_t kMaxBins = size_t{1} << 17;

  /// @param time_ns of any clock; times before that of the first call count as that
  void Add(uint64_t time_ns, uint64_t bytes);

  uint64_t bytes() const { return bytes_; }
  /// Width of a bin, in ns: windows are whole numbers of these.
  uint64_t bin_ns() const { return bin_ns_; }
  /// The most bytes within any window of that length, which is rounded up to whole bins.
  uint64_t PeakIn(uint64_t window_ns) const;
  /// The longest window of whole bins within which never more than `limit` bytes were written;
  /// nullopt: one bin is too long already. If all bytes are within the limit: the whole time.
  std::optional<uint64_t> LongestWindow(uint64_t limit) const;

 private:
  void Widen();

  std::optional<uint64_t> first_ns_;
  uint64_t bin_ns_ = kFinestBin;
  std::vector<uint64_t> bins_;
  uint64_t bytes_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_BASE_WRITE_RATE_H_
