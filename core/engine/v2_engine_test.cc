#include "core/engine/v2_engine.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "core/testing/chunk_dsl.h"

namespace ringscope::testing {
namespace {

/// What all releases of V2 do alike.
class V2Test : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(AllReleases, V2Test,
                         ::testing::Values("v2@54", "v2@55", "v2@56", "v2@57", "v2@58"),
                         [](const auto& release) {
                           return "v" + std::string(release.param).substr(3);
                         });

TEST_P(V2Test, Read_EmptyBuffer) { EXPECT_THAT(On(GetParam(), 4096).ReadAll(), NoPackets()); }

// [ c0: a20 | b12-> ][ c1: ->b8 ]
TEST_P(V2Test, Read_PacketOverTwoChunks) {
  EXPECT_THAT(On(GetParam(), 4096)
                  .Commit(Chunk(1, 1, 0).Whole(20, 'a').Begins(12, 'b'))
                  .Commit(Chunk(1, 1, 1).Ends(8, 'b'))
                  .ReadAll(),
              Packets("a20", "b20"));
}

// [ c0: a10-> ] ... [ c1: ->b10-> ] ... [ c2: ->c10 ]: nothing until the last fragment is there.
TEST_P(V2Test, Read_WaitsForTheLastFragment) {
  Buffer buffer = On(GetParam(), 4096);
  buffer.Commit(Chunk(1, 1, 0).Begins(10, 'a'));
  EXPECT_THAT(buffer.ReadAll(), NoPackets());
  buffer.Commit(Chunk(1, 1, 1).Continues(10, 'b'));
  EXPECT_THAT(buffer.ReadAll(), NoPackets());
  buffer.Commit(Chunk(1, 1, 2).Ends(10, 'c'));
  EXPECT_THAT(buffer.ReadAll(), Packets("a10b10c10"));
  EXPECT_EQ(buffer.stats().readaheads_failed, 2u);
  EXPECT_EQ(buffer.stats().readaheads_succeeded, 1u);
}

TEST_P(V2Test, Read_EmptyPacketsAreSkipped) {
  EXPECT_THAT(On(GetParam(), 4096)
                  .Commit(Chunk(1, 1, 0).Whole(0, 'a').Whole(3, 'b').Whole(0, 'c'))
                  .ReadAll(),
              Packets("b3"));
}

// A sequence that waits does not hold up the others.
TEST_P(V2Test, Read_StalledSequenceLetsOthersPass) {
  EXPECT_THAT(On(GetParam(), 4096)
                  .Commit(Chunk(1, 1, 0).Begins(10, 'a').NeedsPatching())
                  .Commit(Chunk(1, 2, 0).Whole(5, 'b'))
                  .Commit(Chunk(1, 1, 1).Ends(10, 'a'))
                  .ReadAll(),
              Packets("b5"));
}

TEST_P(V2Test, Patch_CompletesAPacket) {
  Buffer buffer = On(GetParam(), 4096);
  buffer.Commit(Chunk(1, 1, 0).Begins(8, 'a').NeedsPatching()).Commit(Chunk(1, 1, 1).Ends(2, 'b'));
  EXPECT_THAT(buffer.ReadAll(), NoPackets());
  EXPECT_TRUE(buffer.Patch(1, 1, 0, 1, "PPPP", true).patched());
  EXPECT_THAT(buffer.ReadAll(), NoPackets()) << "more patches were announced";
  EXPECT_TRUE(buffer.Patch(1, 1, 0, 5, "QQQQ").patched());
  EXPECT_THAT(buffer.ReadAll(), Packets("P4Q4b2"));
  EXPECT_EQ(buffer.stats().patches_succeeded, 2u);
}

TEST_P(V2Test, Patch_MissesWhatIsNotThere) {
  Buffer buffer = On(GetParam(), 4096);
  EXPECT_FALSE(buffer.Patch(1, 1, 0, 0, "PPPP").patched());
  buffer.Commit(Chunk(1, 1, 0).Whole(7, 'a'));
  EXPECT_FALSE(buffer.Patch(1, 1, 1, 0, "PPPP").patched());
  EXPECT_FALSE(buffer.Patch(1, 1, 0, 5, "PPPP").patched()) << "reaches one byte beyond the payload";
  EXPECT_FALSE(buffer.Patch(1, 1, 0, UINT64_MAX, "PPPP").patched());
  EXPECT_TRUE(buffer.Patch(1, 1, 0, 4, "PPPP").patched());
  EXPECT_EQ(buffer.stats().patches_failed, 4u);
  EXPECT_THAT(buffer.ReadAll(), Packets("a3P4"));
}

// 4096 bytes: | c0 1024 | c1 1024 | c2 1024 | c3 1024 |, then c4 in the place of c0.
TEST_P(V2Test, Ring_OverwritesTheOldest) {
  Buffer buffer = On(GetParam(), 4096);
  for (uint32_t id = 0; id < 5; ++id)
    buffer.Commit(Chunk(1, 1, id).Whole(1000, static_cast<char>('a' + id)));
  const auto packets = buffer.ReadAll();
  ASSERT_EQ(packets.size(), 4u);
  EXPECT_EQ(packets[0].substr(0, 6), "b1000!");
  EXPECT_EQ(packets[3], "e1000");
  EXPECT_EQ(buffer.stats().chunks_overwritten, 1u);
  EXPECT_EQ(buffer.stats().bytes_overwritten, 1024u);
}

TEST_P(V2Test, Ring_WrapLeavesPaddingAfterASmallerChunk) {
  Buffer buffer = On(GetParam(), 4096);
  buffer.Commit(Chunk(1, 1, 0).Whole(2030, 'a')).Commit(Chunk(1, 1, 1).Whole(2030, 'b'));
  buffer.Commit(Chunk(1, 1, 2).Whole(100, 'c'));
  EXPECT_EQ(buffer.stats().padding_bytes_written, 2048u - OuterSize(101));
}

TEST_P(V2Test, Discard_SealsAtTheFirstChunkThatDoesNotFit) {
  Buffer buffer = On(GetParam(), 4096, FillPolicy::kDiscard);
  buffer.Commit(Chunk(1, 1, 0).Whole(3000, 'a'))
      .Commit(Chunk(1, 1, 1).Whole(3000, 'b'))
      .Commit(Chunk(1, 1, 2).Whole(10, 'c'));
  EXPECT_THAT(buffer.ReadAll(), Packets("a3000"));
  EXPECT_EQ(buffer.stats().chunks_discarded, 2u);
}

TEST_P(V2Test, Sequence_OutOfOrderCommitsAreReadInOrder) {
  Buffer buffer = On(GetParam(), 4096);
  for (const uint32_t id : {0u, 3u, 1u, 4u, 2u}) buffer.Commit(Chunk(1, 1, id).Whole(1 + id, 'a'));
  EXPECT_THAT(buffer.ReadAll(), Packets("a1", "a2", "a3", "a4", "a5"));
  EXPECT_EQ(buffer.stats().chunks_committed_out_of_order, 2u);
}

TEST_P(V2Test, Sequence_ChunkIdsWrap) {
  Buffer buffer = On(GetParam(), 4096);
  buffer.Commit(Chunk(1, 1, UINT32_MAX).Begins(5, 'a')).Commit(Chunk(1, 1, 0).Ends(5, 'b'));
  EXPECT_THAT(buffer.ReadAll(), Packets("a5b5"));
}

TEST_P(V2Test, Sequence_IdentityIsThatOfTheFirstCommit) {
  Buffer buffer = On(GetParam(), 4096);
  buffer.Commit(Chunk(1, 1, 0).Whole(1, 'a').From({1, 10}));
  buffer.Commit(Chunk(1, 1, 1).Whole(1, 'b').From({2, 20}));
  buffer.engine().BeginRead();
  ASSERT_NE(buffer.engine().NextPacket(), nullptr);
  const Packet* second = buffer.engine().NextPacket();
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->identity, (Identity{1, 10}));
}

// Scraped with the second fragment still open, then committed whole.
TEST_P(V2Test, Recommit_CompletesAScrapedChunk) {
  Buffer buffer = On(GetParam(), 4096);
  buffer.Commit(Chunk(1, 1, 0).Whole(4, 'a').Whole(4, 'b').Incomplete());
  EXPECT_THAT(buffer.ReadAll(), Packets("a4"));
  buffer.Commit(Chunk(1, 1, 0).Whole(4, 'a').Whole(4, 'b'));
  EXPECT_THAT(buffer.ReadAll(), Packets("b4"));
}

TEST_P(V2Test, Recommit_MayNotShrink) {
  Buffer buffer = On(GetParam(), 4096);
  buffer.Commit(Chunk(1, 1, 0).Whole(4, 'a').Whole(4, 'b'));
  buffer.Commit(Chunk(1, 1, 0).Whole(4, 'a'));
  EXPECT_EQ(buffer.stats().abi_violations, 1u);
  EXPECT_THAT(buffer.ReadAll(), Packets("a4", "b4"));
}

TEST_P(V2Test, Hostile_ChunkLargerThanTheBuffer) {
  Buffer buffer = On(GetParam(), 4096);
  buffer.Commit(Chunk(1, 1, 0).Whole(5000, 'a'));
  EXPECT_EQ(buffer.stats().abi_violations, 1u);
  EXPECT_THAT(buffer.ReadAll(), NoPackets());
}

TEST_P(V2Test, Hostile_FragmentReachesBeyondThePayload) {
  Buffer buffer = On(GetParam(), 4096);
  buffer.Commit(Chunk(1, 1, 0).Whole(4, 'a').Raw("\x7Fxyz").Counting(2));
  EXPECT_EQ(buffer.stats().abi_violations, 1u);
  EXPECT_THAT(buffer.ReadAll(), Packets("a4"));
}

TEST_P(V2Test, Clone_LeavesTheBufferAsItIs) {
  Buffer buffer = On(GetParam(), 4096);
  buffer.Commit(Chunk(1, 1, 0).Whole(4, 'a')).Commit(Chunk(1, 1, 1).Whole(4, 'b'));
  const BufferStats before = buffer.stats();
  EXPECT_THAT(buffer.ReadClone(), Packets("a4", "b4"));
  EXPECT_THAT(buffer.ReadClone(), Packets("a4", "b4"));
  EXPECT_EQ(buffer.stats(), before);
  EXPECT_THAT(buffer.ReadAll(), Packets("a4", "b4"));
}

TEST_P(V2Test, WriterStats_CountFragmentBytesPerSequence) {
  Buffer buffer = On(GetParam(), 4096);
  buffer.Commit(Chunk(1, 1, 0).Whole(4, 'a')).Commit(Chunk(1, 1, 1).Whole(100, 'b'));
  buffer.Commit(Chunk(1, 2, 0).Whole(4, 'a'));
  std::vector<std::pair<SequenceKey, WriterHistogram>> all;
  buffer.engine().VisitWriterStats(
      [&](const WriterStats& stats) { all.emplace_back(stats.sequence, *stats.histogram); });
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].first, (SequenceKey{ProducerId{1}, WriterId{1}}));
  EXPECT_EQ(all[0].second.counts[0], 1u);
  EXPECT_EQ(all[0].second.sums[0], 5u);
  EXPECT_EQ(all[0].second.sums[2], 101u);
}

TEST_P(V2Test, Create_RefusesAbsurdSizes) {
  const EngineInfo* info = FindEngine(GetParam()).value();
  EXPECT_FALSE(info->create({.size = 0}));
  EXPECT_FALSE(info->create({.size = uint64_t{1} << 32}));
  EXPECT_FALSE(info->create({.size = UINT64_MAX}));
  EXPECT_EQ(info->create({.size = 1}).value()->stats().buffer_size, 4096u);
  EXPECT_EQ(info->create({.size = 4097}).value()->stats().buffer_size, 8192u);
}

// What the releases do differently, each in a few operations.

TEST(V2Rules, LossCauses_SinceV57) {
  for (const auto& [engine, expected] :
       {std::pair{"v2@56", "c1!present"}, std::pair{"v2@57", "c1!read_gap"}}) {
    Buffer buffer = On(engine, 4096);
    buffer.Commit(Chunk(1, 1, 0).Whole(1, 'a'));
    EXPECT_THAT(buffer.ReadAll(), Packets("a1"));
    buffer.Commit(Chunk(1, 1, 2).Whole(1, 'c'));
    EXPECT_THAT(buffer.ReadAll(), Packets(expected)) << engine;
  }
}

TEST(V2Rules, WriterDrop_IsNoViolationSinceV58) {
  for (const auto& [engine, violations] : {std::pair{"v2@57", 1u}, std::pair{"v2@58", 0u}}) {
    Buffer buffer = On(engine, 4096);
    buffer.Commit(Chunk(1, 1, 0).Whole(1, 'a').Aborted());
    EXPECT_EQ(buffer.stats().abi_violations, violations) << engine;
    EXPECT_EQ(buffer.stats().trace_writer_packet_loss, 1u);
    EXPECT_THAT(buffer.ReadAll(), Packets("a1!writer_abort")) << engine;
  }
}

// A scraped chunk is read; completed later, it moves to the write cursor.
TEST(V2Rules, Relocation_SinceV58) {
  for (const auto& [engine, relocated] : {std::pair{"v2@57", 0u}, std::pair{"v2@58", 1u}}) {
    Buffer buffer = On(engine, 4096);
    buffer.Commit(Chunk(1, 1, 0).Whole(4, 'a').Whole(4, 'b').Incomplete());
    EXPECT_THAT(buffer.ReadAll(), Packets("a4"));
    buffer.Commit(Chunk(1, 2, 0).Whole(4, 'x'));
    buffer.Commit(Chunk(1, 1, 0).Whole(4, 'a').Whole(4, 'b'));
    EXPECT_EQ(buffer.stats().chunks_relocated, relocated) << engine;
    const bool last = relocated == 1;
    EXPECT_THAT(buffer.ReadAll(),
                last ? ::testing::ElementsAre("x4", "b4") : ::testing::ElementsAre("b4", "x4"));
  }
}

TEST(V2Rules, DiscardBufferExactlyFull_SealsSinceV55) {
  for (const auto& [engine, discarded] : {std::pair{"v2@54", 0u}, std::pair{"v2@55", 1u}}) {
    Buffer buffer = On(engine, 4096, FillPolicy::kDiscard);
    buffer.Commit(Chunk(1, 1, 0).Whole(4078, 'a')).Commit(Chunk(1, 1, 1).Whole(8, 'b'));
    EXPECT_EQ(buffer.stats().chunks_discarded, discarded) << engine;
  }
}

TEST(V2Rules, Wrap_IsCountedSinceV55) {
  for (const auto& [engine, wraps] : {std::pair{"v2@54", 0u}, std::pair{"v2@55", 1u}}) {
    Buffer buffer = On(engine, 4096);
    buffer.Commit(Chunk(1, 1, 0).Whole(4078, 'a')).Commit(Chunk(1, 1, 1).Whole(8, 'b'));
    EXPECT_EQ(buffer.stats().write_wrap_count, wraps) << engine;
  }
}

/// The stalls that are reported, in words.
class StallList : public EngineObserver {
 public:
  void OnStalled(SequenceKey sequence, ChunkId chunk, StallReason reason) override {
    stalls.push_back(std::to_string(Raw(sequence.writer)) + "#" + std::to_string(Raw(chunk)) +
                     (reason == StallReason::kNeedsPatch     ? " patch"
                      : reason == StallReason::kMissingChunk ? " missing"
                                                             : " incomplete"));
  }
  void OnLossBit(SequenceKey, ChunkId, uint32_t) override { ++loss_bits; }

  std::vector<std::string> Take() { return std::exchange(stalls, {}); }
  std::vector<std::string> stalls;
  int loss_bits = 0;
};

// An idle pass reports the stalls of the pass before, and where a chunk that was committed since
// has moved one.
TEST_P(V2Test, Stalls_AreReportedInEachPass) {
  StallList list;
  Buffer buffer(GetParam(), 4096, FillPolicy::kRingBuffer, &list);
  buffer.Commit(Chunk(1, 1, 0).Begins(10, 'a'))
      .Commit(Chunk(1, 2, 0).Begins(10, 'b').NeedsPatching())
      .Commit(Chunk(1, 3, 0).Whole(10, 'c').Incomplete());
  for (int pass = 0; pass < 3; ++pass) {
    buffer.ReadAll();
    EXPECT_THAT(list.Take(), ::testing::ElementsAre("1#0 missing", "2#0 patch", "3#0 incomplete"));
    EXPECT_EQ(buffer.stats().readaheads_failed, 2u * (static_cast<uint64_t>(pass) + 1));
  }
  buffer.Commit(Chunk(1, 1, 1).Continues(10, 'a'));
  buffer.ReadAll();
  EXPECT_THAT(list.Take(), ::testing::ElementsAre("1#1 missing", "2#0 patch", "3#0 incomplete"));
  buffer.Commit(Chunk(1, 1, 2).Continues(10, 'a').NeedsPatching());
  buffer.ReadAll();
  EXPECT_THAT(list.Take(), ::testing::ElementsAre("1#2 patch", "2#0 patch", "3#0 incomplete"));
  buffer.Patch(1, 2, 0, 2, "bbbb");
  buffer.ReadAll();
  EXPECT_THAT(list.Take(), ::testing::ElementsAre("1#2 patch", "2#0 missing", "3#0 incomplete"));
}

/// Chunks that the passes look at, if each of 1,000 sequences stalls and is followed by a pass.
uint64_t LooksAtStalled(const char* release, EngineObserver* observer) {
  constexpr uint16_t kSequences = 1000;
  const auto engine =
      FindEngine(release).value()->create({.size = 1 << 20, .observer = observer}).value();
  const auto pass = [&engine] {
    engine->BeginRead();
    EXPECT_EQ(engine->NextPacket(), nullptr);
  };
  for (uint16_t i = 1; i <= kSequences; ++i) {
    engine->Commit(Chunk(1, i, 0).Begins(10, 'a').commit());
    pass();
  }
  for (uint32_t i = 0; i < kSequences; ++i) pass();
  return LooksOf(*engine);
}

// An observer makes no difference: a stall is only reported again, not looked at again.
TEST_P(V2Test, Stalls_AreLookedAtOnce) {
  StallList list;
  EXPECT_EQ(LooksAtStalled(GetParam(), nullptr), 1000u);
  EXPECT_EQ(LooksAtStalled(GetParam(), &list), 1000u);
  EXPECT_EQ(list.stalls.size(), 1000u * 1001 / 2 + 1000u * 1000);
}

// [ c0: a10 ] is read, c1 is never committed, [ c2: b10-> ][ c3: ->b10-> ] ... wait.
TEST_P(V2Test, Stalls_AGapBeforeThemIsReportedOnce) {
  StallList list;
  Buffer buffer(GetParam(), 4096, FillPolicy::kRingBuffer, &list);
  buffer.Commit(Chunk(1, 1, 0).Whole(10, 'a'));
  buffer.ReadAll();
  buffer.Commit(Chunk(1, 1, 2).Begins(10, 'b'));
  for (uint32_t i = 3; i < 20; ++i) buffer.Commit(Chunk(1, 1, i).Continues(10, 'b'));
  for (int pass = 0; pass < 3; ++pass) buffer.ReadAll();
  EXPECT_EQ(list.loss_bits, 1);
}

}  // namespace
}  // namespace ringscope::testing
