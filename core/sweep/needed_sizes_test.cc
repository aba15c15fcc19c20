#include "core/sweep/needed_sizes.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/perfetto/page.h"

namespace ringscope {
namespace {

constexpr uint64_t kLargest = (uint64_t{1} << 32) - kPageBytes;

/// A buffer with a gap that a buffer of that size would have avoided.
GapReport ReportOf(uint64_t size) {
  Gap gap;
  gap.remedies.buffer_size = size;
  SequenceGaps sequence;
  sequence.gaps.push_back(gap);
  BufferGaps buffer;
  buffer.id = BufferId{1};
  buffer.sequences.push_back(sequence);
  GapReport report;
  report.buffers.push_back(buffer);
  return report;
}

/// The sizes that are tried where none of them helps entirely: the larger, the fewer are lost.
std::vector<uint64_t> TriedSizes(std::vector<NeededSize>& sizes) {
  std::vector<uint64_t> tried;
  const Status status = TryNeededSizes(
      [&](const std::map<BufferId, uint64_t>& with) -> Result<std::map<BufferId, TriedOutcome>> {
        tried.push_back(with.at(BufferId{1}));
        const uint64_t lost = 10 - tried.size();
        return std::map<BufferId, TriedOutcome>{
            {BufferId{1}, {.lost = lost, .full = lost, .waiting = 0}}};
      },
      sizes);
  EXPECT_TRUE(status);
  return tried;
}

TEST(NeededSizes, AreAtMostTheLargestBuffer) {
  std::vector<NeededSize> sizes = NeededSizes(ReportOf(uint64_t{6} << 30));
  ASSERT_EQ(sizes.size(), 1u);
  EXPECT_EQ(sizes[0].size, kLargest);
  EXPECT_EQ(TriedSizes(sizes), std::vector<uint64_t>{kLargest});
  ASSERT_TRUE(sizes[0].outcome);
  EXPECT_EQ(sizes[0].outcome->lost, 9u);
}

TEST(NeededSizes, GrowUpToTheLargestBuffer) {
  std::vector<NeededSize> sizes = NeededSizes(ReportOf(uint64_t{3} << 30));
  EXPECT_EQ(TriedSizes(sizes), (std::vector<uint64_t>{uint64_t{3} << 30, kLargest}));
  EXPECT_EQ(sizes[0].size, kLargest);
}

}  // namespace
}  // namespace ringscope
