// Plug-ins in processes of their own: they give what they give in this one, and whatever ends such
// a process is an error that says how and where, and no more than that.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "commands/plugin/plugin.h"
#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "core/compare/random_stream.h"
#include "core/engine/far_engine.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Deadly(const std::string& fault) { return RS_PLUGINS "/test_plugin_" + fault + ".so"; }
const std::string kWholePlugin = RS_PLUGINS "/v2_plugin.so";

// Records 0 to 4: a buffer, a chunk, another one, a patch that finds nothing, a read.
constexpr const char* kDeadlyLog =
    R"({"op":"buffer","id":3,"size":4096,"policy":"ring_buffer"})"
    "\n"
    R"({"op":"commit","buffer":3,"producer":1,"writer":1,"chunk":0,"fragments":1,"payload":"020801"})"
    "\n"
    R"({"op":"commit","buffer":3,"producer":1,"writer":1,"chunk":1,"fragments":1,"payload":"020802"})"
    "\n"
    R"({"op":"patch","buffer":3,"producer":1,"writer":1,"chunk":9,"patches":[{"offset":0,"data":"00000000"}]})"
    "\n"
    R"({"op":"read","buffer":3})"
    "\n";

// Sanitizers end a process themselves, and need more memory and time to begin with.
#if defined(__SANITIZE_ADDRESS__)
#define RS_UNLESS_SANITIZED(usual, sanitized) sanitized
#else
#define RS_UNLESS_SANITIZED(usual, sanitized) usual
#endif

struct DeathCase {
  const char* fault;
  const char* how;
  const char* where;
  std::vector<std::string> limits = {};

  friend void PrintTo(const DeathCase& death, std::ostream* out) { *out << death.fault; }
};

class PluginDeaths : public ::testing::TestWithParam<DeathCase> {};

INSTANTIATE_TEST_SUITE_P(
    All, PluginDeaths,
    ::testing::Values(
        DeathCase{"ABORT", "was ended by signal 6 (Aborted)",
                  "in 'commit' (at record 1; it printed "
                  "last: \"first line\", \"check "
                  "failed: size < limit\""},
        DeathCase{"NULL_POINTER",
                  RS_UNLESS_SANITIZED("was ended by signal 11 (Segmentation fault)",
                                      "ended with status 1"),
                  "in 'next_packet' (at record 4"},
        DeathCase{"HANG",
                  "was ended, as it did not answer within " RS_UNLESS_SANITIZED(
                      "0.3", "3") " s (--plugin-time),",
                  "in 'patch' (at record 3",
                  {"--plugin-time", RS_UNLESS_SANITIZED("300ms", "3s")}},
        DeathCase{"MEMORY",
                  "was ended, as it used more than " RS_UNLESS_SANITIZED(
                      "64", "512") " MiB of memory (--plugin-memory),",
                  "in 'commit' (at record 1",
                  {"--plugin-memory", RS_UNLESS_SANITIZED("64MiB", "512MiB")}},
        DeathCase{"EXIT", "ended itself with status 0", "in 'begin_read' (at record 4"},
        DeathCase{"NONSENSE", "was ended, as its answers in the shared memory are impossible (more",
                  ""},
        DeathCase{"NONSENSE_ANSWER",
                  "was ended, as its answers in the shared memory are impossible (an answer of "
                  "kind 2004318071 with 2004318071 bytes),",
                  "in 'commit' (at record 1"},
        DeathCase{"LOAD", "was ended by signal 6 (Aborted)", "in 'ringscope_get_plugin'"}),
    [](const auto& test) { return std::string(test.param.fault); });

TEST_P(PluginDeaths, AreFoundWhereTheyAre) {
  const std::string plugin = Deadly(GetParam().fault);
  const std::vector<std::string>& limits = GetParam().limits;
  // With and without an observer: calls are waited for, or not.
  for (const bool observed : {true, false}) {
    std::vector<std::string> args = {"-", "--engine", plugin};
    args.insert(args.end(), limits.begin(), limits.end());
    const Ran ran = RunCommand(observed ? ReplayCommand() : StatsCommand(), args, kDeadlyLog);
    const std::string error = WithoutLineBreaks(ran.error);
    EXPECT_THAT(error, HasSubstr(plugin + ": "));
    EXPECT_THAT(error, HasSubstr("the plug-in's process "));
    EXPECT_THAT(error, HasSubstr(GetParam().how));
    EXPECT_THAT(error, HasSubstr(GetParam().where));
    EXPECT_THAT(error, HasSubstr("--in-process runs it inside ringscope, for a debugger"));
  }
}

TEST(PluginProcess, DeathsAfterTheLastQuestion_AreFound) {
  // Nothing is read, so that nothing waits for the commits.
  const std::string buffer = R"({"op":"buffer","id":3,"size":4096,"policy":"ring_buffer"})"
                             "\n";
  const std::string commit =
      R"({"op":"commit","buffer":3,"producer":1,"writer":1,"chunk":0,"fragments":1,"payload":"020801"})"
      "\n";
  for (const std::string& log : {buffer + commit, buffer + commit + buffer}) {
    const Ran ran =
        RunCommand(StatsCommand(), {"-", "--engine", Deadly("ABORT"), "--reads", "none"}, log);
    EXPECT_EQ(ran.error_code, ErrorCode::kDied);
    EXPECT_THAT(ran.error, HasSubstr("in 'commit' (at record 1"));
  }
}

TEST(PluginProcess, DeathBetweenCalls_IsFoundAtTheNext) {
  const auto engine = EnginesAndPlugins()(Deadly("IDLE")).value()->create({.size = 4096}).value();
  // It dies on its own some time after the first of these.
  while (engine->failure() == nullptr) engine->stats();
  EXPECT_EQ(engine->failure()->code, ErrorCode::kDied);
  EXPECT_THAT(engine->failure()->message,
              HasSubstr("the plug-in's process was ended by signal 6 (Aborted)"));
}

TEST(PluginProcess, AfterADeath_TheOthersLive) {
  const auto lookup = EnginesAndPlugins();
  const EngineInfo& info = *lookup(Deadly("ABORT_EVERY")).value();
  const auto first = info.create({.size = 4096}).value();
  const auto second = info.create({.size = 4096}).value();
  const auto commit = [](Engine& engine, uint32_t chunk) {
    const uint8_t bytes[] = {2, 8, 1};
    engine.Commit({.sequence = {ProducerId{1}, WriterId{1}},
                   .chunk = ChunkId{chunk},
                   .fragments = 1,
                   .payload = bytes});
    return engine.stats().chunks_written;
  };
  EXPECT_EQ(commit(*first, 1), 1u);
  EXPECT_EQ(commit(*second, 1), 1u);
  commit(*first, 3);
  ASSERT_NE(first->failure(), nullptr);
  EXPECT_EQ(first->failure()->code, ErrorCode::kDied);
  EXPECT_EQ(first->NextPacket(), nullptr);
  EXPECT_EQ(commit(*second, 2), 2u);
  EXPECT_EQ(second->failure(), nullptr);
  const auto third = info.create({.size = 4096}).value();
  EXPECT_EQ(commit(*third, 1), 1u);
}

TEST(PluginProcess, LargeCommitsAndPackets_GoThrough) {
  // Larger than the memory through which they go.
  std::string payload(3u << 20, 'x');
  const auto engine = EnginesAndPlugins()(RS_PLUGINS "/test_plugin_NONE.so")
                          .value()
                          ->create({.size = 4096})
                          .value();
  payload[0] = '\x7f';
  engine->Commit(
      {.sequence = {ProducerId{1}, WriterId{1}},
       .payload = Bytes(reinterpret_cast<const uint8_t*>(payload.data()), payload.size())});
  engine->BeginRead();
  const Packet* const packet = engine->NextPacket();
  ASSERT_NE(packet, nullptr) << engine->failure()->ToString();
  EXPECT_EQ(packet->size, 0x7fu);
  EXPECT_EQ(engine->NextPacket(), nullptr);
}

/// The packets of a pass that is read to its end, as that was announced or not; with a question in
/// the middle.
std::string ReadWith(bool announced, bool in_process) {
  const auto run = std::make_shared<PluginRun>(PluginRun{.in_process = in_process});
  const auto engine = EnginesAndPlugins(run)(kWholePlugin).value()->create({.size = 65536}).value();
  RandomStream stream(7, Conduct::kCorrect);
  std::string text;
  for (int i = 0; i < 300; ++i) {
    const auto step = stream.Next();
    if (step.kind == RandomStream::Kind::kCommit) engine->Commit(step.commit);
    if (step.kind == RandomStream::Kind::kPatch) engine->ApplyPatches(step.patches);
    if (i % 60 != 59) continue;
    if (announced) ExpectWholePass(*engine);
    engine->BeginRead();
    int packets = 0;
    while (const Packet* packet = engine->NextPacket()) {
      text += fmt::format("{} {} {}\n", packet->sequence.Packed(), packet->size, packet->dropped);
      for (const Bytes slice : packet->slices) text += std::string(slice.begin(), slice.end());
      if (++packets == 2) text += engine->CheckInvariants();
    }
    text += fmt::format("{} packets, {} read\n", packets, engine->stats().bytes_read);
  }
  EXPECT_EQ(engine->failure(), nullptr);
  return text;
}

/// Asks for the counters as something is reported.
class Curious : public EngineObserver {
 public:
  void OnPacketAbandoned(SequenceKey, const PacketPlace&, uint32_t) override {
    ++asked;
    EXPECT_LE(engine->stats().chunks_read, engine->stats().chunks_written);
  }
  const Engine* engine = nullptr;
  int asked = 0;
};

TEST(PluginProcess, CountersAreKnownWhileSomethingIsReported) {
  for (const bool in_process : {true, false}) {
    Curious observer;
    const auto run = std::make_shared<PluginRun>(PluginRun{.in_process = in_process});
    const auto engine = EnginesAndPlugins(run)(kWholePlugin)
                            .value()
                            ->create({.size = 4096, .observer = &observer})
                            .value();
    observer.engine = engine.get();
    RandomStream stream(7, Conduct::kHostile);
    for (int i = 0; i < 400; ++i) {
      const auto step = stream.Next();
      if (step.kind == RandomStream::Kind::kCommit) engine->Commit(step.commit);
      if (step.kind == RandomStream::Kind::kPatch) engine->ApplyPatches(step.patches);
      if (i % 20 != 19) continue;
      ExpectWholePass(*engine);
      engine->BeginRead();
      while (engine->NextPacket() != nullptr) continue;
    }
    EXPECT_GT(observer.asked, 0);
    EXPECT_EQ(engine->failure(), nullptr);
  }
}

TEST(PluginProcess, WholePasses_GiveTheSamePackets) {
  const std::string expected = ReadWith(false, true);
  EXPECT_THAT(expected, HasSubstr("packets"));
  EXPECT_EQ(ReadWith(false, false), expected);
  EXPECT_EQ(ReadWith(true, false), expected);
}

TEST(PluginProcess, ReplaysAreTheSameInProcess) {
  const std::string log = RS_TESTDATA "/captures/two-buffers-v2/session.ops.jsonl.zst";
  const Ran apart = RunCommand(ReplayCommand(), {log, "--engine", kWholePlugin});
  const Ran inside = RunCommand(ReplayCommand(), {log, "--engine", kWholePlugin, "--in-process"});
  EXPECT_EQ(apart.out, inside.out);
  EXPECT_THAT(apart.out, HasSubstr("v2_plugin.so"));
}

TEST(PluginProcess, Fuzz_TakesACrashAsAFinding) {
  const TempFolder folder;
  const Ran ran = RunCommand(FuzzCommand(), {"--a", "v2", "--b", Deadly("ABORT"), "--count", "4",
                                             "--output", folder.path()});
  EXPECT_EQ(ran.code, ExitCode::kNotice) << ran.error;
  EXPECT_THAT(WithoutLineBreaks(ran.out),
              HasSubstr("1. crash of B: the plug-in's process was ended by signal 6 (Aborted) in "
                        "'commit' "));
  EXPECT_THAT(WithoutLineBreaks(ran.out), HasSubstr("\"check failed: size < limit\""));
}

/// A log in which the chunk that ABORT_EVERY does not survive comes after others and before others.
std::string LogWithTheThird(uint32_t chunks) {
  std::string log = R"({"op":"buffer","id":1,"size":65536,"policy":"ring_buffer"})"
                    "\n";
  for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
    // The plug-in has whole fragments alone: all that it returns is what a release does.
    log += fmt::format(
        R"({{"op":"commit","buffer":1,"producer":1,"writer":1,"chunk":{},"fragments":1,"payload":"02080{}"}})"
        "\n",
        chunk, chunk);
  }
  return log;
}

TEST(PluginProcess, Diff_HasTheSideThatEnded) {
  const TempFolder folder;
  const std::string log = folder.Write("log.ops.jsonl", LogWithTheThird(6));
  const std::vector<std::string> args = {log, "--a", "v2", "--b", Deadly("ABORT_EVERY")};
  const Ran ran = RunCommand(DiffCommand(), args);
  EXPECT_EQ(ran.error, "");
  EXPECT_EQ(ran.code, ExitCode::kNotice);
  const std::string out = WithoutLineBreaks(ran.out);
  EXPECT_THAT(out, HasSubstr("The plug-in of side B ended, so the comparison stops there."));
  EXPECT_THAT(out, HasSubstr("was ended by signal 6 (Aborted) in 'commit' (at record 4"));
  EXPECT_THAT(out, HasSubstr("Up to there A and B are the same."));
  const Ran json = RunCommand(DiffCommand(),
                              {log, "--a", Deadly("ABORT_EVERY"), "--b", "v2", "--format", "json"});
  EXPECT_THAT(json.out, HasSubstr(R"("died":)"));
  EXPECT_THAT(json.out, HasSubstr(R"("side": "a")"));
  // What the side did not do in the record that ended it is no difference.
  const std::string first = folder.Write("first.ops.jsonl", kDeadlyLog);
  const Ran at_once = RunCommand(DiffCommand(), {first, "--a", "v2", "--b", Deadly("ABORT")});
  EXPECT_THAT(at_once.out, HasSubstr("2 records"));
  EXPECT_THAT(at_once.out, ::testing::Not(HasSubstr("First divergence")));
}

TEST(PluginProcess, Minimize_KeepsWhatEndsIt) {
  const TempFolder folder;
  const std::string log = folder.Write("log.ops.jsonl", LogWithTheThird(40));
  const std::string small = folder.File("small.ops.jsonl");
  const Ran ran = RunCommand(DiffCommand(),
                             {log, "--a", "v2", "--b", Deadly("ABORT_EVERY"), "--minimize", small});
  EXPECT_EQ(ran.error, "");
  const std::string text = ReadFile(small);
  EXPECT_THAT(text, HasSubstr("B ended: "));
  EXPECT_THAT(text, HasSubstr(R"("chunk":3)"));
  EXPECT_EQ(CountOf(text, R"("op":"commit")"), 1u) << text;
}

}  // namespace
}  // namespace ringscope
