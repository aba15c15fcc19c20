#ifndef RINGSCOPE_CORE_TESTING_MADE_SESSION_H_
#define RINGSCOPE_CORE_TESTING_MADE_SESSION_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/gaps/gap_analysis.h"
#include "core/session/replay.h"
#include "core/testing/chunk_dsl.h"
#include "core/testing/session_log.h"

namespace ringscope::testing {

/// Fills with a byte that makes well-formed packets of an even size: field 6, a varint.
inline constexpr char kFillGaps = '\x30';

inline constexpr uint64_t kGapMs = 1'000'000;

/// What all buffers of a report lost.
inline FateCount LostIn(const GapReport& report) {
  FateCount sum;
  for (const BufferGaps& buffer : report.buffers) sum += buffer.totals.lost();
  return sum;
}

/// A session in the making; each step takes a millisecond.
class MadeSession {
 public:
  explicit MadeSession(const std::string& engine, uint64_t size = 4096,
                       FillPolicy policy = FillPolicy::kRingBuffer) {
    BufferSetUp setup;
    setup.id = BufferId{1};
    setup.size = size;
    setup.policy = policy;
    setup.engine = engine;
    Add({.time_ns = {}, .body = setup});
  }

  MadeSession& Commit(const Chunk& chunk) {
    requests_.push_back(std::make_unique<Request>(Raw(chunk.commit().sequence.producer)));
    return Add(requests_.back()->Move(1, chunk).op());
  }
  MadeSession& Patch(uint16_t writer, uint32_t chunk, uint64_t offset,
                     std::string_view bytes = "0000") {
    requests_.push_back(std::make_unique<Request>(uint16_t{1}));
    return Add(requests_.back()->Patch(1, writer, chunk, offset, bytes).op());
  }
  MadeSession& Read() { return Add({.time_ns = {}, .body = ReadPass{}}); }
  MadeSession& Wait(uint64_t ms) {
    now_ += ms * kGapMs;
    return *this;
  }
  /// All chunks of one request.
  MadeSession& CommitAll(const std::vector<Chunk>& chunks) {
    requests_.push_back(std::make_unique<Request>(Raw(chunks.front().commit().sequence.producer)));
    for (const Chunk& chunk : chunks) requests_.back()->Move(1, chunk);
    return Add(requests_.back()->op());
  }
  MadeSession& Add(Op op) {
    op.time_ns = now_ += kGapMs;
    ops_.push_back(op);
    return *this;
  }

  /// Replays it. @param size 0: as set up
  GapReport Report(uint64_t size = 0, uint64_t every_ns = 0) const {
    GapAnalysis analysis;
    Ledger ledger(analysis);
    ReplayOptions options;
    if (size != 0) options.session.all.size = size;
    if (every_ns != 0) options.reads.mode = ReadsMode::kEvery;
    options.reads.every_ns = every_ns;
    Replay replay(options, {&ledger, &analysis});
    for (const Op& op : ops_) {
      EXPECT_TRUE(replay.Apply(op));
    }
    EXPECT_TRUE(replay.Finish());
    EXPECT_TRUE(replay.Drain());
    EXPECT_EQ(ledger.Check(), "");
    return analysis.Finish(ledger.totals());
  }

 private:
  std::vector<std::unique_ptr<Request>> requests_;
  std::vector<Op> ops_;
  uint64_t now_ = 1000 * kGapMs;
};

inline SequenceKey Key(uint16_t producer, uint16_t writer) {
  return {ProducerId{producer}, WriterId{writer}};
}

inline const SequenceGaps& Of(const GapReport& report, uint16_t producer, uint16_t writer) {
  for (const SequenceGaps& sequence : report.buffers.at(0).sequences)
    if (sequence.sequence == Key(producer, writer)) return sequence;
  static const SequenceGaps kNone;
  ADD_FAILURE() << "no sequence " << producer << ":" << writer;
  return kNone;
}

/// The only gap of a sequence.
inline Gap OnlyGap(const GapReport& report, uint16_t producer = 1, uint16_t writer = 1) {
  const SequenceGaps& sequence = Of(report, producer, writer);
  EXPECT_EQ(sequence.gaps.size(), 1u);
  return sequence.gaps.empty() ? Gap() : sequence.gaps.front();
}

/// A chunk of one packet that occupies 1024 bytes.
inline Chunk Kilo(uint16_t producer, uint16_t writer, uint32_t id) {
  return Chunk(producer, writer, id).Whole(1006, kFillGaps);
}

}  // namespace ringscope::testing

#endif  // RINGSCOPE_CORE_TESTING_MADE_SESSION_H_
