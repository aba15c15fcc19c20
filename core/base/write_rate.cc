#include "core/base/write_rate.h"

#include <algorithm>

namespace ringscope {

void WriteRate::Add(uint64_t time_ns, uint64_t bytes) {
  if (!first_ns_) first_ns_ = time_ns;
  const uint64_t since = time_ns > *first_ns_ ? time_ns - *first_ns_ : 0;
  while (since / bin_ns_ >= kMaxBins) Widen();
  const auto bin = static_cast<size_t>(since / bin_ns_);
  if (bins_.size() <= bin) bins_.resize(bin + 1);
  bins_[bin] += bytes;
  bytes_ += bytes;
}

void WriteRate::Widen() {
  bin_ns_ *= 2;
  const size_t half = (bins_.size() + 1) / 2;
  for (size_t i = 0; i < half; ++i)
    bins_[i] = bins_[2 * i] + (2 * i + 1 < bins_.size() ? bins_[2 * i + 1] : 0);
  bins_.resize(half);
}

uint64_t WriteRate::PeakIn(uint64_t window_ns) const {
  const uint64_t wanted = window_ns / bin_ns_ + (window_ns % bin_ns_ != 0 ? 1 : 0);
  const size_t width = static_cast<size_t>(std::max<uint64_t>(wanted, 1));
  uint64_t sum = 0, peak = 0;
  for (size_t i = 0; i < bins_.size(); ++i) {
    sum += bins_[i];
    if (i >= width) sum -= bins_[i - width];
    peak = std::max(peak, sum);
  }
  return peak;
}

std::optional<uint64_t> WriteRate::LongestWindow(uint64_t limit) const {
  // The peak grows with the window.
  size_t fits = 0, too_long = bins_.size() + 1;
  while (too_long - fits > 1) {
    const size_t middle = fits + (too_long - fits) / 2;
    (PeakIn(middle * bin_ns_) <= limit ? fits : too_long) = middle;
  }
  if (fits == 0) return std::nullopt;
  return fits * bin_ns_;
}

}  // namespace ringscope
