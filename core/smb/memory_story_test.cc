#include "core/smb/memory_story.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/base/wire.h"
#include "core/testing/smb_dsl.h"

namespace ringscope::smb {
namespace {

using ::testing::SizeIs;
namespace testing = ringscope::testing;

constexpr ProducerId kProducer{1};

/// The looks at one producer's memory, and its commits.
class Memory {
 public:
  explicit Memory(size_t pages) : drawer_(kProducer, pages) { Add(0, drawer_.SetUp()); }
  Memory& Look(uint64_t time_ns, std::string_view states,
               std::optional<uint64_t> same_until_ns = {}) {
    SharedMemoryLook look = drawer_.Draw(states);
    look.same_until_ns = same_until_ns;
    Add(time_ns, look);
    return *this;
  }
  /// A look that the log lacks.
  Memory& MissLook(std::string_view states) {
    drawer_.Draw(states);
    return *this;
  }
  Memory& Commit(uint64_t time_ns, size_t page) {
    std::string request;
    CommitRequestBuilder(request).AddChunk(
        {.page = page, .index = 0, .target_buffer = 1, .data = {}, .incomplete = false});
    ringscope::Commit commit;
    commit.producer = kProducer;
    commit.origin = Origin::kShm;
    commit.request = wire::AsBytes(request);
    Add(time_ns, commit);
    return *this;
  }
  /// The next look is whole.
  Memory& Whole() {
    drawer_.Whole();
    return *this;
  }
  MemoryUse Use() const { return story_.Memories().front()->use(); }
  const SeenMemory& Seen() const { return *story_.Of(kProducer)->seen(); }
  MemoryStory& story() { return story_; }

 private:
  void Add(uint64_t time_ns, OpBody body) { story_.Add({time_ns, std::move(body)}); }

  testing::LookDrawer drawer_;
  MemoryStory story_{1};
};

TEST(MemoryStory, StatesAndOccupancy) {
  Memory memory(4);
  memory.Look(100, "....").Look(200, "ww..").Look(300, "wcw.").Look(400, "....");
  const MemoryUse use = memory.Use();
  EXPECT_EQ(use.looks, 4u);
  EXPECT_EQ(use.missing, 0u);
  EXPECT_EQ(use.chunks, 4u);
  EXPECT_EQ(use.peak->time_ns, 300u);
  EXPECT_EQ(use.peak->counts.used(), 3u);
  EXPECT_EQ(use.most_being_written, 2u);
  EXPECT_EQ(use.most_writers, 2u);
  EXPECT_EQ(use.most_held_back, 1u);
  EXPECT_EQ(use.most_committed, 0u);
  EXPECT_EQ(use.full_looks, 0u);
  // 0..2, 2..3, 3..0 chunks of 4, each for 100 ns.
  EXPECT_DOUBLE_EQ(*use.MeanUse(), (1 + 2.5 + 1.5) / 3 / 4);
}

// What is complete is held back by the producer until a commit names it; then it waits for the
// service.
TEST(MemoryStory, CommitsNameWhatWaitsForTheService) {
  Memory memory(4);
  memory.Look(100, "cc..").Commit(110, 0);
  EXPECT_EQ(memory.Seen().held_back(), 2u);  // at the look it was
  memory.Look(200, "cc..");
  EXPECT_EQ(memory.Seen().committed, 1u);
  EXPECT_EQ(memory.Seen().held_back(), 1u);
  memory.Look(300, ".c..");
  EXPECT_EQ(memory.Seen().committed, 0u);
  memory.Look(400, "cc..");  // the same place is another chunk's now
  EXPECT_EQ(memory.Seen().committed, 0u);
}

TEST(MemoryStory, TimeWithoutAFreeChunk_IsBetweenWhatTheLooksShow) {
  Memory memory(2);
  memory.Look(100, "w.").Look(200, "wc").Look(300, "cw").Look(400, "..");
  EXPECT_EQ(memory.Use().full, (SampledTime{.least = 100, .most = 300}));
  EXPECT_EQ(memory.Use().full_looks, 2u);
}

TEST(MemoryStory, LooksThatSawTheSame_Count) {
  Memory memory(2);
  memory.Look(100, "wc").Look(400, "..", /*same_until_ns=*/350);
  EXPECT_EQ(memory.Use().full, (SampledTime{.least = 250, .most = 300}));
  // A time that is not between the looks shows nothing.
  Memory wrong(2);
  wrong.Look(100, "wc").Look(400, "..", /*same_until_ns=*/5000);
  EXPECT_EQ(wrong.Use().full, (SampledTime{.least = 300, .most = 300}));
}

TEST(MemoryStory, AfterAMissingLook_TheNextWholeOneCounts) {
  Memory memory(2);
  memory.Look(100, "w.").MissLook("wc").Look(300, "w.").Whole().Look(400, "wc").Look(500, "..");
  EXPECT_EQ(memory.Use().looks, 3u);
  EXPECT_EQ(memory.Use().missing, 1u);
  EXPECT_EQ(memory.Use().full, (SampledTime{.least = 0, .most = 100}));
}

TEST(MemoryStory, NewMemory_IsAnother) {
  Memory memory(2);
  memory.Look(100, "wc");
  memory.story().Add({150, SharedMemorySetUp{kProducer, 8 * 4096, 4096}});
  memory.story().Add({160, ProducerDisconnected{kProducer}});
  memory.story().Add({170, SharedMemorySetUp{ProducerId{2}, 0, 0}});  // emulated
  memory.story().Add({180, SharedMemorySetUp{ProducerId{3}, 4 * 4096, 4096}});
  const auto memories = memory.story().Memories();
  ASSERT_THAT(memories, SizeIs(2));
  EXPECT_EQ(memories[0]->use().looks, 1u);
  EXPECT_EQ(memories[1]->use().size, 4u * 4096);
  EXPECT_EQ(memories[1]->use().looks, 0u);
  EXPECT_EQ(memory.story().unlisted(), 1u);  // only one that has ended is kept
  EXPECT_EQ(memory.story().Of(kProducer), nullptr);
}

// However many producers a log claims to have, and whatever the sizes of their memories.
TEST(MemoryStory, PagesAreLimited) {
  constexpr uint64_t kBytes = kMaxPagesOfPicture * 4096;
  constexpr uint16_t kFollowed = MemoryStory::kMaxPages / kMaxPagesOfPicture;
  MemoryStory story;
  const auto look_at = [&](uint16_t producer) {
    const ProducerId id{producer};
    story.Add({1, SharedMemorySetUp{id, kBytes, 4096}});
    story.Add({2, SharedMemoryLook{.producer = id, .whole = true}});
    return story.Of(id)->use().looks;
  };
  for (uint16_t producer = 1; producer <= kFollowed; ++producer)
    EXPECT_EQ(look_at(producer), 1u) << producer;
  EXPECT_EQ(look_at(kFollowed + 1), 0u);
  story.Add({3, ProducerDisconnected{ProducerId{1}}});
  EXPECT_EQ(look_at(kFollowed + 2), 1u);
}

// Chunk 0 is taken between 100 and 200, returned between 200 and 300, committed at 310, and gone
// between 400 and 500.
TEST(MemoryStory, TheWayOfAChunk) {
  Memory memory(2);
  memory.Look(100, "..").Look(200, "w.").Look(300, "c.").Commit(310, 0).Look(400, "cw");
  memory.Look(500, ".w");
  const ChunkSteps& ways = memory.story().Memories().front()->ways().steps();
  EXPECT_EQ(ways.written.most.most(), 200u);
  EXPECT_EQ(ways.written.least.most(), 0u);
  EXPECT_EQ(ways.held_back.most.most(), 110u);
  EXPECT_EQ(ways.held_back.least.most(), 10u);
  EXPECT_EQ(ways.served.most.most(), 190u);
  EXPECT_EQ(ways.served.least.most(), 90u);
  EXPECT_EQ(ways.served.most.count(), 1u);
}

TEST(MemoryStory, TheWayOfAChunkThatIsNotSeenBeingWritten) {
  Memory memory(2);
  memory.Look(100, "..").Look(200, "c.").Commit(200, 0).Look(300, "..");
  const ChunkSteps& ways = memory.story().Memories().front()->ways().steps();
  EXPECT_EQ(ways.written.most.most(), 100u);
  EXPECT_EQ(ways.held_back.most.most(), 100u);
  EXPECT_EQ(ways.held_back.least.most(), 0u);
  EXPECT_EQ(ways.served.most.most(), 100u);
  EXPECT_EQ(ways.served.least.most(), 0u);
}

// A look that saw nothing new bounds what the next one shows.
TEST(MemoryStory, TheWayOfAChunk_SinceTheLastLookThatSawTheSame) {
  Memory memory(2);
  memory.Look(100, "..").Look(200, "w.", /*same_until_ns=*/190).Look(300, "c.", 290);
  const ChunkSteps& steps = memory.story().Memories().front()->ways().steps();
  EXPECT_EQ(steps.written.most.most(), 110u);
  EXPECT_EQ(steps.written.least.most(), 90u);
}

TEST(MemoryStory, TheStepsOfEachWriter) {
  MemoryStory story;
  story.SplitByWriter();
  testing::LookDrawer drawer(kProducer, 2);
  story.Add({0, drawer.SetUp()});
  story.Add({100, drawer.Draw("..")});
  story.Add({200, drawer.Draw("ww")});
  story.Add({300, drawer.Draw("cw")});
  story.Add({500, drawer.Draw(".c")});
  const ChunkWays& ways = story.Of(kProducer)->ways();
  ASSERT_EQ(ways.by_writer().size(), 2u);
  EXPECT_EQ(ways.by_writer().at(WriterId{1}).written.most.most(), 200u);
  EXPECT_EQ(ways.by_writer().at(WriterId{2}).written.most.most(), 400u);
  EXPECT_EQ(ways.steps().written.most.count(), 2u);
}

// Chunk 0 is being written in the first look, chunk 1 complete: since when is not known.
TEST(MemoryStory, WaysThatBeginBeforeTheFirstLook) {
  Memory memory(2);
  memory.Look(100, "wc").Look(200, "cc").Commit(230, 0).Commit(230, 1).Look(300, "..");
  const ChunkSteps& steps = memory.story().Memories().front()->ways().steps();
  EXPECT_EQ(steps.written.most.count(), 0u);
  EXPECT_EQ(steps.held_back.most.count(), 1u);  // chunk 0
  EXPECT_EQ(steps.held_back.most.most(), 130u);
  EXPECT_EQ(steps.held_back.least.most(), 30u);
  EXPECT_EQ(steps.served.most.count(), 2u);
}

TEST(MemoryStory, WaysThatEndWithALook) {
  Memory memory(3);
  memory.Look(100, "...").Look(200, "w.w").Look(300, "c.w").Commit(310, 0);
  const ChunkWays& ways = memory.story().Memories().front()->ways();
  EXPECT_TRUE(ways.left().empty());
  EXPECT_EQ(ways.under_way().size(), 2u);
  memory.Look(400, "..w");
  ASSERT_EQ(ways.left().size(), 1u);
  const auto& [slot, way] = ways.left().front();
  EXPECT_EQ(slot, ChunkSlot(0, 0));
  EXPECT_EQ(way.free_until_ns, 100u);
  EXPECT_EQ(way.seen_ns, 200u);
  EXPECT_EQ(way.returned_ns, std::pair(uint64_t{200}, uint64_t{300}));
  EXPECT_EQ(way.committed_ns, 310u);
  EXPECT_EQ(way.left_ns, 400u);
  memory.Look(500, "..w");
  EXPECT_TRUE(ways.left().empty());
  EXPECT_EQ(ways.under_way().size(), 1u);
}

TEST(TimeSpread, Percentiles) {
  TimeSpread spread;
  EXPECT_EQ(spread.Percentile(50), 0u);
  for (uint64_t i = 1; i <= 1000; ++i) spread.Add(i * 1000);
  EXPECT_EQ(spread.Percentile(100), 1'000'000u);
  EXPECT_NEAR(static_cast<double>(spread.Percentile(50)), 500'000, 500'000 / 32);
  EXPECT_NEAR(static_cast<double>(spread.Percentile(99)), 990'000, 990'000 / 32);
  TimeSpread extremes;
  extremes.Add(0);
  extremes.Add(UINT64_MAX);
  EXPECT_EQ(extremes.Percentile(50), 0u);
  EXPECT_EQ(extremes.Percentile(100), UINT64_MAX);
}

// A memory of a size that none has takes no memory, and its looks are not understood.
TEST(MemoryStory, SizesThatMakeNoSense) {
  MemoryStory story;
  story.Add({1, SharedMemorySetUp{kProducer, UINT64_MAX, 4096}});
  story.Add({2, SharedMemoryLook{.producer = kProducer, .whole = true, .pages = {0, 1, 0}}});
  EXPECT_EQ(story.Memories().front()->use().missing, 1u);
  story.Add({1, SharedMemorySetUp{kProducer, 65536, 1}});
  story.Add({2, SharedMemoryLook{.producer = kProducer, .whole = true, .pages = {0, 1, 0}}});
  EXPECT_EQ(story.Memories().back()->use().missing, 1u);
}

}  // namespace
}  // namespace ringscope::smb
