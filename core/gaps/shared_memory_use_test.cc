#include "core/gaps/shared_memory_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/wire.h"
#include "core/testing/smb_dsl.h"

namespace ringscope {
namespace {

constexpr ProducerId kWriting{1};
constexpr uint64_t kUseMs = 1'000'000;

/// A producer with eight chunks whose writer 1 aborts a packet.
class AbortedPacket {
 public:
  AbortedPacket() { Add(0, looks_.SetUp()); }
  AbortedPacket& Look(uint64_t ms, std::string_view states) { return Add(ms, looks_.Draw(states)); }
  AbortedPacket& Commit(uint64_t ms, std::initializer_list<size_t> pages) {
    std::string request;
    CommitRequestBuilder builder(request);
    for (const size_t page : pages)
      builder.AddChunk(
          {.page = page, .index = 0, .target_buffer = 1, .data = {}, .incomplete = false});
    ringscope::Commit commit;
    commit.producer = kWriting;
    commit.origin = Origin::kShm;
    commit.request = wire::AsBytes(request);
    return Add(ms, commit);
  }
  /// What is known of it when a chunk of the last commit has the marker.
  AbortFacts Facts() {
    WrittenChunk written;
    written.end = ChunkEnd::kAborted;
    return use_.AddChunk({.sequence = {kWriting, WriterId{1}}}, written).value();
  }

 private:
  AbortedPacket& Add(uint64_t ms, OpBody body) {
    use_.OnRecord({ms * kUseMs, std::move(body)}, {++record_, ms * kUseMs});
    return *this;
  }

  testing::LookDrawer looks_{kWriting, 8};
  SharedMemoryUse use_;
  uint64_t record_ = 0;
};

TEST(SharedMemoryUse, WritersHoldTheChunks) {
  const AbortFacts facts =
      AbortedPacket().Look(10, "........").Look(20, "wwwwwwwc").Commit(20, {7}).Facts();
  EXPECT_EQ(facts.reason, AbortReason::kHeldByWriters);
  EXPECT_EQ(facts.full->counts.being_written, 7u);
  EXPECT_EQ(facts.full->writers, 7u);
}

TEST(SharedMemoryUse, TheProducerHeldChunksBack) {
  const AbortFacts facts = AbortedPacket()
                               .Look(10, "wc......")
                               .Commit(10, {1})
                               .Look(30, "w.cc....")
                               .Look(60, "wccccccc")
                               .Commit(60, {1, 2, 3, 4, 5, 6, 7})
                               .Facts();
  EXPECT_EQ(facts.reason, AbortReason::kHeldBack);
  EXPECT_EQ(facts.held_ns, 30 * kUseMs);
  EXPECT_EQ(facts.since_commit_ns, 50 * kUseMs);
  EXPECT_EQ(facts.full->held_back(), 7u);
}

TEST(SharedMemoryUse, TheServiceWasLate) {
  const AbortFacts facts = AbortedPacket()
                               .Look(10, "wccccc..")
                               .Commit(10, {1, 2, 3, 4, 5})
                               .Look(40, "wccccccc")
                               .Commit(40, {6, 7})
                               .Facts();
  EXPECT_EQ(facts.reason, AbortReason::kServiceLate);
  EXPECT_EQ(facts.waiting_ns, 30 * kUseMs);
  EXPECT_EQ(facts.full->committed, 5u);
}

// No look shows that the chunks were complete for long.
TEST(SharedMemoryUse, ABurst) {
  const AbortFacts facts = AbortedPacket()
                               .Look(10, "wc......")
                               .Commit(10, {1})
                               .Look(90, "wccccccc")
                               .Commit(90, {1, 2, 3, 4, 5, 6, 7})
                               .Facts();
  EXPECT_EQ(facts.reason, AbortReason::kBurst);
}

TEST(SharedMemoryUse, WithoutALookAtFullMemory_TheCommitsDecide) {
  const AbortFacts facts = AbortedPacket().Look(10, "wc......").Commit(10, {1}).Facts();
  EXPECT_EQ(facts.reason, AbortReason::kNotShown);
  EXPECT_FALSE(facts.full);
}

// It was full long before, and has been free since.
TEST(SharedMemoryUse, AnOldLook_ShowsNothing) {
  const AbortFacts facts = AbortedPacket()
                               .Look(10, "wwwwwwww")
                               .Look(20, "w.......")
                               .Look(900, "wc......")
                               .Commit(900, {1})
                               .Facts();
  EXPECT_FALSE(facts.full);
}

// The clock of a log has any 64 bits.
TEST(SharedMemoryUse, TheLastTimes) {
  const AbortFacts facts = AbortedPacket().Commit(UINT64_MAX / kUseMs, {1}).Facts();
  EXPECT_EQ(facts.reason, AbortReason::kNotShown);
}

}  // namespace
}  // namespace ringscope
