// Whatever ends the process in which plug-ins run is an error that says how and where.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <ostream>
#include <string>

#include "commands/plugin/plugin.h"
#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "formats/io/output_file.h"

namespace ringscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Deadly(const std::string& fault) { return RS_PLUGINS "/test_plugin_" + fault + ".so"; }

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

/// Replays the log with a plug-in in a guarded child.
Result<int> Replayed(const std::string& plugin, const PluginLimits& limits) {
  return RunGuarded(limits, {"other.so", plugin}, [&] {
    const Ran ran = RunCommand(ReplayCommand(), {"-", "--engine", plugin}, kDeadlyLog);
    return ran.error.empty() ? static_cast<int>(ran.code) : 1;
  });
}

struct DeathCase {
  const char* fault;
  const char* error;
  PluginLimits limits = {};

  friend void PrintTo(const DeathCase& death, std::ostream* out) { *out << death.fault; }
};

class PluginDeaths : public ::testing::TestWithParam<DeathCase> {};

INSTANTIATE_TEST_SUITE_P(
    All, PluginDeaths,
    ::testing::Values(
        DeathCase{"ABORT", "the plug-in was ended by signal 6 (Aborted), in 'commit' at record 1"},
#if !defined(__SANITIZE_ADDRESS__)
        DeathCase{"NULL_POINTER",
                  "the plug-in was ended by signal 11 (Segmentation fault), in 'next_packet' at "
                  "record 4"},
        DeathCase{"MEMORY",
                  "the plug-in was ended, as it used more than 256 MiB of memory "
                  "(RINGSCOPE_PLUGIN_MEMORY), in 'commit' at record 1",
                  {.memory = uint64_t{256} << 20}},
#endif
        DeathCase{"HANG",
                  "the plug-in was ended, as it did not return within 0.3 s "
                  "(RINGSCOPE_PLUGIN_TIME), in 'patch' at record 3",
                  {.time_ns = 300'000'000}},
        DeathCase{"EXIT",
                  "the plug-in ended the process with status 0, in 'begin_read' at record 4"},
        DeathCase{"LOAD",
                  "the plug-in was ended by signal 6 (Aborted), in 'ringscope_get_plugin'"}),
    [](const auto& test) { return std::string(test.param.fault); });

TEST_P(PluginDeaths, AreFoundWhereTheyAre) {
  const std::string plugin = Deadly(GetParam().fault);
  const Result<int> result = Replayed(plugin, GetParam().limits);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kDied);
  EXPECT_EQ(result.error().where.path, plugin);
  EXPECT_EQ(result.error().message, GetParam().error);
}

TEST(PluginGuard, StatusPassesThrough) {
  EXPECT_EQ(Replayed(RS_PLUGINS "/v2_plugin.so", {}).value(), 0);
  EXPECT_EQ(RunGuarded({}, {"x.so"}, [] { return 3; }).value(), 3);
}

TEST(PluginGuard, HalfWrittenFilesAreRemoved) {
  RemovePendingFilesOnSignals();  // as main does
  const TempFolder folder;
  const std::string path = folder.File("out");
  const auto result = RunGuarded({}, {Deadly("ABORT")}, [&] {
    const auto file = OutputFile::Create(path, {"a test"}, Replace::kOwn).value();
    static_cast<void>(file->Write("half"));
    std::abort();
    return 0;
  });
  EXPECT_THAT(result.error().message, HasSubstr("signal 6"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(PluginGuard, WorkIsNamed) {
  const auto result = RunGuarded({}, {"x.so", "y.so"}, [] {
    NotePluginWork("stream 17");
    const PluginCall call("y.so", "commit", nullptr);
    std::abort();
    return 0;
  });
  EXPECT_EQ(result.error().where.path, "y.so");
  EXPECT_THAT(result.error().message, HasSubstr("in 'commit' of stream 17"));
}

TEST(PluginGuard, LimitsAreOfTheEnvironment) {
  ::setenv("RINGSCOPE_PLUGIN_TIME", "2s", 1);
  ::setenv("RINGSCOPE_PLUGIN_MEMORY", "1GiB", 1);
  const PluginLimits limits = PluginLimits::FromEnvironment().value();
  EXPECT_EQ(limits.time_ns, 2'000'000'000u);
  EXPECT_EQ(limits.memory, uint64_t{1} << 30);
  ::setenv("RINGSCOPE_PLUGIN_TIME", "soon", 1);
  EXPECT_THAT(PluginLimits::FromEnvironment().error().ToString(),
              HasSubstr("RINGSCOPE_PLUGIN_TIME: "));
  ::unsetenv("RINGSCOPE_PLUGIN_TIME");
  ::unsetenv("RINGSCOPE_PLUGIN_MEMORY");
}

TEST(PluginGuard, CommandLinesNamePlugins) {
  const auto of = [](const Command& command, std::vector<std::string> args) {
    CLI::App app;
    const Runner unused = command.bind(app);
    std::reverse(args.begin(), args.end());
    app.parse(args);
    return PluginsOf(app);
  };
  EXPECT_THAT(of(ReplayCommand(), {"x/log.tblog", "--engine", "1=./a=b.so", "--engine", "v2"}),
              ElementsAre("./a=b.so"));
  EXPECT_THAT(of(DiffCommand(), {"l.tblog", "--a", "./a.so", "--b", "./b.so:v1"}),
              ElementsAre("./a.so", "./b.so:v1"));
  EXPECT_THAT(of(EnginesCommand(), {"./a.so"}), ElementsAre("./a.so"));
  EXPECT_THAT(of(SweepCommand(), {"l.tblog", "--engines", "v1,./a.so"}), ElementsAre("./a.so"));
  EXPECT_THAT(of(ReplayCommand(), {"x/log.tblog", "--engine", "v2"}), ElementsAre());
}

}  // namespace
}  // namespace ringscope
