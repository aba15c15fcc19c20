#include "formats/inputs/log_excerpt.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "core/log/record_filter.h"
#include "formats/inputs/open_log.h"
#include "formats/testing/sample_log.h"

namespace ringscope {
namespace {

using testing::CommitOf;
using testing::HeaderOf;
using testing::OpList;
using testing::SameOps;
using testing::WriteLog;

constexpr size_t kSmallFrame = 200;

/// Records whose times are now and then missing, or go back.
OpList OddTimes(uint32_t seed, int count = 120) {
  std::mt19937 random(seed);
  OpList ops;
  ops.Add({}, HeaderOf("odd"));
  uint64_t now = 1000;
  for (int i = 0; i < count; ++i) {
    now += random() % 20;
    const uint64_t back = random() % 8 == 0 ? random() % 60 : 0;
    std::optional<uint64_t> time;
    if (random() % 5 != 0) time = now - std::min(now, back);
    if (i % 40 == 30)
      ops.Add(time, ProducerConnected{.producer = ProducerId{static_cast<uint16_t>(i)}});
    else
      ops.Add(time, Note{std::to_string(i) + std::string(random() % 60, '.')});
  }
  return ops;
}

/// The records that a filter keeps, with their numbers.
struct Kept {
  OpList ops;
  std::vector<uint64_t> numbers;
  uint64_t read = 0;
  std::vector<ProducerConnected> skipped_producers;
};
Kept KeptOf(LogSource& log, const RecordCriteria& criteria) {
  Kept kept;
  RecordFilter filter(criteria);
  while (true) {
    const Result<std::optional<Op>> op = log.Next();
    EXPECT_TRUE(op);
    if (!op || !*op) break;
    ++kept.read;
    if (!filter.Keeps(**op, log.record_number())) continue;
    kept.ops.Add(**op);
    kept.numbers.push_back(log.record_number());
  }
  EXPECT_EQ(log.damage_count(), 0u);
  EXPECT_TRUE(log.closed());
  return kept;
}
Kept KeptOfExcerpt(const std::string& log, const RecordCriteria& criteria) {
  std::unique_ptr<ByteSource> source = MakeMemorySource(log);
  auto excerpt = OpenLogExcerpt(source, {criteria.records, criteria.from, criteria.to}).value();
  if (!excerpt) return KeptOf(*OpenLog(MakeMemorySource(log)).value(), criteria);
  Kept kept = KeptOf(*excerpt->log, criteria);
  kept.skipped_producers = std::move(excerpt->skipped_producers);
  return kept;
}

/// Compares excerpts of random logs with the whole logs. @return the share of the records read
double CompareExcerpts(uint32_t seeds, int records, uint32_t last_time) {
  uint64_t read = 0, all = 0;
  for (uint32_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE(seed);
    const std::string log = WriteLog(OddTimes(seed, records), kSmallFrame);
    std::mt19937 random(seed + 1000);
    RecordCriteria criteria;
    const auto number = [&] { return random() % (static_cast<uint32_t>(records) + 10); };
    if (random() % 3 == 0) criteria.records = {number(), number()};
    const bool relative = random() % 2 == 0;
    const auto time = [&] {
      return TimePoint{(relative ? 0 : 1000) + random() % last_time, relative};
    };
    if (random() % 2 == 0) criteria.from = time();
    if (random() % 2 == 0) criteria.to = time();
    const Kept full = KeptOf(*OpenLog(MakeMemorySource(log)).value(), criteria);
    const Kept excerpt = KeptOfExcerpt(log, criteria);
    EXPECT_EQ(excerpt.numbers, full.numbers);
    EXPECT_TRUE(SameOps(excerpt.ops, full.ops));
    read += excerpt.read;
    all += full.read;
  }
  return static_cast<double>(read) / static_cast<double>(all);
}

TEST(LogExcerpt, HasAllThatAFilterKeeps) { EXPECT_LT(CompareExcerpts(200, 120, 1300), 0.5); }

// Some thousand frames: their index has a directory.
TEST(LogExcerpt, OfALongLogHasAllThatAFilterKeeps) {
  EXPECT_LT(CompareExcerpts(20, 9000, 90'000), 0.6);
}

TEST(LogExcerpt, NamesProducersOfWhatItLeavesOut) {
  const std::string log = WriteLog(OddTimes(1), kSmallFrame);
  RecordCriteria criteria;
  criteria.records = {100, 101};
  const Kept kept = KeptOfExcerpt(log, criteria);
  EXPECT_EQ(kept.numbers, (std::vector<uint64_t>{100, 101}));
  ASSERT_EQ(kept.skipped_producers.size(), 2u);
  EXPECT_EQ(Raw(kept.skipped_producers[1].producer), 70u);
  EXPECT_LT(kept.read, 30u);
}

TEST(LogExcerpt, LogsWithoutATrustedIndex_AreReadWhole) {
  const OpList ops = OddTimes(2);
  const auto excerpt_of = [](std::string log, const WantedRecords& wanted) {
    std::unique_ptr<ByteSource> source = MakeMemorySource(std::move(log));
    const bool found = OpenLogExcerpt(source, wanted).value().has_value();
    EXPECT_EQ(source == nullptr, found);
    return found;
  };
  const std::string log = WriteLog(ops, kSmallFrame);
  const WantedRecords wanted{.records = RecordRange{50, 60}, .from = {}, .to = {}};
  EXPECT_TRUE(excerpt_of(log, wanted));
  EXPECT_FALSE(excerpt_of(log, {}));
  EXPECT_FALSE(excerpt_of(log + log, wanted));
  EXPECT_FALSE(excerpt_of(log.substr(0, log.size() - 1), wanted));
  EXPECT_FALSE(excerpt_of(WriteLog(ops, kSmallFrame, /*close=*/false), wanted));
}

}  // namespace
}  // namespace ringscope
