#include "commands/plugin/build_plugin.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "commands/plugin/plugin.h"
#include "commands/shell/commands.h"
#include "commands/shell/embedded_files.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "commands/view/report.h"
#include "formats/io/descriptor_io.h"
#include "formats/io/output_file.h"

namespace ringscope {
namespace {

constexpr int kNotStarted = 127;  // as shells report it

[[noreturn]] void Execute(const Programs::CommandLine& command, const std::string& folder,
                          int output) {
  ::setpgid(0, 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_DFL);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const bool has_input = std::freopen("/dev/null", "r", stdin) != nullptr;
  if (has_input && (folder.empty() || ::chdir(folder.c_str()) == 0))
    ::execvp(arguments.front(), arguments.data());
  ::dprintf(STDERR_FILENO, "cannot start %s: %s\n", arguments.front(), std::strerror(errno));
  ::_exit(kNotStarted);
}

/// The first lines of what a program printed.
std::string FirstLines(const std::string& output) {
  constexpr size_t kLinesShown = 30;
  std::istringstream lines(output);
  std::string text;
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    if (count < kLinesShown) text += "\n" + line;
  return count <= kLinesShown ? text
                              : fmt::format("{}\n... and {} more lines", text, count - kLinesShown);
}

}  // namespace

/// A program that runs, as the leader of a group of its own.
struct Programs::Running {
  std::string name;
  std::unique_ptr<FILE, int (*)(FILE*)> output;
  pid_t pid = -1;
  int status = 0;  // once it has ended, as waitpid has it

  static Result<Running> Start(const CommandLine& command, const std::string& folder,
                               const sigset_t& signals) {
    Running running{command.front(), {std::tmpfile(), std::fclose}};
    if (running.output) running.pid = ::fork();
    if (running.pid == 0) {
      ::pthread_sigmask(SIG_SETMASK, &signals, nullptr);
      Execute(command, folder, ::fileno(running.output.get()));
    }
    if (running.pid > 0) {
      ::setpgid(running.pid, running.pid);  // here, too: it may be signalled at once
      return running;
    }
    return SystemError(fmt::format("cannot start {}", command.front()), errno, {});
  }

  bool HasEnded(int options = WNOHANG) { return ::waitpid(pid, &status, options) == pid; }

  std::string Output() const {
    std::string text;
    std::rewind(output.get());
    char part[4096];
    while (const size_t size = std::fread(part, 1, sizeof(part), output.get()))
      text.append(part, size);
    return text;
  }

  Status Outcome(const std::string& printed) const {
    if (status == 0) return {};
    const std::string how = WIFEXITED(status)
                                ? fmt::format("ended with status {}", WEXITSTATUS(status))
                                : fmt::format("was ended by signal {} ({})", WTERMSIG(status),
                                              ::strsignal(WTERMSIG(status)));
    return Fail(ErrorCode::kIo, fmt::format("{} {}{}{}", name, how, printed.empty() ? "" : ":",
                                            FirstLines(printed)));
  }
};

Programs::Programs() {
  ::sigemptyset(&watched_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) ::sigaddset(&watched_, signal);
  ::pthread_sigmask(SIG_BLOCK, &watched_, &before_);
}

Programs::~Programs() {
  constexpr timespec kNoWait = {};
  while (::sigtimedwait(&watched_, nullptr, &kNoWait) > 0) continue;
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool Programs::IsThere(const std::string& program) {
  if (program.find('/') != std::string::npos) return ::access(program.c_str(), X_OK) == 0;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  return false;
}

Result<std::string> Programs::Run(const std::vector<CommandLine>& commands, size_t at_once,
                                  const std::string& folder) {
  std::vector<Running> running;
  std::string output;
  Status first;
  const auto interrupt = [&](int signal) {
    // A second signal does not wait for the programs' own clean-up.
    for (const Running& one : running) ::kill(-one.pid, signal_ == 0 ? SIGTERM : SIGKILL);
    signal_ = signal;
    first = Fail(ErrorCode::kIo, fmt::format("ended by signal {}; nothing was written", signal));
  };
  if (signal_ != 0) interrupt(signal_);
  for (size_t next = 0; !running.empty() || (first && next < commands.size());) {
    if (first && next < commands.size() && running.size() < std::max<size_t>(at_once, 1)) {
      auto started = Running::Start(commands[next++], folder, before_);
      if (started)
        running.push_back(std::move(*started));
      else
        first = tl::unexpected(std::move(started).error());
      continue;
    }
    if (const int signal = ::sigwaitinfo(&watched_, nullptr); signal > 0 && signal != SIGCHLD)
      interrupt(signal);
    std::erase_if(running, [&](Running& one) {
      if (!one.HasEnded()) return false;
      const std::string printed = one.Output();
      output += printed;
      if (first) first = one.Outcome(printed);
      return true;
    });
    if (!first && signal_ == 0)
      for (const Running& one : running) ::kill(-one.pid, SIGTERM);
  }
  RS_RETURN_IF_ERROR(first);
  return output;
}

void Programs::RunAnyway(const CommandLine& command) {
  auto started = Running::Start(command, {}, before_);
  if (started) started->HasEnded(0);
}

namespace {

namespace fs = std::filesystem;
using CommandLine = Programs::CommandLine;

// Files of a checkout and of its build folder.
constexpr const char* kInterface = "src/tracing/service/trace_buffer.h";
constexpr const char* kV1Header = "src/tracing/service/trace_buffer_v1.h";
constexpr const char* kV2Header = "src/tracing/service/trace_buffer_v2.h";
constexpr const char* kStatsHeader = "gen/protos/perfetto/common/trace_stats.gen.h";
constexpr const char* kFlagsHeader = "gen/build_config/perfetto_build_flags.h";
constexpr const char* kStatsSource = "gen/protos/perfetto/common/trace_stats.gen.cc";
constexpr const char* kGnArguments =
    "is_debug=false is_clang=false is_hermetic_clang=false use_custom_libcxx=false "
    "perfetto_use_system_protobuf=true perfetto_use_system_zlib=true "
    "skip_buildtools_check=true";

/// The sources that the buffers of any release need, without ".cc".
constexpr std::pair<const char*, const char*> kSources[] = {
    {"src/tracing/service", "trace_buffer_v1 trace_buffer_v2"},
    {"src/tracing/core", "trace_packet"},
    {"src/base",
     "crash_keys default_platform file_utils intrusive_list intrusive_tree logging paged_memory "
     "pipe status string_utils utils"},
    {"src/protovm",
     "allocator error_handling executor node parser ro_cursor rw_proto rw_proto_cursor vm"},
    {"src/protozero",
     "field gen_field_helpers message message_arena packed_repeated_fields proto_decoder "
     "scattered_heap_buffer scattered_stream_writer virtual_destructors"},
};

bool Exists(const std::string& folder, const std::string& name) {
  std::error_code ignored;
  return fs::exists(fs::path(folder) / name, ignored);
}

std::string Absolute(const std::string& path) {
  std::error_code ignored;
  const fs::path absolute = fs::absolute(path, ignored);
  return absolute.empty() ? path : absolute.lexically_normal().string();
}

CommandLine CommandLineOf(const std::string& text) {
  std::istringstream stream(text);
  CommandLine words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// A folder for a command's own files, removed with them.
class WorkFolder {
 public:
  ~WorkFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  Status Create() {
    std::string name = TemporaryFolder("/tmp") + "/ringscope-build-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr)
      return Fail(ErrorCode::kIo, fmt::format("cannot create a folder: {}", std::strerror(errno)),
                  {.path = TemporaryFolder("/tmp")}, "set TMPDIR to a folder with space");
    path_ = std::move(name);
    return {};
  }
  std::string Path(std::string_view name) const { return path_ + "/" + std::string(name); }
  /// Writes a file, and the folders that its name has.
  Status Write(std::string_view name, std::string_view content) const {
    const fs::path path = Path(name);
    std::error_code ignored;
    fs::create_directories(path.parent_path(), ignored);
    std::ofstream file(path, std::ios::binary);
    file << content;
    if (file.flush()) return {};
    return Fail(ErrorCode::kIo, "cannot write the file", {.path = path.string()},
                "set TMPDIR to a folder with space");
  }

 private:
  std::string path_;
};

class PluginBuild {
 public:
  explicit PluginBuild(const PluginBuildOptions& options)
      : options_(options), main_(Absolute(options.perfetto)), checkout_(main_) {}
  ~PluginBuild() {
    if (checkout_ != main_)
      runs_.RunAnyway({"git", "-C", main_, "worktree", "remove", "--force", checkout_});
  }
  PluginBuild(const PluginBuild&) = delete;
  PluginBuild& operator=(const PluginBuild&) = delete;

  Result<BuiltPlugin> Run(const std::string& to) {
    RS_RETURN_IF_ERROR(work_.Create());
    RS_RETURN_IF_ERROR(CheckCheckout(options_.perfetto));
    if (!options_.commit.empty()) {
      checkout_ = work_.Path("checkout");
      RS_RETURN_IF_ERROR(runs_.Run({{"git", "-C", main_, "worktree", "add", "--detach", "--force",
                                     checkout_, options_.commit}}));
      RS_RETURN_IF_ERROR(CheckCheckout("commit " + options_.commit));
    }
    if (options_.buffer == "v2" && !Exists(checkout_, kV2Header))
      return Fail(ErrorCode::kNotFound, "this checkout has no TraceBufferV2",
                  {.path = options_.perfetto},
                  "it exists from v54 on; --buffer v1 builds the other");
    RS_RETURN_IF_ERROR(FindHeaders());
    RS_RETURN_IF_ERROR(work_.Write("include/ringscope/plugin_abi.h", PluginHeader()));
    RS_RETURN_IF_ERROR(work_.Write("perfetto_adapter.cc", AdapterSource()));
    RS_RETURN_IF_ERROR(Compile());
    RS_RETURN_IF_ERROR(Link(to));
    return std::move(built_);
  }

 private:
  /// @param name of the checkout in messages
  Status CheckCheckout(const std::string& name) const {
    if (!Exists(checkout_, kInterface))
      return Fail(ErrorCode::kNotFound,
                  fmt::format("expected a Perfetto checkout, but there is no {}", kInterface),
                  {.path = name}, "give the folder that has Perfetto's src, include and protos");
    if (!Exists(checkout_, kV1Header))
      return Fail(ErrorCode::kNotFound,
                  fmt::format("expected Perfetto v53 or later, but there is no {}", kV1Header),
                  {.path = name},
                  "v52 and earlier have one class TraceBuffer; check a later release out");
    return {};
  }

  /// Finds the generated headers: in the folder given, in the checkout's newest build folder, or in
  /// one that is made for it. A commit's are made, as they may differ.
  Status FindHeaders() {
    const std::string& given = options_.out;
    build_ = given.empty() ? NewestBuildFolder() : Absolute(given);
    const bool has_headers = HasHeaders(build_);
    if (has_headers && options_.commit.empty()) return {};
    const auto gn = given.empty() ? FindGn() : std::nullopt;
    if (gn) return Generate(*gn);
    if (has_headers) {
      built_.notes.push_back(
          fmt::format("the generated headers are those of {}, not the commit's{}", build_,
                      given.empty() ? ", as gn is not in PATH" : ""));
      return {};
    }
    const std::string how = fmt::format(
        "in the checkout: 'tools/gn gen out/ringscope --args=\"{}\"', then 'tools/ninja -C "
        "out/ringscope {}'",
        kGnArguments, fmt::join(HeaderTargets(), " "));
    if (!given.empty())
      return Fail(ErrorCode::kNotFound,
                  fmt::format("expected a build folder of Perfetto, but there is no {}",
                              Exists(build_, kFlagsHeader) ? kStatsHeader : kFlagsHeader),
                  {.path = build_}, how);
    return Fail(ErrorCode::kNotFound,
                fmt::format("there is no build folder with Perfetto's generated headers: none of "
                            "{}/out/* has {}",
                            main_, kStatsHeader),
                {}, how + "; or give another folder with --out");
  }
  static bool HasHeaders(const std::string& folder) {
    return Exists(folder, kStatsHeader) && Exists(folder, kFlagsHeader);
  }
  std::string NewestBuildFolder() const {
    std::pair<fs::file_time_type, std::string> newest{fs::file_time_type::min(), ""};
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(fs::path(main_) / "out", ignored)) {
      const std::string folder = entry.path().string();
      if (HasHeaders(folder))
        newest = std::max(
            newest,
            std::pair(fs::last_write_time(fs::path(folder) / kStatsHeader, ignored), folder));
    }
    return newest.second;
  }
  CommandLine HeaderTargets() const {
    CommandLine targets = {"protos/perfetto/common:cpp", "protos/perfetto/common:zero",
                           "protos/perfetto/trace:zero"};
    if (Exists(checkout_, "protos/perfetto/protovm"))
      targets.emplace_back("protos/perfetto/protovm:zero");
    return targets;
  }
  /// The program, if there is one: of the system, or of the checkout.
  std::optional<std::string> FindGn() const {
    for (const std::string& gn : {std::string("gn"), main_ + "/tools/gn"})
      if (Programs::IsThere(gn)) return gn;
    return std::nullopt;
  }
  /// Makes a build folder with the generated headers alone.
  Status Generate(const std::string& gn) {
    if (!Exists(checkout_, ".gn"))
      return Fail(ErrorCode::kNotFound,
                  "the checkout has no .gn: gn cannot make its build folder from these files",
                  {.path = main_},
                  "clone Perfetto as a whole, or name a build folder with its generated headers "
                  "with --out");
    build_ = work_.Path("out");
    RS_RETURN_IF_ERROR(runs_.Run(
        {{gn, "gen", build_, "--root=" + checkout_, fmt::format("--args={}", kGnArguments)}}, 1,
        checkout_));
    CommandLine ninja = {Programs::IsThere("ninja") ? "ninja" : main_ + "/tools/ninja", "-C",
                         build_};
    for (const std::string& target : HeaderTargets()) ninja.push_back(target);
    RS_RETURN_IF_ERROR(runs_.Run({ninja}, 1, checkout_));
    return {};
  }

  /// Compiles the adapter and the sources of the buffers.
  Status Compile() {
    CommandLine flags = CommandLineOf(options_.compiler);
    for (const char* const flag : {"-std=c++17", "-O2", "-g1", "-fPIC", "-fvisibility=hidden",
                                   "-fno-exceptions", "-fno-rtti", "-w", "-DNDEBUG"})
      flags.emplace_back(flag);
    if (options_.asan) flags.emplace_back("-fsanitize=address");
    for (const std::string& folder : {work_.Path("include"), checkout_, checkout_ + "/include",
                                      build_ + "/gen", build_ + "/gen/build_config"})
      flags.push_back("-I" + folder);
    std::vector<CommandLine> commands;
    const auto compile = [&](const std::string& source, const CommandLine& more) {
      CommandLine& command = commands.emplace_back(flags);
      command.insert(command.end(), more.begin(), more.end());
      objects_.push_back(work_.Path(fmt::format("{}.o", objects_.size())));
      command.insert(command.end(), {"-c", source, "-o", objects_.back()});
    };
    CommandLine adapter;
    if (options_.buffer == "v1") adapter.emplace_back("-DRINGSCOPE_ADAPTER_V2=0");
    if (options_.buffer == "v2") adapter.emplace_back("-DRINGSCOPE_ADAPTER_V1=0");
    if (const std::string version = Version(); !version.empty())
      adapter.push_back(fmt::format("-DRINGSCOPE_ADAPTER_VERSION=\"{}\"", version));
    compile(work_.Path("perfetto_adapter.cc"), adapter);
    const CommandLine perfetto = {"-DPERFETTO_IMPLEMENTATION", "-D_GNU_SOURCE"};
    for (const auto& [folder, names] : kSources)
      for (const std::string& name : CommandLineOf(names))
        if (const std::string source = fmt::format("{}/{}.cc", folder, name);
            Exists(checkout_, source))
          compile(checkout_ + "/" + source, perfetto);
    compile(fmt::format("{}/{}", build_, kStatsSource), perfetto);
    built_.sources = commands.size() - 1;
    RS_RETURN_IF_ERROR(runs_.Run(commands, options_.at_once));
    return {};
  }
  /// What git calls the sources; empty: they are not in git.
  std::string Version() {
    const auto version = runs_.Run({{"git", "-C", main_, "describe", "--tags", "--always",
                                     options_.commit.empty() ? "--dirty" : options_.commit}});
    const CommandLine words = version ? CommandLineOf(*version) : CommandLine();
    const bool is_plain = words.size() == 1 && std::ranges::all_of(words.front(), [](char c) {
                            return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                                   std::string_view(".-_/+").find(c) != std::string_view::npos;
                          });
    return is_plain ? words.front() : std::string();
  }
  Status Link(const std::string& to) {
    CommandLine command = CommandLineOf(options_.compiler);
    command.insert(command.end(), {"-shared", "-o", to});
    command.insert(command.end(), objects_.begin(), objects_.end());
    // A program with AddressSanitizer has its symbols.
    command.emplace_back(options_.asan ? "-fsanitize=address" : "-Wl,--no-undefined");
    command.insert(command.end(), {"-Wl,--gc-sections", "-Wl,-Bsymbolic", "-lpthread"});
    RS_RETURN_IF_ERROR(runs_.Run({command}));
    return {};
  }

  const PluginBuildOptions& options_;
  const std::string main_;  // the checkout that was given
  std::string checkout_;    // the same, or a worktree of the commit
  std::string build_;       // with the generated headers
  WorkFolder work_;
  Programs runs_;
  CommandLine objects_;
  BuiltPlugin built_;
};

}  // namespace

Result<BuiltPlugin> BuildPlugin(const PluginBuildOptions& options, const std::string& to) {
  return PluginBuild(options).Run(to);
}

namespace {

constexpr OutputKind kPluginOutput = {"a plug-in"};

struct PluginArgs {
  std::string action;
  PluginBuildOptions build;
  std::string output;
  bool force = false;
  std::string format;
};

void SetUpPlugin(CLI::App& app, PluginArgs& args) {
  AddChoice(app, "ACTION", args.action, {"build"}, "What to do", Need::kRequired);
  InGroup(app, kInputGroup);
  AddText(app, "--perfetto", args.build.perfetto, "DIR", "Perfetto checkout, v53 or later",
          Need::kRequired);
  AddText(
      app, "--out", args.build.out, "DIR",
      "A GN build folder with generated headers (default: the newest below out in the checkout)");
  AddText(app, "--commit", args.build.commit, "COMMIT",
          "Build this commit of the checkout, in a temporary worktree");
  InGroup(app, "Build");
  AddChoice(app, "--buffer", args.build.buffer, {"v1", "v2"},
            "Build one of the buffers (default: both, v2 first)");
  AddFlag(app, "--asan", args.build.asan, "Compile the buffers with AddressSanitizer");
  AddText(app, "--cxx", args.build.compiler, "COMMAND", "Compiler (default: $CXX, or c++)");
  InGroup(app, kOutputGroup);
  AddText(app, "-o,--output", args.output, "PLUGIN", "Plug-in to write (.so)", Need::kRequired);
  AddForce(app, args.force);
  AddFormat(app, args.format, {"text", "json"});
}

Result<ExitCode> RunPlugin(const PluginArgs& args, Context& context) {
  if (!IsPluginPath(args.output)) {
    return Fail(ErrorCode::kUsage,
                fmt::format("--output: '{}' is not a name that --engine accepts for a plug-in",
                            args.output),
                {}, fmt::format("for example '{}.so'", args.output));
  }
  PluginBuildOptions options = args.build;
  const char* const by_name = std::getenv("CXX");
  if (options.compiler.empty()) options.compiler = by_name == nullptr ? "" : by_name;
  if (options.compiler.empty()) options.compiler = "c++";
  options.at_once = context.threads > 0 ? context.threads : std::thread::hardware_concurrency();
  RS_ASSIGN_OR_RETURN(PendingFile file,
                      PendingFile::At(args.output, kPluginOutput, ReplaceBy(args.force)));
  RS_ASSIGN_OR_RETURN(const BuiltPlugin built, BuildPlugin(options, file.temporary()));
  // With AddressSanitizer only a program that has its library can load it.
  std::vector<std::string> names;
  std::string version;
  if (!options.asan) {
    RS_ASSIGN_OR_RETURN(const auto plugins, Plugin::LoadAll(file.temporary()));
    for (const auto& plugin : plugins) names.push_back(plugin->facts().name);
    version = plugins.front()->facts().version;
  }
  RS_RETURN_IF_ERROR(file.Commit());

  const std::string engine =
      args.output.find('/') == std::string::npos ? "./" + args.output : args.output;
  const std::string from = Count(built.sources, "source");
  Report report(context.console, args.format, "plugin_build");
  report.Data({{"output", args.output},
               {"from", from},
               {"plugins", names},
               {"version", version},
               {"notes", built.notes}});
  const std::string what = names.empty() ? "" : fmt::format(", with {}", Joined(names));
  report.Print(Wrap(fmt::format("Built {}{}{}, from {}.", args.output, what,
                                version.empty() ? "" : fmt::format(" of {}", version), from),
                    0) +
               "\n");
  for (const std::string& note : built.notes) context.console.Warn(note);
  report.Print(fmt::format("\n  ringscope engines {}\n", engine));
  if (options.asan) {
    report.Print(
        fmt::format("  LD_PRELOAD=$({} -print-file-name=libasan.so) ringscope replay \\\n"
                    "      --engine {} session.tblog\n",
                    options.compiler, engine));
  } else {
    for (const std::string& name : names) {
      const bool is_first = name == names.front();
      report.Print(fmt::format("  ringscope replay --engine {}{} session.tblog\n", engine,
                               is_first ? "" : ":" + name));
    }
  }
  RS_RETURN_IF_ERROR(report.Finish());
  return ExitCode::kClean;
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
