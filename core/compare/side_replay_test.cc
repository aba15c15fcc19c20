#include "core/compare/side_replay.h"

#include <gtest/gtest.h>

#include "core/testing/session_log.h"

namespace ringscope {
namespace {

using testing::BufferOp;
using testing::Chunk;
using testing::Request;

constexpr uint16_t kBuffers = 1000;

class SideOfManyBuffers : public ::testing::Test {
 protected:
  SideOfManyBuffers() {
    for (uint16_t id = 1; id <= kBuffers; ++id) Add(BufferOp(id));
    Run();
  }
  void Add(const Op& op) { section_.Add(op, ++number_); }
  template <typename Body>
  void Add(Body body) {
    Add(Op{.time_ns = {}, .body = std::move(body)});
  }
  /// Replays what was added. @return what was counted after its records
  const std::vector<CountedBuffer>& Run() {
    section_.tapes.a.Clear();
    side_.Run(section_);
    section_.records.Clear();
    EXPECT_FALSE(section_.tapes.a.error);
    return section_.tapes.a.counted;
  }

  DiffSection section_;
  SideReplay side_{Side::kA, {}};
  uint64_t number_ = 0;
};

TEST_F(SideOfManyBuffers, ARecordCountsTheBuffersThatItConcerns) {
  const Request commit = Request(1).Move(7, Chunk(1, 1, 0).Whole(20, 'h'));
  for (int i = 0; i < 100; ++i) {
    Add(commit.op());
    Add(FlushRequested{});
    Add(SharedMemoryLook{});
    Add(ReadPass{.buffer = BufferId{7}});
  }
  EXPECT_EQ(Run().size(), 200u) << "one for each commit and read";
}

// Of a buffer that a clone takes over, or clears, no listener hears that it has counted nothing.
TEST_F(SideOfManyBuffers, ARecordThatEmptiesABufferCountsIt) {
  const Request commit = Request(1).Move(7, Chunk(1, 1, 0).Whole(20, 'h'));
  Add(commit.op());
  Add(BufferCleared{BufferId{7}});
  Add(commit.op());
  Add(BufferCloned{1, BufferId{7}, /*transfer=*/true});
  const std::vector<CountedBuffer>& counted = Run();
  ASSERT_EQ(counted.size(), 4u);
  for (const size_t i : {0u, 2u}) {
    EXPECT_TRUE(counted[i].touched);
    EXPECT_EQ(counted[i].stats.chunks_written, 1u);
    EXPECT_FALSE(counted[i + 1].touched);
    EXPECT_EQ(counted[i + 1].buffer, BufferId{7});
    EXPECT_EQ(counted[i + 1].stats.chunks_written, 0u);
  }
}

}  // namespace
}  // namespace ringscope
