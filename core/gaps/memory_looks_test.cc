#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/base/wire.h"
#include "core/gaps/shared_memory_use.h"
#include "core/testing/smb_dsl.h"

namespace ringscope::smb {
namespace {

namespace testing = ringscope::testing;

constexpr ProducerId kProducer{1};

/// The looks at one producer's memory, and its commits.
class Memory {
 public:
  explicit Memory(size_t pages) : drawer_(kProducer, pages) { Add(0, drawer_.SetUp()); }
  Memory& Look(uint64_t time_ns, std::string_view states) {
    Add(time_ns, drawer_.Draw(states));
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
  bool WasUnderstood() const { return looks_.Of(kProducer)->seen().has_value(); }
  const SeenMemory& Seen() const { return *looks_.Of(kProducer)->seen(); }
  MemoryLooks& looks() { return looks_; }

 private:
  void Add(uint64_t time_ns, OpBody body) { looks_.Add({time_ns, std::move(body)}); }

  testing::LookDrawer drawer_;
  MemoryLooks looks_;
};

TEST(MemoryLooks, StatesAndOccupancy) {
  Memory memory(4);
  memory.Look(100, "....").Look(200, "ww..").Look(300, "wcw.");
  EXPECT_EQ(memory.Seen().time_ns, 300u);
  EXPECT_EQ(memory.Seen().counts.all(), 4u);
  EXPECT_EQ(memory.Seen().counts.used(), 3u);
  EXPECT_EQ(memory.Seen().writers, 2u);
  EXPECT_FALSE(memory.Seen().is_full());
  EXPECT_TRUE(memory.Look(400, "wcwc").Seen().is_full());
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

TEST(MemoryLooks, AfterAMissingLook_TheNextWholeOneCounts) {
  Memory memory(2);
  EXPECT_FALSE(memory.Look(100, "w.").MissLook("wc").Look(300, "w.").WasUnderstood());
  EXPECT_TRUE(memory.Whole().Look(400, "wc").WasUnderstood());
  EXPECT_TRUE(memory.Look(500, "..").WasUnderstood());
}

TEST(MemoryLooks, NewMemory_IsAnother) {
  Memory memory(2);
  memory.Look(100, "wc");
  memory.looks().Add({150, SharedMemorySetUp{kProducer, 8 * 4096, 4096}});
  EXPECT_FALSE(memory.WasUnderstood());
  EXPECT_EQ(memory.looks().Of(kProducer)->pages(), 8u);
  memory.looks().Add({160, ProducerDisconnected{kProducer}});
  EXPECT_EQ(memory.looks().Of(kProducer), nullptr);
  memory.looks().Add({170, SharedMemorySetUp{ProducerId{2}, 0, 0}});  // emulated
  EXPECT_EQ(memory.looks().Of(ProducerId{2}), nullptr);
}

// However many producers a log claims to have, and whatever the sizes of their memories.
TEST(MemoryLooks, PagesAreLimited) {
  constexpr uint64_t kBytes = kMaxPagesOfPicture * 4096;
  constexpr uint16_t kFollowed = MemoryLooks::kMaxPages / kMaxPagesOfPicture;
  MemoryLooks looks;
  const auto look_at = [&](uint16_t producer) {
    const ProducerId id{producer};
    looks.Add({1, SharedMemorySetUp{id, kBytes, 4096}});
    looks.Add({2, SharedMemoryLook{.producer = id, .whole = true}});
    return looks.Of(id)->seen().has_value();
  };
  for (uint16_t producer = 1; producer <= kFollowed; ++producer)
    EXPECT_TRUE(look_at(producer)) << producer;
  EXPECT_FALSE(look_at(kFollowed + 1));
  looks.Add({3, ProducerDisconnected{ProducerId{1}}});
  EXPECT_TRUE(look_at(kFollowed + 2));
}

// A memory of a size that none has takes no memory, and its looks are not understood.
TEST(MemoryLooks, SizesThatMakeNoSense) {
  for (const auto& [size, page_size] : {std::pair{UINT64_MAX, 4096u}, {uint64_t{65536}, 1u}}) {
    MemoryLooks looks;
    looks.Add({1, SharedMemorySetUp{kProducer, size, page_size}});
    looks.Add({2, SharedMemoryLook{.producer = kProducer, .whole = true, .pages = {0, 1, 0}}});
    EXPECT_FALSE(looks.Of(kProducer)->seen());
  }
}

}  // namespace
}  // namespace ringscope::smb
