// Chunk graphs over everything that testdata holds: each chunk and each packet is in its graph
// once; and what the buffer reports to hold tiles it.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "core/testing/graph_run.h"
#include "formats/inputs/open_log.h"
#include "formats/io/log_source.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using Place = std::tuple<BufferId, SequenceKey, ChunkId>;

/// @param once whether each chunk id of a sequence is there once at most
void ExpectTiles(const Engine& engine, bool once) {
  const uint64_t size = engine.stats().buffer_size;
  uint64_t end = 0;
  std::set<uint64_t> chunks;
  const Result<uint64_t> cursor = engine.VisitChunks([&](const ObservedChunk& chunk) {
    EXPECT_EQ(chunk.offset, end);
    end = chunk.offset + chunk.outer_size;
    if (chunk.is_padding()) return;
    EXPECT_LE(chunk.payload_avail, chunk.payload_size);
    EXPECT_LE(chunk.payload_size, chunk.outer_size);
    EXPECT_TRUE(chunks.insert(ChunkName{chunk.sequence, chunk.chunk}.Packed()).second || !once);
  });
  ASSERT_TRUE(cursor);
  EXPECT_LE(end, size);
  EXPECT_LE(*cursor, size);
}

/// Which chunks a log has, whatever became of them. Checks the buffers at the log's end.
class ChunksSeen : public ReplayListener {
 public:
  void OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal>) override {
    chunks.insert({buffer, commit.sequence, commit.chunk});
    const auto [last, is_first] = last_.insert({{buffer, commit.sequence}, commit.chunk});
    constexpr uint32_t kFar = uint32_t{1} << 29;
    const uint32_t forward = Distance(last->second, commit.chunk);
    jumped |= !is_first && std::min(forward, 0 - forward) >= kFar;
    last->second = commit.chunk;
  }
  void OnBufferSetUp(SessionBuffer& buffer) override { buffers_[buffer.id] = &buffer; }
  void OnBufferReplaced(SessionBuffer&) override { replaced = true; }
  void OnDrainBegun(BufferId buffer) override {
    ExpectTiles(*buffers_.at(buffer)->engine, !jumped);
  }
  std::set<Place> chunks;
  bool replaced = false;
  /// A sequence's ids jumped so far that no order of them is certain: a buffer may hold one id
  /// twice, and which chunk of that id is meant by what follows is not known.
  bool jumped = false;

 private:
  std::map<std::pair<BufferId, SequenceKey>, ChunkId> last_;
  std::map<BufferId, const SessionBuffer*> buffers_;
};

/// The chunks of a graph: those shown one by one are checked to be in order and in no run.
uint64_t CountChunks(const SequenceGraph& graph) {
  uint64_t count = 0, last = 0;
  bool first = true, was_gap = false;
  for (const GraphItem& item : graph.items) {
    const auto [from, to, chunks] = std::visit(
        Overloaded{
            [](const ChunkNode& node) { return std::tuple(node.id, node.id, uint64_t{1}); },
            [](const ChunkRun& run) { return std::tuple(run.first, run.last, run.chunks); },
            [](const ChunkGap& gap) { return std::tuple(gap.first, gap.last, uint64_t{0}); }},
        item);
    EXPECT_LE(from, to);
    EXPECT_TRUE(first || from == last + 1) << from << " after " << last;
    EXPECT_LE(chunks, to - from + 1);
    const bool is_gap = std::holds_alternative<ChunkGap>(item);
    EXPECT_FALSE(is_gap && (was_gap || first));
    count += chunks;
    last = to;
    first = false;
    was_gap = is_gap;
  }
  EXPECT_FALSE(was_gap) << "nothing after a gap";
  return count;
}

uint64_t PacketsOf(const FateCounts& counts) {
  uint64_t packets = 0;
  for (const FateCount& count : counts) packets += count.packets;
  return packets;
}

uint64_t PacketsOfItems(const SequenceGraph& graph) {
  uint64_t packets = 0;
  for (const GraphItem& item : graph.items) {
    packets += std::visit(Overloaded{[](const ChunkGap&) { return uint64_t{0}; },
                                     [](const auto& chunks) { return PacketsOf(chunks.packets); }},
                          item);
  }
  return packets;
}

/// Chunks that fared well where some of their packets did not, in a graph with each chunk alone.
void ExpectFatesAgree(const SequenceGraph& graph) {
  for (const GraphItem& item : graph.items) {
    const auto* node = std::get_if<ChunkNode>(&item);
    if (node == nullptr || node->end != ChunkEnd::kClean || node->recommits > 0) continue;
    const auto count = [&](Fate fate) { return node->packets[fate].packets; };
    if (node->fate == ChunkFate::kOverwritten || node->fate == ChunkFate::kDiscarded) {
      EXPECT_EQ(count(Fate::kRead), 0u) << node->id;
    }
    if (node->fate == ChunkFate::kRead) {
      EXPECT_EQ(count(Fate::kDiscarded), 0u) << node->id;
    }
  }
}

class GraphsOverTestdata : public ::testing::TestWithParam<const char*> {
 protected:
  void Check(const std::string& path, bool plain, FoldOptions fold) {
    SCOPED_TRACE(path);
    ReplayOptions options;
    options.session.all.engine = GetParam();
    options.plain_streams_as_recorded = plain;
    ChunksSeen seen;
    testing::GraphRun run(options, {.buffer = {}, .sequences = {}, .fold = fold}, &seen);
    auto log = OpenLog(testing::TestdataPath(path)).value();
    while (const std::optional<Op> op = log->Next().value()) ASSERT_TRUE(run.Apply(*op));
    ASSERT_TRUE(run.Finish());
    EXPECT_EQ(run.ledger().Check(), "");

    uint64_t chunks = 0, packets = 0;
    for (const SequenceGraph& graph : run.builder.Take()) {
      EXPECT_EQ(CountChunks(graph), graph.chunks);
      if (!seen.jumped) {
        EXPECT_EQ(PacketsOfItems(graph), PacketsOf(graph.packets));
      }
      if (fold.full && !seen.jumped) ExpectFatesAgree(graph);
      chunks += graph.chunks;
      packets += PacketsOf(graph.packets);
    }
    if (!seen.replaced && !seen.jumped) {
      EXPECT_EQ(chunks, seen.chunks.size());
    }
    uint64_t told = 0;
    for (const auto& [id, totals] : run.ledger().totals())
      told += totals.written.packets + totals.by_fate.places();
    EXPECT_EQ(packets, told);
  }
  void CheckAll(const char* folder, const char* ending, bool plain, FoldOptions fold) {
    for (const std::string& path : testing::ListTestdata(folder, ending)) Check(path, plain, fold);
  }
};

INSTANTIATE_TEST_SUITE_P(Engines, GraphsOverTestdata, testing::AllEngines(),
                         testing::NameOfParam<const char*>);

TEST_P(GraphsOverTestdata, EachChunkAndPacketOfTheConformanceCasesIsThereOnce) {
  CheckAll("conformance/cases", ".zst", true, {});
}

TEST_P(GraphsOverTestdata, NothingFoldedHoldsForTheConformanceCasesToo) {
  CheckAll("conformance/cases", ".zst", true, {.full = true, .around = {}});
}

TEST_P(GraphsOverTestdata, AroundAChunkHoldsForTheConformanceCasesToo) {
  CheckAll("conformance/cases", ".zst", true, {.full = false, .around = ChunkId{20}});
}

TEST_P(GraphsOverTestdata, EachChunkAndPacketOfTheCapturesIsThereOnce) {
  CheckAll("captures", "session.ops.jsonl.zst", false, {});
}

}  // namespace
}  // namespace ringscope
