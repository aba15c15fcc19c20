#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "commands/plugin/build_plugin.h"
#include "commands/plugin/plugin.h"
#include "commands/shell/commands.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "commands/view/report.h"
#include "formats/io/output_file.h"

namespace ringscope {
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

std::string DefaultCompiler() {
  const char* const compiler = std::getenv("CXX");
  return compiler != nullptr && *compiler != '\0' ? compiler : "c++";
}

Result<ExitCode> RunPlugin(const PluginArgs& args, Context& context) {
  if (!IsPluginPath(args.output)) {
    return Fail(ErrorCode::kUsage,
                fmt::format("--output: '{}' is not a name that --engine accepts for a plug-in",
                            args.output),
                {}, fmt::format("for example '{}.so'", args.output));
  }
  PluginBuildOptions options = args.build;
  if (options.compiler.empty()) options.compiler = DefaultCompiler();
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
      "Replay",
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
