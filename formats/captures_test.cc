// Real sessions: imported to a commit log and replayed, they give the very trace that the service
// wrote, packet for packet and counter for counter.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "core/replay.h"
#include "formats/commit_log_writer.h"
#include "formats/log_source.h"
#include "formats/perfetto_trace.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

std::string CapturePath(const std::string& capture, const std::string& file) {
  return std::string(RS_TESTDATA) + "/captures/" + capture + "/" + file;
}

/// The capture's operations as a commit log, in memory.
std::string Import(const std::string& capture) {
  StringSink sink;
  auto log = OpenLog(CapturePath(capture, "session.ops.jsonl.zst")).value();
  auto writer = CommitLogWriter::Create(sink).value();
  EXPECT_TRUE(writer->Append({.time_ns = {}, .body = ImportHeader()}));
  while (true) {
    const std::optional<Op> op = log->Next().value();
    if (!op) break;
    EXPECT_TRUE(writer->Append(*op));
  }
  EXPECT_TRUE(writer->Close());
  return std::move(sink.text);
}

class TraceSink : public SessionSink {
 public:
  explicit TraceSink(TraceWriter& writer) : writer_(writer) {}
  Status OnPacket(const SessionPacket& packet) override { return writer_.AddPacket(packet); }

 private:
  TraceWriter& writer_;
};

std::string ReplayToTrace(std::string log_bytes, ReplayOptions options = {}) {
  StringSink out;
  TraceWriter writer(out);
  TraceSink sink(writer);
  Replay replay(std::move(options), sink);
  auto log = OpenLog(MakeMemorySource(std::move(log_bytes))).value();
  while (true) {
    const std::optional<Op> op = log->Next().value();
    if (!op) break;
    EXPECT_TRUE(replay.Apply(*op));
  }
  EXPECT_TRUE(replay.Finish());
  EXPECT_TRUE(writer.AddTraceStats(replay.session()));
  EXPECT_TRUE(writer.Finish());
  return std::move(out.text);
}

/// What of a packet must be equal; sequence ids are equal up to a renaming.
struct ComparedPacket {
  std::string content;
  uint32_t sequence_id;
  std::optional<int32_t> uid;
  uint32_t dropped;
};

struct ComparedTrace {
  std::vector<ComparedPacket> packets;              // of producers
  std::vector<std::map<uint32_t, uint64_t>> stats;  // by buffer: BufferStats by field number
};

constexpr uint32_t kTraceStatsField = 35;

void AddBufferStats(Bytes trace_stats, ComparedTrace& trace) {
  wire::FieldReader fields(trace_stats);
  while (const auto field = fields.Next()) {
    if (field->number != 1) continue;  // buffer_stats
    auto& stats = trace.stats.emplace_back();
    wire::FieldReader values(field->bytes);
    while (const auto value = values.Next())
      if (value->value != 0) stats[value->number] = value->value;
  }
}

ComparedTrace Read(std::unique_ptr<ByteSource> source) {
  ComparedTrace trace;
  auto reader = TraceReader::Open(std::move(source)).value();
  while (true) {
    const auto packet = reader->Next().value();
    if (!packet) break;
    if (packet->sequence_id != kServiceSequenceId) {
      trace.packets.push_back({std::string(wire::AsText(packet->content)), packet->sequence_id,
                               packet->trusted_uid, packet->dropped});
      continue;
    }
    wire::FieldReader fields(packet->bytes);
    while (const auto field = fields.Next())
      if (field->number == kTraceStatsField) AddBufferStats(field->bytes, trace);
  }
  return trace;
}

class CaptureTest : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(V2, CaptureTest,
                         ::testing::Values("discard-v2", "lossless-v2", "ring-v2", "short-v2",
                                           "two-buffers-v2"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

void ExpectSamePackets(const ComparedTrace& expected, const ComparedTrace& found) {
  std::map<uint32_t, uint32_t> renamed, back;
  ASSERT_EQ(found.packets.size(), expected.packets.size());
  for (size_t i = 0; i < expected.packets.size(); ++i) {
    const ComparedPacket &e = expected.packets[i], &f = found.packets[i];
    ASSERT_EQ(f.content, e.content) << "packet " << i;
    ASSERT_EQ(f.uid, e.uid) << "packet " << i;
    ASSERT_EQ(f.dropped, e.dropped) << "packet " << i;
    ASSERT_EQ(renamed.try_emplace(e.sequence_id, f.sequence_id).first->second, f.sequence_id);
    ASSERT_EQ(back.try_emplace(f.sequence_id, e.sequence_id).first->second, e.sequence_id);
  }
}

TEST_P(CaptureTest, ReplayEqualsTheServicesTrace) {
  const ComparedTrace expected =
      Read(OpenByteSource(CapturePath(GetParam(), "trace.pftrace.zst")).value());
  const ComparedTrace found = Read(MakeMemorySource(ReplayToTrace(Import(GetParam()))));
  ASSERT_GT(expected.packets.size(), 1000u);
  ExpectSamePackets(expected, found);
  EXPECT_EQ(found.stats, expected.stats);
}

// The session on the buffer of old. One counter depends on where the service's read passes began.
TEST(V1CaptureTest, ReplayEqualsTheServicesTrace) {
  constexpr uint32_t kReadaheadsFailed = 8;
  ComparedTrace expected =
      Read(OpenByteSource(CapturePath("ring-v1", "trace.pftrace.zst")).value());
  ComparedTrace found = Read(MakeMemorySource(ReplayToTrace(Import("ring-v1"))));
  ExpectSamePackets(expected, found);
  ASSERT_EQ(expected.stats.size(), 1u);
  ASSERT_EQ(found.stats.size(), 1u);
  expected.stats[0].erase(kReadaheadsFailed);
  found.stats[0].erase(kReadaheadsFailed);
  EXPECT_EQ(found.stats, expected.stats);
}

// As the service read it: in passes of 32 KiB.
TEST_P(CaptureTest, PassesOf32KiBGiveTheSamePackets) {
  ReplayOptions options;
  options.pass_bytes = 32768;
  const ComparedTrace expected =
      Read(OpenByteSource(CapturePath(GetParam(), "trace.pftrace.zst")).value());
  ExpectSamePackets(expected, Read(MakeMemorySource(ReplayToTrace(Import(GetParam()), options))));
}

TEST(CommitLogSize, LosslessCaptureIsSmallerThanItsTextUnderZstd3) {
  EXPECT_LT(Import("lossless-v2").size(), 1'126'730u);
}

}  // namespace
}  // namespace ringscope
