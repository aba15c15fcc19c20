#include "formats/inputs/result_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "formats/inputs/input_kind.h"
#include "formats/testing/testdata.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using testing::TestdataPath;

Result<ReplayOutput> Events(std::string text) {
  return ReadEvents(MakeMemorySource(std::move(text), "a.events.jsonl"));
}

/// The error of a text whose second line is this.
std::string ErrorOf(const std::string& line) {
  const auto file = Events("{\"event\":\"patch\",\"ok\":true}\n" + line + "\n");
  return file ? "" : file.error().ToString();
}

TEST(ResultReader, Events_GoIntoTheirSequences) {
  const auto file = Events(
      "# what happened\n"
      R"({"event":"patch","ok":false})"
      "\n"
      R"({"event":"packet","buffer":1,"producer":2,"writer":3,"uid":7,"pid":8,"dropped":3,"size":5,"fnv1a64":"00000000000000ff"})"
      "\n"
      R"({"event":"packet","buffer":1,"producer":2,"writer":4,"size":5,"fnv1a64":"0000000000000001"})"
      "\n"
      R"({"event":"packet","buffer":1,"producer":2,"writer":3,"size":6,"fnv1a64":"0000000000000100"})"
      "\n"
      R"({"event":"read_done","buffer":1,"packets":3})"
      "\n"
      R"({"event":"clone_packet","buffer":1,"producer":2,"writer":3,"size":6,"fnv1a64":"0000000000000100"})"
      "\n"
      R"({"event":"clone_done","buffer":1,"packets":1,"stats":{}})"
      "\n"
      R"({"event":"stats","buffer":1,"stats":{"chunks_written":4,"not_known":5}})"
      "\n");
  ASSERT_TRUE(file) << file.error().ToString();
  ASSERT_EQ(file->sequences.size(), 3u);
  const OutputSequence& first = file->sequences[0];
  EXPECT_EQ(first.name, "2:3");
  EXPECT_EQ(first.identity, (Identity{7, 8}));
  ASSERT_EQ(first.packets.size(), 2u);
  EXPECT_EQ(first.packets[0].hash, 0xFFu);
  EXPECT_EQ(first.packets[0].loss_bits, 3u);
  EXPECT_EQ(first.packets[1].hash, 0x100u);
  EXPECT_EQ(first.packets[1].position, 2u);
  EXPECT_EQ(file->sequences[2].group.clone, 1u);
  EXPECT_EQ(file->packets, 4u);
  EXPECT_EQ(file->stats.at(1).chunks_written, 4u);
  ASSERT_EQ(file->patches.size(), 1u);
  EXPECT_FALSE(file->patches[0]);
}

TEST(ResultReader, BrokenEvents_AreNamedByLineAndKey) {
  EXPECT_THAT(ErrorOf("{"), HasSubstr("a.events.jsonl:2: "));
  EXPECT_THAT(ErrorOf("[]"), HasSubstr("expected a JSON object"));
  EXPECT_THAT(ErrorOf("{}"), HasSubstr("event"));
  EXPECT_THAT(ErrorOf(R"({"event":"packet","buffer":1})"), HasSubstr("producer"));
  EXPECT_THAT(ErrorOf(R"({"event":"packet","buffer":70000})"), HasSubstr("buffer"));
  EXPECT_THAT(
      ErrorOf(
          R"({"event":"packet","buffer":1,"producer":1,"writer":1,"size":1,"fnv1a64":"0102030405060708090a"})"),
      HasSubstr("fnv1a64"));
  EXPECT_THAT(ErrorOf(R"({"event":"stats","buffer":1})"), HasSubstr("stats"));
  EXPECT_THAT(ErrorOf(R"({"event":"stats","buffer":1,"stats":{"chunks_read":-1}})"),
              HasSubstr("stats.chunks_read"));
  EXPECT_EQ(ErrorOf(R"({"event":"something new"})"), "");
}

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
