#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <sstream>
#include <thread>

#include "commands/plugin/plugin.h"
#include "commands/shell/commands.h"
#include "commands/shell/embedded_files.h"
#include "commands/shell/options.h"
#include "commands/view/report.h"
#include "formats/io/output_file.h"

namespace ringscope {
namespace {

/// A process of /bin/sh that runs build_plugin.sh, as the leader of a group of its own. While this
/// lives, SIGINT, SIGTERM and SIGHUP are kept for that group, so that the script cleans up.
class ScriptProcess {
 public:
  ScriptProcess() : output_(std::tmpfile(), std::fclose) {
    ::sigemptyset(&watched_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) ::sigaddset(&watched_, signal);
    ::pthread_sigmask(SIG_BLOCK, &watched_, &before_);
  }
  ~ScriptProcess() {
    constexpr timespec kNoWait = {};
    while (::sigtimedwait(&watched_, nullptr, &kNoWait) > 0) continue;
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  ScriptProcess(const ScriptProcess&) = delete;
  ScriptProcess& operator=(const ScriptProcess&) = delete;

  /// @param variables of its environment, "NAME=value", besides those of this process
  /// @return what it printed. Fails with that if its status is not 0, or if a signal arrived
  Result<std::string> Run(const std::vector<std::string>& variables) {
    pid_t child = -1;
    if (const int error = output_ ? Start(variables, child) : errno)
      return SystemError("cannot start /usr/bin/env", error, {});
    int status = 0, ended_by = 0;
    while (::waitpid(child, &status, WNOHANG) != child) {
      const int signal = ::sigwaitinfo(&watched_, nullptr);
      if (signal <= 0 || signal == SIGCHLD) continue;
      ::kill(-child, signal);
      ended_by = signal;
    }
    if (ended_by != 0)
      return Fail(ErrorCode::kIo, fmt::format("ended by signal {}; nothing was written", ended_by));
    std::string printed;
    std::rewind(output_.get());
    char part[4096];
    while (const size_t size = std::fread(part, 1, sizeof(part), output_.get()))
      printed.append(part, size);
    if (status == 0) return printed;
    return Fail(ErrorCode::kIo, printed.substr(0, printed.find_last_not_of('\n') + 1));
  }

 private:
  /// @return an errno, or 0
  int Start(const std::vector<std::string>& variables, pid_t& child) const {
    const std::string script(BuildPluginScript());
    std::vector<const char*> words = {"env"};
    for (const std::string& variable : variables) words.push_back(variable.c_str());
    words.insert(words.end(), {"/bin/sh", "-c", script.c_str(), "build_plugin.sh", nullptr});
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
      ::posix_spawn_file_actions_adddup2(&files, ::fileno(output_.get()), fd);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    ::posix_spawnattr_setsigmask(&attributes, &before_);
    sigset_t ignored;  // by this process, and not by what the script runs
    ::sigemptyset(&ignored);
    for (const int signal : {SIGPIPE, SIGXFSZ}) ::sigaddset(&ignored, signal);
    ::posix_spawnattr_setsigdefault(&attributes, &ignored);
    const int error = ::posix_spawn(&child, "/usr/bin/env", &files, &attributes,
                                    const_cast<char**>(words.data()), environ);
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
    return error;
  }

  const std::unique_ptr<FILE, int (*)(FILE*)> output_;
  sigset_t watched_, before_;
};

constexpr OutputKind kPluginOutput = {"a plug-in"};

struct PluginArgs {
  std::string action;
  std::string perfetto;  // a checkout
  std::string out;       // a build folder with generated headers; empty: looked for
  std::string commit;    // of git, in place of what is checked out; empty: none
  bool asan = false;
  std::string output;
  bool force = false;
  Format format = Format::kText;
};

void SetUpPlugin(CLI::App& app, PluginArgs& args) {
  AddChoice(app, "ACTION", args.action, {"build"}, "What to do", Need::kRequired);
  InGroup(app, kInputGroup);
  AddText(app, "--perfetto", args.perfetto, "DIR", "Perfetto checkout, v53 or later",
          Need::kRequired);
  AddText(
      app, "--out", args.out, "DIR",
      "A GN build folder with generated headers (default: the newest below out in the checkout)");
  AddText(app, "--commit", args.commit, "COMMIT",
          "Build this commit of the checkout, from the files that git has of it");
  InGroup(app, "Build");
  AddFlag(app, "--asan", args.asan,
          "Compile the buffers with AddressSanitizer (the compiler is $CXX, or c++)");
  InGroup(app, kOutputGroup);
  AddText(app, "-o,--output", args.output, "PLUGIN", "Plug-in to write (.so)", Need::kRequired);
  AddForce(app, args.force);
  AddFormat(app, args.format, {Format::kText, Format::kJson});
}

Result<ExitCode> RunPlugin(const PluginArgs& args, Context& context) {
  if (!IsPluginPath(args.output))
    return Fail(ErrorCode::kUsage,
                fmt::format("--output: '{}' is not a name that --engine accepts for a plug-in",
                            args.output),
                {}, fmt::format("for example '{}.so'", args.output));
  const char* const by_name = std::getenv("CXX");
  const std::string compiler = by_name == nullptr || *by_name == '\0' ? "c++" : by_name;
  const unsigned jobs =
      context.threads > 0 ? context.threads : std::max(1U, std::thread::hardware_concurrency());
  RS_ASSIGN_OR_RETURN(PendingFile file,
                      PendingFile::At(args.output, kPluginOutput, ReplaceBy(args.force)));
  RS_ASSIGN_OR_RETURN(
      const std::string printed,
      ScriptProcess().Run({"CHECKOUT=" + args.perfetto, "COMMIT=" + args.commit, "OUT=" + args.out,
                           "CXX=" + compiler, fmt::format("ASAN={}", args.asan ? "yes" : ""),
                           fmt::format("JOBS={}", jobs), "PLUGIN=" + file.temporary(),
                           fmt::format("ADAPTER={}", AdapterSource()),
                           fmt::format("PLUGIN_ABI={}", PluginHeader())}));
  uint64_t sources = 0;
  std::vector<std::string> notes;
  std::istringstream lines(printed);
  constexpr std::string_view kSources = "sources ", kNote = "note ";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kSources)) sources = std::strtoull(&line[kSources.size()], nullptr, 10);
    if (line.starts_with(kNote)) notes.push_back(line.substr(kNote.size()));
  }
  // With AddressSanitizer only a program that has its library can load it.
  std::vector<std::string> names;
  std::string version;
  if (!args.asan) {
    RS_ASSIGN_OR_RETURN(const auto plugins, Plugin::LoadAll(file.temporary()));
    for (const auto& plugin : plugins) names.push_back(plugin->name);
    version = plugins.front()->version;
  }
  RS_RETURN_IF_ERROR(file.Commit());

  const std::string engine =
      args.output.find('/') == std::string::npos ? "./" + args.output : args.output;
  const std::string from = Count(sources, "source");
  Report report(context.console, args.format, "plugin_build");
  report.Data(JsonOf("output", args.output, "from", from, "plugins", names, "version", version,
                     "notes", notes));
  const std::string what = names.empty() ? "" : fmt::format(", with {}", Joined(names));
  report.Paragraph(fmt::format("Built {}{}{}, from {}.", args.output, what,
                               version.empty() ? "" : fmt::format(" of {}", version), from));
  for (const std::string& note : notes) context.console.Warn(note);
  report.Print(fmt::format("\n  ringscope engines {}\n", engine));
  if (args.asan) {
    report.Print(
        fmt::format("  LD_PRELOAD=$({} -print-file-name=libasan.so) ringscope replay \\\n"
                    "      --engine {} session.tblog\n",
                    compiler, engine));
  } else {
    for (const std::string& name : names) {
      const bool is_first = name == names.front();
      report.Print(fmt::format("  ringscope replay --engine {}{} session.tblog\n", engine,
                               is_first ? "" : ":" + name));
    }
  }
  return report.Finish(ExitCode::kClean);
}

}  // namespace

Command PluginCommand() {
  return {
      "plugin",
      "Make a plug-in of a Perfetto checkout's own buffers",
      "Compiles Perfetto's own trace buffers, of any release from v53 on, of main or of a "
      "commit, as a plug-in: an engine for replay, diff, gaps and all other commands. The "
      "checkout is not changed. The sources that the buffers need are compiled, with the headers "
      "that a GN build folder has generated.",
      {{"ringscope plugin build --perfetto ~/perfetto -o mine.so",
        "Make a plug-in of what is checked out"},
       {"ringscope diff --a v2@58 --b ./mine.so session.tblog", "Does it do the same as v58?"},
       {"ringscope plugin build --perfetto ~/perfetto --commit HEAD~3 -o old.so",
        "Make one of an earlier commit"}},
      Bind(SetUpPlugin, RunPlugin),
      {.notice = nullptr}};
}

}  // namespace ringscope
