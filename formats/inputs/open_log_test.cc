#include "formats/inputs/open_log.h"

#include <gtest/gtest.h>

#include <string>

#include "core/perfetto/fields.h"
#include "core/perfetto/packet_facts.h"
#include "formats/inputs/input_kind.h"
#include "formats/testing/testdata.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope {
namespace {

using testing::TestdataPath;

TEST(ResultReader, Trace_LeavesTheServiceOutAndKeepsItsCounters) {
  auto source = OpenByteSource(TestdataPath("captures/ring-v2/trace.pftrace.zst").string());
  ASSERT_TRUE(source);
  const auto file = ReadTraceResults(std::move(*source));
  ASSERT_TRUE(file) << file.error().ToString();
  EXPECT_EQ(file->packets, 4912u);
  EXPECT_GT(file->service_packets, 0u);
  ASSERT_EQ(file->stats.size(), 1u);
  EXPECT_EQ(file->stats.at(0).chunks_read, 64u);
  for (const OutputSequence& sequence : file->sequences) EXPECT_NE(sequence.name, "1");
}

// The file of a session that was cloned: the trace so far, then that of the clone.
TEST(ResultReader, SecondTraceOfAFile_HasSequencesOfItsOwn) {
  std::string trace;
  const auto add = [&](uint32_t sequence, uint32_t field, const std::string& content) {
    std::string packet;
    wire::AppendBytes(packet, field, wire::AsBytes(content));
    AppendTrustedFields(packet, Identity{.uid = 1, .pid = 2}, sequence, 0);
    wire::AppendBytes(trace, proto::Trace::kPacket, wire::AsBytes(packet));
  };
  for (const std::string content : {"a", "b"}) {
    add(kServiceSequenceId, proto::TracePacket::kTraceConfig, "");
    add(kServiceSequenceId, proto::TracePacket::kTraceUuid, "");
    add(2, 900, content);
    add(2, 900, content);
  }
  const auto file = ReadTraceResults(MakeMemorySource(trace));
  ASSERT_TRUE(file) << file.error().ToString();
  ASSERT_EQ(file->sequences.size(), 2u);
  EXPECT_EQ(file->sequences[0].name, "2");
  EXPECT_EQ(file->sequences[1].name, "2 of trace 2");
  EXPECT_EQ(file->sequences[1].packets.size(), 2u);
}

TEST(ResultReader, TornTrace_IsAnError) {
  const auto file = ReadTraceResults(MakeMemorySource(std::string("\x0A\x20\x08", 3), "t"));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kCorrupt);
}

InputKind KindOfFile(const std::string& relative) {
  return FindInputKind(OpenByteSource(TestdataPath(relative).string()).value()).value().kind;
}

TEST(InputKind, IsFoundByContent) {
  EXPECT_EQ(KindOfFile("captures/ring-v2/session.ops.jsonl.zst"), InputKind::kLog);
  EXPECT_EQ(KindOfFile("captures/ring-v2/trace.pftrace.zst"), InputKind::kTrace);
  EXPECT_EQ(KindOfFile("captures/ring-v2/config.pbtxt"), InputKind::kOther);
  EXPECT_EQ(KindOfFile("inputs/plain.ops.jsonl"), InputKind::kLog);
  EXPECT_EQ(KindOfStart("{\"event\":\"patch\",\"ok\":false}\n"), InputKind::kEvents);
}

TEST(InputKind, LooksAhead_AndTheSourceStillHasAllOfItsBytes) {
  const std::string text = "# a comment\n{\"op\":\"note\",\"text\":\"x\"}\n";
  KnownInput input = FindInputKind(MakeMemorySource(text)).value();
  EXPECT_EQ(input.kind, InputKind::kLog);
  EXPECT_EQ(ReadAll(*input.source, text.size()).value(), text);
}

TEST(InputKind, ConformanceCases_AreLogsAndTheirAnswersEvents) {
  for (const std::string& path : testing::ListTestdata("conformance/cases", ".zst"))
    EXPECT_EQ(KindOfFile(path), InputKind::kLog) << path;
  for (const std::string& path : testing::ListTestdata("conformance/expected/v1", ".zst"))
    EXPECT_EQ(KindOfFile(path), InputKind::kEvents) << path;
}

}  // namespace
}  // namespace ringscope
