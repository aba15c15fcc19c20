#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "formats/descriptors/descriptors.h"
#include "formats/ipc/ipc_messages.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Ran Advise(const std::vector<std::string>& args, const std::string& input = "") {
  return RunCommand(AdviseCommand(), args, input);
}

json SessionOf(const Ran& ran) { return json::parse(ran.out)["sessions"][0]; }

json AdvisedSession(std::vector<std::string> args, const std::string& input = "") {
  args.insert(args.end(), {"--format", "json"});
  return SessionOf(Advise(args, input));
}

json Find(const json& session, const std::string& kind) {
  for (const json& advice : session["advice"])
    if (advice["kind"] == kind) return advice;
  ADD_FAILURE() << "no " << kind;
  return {};
}

/// Chunks of 1,000 bytes: one a millisecond of a chatty writer, and one of a rare writer at each
/// 200th.
std::string ChattyAndRare(int chunks) {
  std::string log = R"({"op":"buffer","id":1,"size":65536,"policy":"ring_buffer"})"
                    "\n";
  std::string packet;
  for (int i = 0; i < 499; ++i) packet += "3001";
  const std::string payload = "e607" + packet;  // 998 bytes after its size
  const auto commit = [&](int ms, int writer, int chunk) {
    log += fmt::format(
        R"({{"op":"commit","ts":{},"buffer":1,"producer":1,"writer":{},"chunk":{},"fragments":1,"payload":"{}"}})",
        uint64_t{1'000'000} * static_cast<uint64_t>(ms + 1), writer, chunk, payload);
    log += "\n";
  };
  for (int i = 0; i < chunks; ++i) {
    commit(i, 1, i);
    if (i % 200 == 0) commit(i, 2, i / 200);
  }
  return log;
}

TEST(Advise, ALargerBufferLosesNothingAsPredicted) {
  const Ran ran = Advise({"-", "--format", "json"}, ChattyAndRare(200));
  EXPECT_EQ(ran.code, ExitCode::kNotice) << ran.error;
  const json session = SessionOf(ran);
  const json advice = Find(session, "size_too_small");
  EXPECT_TRUE(advice["to_do"]);
  EXPECT_EQ(advice["numbers"]["size"], 65536);
  EXPECT_EQ(session["predicted"].size(), 1u);
  EXPECT_EQ(session["predicted"][0]["lost_then"], 0);
  EXPECT_GT(session["predicted"][0]["lost_now"], 100);
  EXPECT_EQ(session["predicted"][0]["size_then"], advice["numbers"]["needed"]);
}

TEST(Advise, ChattyWritersGetABufferOfTheirOwnWhereMemoryIsShort) {
  const json session = AdvisedSession({"-", "--memory", "256k"}, ChattyAndRare(2000));
  const json crowded = Find(session, "crowded_out");
  EXPECT_THAT(crowded["sequences"], ElementsAre("1:2"));
  const json split = Find(session, "split_helps");
  EXPECT_EQ(split["numbers"]["lost_after"], 0);
  EXPECT_EQ(split["numbers"]["rest_size"].get<uint64_t>() +
                split["numbers"]["chatty_size"].get<uint64_t>(),
            session["memory_planned"].get<uint64_t>());
  EXPECT_LE(session["memory_planned"], 256u << 10);
  ASSERT_EQ(session["predicted"].size(), 2u);
  EXPECT_EQ(session["predicted"][0]["lost_then"], 0);
  EXPECT_EQ(session["predicted"][1]["made_from"], 1);
}

TEST(Advise, TheBudgetIsKept) {
  for (const uint64_t memory : {64u << 10, 200u << 10, 512u << 10}) {
    const json session = AdvisedSession(
        {testing::CapturePath("two-buffers-v2"), "--memory", std::to_string(memory)});
    uint64_t sum = 0;
    for (const json& buffer : session["predicted"]) sum += buffer["size_then"].get<uint64_t>();
    EXPECT_LE(sum, memory);
  }
}

TEST(Advise, SizesThatFitIntoTheMemoryLoseNothing) {
  const std::string log = ChattyAndRare(200);
  const json free = Find(AdvisedSession({"-"}, log), "size_too_small");
  const uint64_t needed = free["numbers"]["needed"];
  const json fits = AdvisedSession({"-", "--memory", std::to_string(needed)}, log);
  EXPECT_EQ(fits["memory_planned"], needed);
  EXPECT_EQ(fits["splits"].size(), 0u);
  EXPECT_EQ(fits["predicted"][0]["lost_then"], 0);
  // What it needs does not depend on what it may have.
  const json less = AdvisedSession({"-", "--memory", std::to_string(needed / 2)}, log);
  EXPECT_EQ(Find(less, "size_not_enough")["numbers"]["needed"], needed);
  EXPECT_LE(less["memory_planned"], needed / 2);
}

TEST(Advise, AMemoryLimitThatCannotBeMetIsRefused) {
  const Ran ran = Advise({"-", "--memory", "1k"}, ChattyAndRare(20));
  EXPECT_EQ(ran.error_code, ErrorCode::kUsage);
  EXPECT_THAT(ran.error, HasSubstr("cannot be met: the session's buffers take 4 KiB at least"));
}

TEST(Advise, ThePredictionIsWhatASweepSays) {
  const std::string log = testing::CapturePath("ring-v2");
  const json session = AdvisedSession({log, "--keep", "300ms"});
  ASSERT_EQ(session["predicted"].size(), 1u);
  const json then = session["predicted"][0];
  EXPECT_GE(then["history_then_ns"], 300'000'000);

  const std::string size = std::to_string(then["size_then"].get<uint64_t>());
  const Ran swept = RunCommand(SweepCommand(), {log, "--sizes", size, "--format", "json"});
  const json row = SessionOf(swept)["configurations"][0]["buffers"][0];
  EXPECT_EQ(row["shortest_history_ns"], then["history_then_ns"]);
}

TEST(Advise, NothingToDoIsStatusZero) {
  const Ran ran = Advise({testing::CapturePath("lossless-v2"), "--format", "json"});
  EXPECT_EQ(ran.code, ExitCode::kClean) << ran.out;
  EXPECT_FALSE(SessionOf(ran)["to_do"]);
}

TEST(Advise, TheConfigIsValidTextProto) {
  for (const char* name : {"ring-v2", "ring-v1", "discard-v2", "two-buffers-v2", "short-v2"}) {
    const json session = AdvisedSession({testing::CapturePath(name)});
    const auto bytes =
        Descriptors::BuiltIn().Encode("TraceConfig", session["config"].get<std::string>(), name);
    ASSERT_TRUE(bytes) << bytes.error().ToString();
    ipc::TraceConfig config;
    ASSERT_TRUE(DecodeMessage(wire::AsBytes(*bytes), config)) << name;
    ASSERT_EQ(config.buffers.size(), session["predicted"].size()) << name;
    for (size_t i = 0; i < config.buffers.size(); ++i)
      EXPECT_EQ(config.buffers[i].size_kb * 1024, session["predicted"][i]["size_then"]);
  }
}

TEST(Advise, ADiscardingBufferIsATrap) {
  const json session = AdvisedSession({testing::CapturePath("discard-v2")});
  const json advice = Find(session, "discard_full");
  EXPECT_GT(advice["numbers"]["lost"], 100'000);
  EXPECT_LT(advice["numbers"]["at_ns"], advice["numbers"]["duration_ns"]);
}

TEST(Advise, ATraceIsAskedLikeALogAndSaysWhatItCannotKnow) {
  const std::string trace = std::string(RS_TESTDATA) + "/captures/stream-v2/trace.pftrace.zst";
  const json session = AdvisedSession({trace});
  EXPECT_TRUE(session["is_trace"]);
  EXPECT_EQ(session["log"], trace);
  EXPECT_THAT(Advise({trace}).out, HasSubstr("Based on a trace"));
  // The same from standard input.
  EXPECT_THAT(Advise({"-"}, ReadFile(trace)).out, HasSubstr("Based on a trace"));
}

TEST(Advise, ABufferGetsAllThatItNeedsIfThatKeepsMore) {
  const json session = AdvisedSession({testing::CapturePath("two-buffers-v2"), "--memory", "2M"});
  EXPECT_LE(session["memory_planned"], 2u << 20);
  uint64_t lost = 0;
  for (const json& buffer : session["predicted"]) lost += buffer["lost_then"].get<uint64_t>();
  // Sizes in proportion to the needs lose 34,240 packets.
  EXPECT_LT(lost, 3000u);
  EXPECT_EQ(session["predicted"][1]["lost_then"], 0);
}

TEST(Advise, OfATraceThatLacksWhatWasLostSizesAreEstimates) {
  const std::string trace = std::string(RS_TESTDATA) + "/captures/ring-v2/trace.pftrace.zst";
  const json session = AdvisedSession({trace});
  EXPECT_TRUE(session["is_estimate"]);
  EXPECT_FALSE(session.contains("predicted")) << "nothing was replayed";
  // Six MiB were written to a ring of 256 KiB, whatever is left of them.
  EXPECT_GT(session["buffers"][0]["written_bytes"], 6'000'000);
  EXPECT_GT(session["buffers"][0]["lost_bytes"], 6'000'000);
  EXPECT_EQ(session["buffers"][0]["size_then"], session["memory_planned"]);
  EXPECT_TRUE(session["writers_of_all"]);
  // All of the log's sequences, and of their bytes more than is left.
  EXPECT_EQ(session["writers"].size(), 7u);
  EXPECT_GT(session["writers"][0]["bytes"], 1'000'000);
  EXPECT_THAT(session["config"].get<std::string>(), HasSubstr("(an estimate)\n  size_kb: "));

  const json kept = AdvisedSession({trace, "--keep", "1s"});
  EXPECT_NEAR(kept["buffers"][0]["history_then_ns"].get<double>(), 1.25e9, 3e7);
  const Ran little = Advise({trace, "--memory", "1k"});
  EXPECT_EQ(little.error_code, ErrorCode::kUsage);
  EXPECT_THAT(little.error, HasSubstr("allow that: --memory 4k"));
  EXPECT_THAT(Advise({trace, "--session", "2"}).error, HasSubstr("this trace has one session"));
  EXPECT_EQ(Advise({"-", "--format", "json", "--keep", "1s"}, ReadFile(trace)).code,
            ExitCode::kNotice);
}

TEST(Advise, ATraceThatLacksNothingIsReplayed) {
  const json session =
      AdvisedSession({std::string(RS_TESTDATA) + "/captures/lossless-v2/trace.pftrace.zst"});
  EXPECT_TRUE(session["is_trace"]);
  EXPECT_EQ(session["predicted"][0]["lost_now"], 0);
  EXPECT_FALSE(session["to_do"]);
}

TEST(Advise, SizesForALongerHistoryThanTheLogAreReckoned) {
  // Enough memory, so that nothing is split.
  const json session = AdvisedSession({"-", "--keep", "4s", "--memory", "64M"}, ChattyAndRare(200));
  EXPECT_TRUE(session["wanted"]["extrapolated"]);
  const uint64_t whole =
      Find(AdvisedSession({"-"}, ChattyAndRare(200)), "size_too_small")["numbers"]["needed"];
  EXPECT_NEAR(Find(session, "size_too_small")["numbers"]["needed"].get<double>(),
              static_cast<double>(whole) * 4e9 / 199e6, 8192.0);
}

TEST(Advise, WithoutALimitNothingIsLostAndNothingElseIsToDo) {
  const json session = AdvisedSession({"-"}, ChattyAndRare(2000));
  ASSERT_EQ(session["predicted"].size(), 1u);
  EXPECT_EQ(session["predicted"][0]["lost_then"], 0);
  EXPECT_EQ(session["memory_planned"], session["predicted"][0]["size_then"]);
  for (const json& advice : session["advice"])
    EXPECT_EQ(advice["to_do"], advice["kind"] == "size_too_small") << advice;
}

TEST(Advise, WhatAReplayProvesIsInTheConfig) {
  const json session = AdvisedSession({testing::CapturePath("stream-v2"), "--memory", "512k"});
  EXPECT_THAT(session["config"].get<std::string>(), HasSubstr("write_into_file: true\n"
                                                              "file_write_period_ms: "));
  EXPECT_TRUE(Find(session, "period_would_do")["to_do"]);
  EXPECT_FALSE(Find(session, "size_not_enough")["to_do"]);
  EXPECT_EQ(session["predicted"][0]["lost_then"], 0);
  EXPECT_EQ(session["predicted"][0]["size_then"], 512 * 1024);
}

TEST(Advise, ABufferThatIsMuchTooLargeIsSaid) {
  const Ran ran = Advise({testing::CapturePath("lossless-v2")});
  EXPECT_THAT(ran.out, HasSubstr("would have been enough"));
}

std::string CaptureConfig(const char* name) {
  return std::string(RS_TESTDATA) + "/captures/" + name + "/config.pbtxt";
}

TEST(Advise, AConfigIsPrintedWithItsChanges) {
  const std::string log = testing::CapturePath("ring-v2");
  const std::string config =
      AdvisedSession({log, "--config", CaptureConfig("ring-v2")})["config"].get<std::string>();
  EXPECT_THAT(config, HasSubstr("# changed, was 256: 123,378 of 128,295 packets were lost; so "
                                "none, by a replay\nbuffers { size_kb: 6548 fill_policy"));
  EXPECT_THAT(config, HasSubstr("demo.screenshots"));
  EXPECT_TRUE(Descriptors::BuiltIn().Encode("TraceConfig", config, "config"));
}

TEST(Advise, ADiffHasOnlyTheChangesOfAFileWithAFieldPerLine) {
  const TempFolder folder;
  const std::string path =
      folder.Write("cfg.pbtxt", "buffers {\n  size_kb: 256\n}\nduration_ms: 3000\n");
  const std::string log = testing::CapturePath("ring-v2");
  const Ran ran = Advise({log, "--config", path, "--format", "diff"});
  EXPECT_EQ(ran.code, ExitCode::kNotice) << ran.error;
  EXPECT_EQ(ran.out, fmt::format("--- {0}\n+++ {0}\n@@ -1,4 +1,5 @@\n buffers {{\n-  size_kb: 256\n"
                                 "+  # changed, was 256: 123,378 of 128,295 packets were lost; so "
                                 "none, by a replay\n+  size_kb: 6548\n }}\n duration_ms: 3000\n",
                                 path));
  EXPECT_THAT(Advise({log, "--format", "diff"}).error, HasSubstr("--config"));
  EXPECT_THAT(Advise({log, "--config", CaptureConfig("two-buffers-v2")}).error,
              HasSubstr("2 buffers, and the session 1"));
}

TEST(Advise, AConfigOfOtherSizesIsRefused) {
  const TempFolder folder;
  const std::string path = folder.Write("cfg.pbtxt", "buffers {\n  size_kb: 128\n}\n");
  EXPECT_THAT(Advise({testing::CapturePath("ring-v2"), "--config", path}).error,
              HasSubstr("buffers[0] has 128 KiB in this trace config, and had 256 KiB"));
  // Any index can stand in a log.
  const std::string log =
      R"({"op":"buffer","id":1,"index":4294967295,"size":65536,"policy":"ring_buffer"})"
      "\n";
  EXPECT_EQ(Advise({"-", "--config", path}, log).code, ExitCode::kClean);
}

TEST(Advise, AnEmptyLogNeedsNoAdvice) {
  const Ran ran = Advise({"-"}, R"({"op":"buffer","id":1,"size":65536,"policy":"ring_buffer"})");
  EXPECT_EQ(ran.code, ExitCode::kClean) << ran.error;
  EXPECT_THAT(ran.out, HasSubstr("nothing to advise"));
  EXPECT_THAT(ran.out, Not(HasSubstr("buffers {")));
}

TEST(Advise, LinesFitATerminalOf100Columns) {
  for (const char* name : {"ring-v2", "two-buffers-v2"}) {
    std::istringstream lines(Advise({testing::CapturePath(name)}).out);
    std::string line;
    std::getline(lines, line);  // with the log's name
    while (std::getline(lines, line)) EXPECT_LE(line.size(), 100u) << line;
  }
}

}  // namespace
}  // namespace ringscope
