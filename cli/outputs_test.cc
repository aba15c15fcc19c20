// What no output may do, for the outputs of all commands: replace an input, replace a file of
// another kind without --force, or leave a part of itself when a signal ends the process.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "cli/app.h"
#include "commands/testing/memory_run.h"

namespace ringscope {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct OutputCase {
  const char* name;
  std::vector<std::string> before;  // the arguments before the output's name
  std::string log = "in.ops.jsonl";
  bool is_log = false;      // what is written is a log, which replaces nothing without --force
  size_t files_beside = 0;  // written beside the outputs of the second test, in all
};

std::ostream& operator<<(std::ostream& out, const OutputCase& output) { return out << output.name; }

constexpr const char* kInput = RS_TESTDATA "/inputs/plain.ops.jsonl";
constexpr const char* kDiffInput = RS_TESTDATA "/diff/57-58-relocates-completed-chunk.ops.jsonl";

class Outputs : public ::testing::TestWithParam<OutputCase> {
 protected:
  Outputs() {
    fs::current_path(folder_.path());
    fs::copy_file(std::string(GetParam().name) == "minimize" ? kDiffInput : kInput, "in.ops.jsonl");
    fs::create_symlink("in.ops.jsonl", "soft");
    fs::create_hard_link("in.ops.jsonl", "hard");
    input_ = ReadFile("in.ops.jsonl");
  }
  ~Outputs() override { fs::current_path("/"); }

  /// Runs the command with this output.
  int Run(const std::string& output, bool force) {
    std::vector<std::string> args = GetParam().before;
    args.push_back(output);
    if (force) args.emplace_back("--force");
    MemoryRun memory;
    const int status = RunApp(args, memory.streams);
    err_ = memory.err.text;
    return status;
  }

  const TempFolder folder_;
  std::string input_;
  std::string err_;
};

TEST_P(Outputs, NeverReplaceTheInput) {
  for (const bool force : {false, true}) {
    for (const char* output : {"in.ops.jsonl", "./in.ops.jsonl", "soft", "hard"}) {
      EXPECT_EQ(Run(output, force), 2) << output;
      EXPECT_THAT(err_, HasSubstr(output));
      EXPECT_THAT(err_, HasSubstr("input")) << output;
      EXPECT_EQ(ReadFile("in.ops.jsonl"), input_) << output;
    }
  }
  EXPECT_EQ(folder_.FileCount(), 3U) << "nothing was left";
}

TEST_P(Outputs, ReplaceOtherFilesOnlyByForce) {
  folder_.Write("letter", "Dear A,\n");
  EXPECT_EQ(Run("letter", false), 2);
  EXPECT_THAT(err_, HasSubstr("letter: the file exists already"));
  EXPECT_EQ(ReadFile("letter"), "Dear A,\n");
  EXPECT_NE(Run("letter", true), 2) << err_;
  EXPECT_NE(ReadFile("letter"), "Dear A,\n");
  // The same output again.
  EXPECT_EQ(Run("letter", false) == 2, GetParam().is_log) << err_;
  folder_.Write("empty", "");
  EXPECT_NE(Run("empty", false), 2) << err_;
  EXPECT_GT(fs::file_size("empty"), 0U);
  EXPECT_EQ(folder_.FileCount(), 5U + GetParam().files_beside) << "nothing was left";
}

INSTANTIATE_TEST_SUITE_P(
    Cli, Outputs,
    ::testing::Values(OutputCase{"replay", {"replay", "in.ops.jsonl", "-o"}},
                      OutputCase{"events", {"replay", "in.ops.jsonl", "--events"}},
                      OutputCase{"graph_svg", {"graph", "in.ops.jsonl", "--format", "svg", "-o"}},
                      OutputCase{"timeline", {"timeline", "in.ops.jsonl", "-o"}},
                      OutputCase{"export_", {"export", "in.ops.jsonl", "-o"}},
                      OutputCase{"import", {"import", "in.ops.jsonl", "-o"}, "", true},
                      OutputCase{"repair", {"verify", "in.ops.jsonl", "--repair"}, "", true},
                      OutputCase{
                          "minimize",
                          {"diff", "in.ops.jsonl", "--a", "v2@57", "--b", "v2@58", "--minimize"},
                          "",
                          true,
                          2}),  // a test each

    [](const auto& test) { return std::string(test.param.name); });

TEST(OutputsOfMany, TwoOutputsAreTwoFiles) {
  const TempFolder folder;
  MemoryRun memory;
  const std::string file = folder.File("x");
  EXPECT_EQ(RunApp(std::vector<std::string>{"replay", kInput, "-o", file, "--events", file},
                   memory.streams),
            2);
  EXPECT_THAT(memory.err.text, HasSubstr("two outputs of the command are this file"));
  EXPECT_EQ(folder.FileCount(), 0U);
}

/// `ringscope replay - -o out.pftrace`, waiting for its input.
class WaitingReplay {
 public:
  /// @param ignored signal; 0: none
  explicit WaitingReplay(const TempFolder& folder, int ignored = 0) {
    const std::string fifo = folder.File("fifo");
    EXPECT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    fifo_ = ::open(fifo.c_str(), O_RDWR | O_CLOEXEC);
    const std::string output = folder.File("out.pftrace");
    pid_ = ::fork();
    if (pid_ == 0) {
      if (ignored != 0) ::signal(ignored, SIG_IGN);
      ::dup2(fifo_, STDIN_FILENO);
      ::execl(RS_BINARY, RS_BINARY, "-q", "replay", "-", "-o", output.c_str(), nullptr);
      ::_exit(126);
    }
    // The fifo, and the output's temporary file.
    for (int i = 0; i < 15'000 && folder.FileCount() < 2; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(folder.FileCount(), 2U);
  }
  ~WaitingReplay() { ::close(fifo_); }

  /// @return the status of waitpid
  int EndBy(std::initializer_list<int> signals) const {
    for (const int signal : signals) ::kill(pid_, signal);
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    return status;
  }

 private:
  int fifo_ = -1;
  pid_t pid_ = -1;
};

class Signals : public ::testing::TestWithParam<int> {};

TEST_P(Signals, RemoveTemporaryFilesAndEndTheProcess) {
  const TempFolder folder;
  const WaitingReplay replay(folder);
  const int status = replay.EndBy({GetParam()});
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == GetParam()) << status;
  EXPECT_EQ(folder.FileCount(), 1U) << "the fifo alone";
}

INSTANTIATE_TEST_SUITE_P(Cli, Signals, ::testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST(SignalsThatAreIgnored, StayIgnored) {
  const TempFolder folder;
  const WaitingReplay replay(folder, SIGHUP);
  const int status = replay.EndBy({SIGHUP, SIGTERM});
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
  EXPECT_EQ(folder.FileCount(), 1U);
}

}  // namespace
}  // namespace ringscope
