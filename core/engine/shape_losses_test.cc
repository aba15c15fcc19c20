// What a buffer without payloads counts as lost is what the ledger finds by following each packet
// through a buffer with payloads.

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/testing/ledger_run.h"
#include "core/compare/random_stream.h"
#include "core/engine/catalogue.h"

namespace ringscope {
namespace {

struct Lost {
  uint64_t overwritten = 0;
  uint64_t overwritten_bytes = 0;
  uint64_t discarded = 0;
  uint64_t stuck = 0;

  friend bool operator==(const Lost&, const Lost&) = default;
  friend void PrintTo(const Lost& lost, std::ostream* out) {
    *out << "overwritten " << lost.overwritten << " of " << lost.overwritten_bytes
         << " B, discarded " << lost.discarded << ", stuck " << lost.stuck;
  }
};

/// The same steps through shapes, and through payloads with a ledger.
class LossTwins {
 public:
  LossTwins(const EngineInfo& info, const RandomStream& stream)
      : ledger_(
            LedgerRun::Create(info, stream.traits().size, stream.traits().policy, sink_).value()),
        shapes_(info.create_shapes({.size = stream.traits().size, .policy = stream.traits().policy},
                                   tally_)
                    .value()) {}

  void Apply(const RandomStream::Step& step) {
    ledger_->Apply(step);
    switch (step.kind) {
      case RandomStream::Kind::kCommit: {
        sequences_.insert(step.commit.sequence);
        const ChunkShape shape = ReadShape(step.commit, fragments_);
        ChunkCommit bare = step.commit;
        bare.payload = {};
        shapes_->CommitShape(bare, shape);
        break;
      }
      case RandomStream::Kind::kPatch:
        shapes_->ApplyPatches(step.patches);
        break;
      case RandomStream::Kind::kRead:
        Read(step.max_packets);
        break;
      case RandomStream::Kind::kClone:
        break;
    }
  }
  /// @return false: it took payloads to know
  bool Finish() {
    ledger_->Finish();
    Read(UINT64_MAX);
    const LedgerTotals& totals = ledger_->ledger().totals().at(BufferId{1});
    full_.overwritten = totals[Fate::kOverwritten].packets;
    full_.overwritten_bytes = totals[Fate::kOverwritten].bytes;
    full_.discarded = totals[Fate::kDiscarded].packets;
    full_.stuck = totals[Fate::kStalled].packets;
    for (const SequenceKey sequence : sequences_) {
      found_.discarded += tally_.discarded(sequence).packets;
      const uint32_t slot = shapes_->SlotOf(sequence);
      if (slot == KeyIndex::kNone) continue;
      found_.overwritten += tally_.overwritten(slot).packets;
      found_.overwritten_bytes += tally_.overwritten(slot).bytes;
    }
    found_.stuck = shapes_->TakeStuckPackets();
    return shapes_->failure() == nullptr;
  }
  const Lost& full() const { return full_; }
  const Lost& found() const { return found_; }
  bool failed() const { return shapes_->failure() != nullptr; }

 private:
  void Read(uint64_t max_packets) {
    shapes_->BeginRead();
    for (uint64_t i = 0; i < max_packets && shapes_->NextPacket() != nullptr; ++i) {
    }
  }

  LedgerSink sink_;
  std::unique_ptr<LedgerRun> ledger_;
  ShapeTally tally_;
  std::unique_ptr<ShapeEngine> shapes_;
  std::vector<ShapeFragment> fragments_;
  std::set<SequenceKey> sequences_;
  Lost full_;
  Lost found_;
};

struct Compared {
  uint64_t streams = 0;
  uint64_t overwritten = 0;
  uint64_t discarded = 0;
};

Compared Compare(const char* engine, Conduct conduct) {
  Compared compared;
  const EngineInfo& info = *FindEngine(engine).value();
  for (uint32_t seed = 0; seed < 400; ++seed) {
    RandomStream stream(seed, conduct);
    LossTwins twins(info, stream);
    for (int step = 0; step < 300 && !twins.failed(); ++step) twins.Apply(stream.Next());
    if (twins.failed() || !twins.Finish()) continue;
    Lost found = twins.found(), full = twins.full();
    // A packet that lacks a chunk at the end of the log, or whose rest was abandoned before its
    // beginning came, is stuck for the buffer, and lost for the ledger.
    if (stream.traits().losses || stream.traits().swaps) found.stuck = full.stuck;
    // Of what writers break, the ledger compares the bytes.
    if (conduct == Conduct::kHostile) found.discarded = full.discarded, found.stuck = full.stuck;
    EXPECT_EQ(found, full) << "seed " << seed;
    ++compared.streams;
    compared.overwritten += full.overwritten;
    compared.discarded += full.discarded;
  }
  return compared;
}

TEST(ShapeLosses, V1OfCorrectStreams_AreTheLedgers) {
  const Compared compared = Compare("v1", Conduct::kCorrect);
  EXPECT_GT(compared.streams, 200u);
  EXPECT_GT(compared.overwritten, 1000u);
  EXPECT_GT(compared.discarded, 1000u);
}

TEST(ShapeLosses, V2OfCorrectStreams_AreTheLedgers) {
  const Compared compared = Compare("v2@58", Conduct::kCorrect);
  EXPECT_GT(compared.streams, 200u);
  EXPECT_GT(compared.overwritten, 1000u);
  EXPECT_GT(compared.discarded, 1000u);
}

TEST(ShapeLosses, V1OfHostileStreams_OverwrittenPacketsAreTheLedgers) {
  EXPECT_GT(Compare("v1", Conduct::kHostile).streams, 5u);
}

}  // namespace
}  // namespace ringscope
