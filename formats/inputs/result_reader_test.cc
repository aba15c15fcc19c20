#include "formats/inputs/result_reader.h"

#include <gtest/gtest.h>

#include <string>

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
