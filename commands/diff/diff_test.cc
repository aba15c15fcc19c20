#include "commands/diff/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "commands/diff/diff_minimize.h"
#include "commands/testing/memory_run.h"

namespace ringscope {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

// A chunk with an abort marker: only the counters of v2@57 and v2@58 differ.
constexpr const char* kAborted =
    R"({"op":"buffer","id":1,"size":4096,"policy":"ring_buffer"})"
    "\n"
    R"({"op":"commit","ts":1000,"buffer":1,"producer":1,"writer":1,"chunk":0,"fragments":2,"payload":"020801ffffff7f"})"
    "\n";

// Two chunks of 3000 bytes, one sequence: the second evicts the first.
std::string Evicting() {
  const std::string packet = "b817" + std::string(6000, '6');
  std::string log = R"({"op":"buffer","id":1,"size":4096,"policy":"ring_buffer"})"
                    "\n";
  for (const char* chunk : {"0", "1"})
    log += R"({"op":"commit","buffer":1,"producer":1,"writer":1,"chunk":)" + std::string(chunk) +
           R"(,"fragments":1,"payload":")" + packet + "\"}\n";
  return log;
}

Ran Compare(DiffArgs args, const std::string& input = kAborted) {
  if (args.logs.logs.empty()) args.logs.logs = {"-"};
  return RunCommand(RunDiff, args, input);
}

DiffArgs Engines(const char* a, const char* b) {
  DiffArgs args;
  args.sides.a.session.all.engine = a;
  args.sides.b.session.all.engine = b;
  return args;
}

std::string CapturePath(const std::string& name) {
  return std::string(RS_TESTDATA) + "/captures/" + name;
}

TEST(Diff, SameResult_IsClean) {
  const Ran ran = Compare(Engines("v2@55", "v2@56"));
  EXPECT_EQ(ran.code, ExitCode::kClean) << ran.error;
  EXPECT_THAT(ran.out, HasSubstr("A and B are the same."));
  EXPECT_THAT(ran.out, Not(HasSubstr("same engine")));
}

TEST(Diff, SameSides_AreComparedAndSaid) {
  const Ran ran = Compare(Engines("v2", "v2@58"));
  EXPECT_EQ(ran.code, ExitCode::kClean);
  EXPECT_THAT(ran.out, HasSubstr("Both sides are the same engine with the same choices"));
}

TEST(Diff, Difference_IsANotice) {
  const Ran ran = Compare(Engines("v2@57", "v2@58"));
  EXPECT_EQ(ran.code, ExitCode::kNotice);
  EXPECT_THAT(ran.out, HasSubstr("A and B differ: 1 counter."));
  EXPECT_THAT(ran.out, HasSubstr("abi_violations: 1 in A, 0 in B"));
  EXPECT_THAT(ran.out, Not(HasSubstr("chunks_written")));
  DiffArgs args = Engines("v2@57", "v2@58");
  args.all = true;
  EXPECT_THAT(Compare(args).out, HasSubstr("chunks_written"));
}

TEST(Diff, Json_SaysTheSame) {
  DiffArgs args = Engines("v2@58", "v2@58");
  args.sides.b.session.all.size = 8192;
  args.format = "json";
  const Ran ran = Compare(args, Evicting());
  EXPECT_EQ(ran.code, ExitCode::kNotice);
  const json document = json::parse(ran.out);
  EXPECT_EQ(document["schema"], "ringscope.diff/1");
  EXPECT_EQ(document["same"], false);
  const json& session = document["sessions"][0];
  EXPECT_EQ(session["counts"]["only_in_b"], 1);
  EXPECT_EQ(session["counts"]["loss_bits"], 1);
  EXPECT_EQ(session["first_divergence"]["kind"], "only_in_b");
  const json& packet = session["packets"]["only_in_b"][0];
  EXPECT_EQ(packet["sequence"], "1:1");
  EXPECT_EQ(packet["b"]["bytes"], 3000);
  EXPECT_EQ(packet["a"]["why"]["kind"], "evicted");
  EXPECT_EQ(packet["a"]["why"]["by"], "1:1#1");
  EXPECT_EQ(session["buffers"][0]["counters"]["chunks_written"]["a"], 2);
  EXPECT_EQ(session["buffers"][0]["b"]["size"], 8192);
}

TEST(Diff, NothingChosen_IsRefused) {
  const Ran ran = Compare(DiffArgs());
  EXPECT_EQ(ran.error_code, ErrorCode::kUsage);
  EXPECT_THAT(ran.error, HasSubstr("nothing says what to compare"));
}

TEST(Diff, BufferThatIsNotThere_IsRefused) {
  DiffArgs args = Engines("v1", "v2");
  args.sides.b.session.buffers[BufferId{7}].size = 4096;
  const Ran ran = Compare(args);
  EXPECT_EQ(ran.error_code, ErrorCode::kUsage);
  EXPECT_THAT(ran.error, HasSubstr("side B makes a choice for buffer 7"));
  EXPECT_THAT(ran.error, HasSubstr("buffers: 1"));
  EXPECT_THAT(Compare(Engines("v1", "v2"), "{\"op\":\"note\",\"text\":\"x\"}\n").error,
              HasSubstr("it has no buffer"));
}

TEST(Diff, InputsThatDoNotGoTogether_AreRefused) {
  const TempFolder folder;
  const std::string log = folder.Write("a.ops.jsonl", kAborted);
  const std::string events = folder.Write("a.events.jsonl", "{\"event\":\"patch\",\"ok\":true}\n");
  const std::string other = folder.Write("a.txt", "hello\n");
  const std::string trace = CapturePath("ring-v2/trace.pftrace.zst");
  const auto refused = [](std::vector<std::string> inputs) {
    DiffArgs args;
    args.logs.logs = std::move(inputs);
    const Ran ran = Compare(args);
    EXPECT_EQ(ran.error_code, ErrorCode::kUsage);
    return ran.error;
  };
  EXPECT_THAT(refused({log, log}), HasSubstr("nothing says what to compare"));
  EXPECT_THAT(refused({log, events}), HasSubstr("two inputs are two results"));
  EXPECT_THAT(refused({events, events, events}), HasSubstr("compared in pairs"));
  EXPECT_THAT(refused({events, log}), HasSubstr("--events"));
  EXPECT_THAT(refused({trace, log}), HasSubstr("ringscope replay LOG -o FILE.pftrace"));
  EXPECT_THAT(refused({trace, events}),
              HasSubstr("a file of events cannot be compared with a trace"));
  EXPECT_THAT(refused({events, other}), HasSubstr("neither a log nor a result file"));
  EXPECT_THAT(refused({events}), HasSubstr("compared in pairs"));
  DiffArgs args = Engines("v1", "v2");
  args.logs.logs = {events, events};
  EXPECT_THAT(Compare(args).error, HasSubstr("are for logs"));
  args.logs.logs = {folder.File("missing")};
  EXPECT_EQ(Compare(args).error_code, ErrorCode::kIo);
}

TEST(Diff, TracesOfOtherSessions_AreRefused) {
  DiffArgs args;
  args.logs.logs = {CapturePath("ring-v2/trace.pftrace.zst"),
                    CapturePath("short-v2/trace.pftrace.zst")};
  const Ran ran = Compare(args);
  EXPECT_EQ(ran.error_code, ErrorCode::kUsage);
  EXPECT_THAT(ran.error, HasSubstr("of the 2539 packets of the smaller result"));
}

TEST(Diff, EventsOfOtherBuffers_AreRefused) {
  const TempFolder folder;
  DiffArgs args;
  args.logs.logs = {folder.Write("a", "{\"event\":\"stats\",\"buffer\":1,\"stats\":{}}\n"),
                    folder.Write("b", "{\"event\":\"stats\",\"buffer\":2,\"stats\":{}}\n")};
  EXPECT_THAT(Compare(args).error, HasSubstr("A has the buffers 1, and B has 2"));
}

TEST(Diff, BrokenEvents_AreNamedByLine) {
  const TempFolder folder;
  DiffArgs args;
  const std::string good = folder.Write("a", "{\"event\":\"patch\",\"ok\":true}\n");
  args.logs.logs = {good, folder.Write("b",
                                       "{\"event\":\"patch\",\"ok\":true}\n"
                                       "{\"event\":\"packet\",\"buffer\":1}\n")};
  EXPECT_THAT(Compare(args).error, HasSubstr("b:2: "));
  EXPECT_THAT(Compare(args).error, HasSubstr("producer"));
}

TEST(Diff, ManyLogs_HaveALineEach) {
  const TempFolder folder;
  const std::string aborted = folder.Write("aborted.ops.jsonl", kAborted);
  const std::string evicting = folder.Write("evicting.ops.jsonl", Evicting());
  folder.Write("readme.txt", "no log\n");
  const std::string list = folder.Write("list.txt", evicting + "\n" + aborted + "\n");
  DiffArgs args = Engines("v2@57", "v2@58");
  for (const std::vector<std::string>& inputs :
       {std::vector{folder.path()}, {aborted, evicting}, {"@" + list}}) {
    args.logs.logs = inputs;
    const Ran ran = Compare(args);
    EXPECT_EQ(ran.code, ExitCode::kNotice) << ran.error;
    EXPECT_THAT(ran.out, HasSubstr("1 of 2 sessions differ: 1 counter"));
    EXPECT_THAT(ran.out, HasSubstr("aborted.ops.jsonl: session 1"));
    EXPECT_THAT(ran.out, Not(HasSubstr("evicting.ops.jsonl: session 1")));
  }
  args.minimize = "-";
  EXPECT_THAT(Compare(args).error, HasSubstr("takes one log, not many"));
  const TempFolder empty;
  args = Engines("v1", "v2");
  args.logs.logs = {empty.path()};
  EXPECT_THAT(Compare(args).error, HasSubstr("the folder has no logs"));
}

TEST(Diff, EachAndShard_ChooseLogs) {
  const TempFolder folder;
  DiffArgs args = Engines("v2@57", "v2@58");
  args.logs.logs = {folder.Write("aborted.ops.jsonl", kAborted)};
  args.logs.each = true;
  EXPECT_THAT(Compare(args).out, HasSubstr("1 of 1 session differ"));
  args.logs.logs.push_back(folder.Write("evicting.ops.jsonl", Evicting()));
  args.logs.shard = Shard{.index = 2, .count = 2};
  const Ran ran = Compare(args);
  EXPECT_EQ(ran.code, ExitCode::kClean) << ran.error;
  EXPECT_THAT(ran.out, HasSubstr("0 of 1 session differ"));
}

TEST(Diff, ALogThatFails_DoesNotStopTheOthers) {
  const TempFolder folder;
  folder.Write("aborted.ops.jsonl", kAborted);
  folder.Write("broken.ops.jsonl", "{\n");
  DiffArgs args = Engines("v2@57", "v2@58");
  args.logs.logs = {folder.path()};
  EXPECT_THAT(Compare(args).out, HasSubstr("2 logs"));
  EXPECT_THAT(Compare(args).out, HasSubstr("1 failed; 1 of 1 session differ"));
  args.format = "json";
  const json document = json::parse(Compare(args).out);
  EXPECT_EQ(document["sessions"].size(), 1U);
  EXPECT_THAT(document["failed"][0]["log"].get<std::string>(), HasSubstr("broken.ops.jsonl"));
}

TEST(Diff, Minimize_WritesWhatShowsTheSame) {
  const TempFolder folder;
  DiffArgs args = Engines("v2@57", "v2@58");
  args.logs.logs = {folder.Write(
      "a.ops.jsonl", std::string(kAborted) + Evicting().substr(Evicting().find('\n') + 1))};
  args.minimize = folder.File("min.ops.jsonl");
  const Ran ran = Compare(args);
  EXPECT_EQ(ran.code, ExitCode::kNotice) << ran.error;
  EXPECT_THAT(ran.err, HasSubstr(": 2 of 4 records"));
  const std::string written = ReadFile(args.minimize);
  EXPECT_THAT(written, HasSubstr("ringscope diff --a v2@57 --b v2@58"));
  args.logs.logs = {args.minimize};
  args.minimize.clear();
  EXPECT_THAT(Compare(args).out, HasSubstr("A and B differ: 1 counter."));

  // Without a difference there is nothing to write.
  args = Engines("v2@58", "v2@58");
  args.logs.logs = {folder.File("a.ops.jsonl")};
  args.minimize = folder.File("none.ops.jsonl");
  const Ran same = Compare(args);
  EXPECT_EQ(same.code, ExitCode::kClean);
  EXPECT_THAT(same.err, HasSubstr("is not written"));
  EXPECT_FALSE(std::filesystem::exists(args.minimize));
  args.logs.logs = {"-"};
  EXPECT_THAT(Compare(args).error, HasSubstr("reads the log twice"));
}

TEST(Diff, SidesAsOptions_CanBeGivenAgain) {
  DiffArgs args = Engines("v2@57", "v1");
  args.sides.a.session.all.size = 8192;
  args.sides.b.session.buffers[BufferId{2}].policy = FillPolicy::kDiscard;
  args.sides.b.reads = {.mode = ReadsMode::kEvery, .every_ns = 500};
  args.sides.b.pass_bytes = 32768;
  EXPECT_EQ(SidesAsOptions(args.sides),
            "--a v2@57 --a-size 8192 --b v1 --b-policy 2=discard --b-reads every=500ns "
            "--b-pass-bytes 32768");
}

/// What a replay of a capture wrote, and what the service itself wrote.
TEST(Diff, TraceOfAReplay_IsThatOfTheService) {
  const TempFolder folder;
  MemoryRun memory("");
  ReplayChoices choices;
  SessionReader sessions(memory.context, {{CapturePath("ring-v2/session.ops.jsonl.zst")}, {}}, "");
  ASSERT_TRUE(sessions.NextSession().value());
  StringSink sink;
  TraceWriter trace(sink);
  ASSERT_TRUE(ReplaySession(memory.context, sessions, choices, {.listeners = {&trace}}));
  ASSERT_TRUE(trace.Finish());
  DiffArgs args;
  args.format = "json";
  args.logs.logs = {folder.Write("replay.pftrace", sink.text),
                    CapturePath("ring-v2/trace.pftrace.zst")};
  const Ran ran = Compare(args);
  const json document = json::parse(ran.out);
  EXPECT_EQ(document["compares"], "traces");
  EXPECT_EQ(document["counts"]["matched"], 4912);
  EXPECT_EQ(document["counts"]["only_in_a"], 0);
  EXPECT_EQ(document["counts"]["only_in_b"], 0);
  EXPECT_EQ(document["counts"]["loss_bits"], 0);
}

}  // namespace
}  // namespace ringscope
