#ifndef RINGSCOPE_CORE_SMB_USE_CHART_H_
#define RINGSCOPE_CORE_SMB_USE_CHART_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/log/op.h"
#include "core/smb/memory_story.h"

namespace ringscope::smb {

/// A memory in one of equal parts of the time.
struct UseInterval {
  // Chunks, times ns that they were so.
  double being_written = 0;
  double held_back = 0;
  double waiting = 0;  // for the service, those that it reads included
  double free = 0;
  double ns = 0;      // for which looks show the memory
  bool full = false;  // the last look showed no chunk free

  /// One of the above, as a mean over the time that looks show.
  double Mean(double UseInterval::*chunk_ns) const { return ns > 0 ? this->*chunk_ns / ns : 0; }
};

/// How full a memory was over time. Between two looks it counts as the first of them showed it,
/// with what was committed since.
class UseChart {
 public:
  /// @param first_ns, last_ns of the time axis
  UseChart(uint64_t first_ns, uint64_t last_ns, size_t intervals)
      : first_ns_(first_ns),
        length_(last_ns > first_ns ? last_ns - first_ns : 0),
        intervals_(intervals) {}

  void Add(const SeenMemory& seen);
  /// From here on it is not known how full it is.
  void End(uint64_t time_ns);

  const std::vector<UseInterval>& intervals() const { return intervals_; }
  /// The most that the memory was divided into.
  uint64_t chunks() const { return chunks_; }
  /// The most that were in use in one look.
  uint64_t most_used() const { return most_used_; }

 private:
  void Fill(const SeenMemory& seen, uint64_t until_ns);

  const uint64_t first_ns_;
  const uint64_t length_;  // ns
  std::vector<UseInterval> intervals_;
  std::optional<SeenMemory> seen_;
  uint64_t chunks_ = 0;
  uint64_t most_used_ = 0;
};

/// The charts of all producers of a session whose memory was looked at.
/// Memory: O(kMostProducers * intervals).
class UseCharts {
 public:
  static constexpr size_t kMostProducers = 200;

  UseCharts(uint64_t first_ns, uint64_t last_ns, size_t intervals)
      : first_ns_(first_ns), last_ns_(last_ns), intervals_(intervals) {}

  void Add(const Op& op);
  /// The session ends.
  void Finish();

  const std::map<ProducerId, UseChart>& charts() const { return charts_; }

 private:
  const uint64_t first_ns_;
  const uint64_t last_ns_;
  const size_t intervals_;
  MemoryStory story_;
  std::map<ProducerId, UseChart> charts_;
};

}  // namespace ringscope::smb

#endif  // RINGSCOPE_CORE_SMB_USE_CHART_H_
