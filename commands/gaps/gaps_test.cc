#include "commands/gaps/gaps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "commands/report/json.h"
#include "commands/testing/memory_run.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

struct Outcome {
  ExitCode status = ExitCode::kFailed;
  std::string out;
};

Outcome Gaps(GapsArgs args, const char* capture = "ring-v2") {
  args.logs.logs = {std::string(RS_TESTDATA) + "/captures/" + capture + "/session.ops.jsonl.zst"};
  MemoryRun run;
  const Result<ExitCode> status = RunGaps(args, run.context);
  EXPECT_TRUE(status);
  return {status.value_or(ExitCode::kFailed), run.Output()};
}

std::vector<Json> JsonLines(const std::string& text) {
  std::vector<Json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(Json::parse(line));
  return lines;
}

SequenceKey Key(uint16_t producer, uint16_t writer) {
  return {ProducerId{producer}, WriterId{writer}};
}

TEST(GapsCommand, Status_SaysWhetherPacketsWereLost) {
  EXPECT_EQ(Gaps({}).status, ExitCode::kNotice);
  EXPECT_EQ(Gaps({}, "lossless-v2").status, ExitCode::kClean);
}

TEST(GapsCommand, Status_IsOfWhatTheFilterSelects) {
  GapsArgs other;
  other.filter.sequences = {Key(9, 9)};
  EXPECT_EQ(Gaps(other).status, ExitCode::kClean);
  GapsArgs cut;
  cut.filter.fates = {Fate::kCut};
  EXPECT_EQ(Gaps(cut).status, ExitCode::kClean);
  GapsArgs late;
  late.filter.from = TimePoint{.ns = 60'000'000'000, .relative = true};
  EXPECT_EQ(Gaps(late).status, ExitCode::kClean);
  GapsArgs evicted;
  evicted.filter.causes = {Cause::kEvicted};
  EXPECT_EQ(Gaps(evicted).status, ExitCode::kNotice);
}

// Every lost packet of the session, with the commit that took its room.
TEST(GapsCommand, Packets_AreAllListedWithTheirCulprits) {
  GapsArgs args;
  args.packets = true;
  args.format = "jsonl";
  const std::vector<Json> packets = JsonLines(Gaps(args).out);
  EXPECT_EQ(packets.size(), 123'378u);
  uint64_t bytes = 0;
  for (const Json& packet : packets) {
    ASSERT_EQ(packet["type"], "packet");
    ASSERT_EQ(packet["fate"], "overwritten");
    ASSERT_TRUE(packet["culprit"].is_string());
    bytes += packet["size"].get<uint64_t>();
  }
  args.packets = false;
  args.summary = true;
  for (const Json& line : JsonLines(Gaps(args).out)) {
    if (line["type"] != "buffer") continue;
    EXPECT_EQ(line["lost"]["packets"], packets.size());
    EXPECT_EQ(line["lost"]["bytes"], bytes);
  }
}

TEST(GapsCommand, Packets_NoneOfALosslessSession) {
  GapsArgs args;
  args.packets = true;
  args.format = "jsonl";
  EXPECT_EQ(Gaps(args, "lossless-v2").out, "");
}

TEST(GapsCommand, Json_HasTheSameGapsAsLinesAndRows) {
  GapsArgs args;
  args.choices.reads = {.mode = ReadsMode::kEvery, .every_ns = 300'000'000};
  args.format = "json";
  const Json document = Json::parse(Gaps(args).out);
  EXPECT_EQ(document["schema"], "ringscope.gaps/1");
  const Json gaps = document["sessions"][0]["gaps"];
  EXPECT_GT(gaps.size(), 20u);
  args.format = "jsonl";
  const std::vector<Json> lines = JsonLines(Gaps(args).out);
  EXPECT_EQ(static_cast<size_t>(std::count_if(lines.begin(), lines.end(),
                                              [](const Json& j) { return j["type"] == "gap"; })),
            gaps.size());
  args.format = "csv";
  const std::string rows = Gaps(args).out;
  EXPECT_EQ(static_cast<size_t>(std::count(rows.begin(), rows.end(), '\n')), gaps.size() + 1);
}

TEST(GapsCommand, Limit_KeepsTheLargest) {
  GapsArgs args;
  args.limit = 2;
  const std::string text = Gaps(args).out;
  EXPECT_THAT(text, HasSubstr("\n1:1 (demo-app), buffer 1"));
  EXPECT_THAT(text, HasSubstr("\n1:2 (demo-app), buffer 1"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("\n1:3 (demo-app), buffer 1")));
  EXPECT_THAT(text, HasSubstr("5 smaller gaps not shown: --limit 0 shows all"));
}

TEST(GapsCommand, Packets_RefuseWhatHasNoPlaceForThem) {
  MemoryRun run;
  GapsArgs args;
  args.packets = true;
  args.format = "json";
  EXPECT_EQ(RunGaps(args, run.context).error().code, ErrorCode::kUsage);
  args.format = "text";
  args.summary = true;
  EXPECT_EQ(RunGaps(args, run.context).error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace ringscope
