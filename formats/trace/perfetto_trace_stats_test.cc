// The TraceStats that a replay of a real session writes, next to the service's own.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/wire.h"
#include "core/session/replay.h"
#include "formats/ops/ops_jsonl.h"
#include "formats/testing/string_sink.h"
#include "formats/testing/testdata.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope {
namespace {

using Numbers = std::vector<uint64_t>;

/// One entry of writer_stats, but for its sequence id: those are arbitrary.
struct WriterEntry {
  uint64_t buffer = 0;
  Numbers counts;
  Numbers sums;
  friend auto operator<=>(const WriterEntry&, const WriterEntry&) = default;
};

struct TraceStats {
  std::vector<std::vector<uint32_t>> buffer_fields;  // by buffer: the fields that are there
  Numbers histogram_limits;
  std::vector<WriterEntry> writers;  // sorted
  std::set<uint64_t> sequence_ids;
  std::map<uint32_t, uint64_t> counters;  // the service's
};

Numbers Unpack(Bytes packed) {
  Numbers numbers;
  while (!packed.empty()) {
    const wire::Varint varint = wire::ReadVarint(packed);
    if (varint.size == 0) break;
    numbers.push_back(varint.value);
    packed = packed.subspan(varint.size);
  }
  return numbers;
}

TraceStats Decode(Bytes message) {
  TraceStats stats;
  wire::FieldReader fields(message);
  while (const auto field = fields.Next()) {
    if (field->number == 1) {
      auto& numbers = stats.buffer_fields.emplace_back();
      wire::FieldReader values(field->bytes);
      while (const auto value = values.Next()) numbers.push_back(value->number);
    } else if (field->number == 17) {
      stats.histogram_limits.push_back(field->value);
    } else if (field->number == 18) {
      WriterEntry& writer = stats.writers.emplace_back();
      wire::FieldReader values(field->bytes);
      while (const auto value = values.Next()) {
        if (value->number == 1) stats.sequence_ids.insert(value->value);
        if (value->number == 2) writer.counts = Unpack(value->bytes);
        if (value->number == 3) writer.sums = Unpack(value->bytes);
        if (value->number == 4) writer.buffer = value->value;
      }
    } else {
      stats.counters[field->number] = field->value;
    }
  }
  std::ranges::sort(stats.writers);
  return stats;
}

/// The last TraceStats of a trace.
TraceStats StatsOf(std::unique_ptr<ByteSource> trace) {
  TraceStats stats;
  const auto reader = TraceReader::Open(std::move(trace)).value();
  for (RawPacket packet; reader->Next(packet).value();) {
    wire::FieldReader fields(packet.bytes);
    while (const auto field = fields.Next())
      if (field->number == 35) stats = Decode(field->bytes);
  }
  return stats;
}

TraceStats ReplayedStats(const std::string& capture) {
  ReplayListener nothing;
  Replay replay({}, nothing);
  const auto ops = MakeOpsReader(
      MakeMemorySource(testing::ReadTestdata("captures/" + capture + "/session.ops.jsonl.zst")),
      LogFormat::kOps);
  while (const auto op = ops->Next().value()) EXPECT_TRUE(replay.Apply(*op));
  EXPECT_TRUE(replay.Finish());
  StringSink sink;
  TraceWriter writer(sink);
  EXPECT_TRUE(writer.OnLogEnd(replay.session()));
  EXPECT_TRUE(writer.Finish());
  return StatsOf(MakeMemorySource(sink.text));
}

// A log has no id of a buffer that nobody writes to; the config has it.
TEST(TraceStatsOfReplay, HasTheBuffersThatNobodyWritesTo) {
  const std::vector<ConfiguredBuffer> configured = {
      {.size_kb = 4}, {.size_kb = 8}, {.size_kb = 12}};
  ReplayListener nothing;
  Replay replay({}, nothing);
  ASSERT_TRUE(replay.Apply(
      {.time_ns = {}, .body = BufferSetUp{.id = BufferId{7}, .index = 1, .size = 8192}}));
  const std::string stats = EncodeTraceStats(replay.session(), {}, {}, configured);
  std::vector<uint64_t> sizes;
  for (const BufferStats& buffer : ReadTraceStats(wire::AsBytes(stats)))
    sizes.push_back(buffer.buffer_size);
  EXPECT_EQ(sizes, (std::vector<uint64_t>{4096, 8192, 12288}));
}

class TraceStatsOfCapture : public ::testing::TestWithParam<const char*> {};

TEST_P(TraceStatsOfCapture, AreTheServices) {
  const std::string capture = GetParam();
  const auto path = testing::TestdataPath("captures/" + capture + "/trace.pftrace.zst");
  const TraceStats expected = StatsOf(OpenByteSource(path.string()).value());
  const TraceStats found = ReplayedStats(capture);
  EXPECT_EQ(found.histogram_limits, expected.histogram_limits);
  EXPECT_EQ(found.writers, expected.writers);
  EXPECT_EQ(found.sequence_ids.size(), found.writers.size());
  EXPECT_EQ(found.sequence_ids, expected.sequence_ids);  // 2, 3, ...
  EXPECT_EQ(found.buffer_fields.size(), expected.buffer_fields.size());
  for (const auto& fields : found.buffer_fields)
    EXPECT_EQ(std::set<uint32_t>(fields.begin(), fields.end()).size(), kStatFields.size());
  // Of the service's own counters, those that its ops determine.
  for (const uint32_t number : {3u, 6u, 7u, 8u, 9u, 10u})
    EXPECT_EQ(found.counters.at(number), expected.counters.at(number)) << "field " << number;
}

INSTANTIATE_TEST_SUITE_P(Captures, TraceStatsOfCapture,
                         ::testing::Values("discard-v2", "lossless-v2", "ring-v2", "short-v2",
                                           "two-buffers-v2"),
                         testing::NameOfParam<const char*>);

}  // namespace
}  // namespace ringscope
