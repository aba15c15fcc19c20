// The loss report over everything that testdata holds: gaps add up to the ledger, and the remedies
// that it names help.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "core/gaps/gap_analysis.h"
#include "core/session/replay.h"
#include "core/testing/made_session.h"
#include "formats/inputs/open_log.h"
#include "formats/io/log_source.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

struct How {
  std::string engine;                  // empty: the log's
  std::map<BufferId, uint64_t> sizes;  // stronger than the log's
  uint64_t every_ns = 0;               // 0: reads as recorded
  bool plain = false;
};

GapReport Report(const std::string& path, const How& how) {
  GapAnalysis analysis;
  Ledger ledger(analysis);
  ReplayOptions options;
  if (!how.engine.empty()) options.session.all.engine = how.engine;
  for (const auto& [id, size] : how.sizes) options.session.buffers[id].size = size;
  if (how.every_ns != 0) options.reads.mode = ReadsMode::kEvery;
  options.reads.every_ns = how.every_ns;
  options.plain_streams_as_recorded = how.plain;
  Replay replay(options, {&ledger, &analysis});
  auto log = OpenLog(testing::TestdataPath(path)).value();
  while (const std::optional<Op> op = log->Next().value()) EXPECT_TRUE(replay.Apply(*op));
  EXPECT_TRUE(replay.Finish());
  EXPECT_TRUE(replay.Drain());
  return analysis.Finish(ledger.totals());
}

/// Each buffer's gaps hold just what the ledger calls lost, fate by fate.
void ExpectAddsUp(const GapReport& report) {
  for (const BufferGaps& buffer : report.buffers) {
    FateCount in_gaps, own_fault, written;
    std::array<FateCount, kFates> by_fate{};
    for (const SequenceGaps& sequence : buffer.sequences) {
      written += sequence.written();
      EXPECT_EQ(sequence.unlisted_gaps, 0u);
      for (const Gap& gap : sequence.gaps) {
        in_gaps += gap.lost;
        own_fault += gap.own_fault;
        FateCount causes, contents, dropped;
        for (const CauseCount& cause : gap.causes) {
          by_fate[static_cast<size_t>(cause.fate)] += cause.count;
          (cause.fate == Fate::kWriterDropped ? dropped : causes) += cause.count;
        }
        EXPECT_EQ(gap.places, dropped.packets);
        for (const ContentCount& content : gap.contents) contents += content.count;
        EXPECT_EQ(causes, gap.lost);
        EXPECT_EQ(contents, gap.lost);
      }
    }
    EXPECT_EQ(written, buffer.totals.written);
    EXPECT_EQ(in_gaps, buffer.totals.lost());
    EXPECT_EQ(own_fault, buffer.totals.own_fault);
    for (size_t i = 0; i < kFates; ++i) {
      if (IsLoss(static_cast<Fate>(i))) {
        EXPECT_EQ(by_fate[i], buffer.totals.by_fate[i]) << Name(static_cast<Fate>(i));
      }
    }
  }
}

/// The size with which each buffer would have kept everything.
std::map<BufferId, uint64_t> SizesThatHelp(const GapReport& report) {
  std::map<BufferId, uint64_t> sizes;
  for (const BufferGaps& buffer : report.buffers)
    for (const SequenceGaps& sequence : buffer.sequences)
      for (const Gap& gap : sequence.gaps)
        if (gap.remedies.buffer_size)
          sizes[buffer.id] = std::max(sizes[buffer.id], *gap.remedies.buffer_size);
  return sizes;
}

TEST(GapsOverTestdata, ConformanceCasesAddUp) {
  for (const char* engine : {"v1", "v2@54", "v2@55", "v2@56", "v2@57", "v2@58"}) {
    for (const std::string& path : testing::ListTestdata("conformance/cases", ".zst")) {
      SCOPED_TRACE(path + " " + engine);
      ExpectAddsUp(Report(path, {.engine = engine, .sizes = {}, .plain = true}));
    }
  }
}

class GapsOverCaptures : public ::testing::TestWithParam<const char*> {
 protected:
  std::string path() const {
    return std::string("captures/") + GetParam() + "/session.ops.jsonl.zst";
  }
};

INSTANTIATE_TEST_SUITE_P(Captures, GapsOverCaptures, testing::AllCaptures(),
                         testing::NameOfParam<const char*>);

// Read at the end, and several times: gaps within sequences.
TEST_P(GapsOverCaptures, AddUp_AndTheSizesHelp) {
  for (const uint64_t every_ns : {uint64_t{0}, uint64_t{300'000'000}}) {
    SCOPED_TRACE(every_ns);
    const How how{.engine = "", .sizes = {}, .every_ns = every_ns};
    const GapReport report = Report(path(), how);
    ExpectAddsUp(report);
    const std::map<BufferId, uint64_t> sizes = SizesThatHelp(report);
    EXPECT_EQ(sizes.empty(), testing::LostIn(report).packets == 0);
    How larger = how;
    larger.sizes = sizes;
    EXPECT_EQ(testing::LostIn(Report(path(), larger)).packets, 0u);
  }
}

// Every lost packet has the commit that it was overwritten for, or what filled its buffer.
TEST_P(GapsOverCaptures, LostPackets_HaveWhatTookTheirSpace) {
  const GapReport report = Report(path(), {});
  for (const BufferGaps& buffer : report.buffers) {
    uint64_t evicted = 0;
    bool is_full = false;
    for (const SequenceGaps& sequence : buffer.sequences)
      for (const Gap& gap : sequence.gaps) {
        evicted += gap.evicted();
        for (const CauseCount& cause : gap.causes)
          is_full |= cause.cause == Cause::kSealed || cause.cause == Cause::kFull;
      }
    EXPECT_EQ(evicted, buffer.totals[Fate::kOverwritten].packets);
    EXPECT_EQ(buffer.filled_by.empty(), !is_full);
  }
}

TEST(GapsOverLossless, NothingIsReported) {
  const GapReport report = Report("captures/lossless-v2/session.ops.jsonl.zst", {});
  EXPECT_EQ(testing::LostIn(report).packets, 0u);
  EXPECT_TRUE(report.stale.empty());
  for (const SequenceGaps& sequence : report.buffers.at(0).sequences) {
    EXPECT_TRUE(sequence.gaps.empty());
    EXPECT_TRUE(sequence.false_flags.empty());
    EXPECT_EQ(sequence.unusable.count.packets, 0u);
  }
}

}  // namespace
}  // namespace ringscope
