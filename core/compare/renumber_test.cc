#include "core/compare/renumber.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/testing/session_log.h"

namespace ringscope {
namespace {

using testing::BufferOp;
using testing::Chunk;
using ::testing::ElementsAre;
using testing::Request;

/// "7:33#5000", for each chunk and patch.
std::vector<std::string> NamesIn(const std::vector<StoredOp>& ops) {
  std::vector<std::string> names;
  for (const StoredOp& op : ops) {
    const auto* commit = std::get_if<Commit>(&op.op().body);
    if (commit == nullptr) continue;
    CommitRequestParser parser;
    EXPECT_TRUE(parser.Parse(commit->request));
    const auto add = [&](uint64_t writer, uint64_t chunk) {
      names.push_back(std::to_string(Raw(commit->producer)) + ":" + std::to_string(writer) + "#" +
                      std::to_string(chunk));
    };
    for (const ChunkToMove& chunk : parser.chunks()) {
      const auto header = ParseChunkHeader(*chunk.data);
      add(Raw(header->writer), Raw(header->chunk));
    }
    for (const ChunkToPatch& patch : parser.patches()) add(*patch.writer, *patch.chunk);
  }
  return names;
}

/// Two producers; ids that wrap around, with a gap of three, and one that comes late.
class Renumbering : public ::testing::Test {
 protected:
  Renumbering() {
    Op connected{.time_ns = {}, .body = ProducerConnected{.producer = ProducerId{7}}};
    std::get<ProducerConnected>(connected.body).uid = 10123;
    std::get<ProducerConnected>(connected.body).pid = 4711;
    ops_.emplace_back(BufferOp(1));
    ops_.emplace_back(connected);
    Add(Request(7).Move(1, Chunk(7, 33, 0xFFFFFFFF).Whole(20, 'a')));
    Add(Request(9).Move(1, Chunk(9, 33, 8).Whole(20, 'b')));
    Add(Request(7).Move(1, Chunk(7, 33, 4).Begins(20, 'c').NeedsPatching()));
    Add(Request(7).Move(1, Chunk(7, 33, 0).Whole(20, 'd')).Patch(1, 33, 4, 2, "wxyz"));
  }
  void Add(const Request& request) { ops_.emplace_back(request.op()); }
  std::vector<std::string> After(Numbering what) const {
    const auto numbered = Renumber(ops_, what);
    return numbered ? NamesIn(numbered->ops) : std::vector<std::string>();
  }

  std::vector<StoredOp> ops_;
};

TEST_F(Renumbering, OfEach) {
  EXPECT_THAT(After(Numbering::kProducers),
              ElementsAre("1:33#4294967295", "2:33#8", "1:33#4", "1:33#0", "1:33#4"));
  EXPECT_THAT(After(Numbering::kWriters),
              ElementsAre("7:1#4294967295", "9:1#8", "7:1#4", "7:1#0", "7:1#4"));
  EXPECT_THAT(After(Numbering::kChunks),
              ElementsAre("7:33#0", "9:33#0", "7:33#2", "7:33#1", "7:33#2"));
  EXPECT_THAT(After(Numbering::kChunksWithGaps),
              ElementsAre("7:33#0", "9:33#0", "7:33#3", "7:33#1", "7:33#3"));
  EXPECT_THAT(After(Numbering::kChunksFromStart),
              ElementsAre("7:33#0", "9:33#0", "7:33#5", "7:33#1", "7:33#5"));
  const auto numbered = Renumber(ops_, Numbering::kIdentities);
  ASSERT_TRUE(numbered);
  const auto& producer = std::get<ProducerConnected>(numbered->ops[1].op().body);
  EXPECT_EQ(producer.uid, 0u);
  EXPECT_EQ(producer.pid, 0);
  EXPECT_EQ(NamesIn(numbered->ops), NamesIn(ops_));
}

TEST_F(Renumbering, NamesOfChunks_AreTranslated) {
  const auto numbered = Renumber(ops_, Numbering::kChunksWithGaps);
  ASSERT_TRUE(numbered);
  const SequenceKey sequence{ProducerId{7}, WriterId{33}};
  EXPECT_EQ(numbered->name({sequence, ChunkId{4}}), (ChunkName{sequence, ChunkId{3}}));
  const auto producers = Renumber(ops_, Numbering::kProducers);
  EXPECT_EQ(producers->name({sequence, ChunkId{4}}),
            (ChunkName{{ProducerId{1}, WriterId{33}}, ChunkId{4}}));
}

TEST_F(Renumbering, WhatIsNumberedAlready_StaysAsItIs) {
  for (size_t i = 0; i < kEnumNames<Numbering>.size(); ++i)
    while (const auto numbered = Renumber(ops_, static_cast<Numbering>(i))) ops_ = numbered->ops;
  EXPECT_THAT(NamesIn(ops_), ElementsAre("1:1#0", "2:1#0", "1:1#2", "1:1#1", "1:1#2"));
}

// A request without its other parts cannot be read.
TEST_F(Renumbering, PartsOfRequests_AreLeftAlone) {
  Add(Request(7).Move(1, Chunk(7, 33, 9).Whole(20, 'e')).Part(3, 0, false));
  EXPECT_FALSE(Renumber(ops_, Numbering::kChunks));
  EXPECT_FALSE(Renumber(ops_, Numbering::kWriters));
}

}  // namespace
}  // namespace ringscope
