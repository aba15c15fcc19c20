// A share of what scripts/fuzz-engines runs at length: random streams through all engines.

#include <gtest/gtest.h>

#include "core/testing/chunk_dsl.h"
#include "core/testing/engine_agreement.h"
#include "core/testing/stream_sets.h"

namespace ringscope::testing {
namespace {

class EnginesAgree : public ::testing::TestWithParam<Conduct> {};

INSTANTIATE_TEST_SUITE_P(Streams, EnginesAgree,
                         ::testing::Values(Conduct::kCorrect, Conduct::kHostile),
                         [](const auto& test) {
                           return test.param == Conduct::kCorrect ? "Correct" : "Hostile";
                         });

TEST_P(EnginesAgree, OnRandomStreams) {
  for (const StreamSet set : {kAgreementStreams, kObserverStreams}) {
    for (uint32_t seed = 0; seed < set.streams; ++seed) {
      WrittenStream stream(seed, GetParam());
      ASSERT_EQ(CheckAgreement(stream, set.steps), "") << "seed " << seed;
    }
  }
}

// Things that such streams brought up, and that set limits to the claims.

// [ c1: ->b8 | c9 | d10 ], of which c9 is read; then [ c0: a20-> ] is committed.
TEST(EnginesDisagree, ChunkThatComesLate_JoinsWhatIsLeftOfTheNextInV1Alone) {
  const auto read_one_then_all = [](const char* engine) {
    auto buffer = On(engine, 4096);
    buffer.Commit(Chunk(1, 1, 1).Ends(8, 'b').Whole(9, 'c').Whole(10, 'd'));
    buffer.engine().BeginRead();
    EXPECT_EQ(Describe(*buffer.engine().NextPacket()), "c9");
    buffer.Commit(Chunk(1, 1, 0).Begins(20, 'a'));
    return buffer.ReadAll();
  };
  EXPECT_THAT(read_one_then_all("v1"), Packets("a20d10!present"));
  EXPECT_THAT(read_one_then_all("v2@58"), Packets("d10!reassembly_broken_chain"));
}

// [ c0: ->b8 | empty ], read, then [ c1: c9 ]: b's beginning is never committed.
TEST(EnginesDisagree, EmptyPacket_TakesTheFlagOfALossInV1Alone) {
  const auto read_twice = [](const char* engine) {
    auto buffer = On(engine, 4096);
    buffer.Commit(Chunk(1, 1, 0).Ends(8, 'b').Whole(0, ' '));
    EXPECT_THAT(buffer.ReadAll(), NoPackets());
    buffer.Commit(Chunk(1, 1, 1).Whole(9, 'c'));
    return buffer.ReadAll();
  };
  EXPECT_THAT(read_twice("v1"), Packets("c9"));
  EXPECT_THAT(read_twice("v2@58"), Packets("c9!orphan_continuation"));
}

// [ c0 ], no c1, [ c2: a20 | b12-> ] which waits for its rest: the gap is flagged in each pass.
TEST(EnginesDisagree, AGapIsFlaggedInEachPass_WhileTheChunkAfterItStays) {
  auto buffer = On("v2@58", 4096);
  buffer.Commit(Chunk(1, 1, 0).Whole(5, 'z'));
  EXPECT_THAT(buffer.ReadAll(), Packets("z5"));
  buffer.Commit(Chunk(1, 1, 2).Whole(20, 'a').Begins(12, 'b'));
  EXPECT_THAT(buffer.ReadAll(), Packets("a20!read_gap"));
  buffer.Commit(Chunk(1, 1, 3).Ends(8, 'b'));
  EXPECT_THAT(buffer.ReadAll(), Packets("b20!read_gap"));
}

// [ c0: a2000-> ][ c1: ->b1000-> ] loses c0 to an overwrite. Then a patch makes other fragments of
// c1: v56 has consumed it with c0, v55 has not.
TEST(EnginesDisagree, PatchedSizes_MakePacketsOfFragmentsThatV55Keeps) {
  const auto read = [](const char* engine) {
    auto buffer = On(engine, 4096);
    buffer.Commit(Chunk(1, 1, 0).Begins(2000, 'a'))
        .Commit(Chunk(1, 1, 1).Continues(1000, 'b'))
        .Commit(Chunk(1, 2, 0).Whole(990, 'c'))
        .Commit(Chunk(1, 2, 1).Whole(1500, 'd'))
        .Patch(1, 1, 1, 0, "\x01x\x01y");
    EXPECT_TRUE(buffer.patched());
    return buffer.ReadAll();
  };
  EXPECT_THAT(read("v2@55"), ::testing::Contains("y1!present"));
  EXPECT_THAT(read("v2@56"), Packets("c990", "d1500"));
}

// A scrape that saw no whole fragment counts as consumed, although no read returned it.
TEST(EnginesDisagree, ScrapeOfNothing_IsRelocatedWithoutARead) {
  for (const char* engine : {"v2@57", "v2@58"}) {
    auto buffer = On(engine, 4096);
    buffer.Commit(Chunk(1, 1, 0).Whole(20, 'a').Incomplete()).Commit(Chunk(1, 1, 0).Whole(20, 'a'));
    EXPECT_EQ(buffer.stats().chunks_relocated, engine == std::string("v2@58") ? 1u : 0u);
    EXPECT_THAT(buffer.ReadAll(), Packets("a20"));
  }
}

}  // namespace
}  // namespace ringscope::testing
