#include "core/graph/chunk_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/testing/graph_run.h"
#include "core/testing/session_log.h"

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;

/// Packets of an even number of these bytes are what the service lets through: field 2 is 16.
constexpr char kFill = '\x10';

Op ReadOp() { return {.time_ns = {}, .body = ReadPass{.buffer = BufferId{1}}}; }

/// Counts the packets that the sequence wrote.
uint64_t Written(const SequenceGraph& graph) {
  FateCount sum;
  for (const FateCount& count : graph.packets) sum += count;
  return sum.packets;
}

/// A log in the making; keeps the bytes that its operations point to.
class Log {
 public:
  explicit Log(uint64_t size = 4096) { ops_.push_back(BufferOp(1, size)); }

  Log& Commit(const Chunk& chunk) {
    requests_.push_back(std::make_unique<Request>(Raw(chunk.commit().sequence.producer)));
    ops_.push_back(requests_.back()->Move(1, chunk).op());
    return *this;
  }
  Log& Patch(uint64_t writer, uint32_t chunk, uint64_t offset) {
    requests_.push_back(std::make_unique<Request>(1));
    ops_.push_back(requests_.back()->Patch(1, writer, chunk, offset, "\x10\x10\x10\x10").op());
    return *this;
  }
  Log& Read() {
    ops_.push_back(ReadOp());
    return *this;
  }

  /// The graph of sequence 1:1 in a replay of this log.
  SequenceGraph Graph(const std::string& engine = "v2@58", FoldOptions fold = {}) const {
    ReplayOptions options;
    options.session.all.engine = engine;
    options.reads.mode = ReadsMode::kRecorded;
    GraphRun run(options, {.buffer = BufferId{1}, .sequences = {kSequence}, .fold = fold});
    for (const Op& op : ops_) EXPECT_TRUE(run.Apply(op));
    EXPECT_TRUE(run.Finish());
    std::vector<SequenceGraph> graphs = run.builder.Take();
    EXPECT_EQ(graphs.size(), 1u);
    return graphs.empty() ? SequenceGraph{} : std::move(graphs.front());
  }

  static constexpr SequenceKey kSequence{ProducerId{1}, WriterId{1}};

 private:
  std::vector<Op> ops_;
  std::vector<std::unique_ptr<Request>> requests_;
};

/// "#3 overwritten by 1:2#0", "#4-#90 read", "gap #5-#6".
std::vector<std::string> LinesOf(const SequenceGraph& graph) {
  std::vector<std::string> lines;
  const auto range = [](uint64_t first, uint64_t last) {
    return "#" + std::to_string(first) + "-#" + std::to_string(last);
  };
  for (const GraphItem& item : graph.items) {
    lines.push_back(std::visit(
        Overloaded{[](const ChunkNode& node) {
                     std::string text = "#" + std::to_string(node.id) + " " + Name(node.fate);
                     if (node.culprit) text += " by " + ToString(*node.culprit);
                     return text;
                   },
                   [&](const ChunkRun& run) {
                     return range(run.first, run.last) + " " +
                            (run.fate() ? Name(*run.fate()) : "mixed");
                   },
                   [&](const ChunkGap& gap) { return "gap " + range(gap.first, gap.last); }},
        item));
  }
  return lines;
}

const ChunkNode& NodeAt(const SequenceGraph& graph, size_t i) {
  return std::get<ChunkNode>(graph.items.at(i));
}

Chunk Small(uint32_t id) { return Chunk(1, 1, id).Whole(8, kFill); }

// [ c0 ][ c1 ] read [ c2 ] | [ c3 ] pushes out none of them in a large buffer
TEST(ChunkGraph, EachFate_IsShown) {
  const SequenceGraph graph = Log()
                                  .Commit(Chunk(1, 1, 0).Whole(1500, kFill))
                                  .Commit(Chunk(1, 1, 1).Whole(1500, kFill))
                                  .Commit(Chunk(1, 2, 0).Whole(3000, kFill))
                                  .Commit(Chunk(1, 1, 2).Whole(100, kFill))
                                  .Read()
                                  .Commit(Chunk(1, 1, 3).Whole(100, kFill))
                                  .Graph();
  EXPECT_THAT(LinesOf(graph), ElementsAre("#0 overwritten by 1:2#0", "#1 overwritten by 1:2#0",
                                          "#2 read", "#3 readable"));
  EXPECT_EQ(graph.lost().packets, 2u);
  EXPECT_EQ(Written(graph), 4u);
  EXPECT_EQ(NodeAt(graph, 2).packets[Fate::kRead].packets, 1u);
}

TEST(ChunkGraph, PacketsOverChunks_AreLinks) {
  const SequenceGraph graph = Log()
                                  .Commit(Chunk(1, 1, 0).Whole(8, kFill).Begins(8, kFill))
                                  .Commit(Chunk(1, 1, 1).Continues(8, kFill))
                                  .Commit(Chunk(1, 1, 2).Ends(8, kFill).Whole(8, kFill))
                                  .Commit(Chunk(1, 1, 3).Whole(8, kFill).Begins(8, kFill))
                                  .Commit(Chunk(1, 1, 4).Whole(8, kFill))
                                  .Read()
                                  .Commit(Chunk(1, 1, 5).Begins(8, kFill))
                                  .Graph();
  ASSERT_EQ(graph.items.size(), 6u);
  EXPECT_EQ(graph.LinkAfter(0), Link::kRead);
  EXPECT_EQ(graph.LinkAfter(1), Link::kRead);
  EXPECT_EQ(graph.LinkAfter(2), Link::kNone);
  EXPECT_EQ(graph.LinkAfter(3), Link::kTorn);
  EXPECT_EQ(graph.LinkAfter(4), Link::kNone);
  EXPECT_EQ(graph.LinkAfter(5), Link::kNotRead);
  EXPECT_EQ(LinesOf(graph)[3], "#3 partly_read");
  EXPECT_EQ(NodeAt(graph, 3).abandoned, 1u);
}

TEST(ChunkGraph, Gaps_AreIdsThatNeverCame) {
  const SequenceGraph graph = Log().Commit(Small(3)).Commit(Small(7)).Read().Graph();
  EXPECT_THAT(LinesOf(graph), ElementsAre("#3 read", "gap #4-#6", "#7 read"));
  EXPECT_NE(NodeAt(graph, 2).loss_bits, 0u);
}

TEST(ChunkGraph, IdsContinueAfterTheWrap) {
  const SequenceGraph graph = Log().Commit(Small(0xFFFFFFFF)).Commit(Small(0)).Read().Graph();
  EXPECT_THAT(LinesOf(graph), ElementsAre("#4294967295 read", "#4294967296 read"));
}

TEST(ChunkGraph, Patches_AreAppliedLateOrMissed) {
  const SequenceGraph graph =
      Log()
          .Commit(Chunk(1, 1, 0).Whole(8, kFill).Begins(8, kFill).NeedsPatching())
          .Read()
          .Patch(1, 0, 10)
          .Commit(Chunk(1, 1, 1).Ends(8, kFill))
          .Read()
          .Patch(1, 0, 10)
          .Commit(Chunk(1, 1, 2).Whole(2, kFill))
          .Patch(1, 2, 1)
          .Patch(1, 9, 0)
          .Graph();
  const ChunkNode& first = NodeAt(graph, 0);
  EXPECT_EQ(first.patches, (PatchTally{.applied = 1, .late = 1}));
  EXPECT_EQ(first.stalls, 1u);
  EXPECT_EQ(first.fate, ChunkFate::kRead);
  EXPECT_FALSE(first.unpatched);
  EXPECT_EQ(NodeAt(graph, 2).patches, (PatchTally{.refused = 1}));
  EXPECT_EQ(graph.orphan_patches, 1u);
}

TEST(ChunkGraph, WhatStalls_SaysOnWhat) {
  const SequenceGraph graph = Log()
                                  .Commit(Chunk(1, 1, 0).Begins(8, kFill).NeedsPatching())
                                  .Commit(Chunk(1, 1, 1).Ends(8, kFill))
                                  .Read()
                                  .Read()
                                  .Graph();
  EXPECT_THAT(LinesOf(graph), ElementsAre("#0 stalled", "#1 stalled"));
  EXPECT_EQ(NodeAt(graph, 0).stall, StallReason::kNeedsPatch);
  EXPECT_EQ(NodeAt(graph, 0).stalls, 2u);
  EXPECT_TRUE(NodeAt(graph, 0).unpatched);
}

// V1 keeps chunks that were read. The orphan at the front of c2 was abandoned: nothing waits.
TEST(ChunkGraph, V1_KeepsChunksThatWerePartlyRead) {
  const SequenceGraph graph = Log()
                                  .Commit(Chunk(1, 1, 2).Ends(8, kFill).Whole(8, kFill))
                                  .Commit(Small(3))
                                  .Read()
                                  .Graph("v1");
  EXPECT_THAT(LinesOf(graph), ElementsAre("#2 partly_read", "#3 read"));
}

// A scraped chunk is read as far as possible; completed, it moves to the write cursor.
TEST(ChunkGraph, RecommitsAndRelocations_AreTheSameChunk) {
  const SequenceGraph graph =
      Log()
          .Commit(Chunk(1, 1, 0).Whole(8, kFill).Whole(8, kFill).Incomplete())
          .Read()
          .Commit(Chunk(1, 1, 0).Whole(8, kFill).Whole(8, kFill))
          .Read()
          .Graph();
  EXPECT_THAT(LinesOf(graph), ElementsAre("#0 read"));
  EXPECT_EQ(NodeAt(graph, 0).recommits, 1u);
  EXPECT_EQ(NodeAt(graph, 0).relocations, 1u);
  EXPECT_TRUE(NodeAt(graph, 0).complete);
  EXPECT_EQ(graph.chunks, 1u);
}

TEST(ChunkGraph, DiscardedRecommit_DoesNotChangeTheFate) {
  const SequenceGraph graph =
      Log().Commit(Small(0)).Read().Commit(Small(0)).Commit(Small(1)).Read().Graph();
  EXPECT_THAT(LinesOf(graph), ElementsAre("#0 read", "#1 read"));
  EXPECT_EQ(NodeAt(graph, 0).recommit_refused, DiscardReason::kAlreadyConsumed);
}

TEST(ChunkGraph, AbortedPacket_IsShownAtItsChunk) {
  const SequenceGraph graph = Log().Commit(Chunk(1, 1, 0).Whole(8, kFill).Aborted()).Read().Graph();
  EXPECT_EQ(NodeAt(graph, 0).end, ChunkEnd::kAborted);
  EXPECT_TRUE(NodeAt(graph, 0).is_special());
  EXPECT_EQ(graph.lost().packets, 1u);
}

/// 300 chunks, all read but for one that is abandoned at its end.
Log LongLog() {
  Log log(uint64_t{1} << 16);
  for (uint32_t id = 0; id < 300; ++id) {
    log.Commit(id == 150 ? Chunk(1, 1, id).Whole(8, kFill).Begins(8, kFill) : Small(id));
    if (id % 20 == 19) log.Read();
  }
  return log;
}

TEST(ChunkGraph, HealthyRuns_FoldButNotAroundTrouble) {
  EXPECT_THAT(LinesOf(LongLog().Graph()),
              ElementsAre("#0 read", "#1 read", "#2-#147 read", "#148 read", "#149 read",
                          "#150 partly_read", "#151 read", "#152 read", "#153-#297 read",
                          "#298 read", "#299 read"));
}

TEST(ChunkGraph, AroundAChunk_AllElseIsFolded) {
  const SequenceGraph graph = LongLog().Graph("v2@58", {.full = false, .around = ChunkId{100}});
  const std::vector<std::string> lines = LinesOf(graph);
  ASSERT_EQ(lines.size(), 2 * SequenceGraphBuilder::kAround + 3);
  EXPECT_EQ(lines.front(), "#0-#91 read");
  EXPECT_EQ(lines[1], "#92 read");
  EXPECT_EQ(lines.back(), "#109-#299 mixed");
}

TEST(ChunkGraph, Full_FoldsNothing) {
  const SequenceGraph graph = LongLog().Graph("v2@58", {.full = true, .around = {}});
  EXPECT_EQ(graph.items.size(), 300u);
}

// All chunks are aborted ones: what is special about all is special about none.
TEST(ChunkGraph, TroubleOfOneKind_FoldsInTheEnd) {
  Log log(uint64_t{1} << 16);
  for (uint32_t id = 0; id < 500; ++id) log.Commit(Chunk(1, 1, id).Whole(8, kFill).Aborted());
  const SequenceGraph graph = log.Read().Graph();
  EXPECT_THAT(LinesOf(graph),
              ElementsAre("#0 read", "#1 read", "#2-#497 read", "#498 read", "#499 read"));
  EXPECT_EQ(std::get<ChunkRun>(graph.items[2]).aborted, 496u);
}

// Every other chunk is abandoned: no two alike are neighbours, and still memory is bounded.
TEST(ChunkGraph, EndlessTrouble_IsFoldedFromTheOldestOn) {
  Log log(uint64_t{1} << 16);
  constexpr uint32_t kChunks = 3000;
  for (uint32_t id = 0; id < kChunks; ++id) {
    log.Commit(id % 2 == 0 ? Chunk(1, 1, id).Whole(8, kFill).Begins(8, kFill) : Small(id));
    if (id % 20 == 19) log.Read();
  }
  const SequenceGraph graph = log.Graph();
  EXPECT_LE(graph.items.size(), SequenceGraphBuilder::kMaxItems + 1);
  EXPECT_EQ(graph.chunks, kChunks);
  const auto& oldest = std::get<ChunkRun>(graph.items.front());
  EXPECT_EQ(oldest.first, 0u);
  EXPECT_EQ(oldest.fate(), std::nullopt);
  EXPECT_EQ(graph.lost().packets, kChunks / 2);
}

TEST(ChunkGraph, DiscardingBuffers_SayWhy) {
  ReplayOptions options;
  options.session.all.policy = FillPolicy::kDiscard;
  GraphRun run(options, {});
  const Request first = Request(1).Move(1, Chunk(1, 1, 0).Whole(3000, kFill));
  const Request second = Request(1).Move(1, Chunk(1, 1, 1).Whole(3000, kFill));
  const Request third = Request(1).Move(1, Chunk(1, 1, 2).Whole(10, kFill));
  for (const Op& op : {BufferOp(1), first.op(), second.op(), third.op()})
    ASSERT_TRUE(run.Apply(op));
  ASSERT_TRUE(run.Finish());
  const SequenceGraph graph = run.builder.Take().at(0);
  EXPECT_THAT(LinesOf(graph), ElementsAre("#0 read", "#1 discarded", "#2 discarded"));
  EXPECT_EQ(NodeAt(graph, 1).discarded, DiscardReason::kFull);
  EXPECT_EQ(NodeAt(graph, 2).discarded, DiscardReason::kSealed);
}

TEST(ChunkGraph, RefusedByTheService_NeverCameIn) {
  GraphRun run({}, {});
  const Request lost = Request(1).Move(9, Chunk(1, 1, 0).Whole(8, kFill));
  ASSERT_TRUE(run.Apply(BufferOp(1)));
  ASSERT_TRUE(run.Apply(lost.op()));
  ASSERT_TRUE(run.Finish());
  const SequenceGraph graph = run.builder.Take().at(0);
  EXPECT_THAT(LinesOf(graph), ElementsAre("#0 refused"));
  EXPECT_EQ(NodeAt(graph, 0).refused, Refusal::kNoSuchBuffer);
}

// Another buffer takes the id, and the writer starts again.
TEST(ChunkGraph, ReplacedBuffers_HaveGraphsOfTheirOwn) {
  GraphRun run({}, {});
  const Request first = Request(1).Move(1, Small(0));
  const Request second = Request(1).Move(1, Small(0)).Move(1, Small(1));
  const Op freed{.time_ns = {}, .body = BufferFreed{BufferId{1}}};
  for (const Op& op : {BufferOp(1), first.op(), freed, BufferOp(1), second.op()})
    ASSERT_TRUE(run.Apply(op));
  ASSERT_TRUE(run.Finish());
  const std::vector<SequenceGraph> graphs = run.builder.Take();
  ASSERT_EQ(graphs.size(), 2u);
  EXPECT_THAT(LinesOf(graphs[0]), ElementsAre("#0 readable"));
  EXPECT_EQ(Written(graphs[0]), 1u);
  EXPECT_THAT(LinesOf(graphs[1]), ElementsAre("#0 read", "#1 read"));
  EXPECT_EQ(graphs[1].generation, 1u);
}

TEST(ChunkGraph, WorstFirst) {
  std::vector<SequenceGraph> graphs(3);
  graphs[0].bytes = 10;
  graphs[1].packets[Fate::kOverwritten] = {1, 5};
  graphs[2].packets[Fate::kDiscarded] = {1, 50};
  graphs[0].packets[Fate::kRead] = {100, 5000};
  SortByLoss(graphs);
  EXPECT_EQ(graphs[0].lost().bytes, 50u);
  EXPECT_EQ(graphs[1].lost().bytes, 5u);
  EXPECT_EQ(graphs[2].lost().bytes, 0u);
}

}  // namespace
}  // namespace ringscope::testing
