// What the holder of a clone sees: as if the log ended at the instant of each of its buffers.

#include <gmock/gmock.h>

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/base/wire.h"
#include "core/compare/random_stream.h"
#include "core/ledger/ledger.h"
#include "core/session/replay.h"
#include "core/session/replay_outcome.h"
#include "core/testing/session_log.h"

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Op Record(OpBody body) { return {.time_ns = {}, .body = std::move(body)}; }
Op CloneOp(uint64_t clone, uint16_t buffer, bool transfer = false) {
  return Record(BufferCloned{clone, BufferId{buffer}, transfer});
}
Op ReadOp() { return Record(ReadPass{.buffer = {}, .max_packets = {}, .max_bytes = {}}); }

CloneScan Scan(const std::vector<Op>& ops) {
  CloneScan scan;
  for (const Op& op : ops) scan.Add(op);
  return scan;
}

/// What a replay reports to a reader.
struct ReaderLog : ReplayListener {
  Status OnPacket(const SessionPacket& packet) override {
    packets.push_back(Line(packet));
    return {};
  }
  void OnTakenPacket(const SessionPacket& packet) override { taken.push_back(Line(packet)); }
  void OnClonePacket(const SessionPacket& packet) override { cloned.push_back(Line(packet)); }
  void OnCloneDone(BufferId, uint64_t, const BufferStats& counted) override {
    clone_stats = counted;
  }
  Status OnLogEnd(Session& session) override {
    for (const auto& [id, buffer] : session.buffers()) {
      stats[id] = buffer.stats();
      buffer.VisitWriterStats([&, id = id](const WriterStats& writer) {
        writers[id].emplace_back(writer.sequence, *writer.histogram);
      });
    }
    return {};
  }
  static std::string Line(const SessionPacket& packet) {
    std::string bytes;
    for (const Bytes slice : packet.packet->slices) bytes += wire::AsText(slice);
    return std::to_string(Raw(packet.buffer)) + " " +
           std::to_string(packet.packet->sequence.Packed()) + " " +
           std::to_string(packet.packet->dropped) + (packet.valid ? " " : " invalid ") + bytes;
  }

  std::vector<std::string> packets, taken, cloned;
  BufferStats clone_stats;
  std::map<BufferId, BufferStats> stats;
  std::map<BufferId, std::vector<std::pair<SequenceKey, WriterHistogram>>> writers;
};

class CloneViewTest : public ::testing::Test {
 protected:
  void Add(Op op) { ops_.push_back(std::move(op)); }
  /// A packet of an even number of 'h' is valid: field 13 has the value 104, again and again.
  void Commit(uint16_t buffer, uint32_t chunk, uint32_t size) {
    requests_.emplace_back(1).Move(buffer, Chunk(1, 1, chunk).Whole(size, 'h'));
    ops_.push_back(requests_.back().op());
  }
  /// Replays what a reader sees. @param clone that it holds; 0: the session's own consumer
  std::vector<std::string> Replayed(uint64_t clone, ReadsChoice reads = {}) {
    log_ = {};
    ReplayOptions options;
    options.reads = reads;
    if (clone != 0) options.session.clone = FindMadeClone(Scan(ops_).clones(), clone).value();
    LedgerSink nowhere;
    Ledger ledger(nowhere);
    CountedReplay replay(options, {&ledger, &log_});
    for (const Op& op : ops_) {
      EXPECT_TRUE(replay.Apply(op));
      if (options.session.clone && options.session.clone->IsEnd(op)) break;
    }
    const auto outcome = replay.Finish();
    EXPECT_TRUE(outcome);
    totals_ = {};
    for (const auto& [id, totals] : ledger.totals()) totals_ += totals;
    EXPECT_EQ(ledger.Check(), "");
    return log_.lines;
  }
  uint64_t Fated(Fate fate) const { return totals_[fate].packets; }

  std::deque<Request> requests_;
  std::vector<Op> ops_;
  SessionLog log_;
  LedgerTotals totals_;
};

TEST_F(CloneViewTest, Copy_HasWhatWasThere) {
  Add(BufferOp(0));
  Commit(0, 0, 2);
  Add(Record(CloneRequested{1, {}, ""}));
  Commit(0, 1, 4);
  Add(CloneOp(1, 0));
  Commit(0, 2, 6);
  Add(Record(CloneEnded{1, true, "", false, {}}));
  Commit(0, 3, 8);
  EXPECT_THAT(Replayed(1), ElementsAre("h2", "h4", "read 0: 2"));
  EXPECT_EQ(totals_.written.packets, 2u) << "what follows is not written for this reader";
  EXPECT_THAT(Replayed(0), ElementsAre("h2", "h4", "h6", "h8", "read 0: 4"));
  EXPECT_EQ(totals_.written.packets, 4u);
}

TEST_F(CloneViewTest, WhatTheSessionRead_IsNotInTheClone) {
  Add(BufferOp(0));
  Commit(0, 0, 2);
  Add(ReadOp());
  Commit(0, 1, 4);
  Add(CloneOp(1, 0));
  EXPECT_THAT(Replayed(1), ElementsAre("h4", "read 0: 1"));
  EXPECT_EQ(Fated(Fate::kReadBefore), 1u);
  EXPECT_EQ(totals_.lost().packets, 0u);
  EXPECT_THAT(Replayed(1, {.mode = ReadsMode::kEnd}), ElementsAre("h2", "h4", "read 0: 2"))
      << "the session's own reads are left out";
  EXPECT_THAT(Replayed(1, {.mode = ReadsMode::kNone}), IsEmpty());
}

TEST_F(CloneViewTest, CloneIntoAFile_BeginsWithWhatTheFileHad) {
  Add(BufferOp(0));
  Commit(0, 0, 2);
  Add(ReadOp());
  Add(Record(CloneRequested{1, {}, ""}));
  Commit(0, 1, 4);
  Add(ReadOp());  // goes into the session's file, after it was copied
  Commit(0, 2, 6);
  Add(CloneOp(1, 0));
  Add(Record(CloneEnded{1, true, "", /*into_file=*/true, {}}));
  EXPECT_THAT(Replayed(1), ElementsAre("h2", "read 0: 1", "h6", "read 0: 1"));
  EXPECT_EQ(Fated(Fate::kReadBefore), 1u);
}

TEST_F(CloneViewTest, Transfer_LeavesAnEmptyBuffer) {
  Add(BufferOp(0));
  Commit(0, 0, 2);
  Add(CloneOp(1, 0, /*transfer=*/true));
  Commit(0, 1, 4);
  Add(CloneOp(2, 0));
  EXPECT_THAT(Replayed(1), ElementsAre("h2", "read 0: 1"));
  EXPECT_THAT(Replayed(2), ElementsAre("h4", "read 0: 1"));
  EXPECT_EQ(Fated(Fate::kMoved), 1u);
  EXPECT_EQ(totals_.lost().packets, 0u) << "clone 1 has it";
  EXPECT_THAT(Replayed(0), ElementsAre("h4", "read 0: 1"));
  EXPECT_EQ(Fated(Fate::kMoved), 1u);
}

TEST_F(CloneViewTest, PacketInBothBuffersOfATransfer_IsCut) {
  Add(BufferOp(0));
  requests_.emplace_back(1).Move(0, Chunk(1, 1, 0).Begins(10, 'a'));
  Add(requests_.back().op());
  Add(CloneOp(1, 0, /*transfer=*/true));
  requests_.emplace_back(1).Move(0, Chunk(1, 1, 1).Ends(10, 'a'));
  Add(requests_.back().op());
  Replayed(0);
  EXPECT_EQ(Fated(Fate::kCut), 1u);
  EXPECT_EQ(totals_.lost().packets, 1u);
}

// A clone scrapes first: what was scraped is committed again, and then is in both.
TEST_F(CloneViewTest, RecommitAfterATransfer_IsReadByBoth) {
  Add(BufferOp(0));
  requests_.emplace_back(1).Move(0, Chunk(1, 1, 0).Whole(2, 'h').Whole(4, 'p').Incomplete());
  Add(requests_.back().op());
  Add(CloneOp(1, 0, /*transfer=*/true));
  requests_.emplace_back(1).Move(0, Chunk(1, 1, 0).Whole(2, 'h').Whole(4, 'p').Whole(6, 'x'));
  Add(requests_.back().op());
  EXPECT_THAT(Replayed(0), ElementsAre("h2", "p4", "x6", "read 0: 3"));
  EXPECT_EQ(Fated(Fate::kRead), 3u);
  EXPECT_EQ(totals_.written.packets, 3u);
}

TEST_F(CloneViewTest, Clear_LosesWhatWasThere) {
  Add(BufferOp(0));
  Commit(0, 0, 2);
  Add(Record(CloneRequested{1, {}, ""}));
  Add(Record(BufferCleared{BufferId{0}}));
  Commit(0, 1, 4);
  Add(CloneOp(1, 0));
  EXPECT_THAT(Replayed(1), ElementsAre("h4", "read 0: 1"));
  EXPECT_EQ(Fated(Fate::kCleared), 1u);
  EXPECT_EQ(totals_.lost().packets, 1u);
  EXPECT_THAT(Replayed(0), ElementsAre("h4", "read 0: 1"));
  EXPECT_EQ(Fated(Fate::kCleared), 1u);
}

TEST_F(CloneViewTest, OtherBuffers_AreLeftOut) {
  Add(BufferOp(0));
  Add(BufferOp(7));
  Commit(0, 0, 2);
  Commit(7, 0, 4);
  Add(CloneOp(1, 0));
  Commit(7, 1, 6);
  EXPECT_THAT(Replayed(1), ElementsAre("h2", "read 0: 1"));
  EXPECT_THAT(log_.warnings, IsEmpty());
  EXPECT_EQ(totals_.written.packets, 1u);
}

TEST_F(CloneViewTest, BuffersAreReadInTheOrderOfTheConfig) {
  Add(BufferOp(5));
  Add(BufferOp(2));
  Commit(5, 0, 2);
  Commit(2, 0, 4);
  Add(CloneOp(1, 2));
  Commit(5, 1, 6);
  Add(CloneOp(1, 5));
  EXPECT_THAT(Replayed(1), ElementsAre("h2", "h6", "read 5: 2", "h4", "read 2: 1"));
}

TEST(CloneScanTest, MissingOrFailedClone) {
  const std::vector<Op> ops = {
      Record(CloneRequested{1, {}, ""}), CloneOp(1, 0), Record(CloneRequested{2, {}, ""}),
      Record(CloneEnded{2, false, "no such session", false, {}}), CloneOp(3, 0)};
  const std::vector<CloneFacts> clones = Scan(ops).clones();
  ASSERT_EQ(clones.size(), 3u);
  EXPECT_TRUE(FindMadeClone(clones, 3));
  const Error none = FindMadeClone(clones, 4).error();
  EXPECT_EQ(none.message, "there is no clone 4");
  EXPECT_EQ(none.hint, "clones: 1, 3");
  EXPECT_EQ(FindMadeClone(clones, 2).error().message,
            "clone 2 was not made: the service reported 'no such session'");
}

// Random streams, with clones at random points.

/// Steps of a stream as records that own what they point to.
class OpsOfStream {
 public:
  OpsOfStream(uint32_t seed, Conduct conduct, BufferId buffer)
      : stream_(seed, conduct), buffer_(buffer) {}

  Op SetUp() const {
    BufferSetUp setup;
    setup.id = buffer_;
    setup.size = stream_.traits().size;
    setup.policy = stream_.traits().policy;
    return Record(setup);
  }
  Op Next() {
    const RandomStream::Step step = stream_.Next();
    switch (step.kind) {
      case RandomStream::Kind::kRead: {
        ReadPass read;
        read.buffer = buffer_;
        if (step.max_packets != UINT64_MAX) read.max_packets = step.max_packets;
        return Record(read);
      }
      case RandomStream::Kind::kCommit: {
        const ChunkCommit& c = step.commit;
        std::string& bytes = bytes_.emplace_back();
        CommitRequestBuilder(bytes).AddChunk(
            buffer_, {c.chunk, c.sequence.writer, c.fragments, c.flags}, c.payload, c.complete);
        return CommitOf(c.sequence.producer, bytes);
      }
      case RandomStream::Kind::kPatch: {
        ChunkToPatch patch{.target_buffer = Raw(buffer_),
                           .writer = Raw(step.patches.sequence.writer),
                           .chunk = Raw(step.patches.chunk),
                           .patches = {},
                           .more = step.patches.more};
        for (const Patch& p : step.patches.patches)
          patch.patches.push_back({.offset = p.offset, .data = Bytes(p.data, kPatchSize)});
        std::string& bytes = bytes_.emplace_back();
        CommitRequestBuilder(bytes).AddPatch(patch);
        return CommitOf(step.patches.sequence.producer, bytes);
      }
      case RandomStream::Kind::kClone:
        return Record(Note{""});
    }
    return {};
  }

 private:
  static Op CommitOf(ProducerId producer, const std::string& bytes) {
    Commit commit;
    commit.producer = producer;
    commit.request = wire::AsBytes(bytes);
    return Record(commit);
  }

  RandomStream stream_;
  const BufferId buffer_;
  std::deque<std::string> bytes_;
};

/// A log of two buffers with clones.
struct RandomLog {
  explicit RandomLog(uint32_t seed) : random(seed) {
    const auto conduct = seed % 2 == 0 ? Conduct::kCorrect : Conduct::kHostile;
    for (uint16_t i = 0; i < 2; ++i) {
      streams.push_back(std::make_unique<OpsOfStream>(seed * 2 + i, conduct, BufferId{i}));
      setups.push_back(streams.back()->SetUp());
      ops.push_back(setups.back());
    }
    uint64_t clones = 0;
    for (int step = 0; step < 120; ++step) {
      ops.push_back(streams[random() % 2]->Next());
      if (random() % 60 == 0) AddClone(++clones);
    }
    AddClone(++clones);
  }

  void AddClone(uint64_t number) {
    ops.push_back(Record(CloneRequested{number, {}, ""}));
    if (random() % 4 == 0) ops.push_back(Record(BufferCleared{BufferId{1}}));
    const bool transfer = random() % 3 == 0;
    ops.push_back(CloneOp(number, 1, transfer));
    for (uint32_t i = random() % 4; i > 0; --i) ops.push_back(streams[random() % 2]->Next());
    ops.push_back(CloneOp(number, 0));
    ops.push_back(Record(CloneEnded{number, true, "", false, {}}));
  }

  std::mt19937 random;
  std::vector<std::unique_ptr<OpsOfStream>> streams;
  std::vector<Op> setups;
  std::vector<Op> ops;
};

struct FreshReplay {
  std::vector<std::string> packets;
  BufferStats stats;
};

/// A fresh replay of the prefix up to the buffer's instant, with the engine's own clone.
FreshReplay ReplayPrefix(const RandomLog& log, uint64_t clone, BufferId buffer,
                         const ReplayOptions& options) {
  ReaderLog reader;
  Replay replay(options, reader);
  for (const Op& op : log.ops) {
    const auto* cloned = std::get_if<BufferCloned>(&op.body);
    const auto* cleared = std::get_if<BufferCleared>(&op.body);
    if (cloned != nullptr && cloned->clone == clone && cloned->buffer == buffer) {
      if (!cloned->transfer) {
        EXPECT_TRUE(replay.Apply(Record(CloneRead{buffer})));
        return {reader.cloned, reader.clone_stats};
      }
      reader.packets.clear();
      EXPECT_TRUE(replay.session().ReadBuffer(buffer, {}));
      return {reader.packets, replay.session().buffers().at(buffer).engine->stats()};
    }
    // An empty buffer in the place of the old one.
    if (cleared != nullptr || (cloned != nullptr && cloned->transfer)) {
      const BufferId id = cleared != nullptr ? cleared->buffer : cloned->buffer;
      EXPECT_TRUE(replay.Apply(Record(BufferFreed{id})));
      EXPECT_TRUE(replay.Apply(log.setups[Raw(id)]));
      continue;
    }
    if (cloned == nullptr) {
      EXPECT_TRUE(replay.Apply(op));
    }
  }
  ADD_FAILURE() << "no clone " << clone;
  return {};
}

TEST(CloneStreams, EachCloneEqualsAFreshReplayOfThePrefix) {
  constexpr uint32_t kStreams = 1000;
  const auto engines = Engines();
  uint64_t clones = 0, packets = 0;
  for (uint32_t seed = 0; seed < kStreams; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const RandomLog log(seed);
    ReplayOptions options;
    options.session.all.engine = engines[seed % engines.size()].name;
    options.reads.mode = ReadsMode::kRecorded;
    for (const CloneFacts& clone : Scan(log.ops).clones()) {
      ReplayOptions view = options;
      view.session.clone = FindMadeClone(Scan(log.ops).clones(), clone.clone).value();
      ReaderLog reader;
      LedgerSink nowhere;
      Ledger ledger(nowhere);
      CountedReplay replay(view, {&ledger, &reader});
      for (const Op& op : log.ops) {
        ASSERT_TRUE(replay.Apply(op));
        if (view.session.clone->IsEnd(op)) break;
      }
      ASSERT_TRUE(replay.Finish());
      std::vector<std::string> expected;
      for (const uint16_t id : {uint16_t{0}, uint16_t{1}}) {
        const FreshReplay fresh = ReplayPrefix(log, clone.clone, BufferId{id}, options);
        expected.insert(expected.end(), fresh.packets.begin(), fresh.packets.end());
        ASSERT_EQ(reader.stats.at(BufferId{id}), fresh.stats) << "buffer " << id;
      }
      ASSERT_EQ(reader.packets, expected);
      ASSERT_EQ(ledger.Check(), "");
      ++clones;
      packets += expected.size();
    }
    // The session's own consumer.
    LedgerSink nowhere;
    Ledger ledger(nowhere);
    CountedReplay replay(options, {&ledger});
    for (const Op& op : log.ops) ASSERT_TRUE(replay.Apply(op));
    ASSERT_TRUE(replay.Finish());
    ASSERT_EQ(ledger.Check(), "");
  }
  EXPECT_GT(clones, 2 * kStreams);
  EXPECT_GT(packets, 10 * kStreams);
}

}  // namespace
}  // namespace ringscope::testing
