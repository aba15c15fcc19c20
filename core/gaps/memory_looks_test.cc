#include "core/gaps/memory_looks.h"

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
  MemoryLooks& story() { return story_; }

 private:
  void Add(uint64_t time_ns, OpBody body) { story_.Add({time_ns, std::move(body)}); }

  testing::LookDrawer drawer_;
  MemoryLooks story_{1};
};

TEST(MemoryLooks, StatesAndOccupancy) {
  Memory memory(4);
  memory.Look(100, "....").Look(200, "ww..").Look(300, "wcw.").Look(400, "....");
  const MemoryUse use = memory.Use();
  EXPECT_EQ(use.looks, 4u);
  EXPECT_EQ(use.missing, 0u);
  EXPECT_EQ(use.chunks, 4u);
  EXPECT_EQ(use.peak->time_ns, 300u);
  EXPECT_EQ(use.peak->counts.used(), 3u);
  EXPECT_EQ(use.most_writers, 2u);
  EXPECT_EQ(use.full_looks, 0u);
}

// What is complete is held back by the producer until a commit names it; then it waits for the
// service.
TEST(MemoryLooks, CommitsNameWhatWaitsForTheService) {
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

TEST(MemoryLooks, FullLooks_AreCounted) {
  Memory memory(2);
  memory.Look(100, "w.").Look(200, "wc").Look(300, "cw").Look(400, "..");
  EXPECT_EQ(memory.Use().full_looks, 2u);
}

TEST(MemoryLooks, AfterAMissingLook_TheNextWholeOneCounts) {
  Memory memory(2);
  memory.Look(100, "w.").MissLook("wc").Look(300, "w.").Whole().Look(400, "wc").Look(500, "..");
  EXPECT_EQ(memory.Use().looks, 3u);
  EXPECT_EQ(memory.Use().missing, 1u);
}

TEST(MemoryLooks, NewMemory_IsAnother) {
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
TEST(MemoryLooks, PagesAreLimited) {
  constexpr uint64_t kBytes = kMaxPagesOfPicture * 4096;
  constexpr uint16_t kFollowed = MemoryLooks::kMaxPages / kMaxPagesOfPicture;
  MemoryLooks story;
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

// A memory of a size that none has takes no memory, and its looks are not understood.
TEST(MemoryLooks, SizesThatMakeNoSense) {
  MemoryLooks story;
  story.Add({1, SharedMemorySetUp{kProducer, UINT64_MAX, 4096}});
  story.Add({2, SharedMemoryLook{.producer = kProducer, .whole = true, .pages = {0, 1, 0}}});
  EXPECT_EQ(story.Memories().front()->use().missing, 1u);
  story.Add({1, SharedMemorySetUp{kProducer, 65536, 1}});
  story.Add({2, SharedMemoryLook{.producer = kProducer, .whole = true, .pages = {0, 1, 0}}});
  EXPECT_EQ(story.Memories().back()->use().missing, 1u);
}

}  // namespace
}  // namespace ringscope::smb
