// The workflow for buffer authors: what its steps run is run, as GitHub would, in a stand-in for a
// Perfetto checkout.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "commands/testing/memory_run.h"

namespace ringscope {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;

struct WorkflowStep {
  std::string name;
  std::string id;
  std::string condition;
  std::string script;  // of `run`; empty: it has none
  bool may_fail = false;
};

struct Workflow {
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<WorkflowStep> steps;
};

size_t IndentOf(const std::string& line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

std::string Unquoted(std::string text) {
  if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'')
    text = text.substr(1, text.size() - 2);
  return text;
}

/// The part of YAML that the workflow is written in: keys with plain values, and blocks of text.
Workflow ReadWorkflow(const std::string& path) {
  Workflow workflow;
  std::istringstream lines(ReadFile(path));
  std::string line, section;
  size_t script_indent = std::string::npos;
  while (std::getline(lines, line)) {
    const size_t indent = IndentOf(line);
    if (script_indent != std::string::npos) {
      std::string& script = workflow.steps.back().script;
      if (line.empty() || indent >= script_indent) {
        script += (line.empty() ? "" : line.substr(script_indent)) + "\n";
        continue;
      }
      script_indent = std::string::npos;
    }
    std::string text = line.substr(indent);
    if (text.empty() || text.front() == '#') continue;
    const bool is_item = text.starts_with("- ");
    if (is_item) text = text.substr(2);
    const size_t colon = text.find(':');
    const std::string key = text.substr(0, colon);
    const std::string value =
        colon == std::string::npos || colon + 2 > text.size() ? "" : text.substr(colon + 2);
    if (indent == 4) section = key;
    if (section == "env" && indent == 6) workflow.environment.emplace_back(key, Unquoted(value));
    if (section != "steps") continue;
    if (is_item && indent == 6) workflow.steps.emplace_back();
    if (workflow.steps.empty()) continue;
    WorkflowStep& step = workflow.steps.back();
    if (key == "name" && indent <= 8) step.name = value;
    if (key == "id") step.id = value;
    if (key == "if") step.condition = value;
    if (key == "continue-on-error") step.may_fail = value == "true";
    if (key == "run" && value == "|") script_indent = indent + (is_item ? 4 : 2);
    if (key == "run" && value != "|") step.script = value;
  }
  return workflow;
}

/// A runner: a checkout with two commits, an installed ringscope, and the files that GitHub gives.
class BufferCi : public ::testing::Test {
 protected:
  BufferCi() {
    fs::create_directories(Path("prefix/bin"));
    fs::create_directories(Path("prefix/share/ringscope/conformance"));
    fs::create_symlink(RS_BINARY, Path("prefix/bin/ringscope"));
    // A few of the streams.
    size_t copied = 0;
    std::vector<fs::path> cases;
    for (const auto& entry : fs::directory_iterator(RS_UNPACKED "/conformance/cases"))
      if (entry.path().extension() == ".zst") cases.push_back(entry.path());
    std::sort(cases.begin(), cases.end());
    for (const fs::path& path : cases) {
      if (copied++ == 4) break;
      fs::copy_file(path, Path("prefix/share/ringscope/conformance/") + path.filename().string());
    }
    MakeCheckout();
  }

  std::string Path(const std::string& name) const { return folder_.File(name); }
  void Write(const std::string& name, const std::string& text, bool is_program = false) const {
    fs::create_directories(fs::path(Path(name)).parent_path());
    std::ofstream(Path(name)) << text;
    if (is_program) ::chmod(Path(name).c_str(), 0755);
  }

  void MakeCheckout() const {
    const fs::path from = RS_TESTDATA "/perfetto", to = Path("perfetto");
    for (const char* const part : {"include", "src", "gen"}) {
      fs::create_directories(to / part);
      fs::copy(from / part, to / part, fs::copy_options::recursive);
    }
    fs::copy(from / "v2/src", to / "src", fs::copy_options::recursive);
    Write("perfetto/src/tracing/service/standin_release.h", "#define STANDIN_RELEASE 58\n");
    Write("perfetto/.gn", "");
    Write("perfetto/.gitignore", "out/\n*.so\n*.md\nfindings/\n");
    // What stands for GN and ninja: generated headers are copies.
    Write("perfetto/tools/install-build-deps", "#!/bin/sh\n", true);
    Write("perfetto/tools/gn",
          "#!/bin/sh\nmkdir -p \"$2\" && cp -r gen \"$2/gen\" && "
          "echo 'is_debug = false' > \"$2/args.gn\"\n",
          true);
    Write("perfetto/tools/ninja", "#!/bin/sh\n", true);
    Write("bin/gn", "#!/bin/sh\nmkdir -p \"$2\" && cp -r \"${3#--root=}/gen\" \"$2/gen\"\n", true);
    Write("bin/ninja", "#!/bin/sh\n", true);
    Write("bin/c++", "#!/bin/sh\nexec " RS_CXX " \"$@\"\n", true);
    Sh("git init -q && git add -A && git commit -qm base && git tag base", {});
  }

  /// Runs a script in the checkout. @return its status
  int Sh(const std::string& script, const std::map<std::string, std::string>& environment) const {
    std::string text = fmt::format(
        "cd '{}'\nexport HOME='{}' PATH='{}:{}:'\"$PATH\"\n"
        "export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.com GIT_COMMITTER_NAME=t "
        "GIT_COMMITTER_EMAIL=t@example.com\n",
        Path("perfetto"), folder_.path(), Path("bin"), Path("prefix/bin"));
    for (const auto& [name, value] : environment)
      text += fmt::format("export {}='{}'\n", name, value);
    Write("script", text + script);
    // As GitHub runs a step.
    const std::string command = fmt::format(
        "bash --noprofile --norc -e -o pipefail '{}' > '{}' 2>&1", Path("script"), Path("output"));
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  /// Runs the steps in a checkout without the files of earlier runs. @param most steps that are run
  /// @return by the steps' ids or names, the outcome
  std::map<std::string, std::string> RunSteps(const Workflow& workflow, size_t most = SIZE_MAX) {
    std::map<std::string, std::string> outcomes;
    std::map<std::string, std::string>& environment = environment_;
    environment.clear();
    Sh("git clean -ffdxq", {});
    for (const auto& [name, value] : workflow.environment) environment[name] = value;
    environment["BASE"] = "base";
    environment["FUZZ_TIME"] = "1s";
    environment["GITHUB_ENV"] = Path("env");
    environment["GITHUB_STEP_SUMMARY"] = Path("summary.md");
    Write("env", "");
    Write("summary.md", "");
    for (const WorkflowStep& step : workflow.steps) {
      if (step.script.empty() || step.name == "Judge") continue;
      if (most-- == 0) break;
      const int status = Sh(step.script, environment);
      outcomes[step.id.empty() ? step.name : step.id] = status == 0 ? "success" : "failure";
      EXPECT_TRUE(status == 0 || (step.may_fail && status == 3))
          << step.name << ": status " << status << "\n"
          << ReadFile(Path("output"));
      std::istringstream set(ReadFile(Path("env")));
      for (std::string line; std::getline(set, line);)
        environment[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
    }
    return outcomes;
  }

  const TempFolder folder_;
  std::map<std::string, std::string> environment_;  // of the last run
};

TEST_F(BufferCi, StepsOfTheWorkflow_Run) {
  const Workflow workflow = ReadWorkflow(RS_SOURCE_DIR "/share/ringscope/buffer-ci.yml");
  ASSERT_THAT(workflow.environment, Contains(Key("FUZZ_TIME")));
  // A change that changes nothing: it behaves as its base.
  Sh("echo '// nothing' >> src/tracing/service/trace_buffer_v2.cc && git commit -qam change", {});
  const auto same = RunSteps(workflow);
  EXPECT_EQ(same.at("fuzz"), "success") << ReadFile(Path("summary.md"));
  // The stand-in's ring is not Perfetto's.
  EXPECT_EQ(same.at("conformance"), "failure");
  const std::string summary = ReadFile(Path("summary.md"));
  EXPECT_THAT(summary, HasSubstr("# Streams of the released buffers"));
  EXPECT_THAT(summary, HasSubstr("# Behaviour"));
  EXPECT_THAT(summary, HasSubstr("no difference in"));

  // One that does: the buffer counts each chunk twice.
  Sh("sed -i 's/++written_;/written_ += 2;/' src/base/utils.cc && git commit -qam change", {});
  const auto other = RunSteps(workflow);
  EXPECT_EQ(other.at("fuzz"), "failure");
  EXPECT_THAT(ReadFile(Path("summary.md")), HasSubstr("chunks_written is"));
  size_t findings = 0;
  for (const auto& entry : fs::directory_iterator(Path("perfetto/findings"))) {
    findings += entry.path().string().ends_with(".ops.jsonl") ? 1 : 0;
  }
  EXPECT_GE(findings, 1u);

  // Without a base that can be built, v2@58 takes its place.
  EXPECT_EQ(environment_.at("SIDE_A"), "./base.so");
  Sh("git tag -d base", {});
  RunSteps(workflow, 1);
  EXPECT_EQ(environment_.at("SIDE_A"), "v2@58");
}

/// The steps that are judged are those that may fail, and the judge names them.
TEST_F(BufferCi, EachStepThatMayFail_IsJudged) {
  const Workflow workflow = ReadWorkflow(RS_SOURCE_DIR "/share/ringscope/buffer-ci.yml");
  const WorkflowStep& judge = workflow.steps.back();
  ASSERT_EQ(judge.name, "Judge");
  EXPECT_EQ(judge.script, "exit 1");
  size_t judged = 0;
  for (const WorkflowStep& step : workflow.steps) {
    if (!step.may_fail) continue;
    ++judged;
    EXPECT_THAT(judge.condition, HasSubstr("steps." + step.id + ".outcome"));
  }
  EXPECT_EQ(judged, 2u);
}

}  // namespace
}  // namespace ringscope
