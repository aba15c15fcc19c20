#include "core/doctor/trace_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/doctor/writer_shares.h"
#include "core/perfetto/fields.h"
#include "core/testing/message_text.h"

namespace ringscope {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;

constexpr uint64_t kSecond = 1'000'000'000;

/// Of ten seconds: a V2 ring of 100 KiB to which 1,000 KiB were written, and a buffer of 64 KiB
/// that discards and needed less.
TraceFacts OverwrittenTrace() {
  TraceFacts facts;
  facts.all.span = TimeSpan{0, 10 * int64_t{kSecond}};
  facts.stats_packets = 1;
  using testing::MessageText;
  const auto buffer = [](uint64_t size_kb, uint64_t policy) {
    constexpr uint64_t kV2 = 1;
    return MessageText()
        .Uint(proto::BufferConfig::kSizeKb, size_kb)
        .Uint(proto::BufferConfig::kFillPolicy, policy)
        .Uint(proto::BufferConfig::kExperimentalMode, kV2);
  };
  const MessageText config = MessageText()
                                 .Inner(proto::TraceConfig::kBuffers, buffer(100, 1))
                                 .Inner(proto::TraceConfig::kBuffers, buffer(64, 2));
  facts.config = config.text();
  TraceBuffer& ring = facts.buffers.emplace_back();
  ring.has_stats = true;
  ring.stats.buffer_size = 100 << 10;
  ring.stats.bytes_written = 1000 << 10;
  ring.stats.bytes_overwritten = 900 << 10;
  ring.stats.chunks_written = 1000;
  ring.stats.chunks_overwritten = 900;
  TraceBuffer& other = facts.buffers.emplace_back();
  other.has_stats = true;
  other.stats.buffer_size = 64 << 10;
  other.stats.bytes_written = 1 << 10;
  other.stats.chunks_written = 1;
  return facts;
}

TraceSizes Estimated(const TraceFacts& facts, std::optional<uint64_t> keep_ns = {}) {
  return EstimateSizes(facts, Diagnose(facts), keep_ns);
}

TEST(TraceSizes, AreThoseOfTheDiagnosis) {
  const TraceFacts facts = OverwrittenTrace();
  const TraceSizes sizes = Estimated(facts);
  ASSERT_EQ(sizes.buffers.size(), 2u);
  const EstimatedBuffer& ring = sizes.buffers[0];
  EXPECT_EQ(ring.lost, uint64_t{900} << 10);
  EXPECT_EQ(ring.reach_ns, kSecond);
  EXPECT_EQ(ring.planned, uint64_t{1152} << 10) << "an eighth more than was written";
  EXPECT_EQ(ring.planned_reach_ns, kSecond * 1152 / 100);
  EXPECT_EQ(sizes.buffers[1].planned, sizes.buffers[1].size);
  EXPECT_FALSE(sizes.buffers[1].reach_ns) << "it discards";
  const std::vector<ConfigChange> changes = ChangesOf(Diagnose(facts));
  EXPECT_EQ(sizes.changes.size(), changes.size());
}

TEST(TraceSizes, ReachBackAsFarAsIsWantedAndAQuarterMore) {
  const TraceSizes sizes = Estimated(OverwrittenTrace(), 4 * kSecond);
  EXPECT_EQ(sizes.buffers[0].planned, uint64_t{500} << 10);
  EXPECT_EQ(sizes.buffers[0].planned_reach_ns, 5 * kSecond);
  EXPECT_THAT(sizes.changes,
              ::testing::Contains(::testing::AllOf(Field(&ConfigChange::path, "buffers[0].size_kb"),
                                                   Field(&ConfigChange::value, "500"))));
  // What reaches back far enough keeps its size.
  const TraceSizes less = Estimated(OverwrittenTrace(), kSecond / 2);
  EXPECT_EQ(less.buffers[0].planned, less.buffers[0].size);
  for (const ConfigChange& change : less.changes) EXPECT_NE(change.path, "buffers[0].size_kb");
}

TEST(TraceSizes, AreNotKnownWithoutStatistics) {
  TraceFacts facts = OverwrittenTrace();
  facts.buffers.clear();
  const TraceSizes sizes = Estimated(facts);
  ASSERT_EQ(sizes.buffers.size(), 2u);
  EXPECT_FALSE(sizes.buffers[0].written);
  EXPECT_EQ(sizes.buffers[0].planned, uint64_t{100} << 10);
}

TEST(WriterShares, AreOfAllThatWasWrittenIfTheServiceCountsIt) {
  TraceFacts facts = OverwrittenTrace();
  TraceSequence& left = facts.sequences.emplace_back();
  left.id = 7;
  left.pid = 40;
  left.all = {3, 300, {}};
  EXPECT_FALSE(WriterSharesOf(facts).of_all);
  facts.writers = {{7, 0, 10, 1000}, {8, 0, 90, 9000}};
  const WriterShares shares = WriterSharesOf(facts);
  EXPECT_TRUE(shares.of_all);
  EXPECT_EQ(shares.bytes, 10'000u);
  EXPECT_THAT(shares.writers,
              ElementsAre(Field(&WriterShare::sequence, 8u), Field(&WriterShare::sequence, 7u)));
  EXPECT_EQ(shares.writers[0].packets_left, 0u) << "all of it is lost";
  EXPECT_EQ(shares.writers[1].name, "pid 40");
  facts.buffers[1].stats.chunks_discarded = 1;
  EXPECT_FALSE(WriterSharesOf(facts).of_all) << "what was discarded is in no account";
}

}  // namespace
}  // namespace ringscope
