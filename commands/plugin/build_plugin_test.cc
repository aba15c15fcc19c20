// 'ringscope plugin build' in a stand-in for a Perfetto checkout.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "commands/plugin/plugin.h"
#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "commands/testing/replay_events.h"

namespace ringscope {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// A folder to build in; TMPDIR and PATH are as before when it goes.
class PluginBuildTest : public ::testing::Test {
 protected:
  PluginBuildTest() {
    fs::create_directories(Path("tmp"));
    ::setenv("TMPDIR", Path("tmp").c_str(), 1);
    ::unsetenv("CXX");
    // The compiler of the project, which may take less time than the system's.
    Write("bin/c++", "#!/bin/sh\nexec " RS_CXX " \"$@\"\n", true);
    ::setenv("PATH", (Path("bin") + ":" + path_).c_str(), 1);
  }
  ~PluginBuildTest() override {
    ::setenv("PATH", path_.c_str(), 1);
    ::unsetenv("TMPDIR");
    ::unsetenv("CXX");
    // Whatever happened, nothing is left.
    EXPECT_TRUE(fs::is_empty(Path("tmp")));
  }

  std::string Path(const std::string& name) const { return folder_.File(name); }
  void Write(const std::string& name, const std::string& text, bool is_program = false) const {
    fs::create_directories(fs::path(Path(name)).parent_path());
    std::ofstream(Path(name)) << text;
    if (is_program) ::chmod(Path(name).c_str(), 0755);
  }
  void SetRelease(int release) const {
    Write("perfetto/src/tracing/service/standin_release.h",
          fmt::format("#define STANDIN_RELEASE {}\n", release));
  }
  /// Makes Path("perfetto").
  void MakeCheckout(int release) const {
    const fs::path from = RS_TESTDATA "/perfetto", to = Path("perfetto");
    for (const char* const part : {"include", "src", "gen"}) {
      fs::create_directories(to / part);
      fs::copy(from / part, to / part, fs::copy_options::recursive);
    }
    if (release >= 54) fs::copy(from / "v2/src", to / "src", fs::copy_options::recursive);
    SetRelease(release);
    Write("perfetto/.gn", "");
  }
  /// Makes its build folder, with generated headers alone.
  void MakeBuildFolder() const {
    fs::create_directories(Path("perfetto/out/x"));
    fs::copy(Path("perfetto/gen"), Path("perfetto/out/x/gen"), fs::copy_options::recursive);
  }
  /// What stands for GN and ninja: generated headers are copies.
  void MakeGn() const {
    Write("bin/gn", "#!/bin/sh\nmkdir -p \"$2\" && cp -r " RS_TESTDATA "/perfetto/gen \"$2/gen\"\n",
          true);
    Write("bin/ninja", "#!/bin/sh\nexit 0\n", true);
  }
  Ran Build(std::vector<std::string> more = {}) const {
    std::vector<std::string> args = {"build", "--perfetto",    Path("perfetto"),
                                     "-o",    Path("mine.so"), "--force"};
    args.insert(args.end(), more.begin(), more.end());
    return RunCommand(PluginCommand(), args);
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    const auto plugins = Plugin::LoadAll(Path("mine.so"));
    EXPECT_TRUE(plugins) << plugins.error().ToString();
    for (const auto& plugin : *plugins) names.push_back(plugin->name);
    return names;
  }
  /// Runs git in the checkout. @param arguments as a shell has them
  std::string Git(const std::string& arguments) const {
    const std::string output = Path("git_output");
    const std::string command =
        fmt::format("git -C '{}' -c user.name=t -c user.email=t@example.com {} >'{}' 2>&1",
                    Path("perfetto"), arguments, output);
    EXPECT_EQ(std::system(command.c_str()), 0) << ReadFile(output);
    return ReadFile(output);
  }
  /// Makes all that is there a commit.
  void Commit(const std::string& message) const {
    if (!fs::exists(Path("perfetto/.git"))) {
      Write("perfetto/.gitignore", "out/\n");
      Git("init -q");
    }
    Git("add .");
    Git("commit -qm " + message);
  }
  /// Hides all programs but those that a build needs: there is no GN.
  void HideGn() const {
    fs::create_directories(Path("bin"));
    for (const char* const program : {"git", "c++", "sh", "as", "ld", "cat", "grep", "head", "ls",
                                      "mkdir", "mktemp", "rm", "tar", "tr", "xargs"})
      for (const std::string folder : {"/usr/bin/", "/bin/", "/usr/local/bin/"})
        if (!fs::exists(Path("bin/") + program) && fs::exists(folder + program))
          fs::create_symlink(folder + program, Path("bin/") + program);
    ::setenv("PATH", Path("bin").c_str(), 1);
  }

  const std::string path_ = std::getenv("PATH");
  const TempFolder folder_;
};

TEST_F(PluginBuildTest, Sources_AreCompiled) {
  MakeCheckout(58);
  MakeBuildFolder();
  fs::remove(Path("bin/c++"));  // as it is outside tests
  const Ran built = Build();
  ASSERT_EQ(built.error, "");
  EXPECT_THAT(built.out, HasSubstr("mine.so, with v2, v1"));
  EXPECT_THAT(WithoutLineBreaks(built.out), HasSubstr("from 5 sources"));
  EXPECT_THAT(Names(), ElementsAre("v2", "v1"));
  // Whole packets, which the stand-in's small ring can read.
  const std::string log = RS_TESTDATA "/inputs/plain.ops.jsonl";
  const auto found = testing::EventsOf(log, Path("mine.so"));
  ASSERT_TRUE(found) << found.error().ToString();
  EXPECT_EQ(CountOf(*found, "\"packet\""), 4u);
}

TEST_F(PluginBuildTest, V53_HasV1Alone) {
  MakeCheckout(53);
  MakeBuildFolder();
  ::setenv("CXX", "c++ -g0", 1);
  EXPECT_EQ(Build().error, "");
  EXPECT_THAT(Names(), ElementsAre("v1"));
}

TEST_F(PluginBuildTest, WhatIsMissing_IsNamed) {
  EXPECT_THAT(Build().error, HasSubstr("there is no src/tracing/service/trace_buffer.h"));
  MakeCheckout(58);
  HideGn();
  EXPECT_THAT(Build().error, HasSubstr("no build folder with Perfetto's generated headers"));
  EXPECT_THAT(Build().error, HasSubstr("tools/gn gen out/ringscope --args="));
  EXPECT_THAT(Build({"--out", Path("nowhere")}).error,
              HasSubstr("there is no gen/build_config/perfetto_build_flags.h"));
  MakeBuildFolder();
  // A later folder that lacks some of the headers is not taken.
  const std::string statistics = "gen/protos/perfetto/common/trace_stats.gen.h";
  Write("perfetto/out/partial/" + statistics, ReadFile(Path("perfetto/" + statistics)));
  ::setenv("CXX", "no-such-compiler", 1);
  EXPECT_THAT(Build().error, HasSubstr("no-such-compiler ended with status 127:"));
  fs::remove(Path("perfetto/src/tracing/service/trace_buffer_v1.h"));
  EXPECT_THAT(Build().error, HasSubstr("expected Perfetto v53 or later"));
  EXPECT_FALSE(fs::exists(Path("mine.so")));
}

TEST_F(PluginBuildTest, CompilersErrors_AreShown) {
  MakeCheckout(58);
  MakeBuildFolder();
  Write("perfetto/src/tracing/core/trace_packet.cc", "#error no such thing\n");
  const std::string error = Build().error;
  EXPECT_THAT(error, HasSubstr("c++ ended with status 1:"));
  EXPECT_THAT(error, HasSubstr("#error no such thing"));
  EXPECT_FALSE(fs::exists(Path("mine.so")));
}

TEST_F(PluginBuildTest, NoFileIsReplacedUnasked) {
  Write("mine.so", "a text");
  const Ran ran =
      RunCommand(PluginCommand(), {"build", "--perfetto", Path("perfetto"), "-o", Path("mine.so")});
  EXPECT_THAT(ran.error, HasSubstr("--force"));
  EXPECT_EQ(fs::file_size(Path("mine.so")), 6u);
  EXPECT_THAT(RunCommand(PluginCommand(), {"build", "--perfetto", "p", "-o", "mine"}).error,
              HasSubstr("for example 'mine.so'"));
}

TEST_F(PluginBuildTest, Commits_AreBuiltFromGit) {
  MakeCheckout(57);
  Commit("57");
  Git("tag v57.9");
  SetRelease(58);
  Commit("58");
  MakeGn();

  const Ran old = Build({"--commit", "v57.9"});
  ASSERT_EQ(old.error, "");
  EXPECT_EQ(Plugin::Load(Path("mine.so")).value()->version, "v57.9");
  ASSERT_EQ(Build().error, "");
  EXPECT_THAT(Plugin::Load(Path("mine.so")).value()->version, HasSubstr("v57.9-1-g"));

  EXPECT_THAT(Build({"--commit", "nonsense"}).error, HasSubstr("git ended with status 128"));
  Write("perfetto/src/tracing/core/trace_packet.cc", "#error no such thing\n");
  Commit("broken");
  EXPECT_THAT(Build({"--commit", "HEAD"}).error, HasSubstr("no such thing"));
  EXPECT_EQ(CountOf(Git("worktree list"), "\n"), 1u);
}

TEST_F(PluginBuildTest, OfAPartialClone_OnlyWhatTheCommitNeedsIsFetched) {
  MakeCheckout(57);
  Write("perfetto/test/data/large.pftrace", std::string(100'000, 'x'));
  Commit("57");
  SetRelease(58);
  Commit("58");
  Git("config uploadpack.allowFilter true");
  Git("config uploadpack.allowAnySHA1InWant true");
  fs::rename(Path("perfetto"), Path("server"));
  fs::create_directories(Path("perfetto"));
  Git(fmt::format("clone -q --no-checkout --filter=blob:none 'file://{}' .", Path("server")));
  Git("sparse-checkout set --no-cone src include");
  Git("checkout -q HEAD");
  MakeGn();
  ASSERT_EQ(Build({"--commit", "HEAD~1"}).error, "");
  EXPECT_THAT(Names(), ElementsAre("v2", "v1"));
  // The objects that are still on the server.
  const std::string missing = Git("rev-list --objects --missing=print --all");
  EXPECT_THAT(missing, HasSubstr("\n?" + Git("rev-parse HEAD:test/data/large.pftrace")));
}

TEST_F(PluginBuildTest, WithoutGn_HeadersOfAnotherBuildAreUsedAndNamed) {
  MakeCheckout(58);
  Commit("58");
  MakeBuildFolder();
  HideGn();
  const Ran built = Build({"--commit", "HEAD"});
  EXPECT_EQ(built.error, "");
  EXPECT_THAT(WithoutLineBreaks(built.err), HasSubstr("not the commit's"));
}

TEST_F(PluginBuildTest, CheckoutWithoutItsBuildFiles_IsNamed) {
  MakeCheckout(58);
  MakeGn();
  fs::remove(Path("perfetto/.gn"));
  EXPECT_THAT(Build().error, HasSubstr("the checkout has no .gn"));
}

TEST_F(PluginBuildTest, ASignal_LeavesNothing) {
  MakeCheckout(58);
  Commit("58");
  MakeGn();
  // The command is interrupted, as if someone pressed Ctrl-C; the compiler does not end by itself.
  Write("bin/slow", fmt::format("#!/bin/sh\nkill -INT {}\nexec sleep 600\n", ::getpid()), true);
  ::setenv("CXX", Path("bin/slow").c_str(), 1);
  const Ran ran = Build({"--commit", "HEAD"});
  EXPECT_THAT(ran.error, HasSubstr("ended by signal 2; nothing was written"));
  EXPECT_FALSE(fs::exists(Path("mine.so")));
}

}  // namespace
}  // namespace ringscope
