#include "core/compare/minimize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/compare/log_differ.h"
#include "core/compare/random_stream.h"
#include "core/perfetto/fragment.h"
#include "core/testing/session_log.h"

namespace ringscope::testing {
namespace {

Both<ReplayOptions> BothEngines(const char* a, const char* b) {
  Both<ReplayOptions> sides;
  sides.a.session.all.engine = a;
  sides.b.session.all.engine = b;
  return sides;
}

/// A stream of random operations on one buffer.
std::vector<StoredOp> RandomOps(uint32_t seed, size_t steps) {
  std::vector<StoredOp> ops = {SetUpOf(8192, FillPolicy::kRingBuffer)};
  RandomStream stream(seed, Conduct::kHostile);
  for (size_t i = 0; i < steps; ++i) ops.push_back(OpOf(stream.Next()));
  return ops;
}

std::vector<StoredOp> Without(std::vector<StoredOp> ops, size_t i) {
  ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(i));
  return ops;
}

std::optional<Divergence> Shown(const std::vector<StoredOp>& ops, const Both<ReplayOptions>& sides,
                                const Ignored& others = {}) {
  const auto diff = DiffOps(ops, {.sides = sides, .ignored = others});
  const Divergence* const first = diff ? diff->First() : nullptr;
  return first == nullptr ? std::nullopt : std::optional(*first);
}

std::vector<StoredOp> Minimal(const std::vector<StoredOp>& ops, const Both<ReplayOptions>& sides) {
  const Divergence wanted = Shown(ops, sides).value();
  return Minimize(ops, [&](const std::vector<StoredOp>& less) {
    const auto shown = Shown(less, sides, wanted.Others());
    return shown && shown->Class() == wanted.Class();
  });
}

TEST(Minimize, RandomStreams_AreOneMinimal) {
  int minimized = 0;
  for (uint32_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const Both<ReplayOptions> sides =
        seed % 2 == 0 ? BothEngines("v2@54", "v2@58") : BothEngines("v2@55", "v2@56");
    const std::vector<StoredOp> ops = RandomOps(seed, 400);
    const auto wanted = Shown(ops, sides);
    if (!wanted) continue;
    const std::vector<StoredOp> minimal = Minimal(ops, sides);
    ++minimized;
    EXPECT_LT(minimal.size(), ops.size() / 4);
    EXPECT_EQ(Shown(minimal, sides, wanted->Others()).value().Class(), wanted->Class());
    for (size_t i = 0; i < minimal.size(); ++i) {
      const auto less = Shown(Without(minimal, i), sides, wanted->Others());
      EXPECT_TRUE(!less || less->Class() != wanted->Class()) << i;
    }
  }
  EXPECT_GE(minimized, 10);
}

TEST(Minimize, StopsWhenAsked) {
  std::vector<StoredOp> ops = {StoredOp(BufferOp(1))};
  for (uint32_t i = 0; i < 50; ++i) {
    const Request request = Request(1).Move(1, Chunk(1, 1, i).Whole(20, 'a'));
    ops.emplace_back(request.op());
  }
  int tries = 0;
  const auto less = Minimize(
      ops, [&](const std::vector<StoredOp>&) { return ++tries > 0; }, [&] { return tries >= 2; });
  EXPECT_EQ(tries, 2);
  EXPECT_LT(less.size(), ops.size());
}

/// The fragments of the only commit; absent: there is none.
std::optional<std::vector<std::string>> FragmentsOf(const std::vector<StoredOp>& ops) {
  if (ops.size() != 2) return std::nullopt;
  CommitRequestParser parser;
  if (!parser.Parse(std::get<Commit>(ops[1].op().body).request)) return std::nullopt;
  const ChunkToMove& chunk = parser.chunks().at(0);
  const Bytes payload = chunk.data->subspan(kChunkHeaderSize);
  std::vector<std::string> fragments;
  VisitFragments(payload, chunk.header()->fragments, [&](const Fragment& fragment) {
    fragments.emplace_back(wire::AsText(payload.subspan(fragment.body, fragment.size())));
  });
  return fragments;
}
std::vector<StoredOp> OneLargeCommit(int fragments) {
  Chunk chunk(1, 1, 0);
  for (int i = 0; i < fragments; ++i) chunk.Whole(10, i == fragments / 2 ? 'x' : 'y');
  const Request request = Request(1).Move(1, chunk);
  return {StoredOp(BufferOp(1)), StoredOp(request.op())};
}

// The tries of a commit are few, whatever it is made of.
TEST(Minimize, OfManyFragments_TakesTheOthersAwayInBlocks) {
  int tries = 0;
  const auto less = Minimize(OneLargeCommit(1000), [&](const auto& ops) {
    ++tries;
    const auto fragments = FragmentsOf(ops);
    return fragments && std::ranges::count(*fragments, "xxxxxxxxxx");
  });
  EXPECT_EQ(FragmentsOf(less).value().size(), 1u);
  EXPECT_LT(tries, 200);
}

// None can go: each is tried once or twice alone, and all are made smaller together.
TEST(Minimize, OfManyFragments_ThatAllMatter_TriesEachAFewTimes) {
  int tries = 0;
  const auto less = Minimize(OneLargeCommit(1000), [&](const auto& ops) {
    ++tries;
    const auto fragments = FragmentsOf(ops);
    return fragments && fragments->size() >= 1000;
  });
  const auto left = FragmentsOf(less);
  for (const std::string& fragment : *left) EXPECT_EQ(fragment, "");
  EXPECT_LT(tries, 8000);
}

// Of a much smaller buffer, a small chunk would be less than nothing.
TEST(Minimize, OfALargeBuffer_LeavesSmallChunksSmall) {
  constexpr uint64_t kSize = uint64_t{64} << 20;
  const Request request = Request(1).Move(1, Chunk(1, 1, 0).Whole(20, 'a').Whole(8, 'b'));
  const std::vector<StoredOp> ops = {SetUpOf(kSize, FillPolicy::kRingBuffer),
                                     StoredOp(request.op())};
  const auto less = Minimize(ops, [](const std::vector<StoredOp>& tried) {
    bool has_commit = false, is_smaller = false;
    for (const StoredOp& op : tried) {
      const auto* const commit = std::get_if<Commit>(&op.op().body);
      has_commit |= commit != nullptr;
      if (commit != nullptr) {
        EXPECT_LT(commit->request.size(), 100u);
      }
      const auto* const setup = std::get_if<BufferSetUp>(&op.op().body);
      is_smaller |= setup != nullptr && setup->size < kSize;
    }
    return has_commit && !is_smaller;
  });
  EXPECT_EQ(less.size(), 1u);
}

// One request with three chunks, of which one matters.
TEST(Minimize, Requests_AreTakenApart) {
  const Request request = Request(1)
                              .Move(1, Chunk(1, 1, 0).Whole(20, 'a'))
                              .Move(1, Chunk(1, 2, 0).Aborted())
                              .Move(1, Chunk(1, 3, 0).Whole(20, 'c'))
                              .Patch(1, 1, 0, 2, "wxyz");
  const auto minimal =
      Minimal({StoredOp(BufferOp(1)), StoredOp(request.op())}, BothEngines("v2@57", "v2@58"));
  ASSERT_EQ(minimal.size(), 2u);
  CommitRequestParser parser;
  ASSERT_TRUE(parser.Parse(std::get<Commit>(minimal.at(1).op().body).request));
  EXPECT_EQ(parser.chunks().size(), 1u);
  EXPECT_TRUE(parser.patches().empty());
}

// What is left of a log has small numbers.
TEST(Minimize, Numbers_StartFromTheStart) {
  std::vector<StoredOp> ops = {StoredOp(BufferOp(1))};
  ops.emplace_back(
      Op{.time_ns = {},
         .body = ProducerConnected{.producer = ProducerId{7}, .uid = 10123, .pid = 4711}});
  const Request request = Request(7).Move(1, Chunk(7, 33, 5000).Aborted());
  ops.emplace_back(request.op());
  const Both<ReplayOptions> sides = BothEngines("v2@57", "v2@58");
  const auto minimal = Minimal(ops, sides);
  ASSERT_EQ(minimal.size(), 2u);
  const auto& commit = std::get<Commit>(minimal.at(1).op().body);
  EXPECT_EQ(commit.producer, ProducerId{1});
  CommitRequestParser parser;
  ASSERT_TRUE(parser.Parse(commit.request));
  const auto header = ParseChunkHeader(*parser.chunks().at(0).data);
  EXPECT_EQ(header->writer, WriterId{1});
  EXPECT_EQ(header->chunk, ChunkId{0});
}

}  // namespace
}  // namespace ringscope::testing
