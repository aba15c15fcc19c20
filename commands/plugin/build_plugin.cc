#include "commands/plugin/build_plugin.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>

#include "commands/plugin/adapter_sources.h"
#include "commands/plugin/checkout.h"
#include "commands/plugin/work_folder.h"
#include "commands/record/child_process.h"
#include "commands/record/program_runs.h"

namespace ringscope::adapter {
namespace {

namespace fs = std::filesystem;
using Command = ProgramRuns::Command;

Command Words(const std::string& text) {
  std::istringstream stream(text);
  Command words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string Trimmed(std::string text) {
  while (text.ends_with('\n') || text.ends_with(' ')) text.pop_back();
  return text;
}

/// A commit of a checkout, in a folder of its own, for as long as this lives.
class Worktree {
 public:
  static Result<std::unique_ptr<Worktree>> Add(ProgramRuns& runs, const std::string& checkout,
                                               const std::string& commit, std::string folder) {
    std::unique_ptr<Worktree> tree(new Worktree(runs, checkout, std::move(folder)));
    RS_RETURN_IF_ERROR(runs.Run(
        {"git", "-C", checkout, "worktree", "add", "--detach", "--force", tree->folder_, commit}));
    return tree;
  }
  ~Worktree() {
    runs_.RunAnyway({"git", "-C", checkout_, "worktree", "remove", "--force", folder_}, {});
  }

 private:
  Worktree(ProgramRuns& runs, std::string checkout, std::string folder)
      : runs_(runs), checkout_(std::move(checkout)), folder_(std::move(folder)) {}

  ProgramRuns& runs_;
  const std::string checkout_;
  const std::string folder_;
};

class PluginBuild {
 public:
  PluginBuild(const PluginBuildOptions& options, ProgramRuns& runs, const WorkFolder& work)
      : options_(options), runs_(runs), work_(work) {}

  Result<BuiltPlugin> Run(const std::string& to) {
    RS_ASSIGN_OR_RETURN(checkout_, Checkout::Open(Absolute(options_.perfetto), options_.perfetto));
    const Checkout main = checkout_;
    if (!options_.commit.empty()) {
      RS_ASSIGN_OR_RETURN(
          tree_, Worktree::Add(runs_, main.folder, options_.commit, work_.Path("checkout")));
      RS_ASSIGN_OR_RETURN(checkout_,
                          Checkout::Open(work_.Path("checkout"), "commit " + options_.commit));
    }
    if (options_.buffer == "v2" && !checkout_.has_v2) {
      return Fail(ErrorCode::kNotFound, "this checkout has no TraceBufferV2",
                  {.path = options_.perfetto},
                  "it exists from v54 on; --buffer v1 builds the other");
    }
    RS_RETURN_IF_ERROR(FindBuildFolder(main));
    RS_RETURN_IF_ERROR(work_.Write("include/ringscope/plugin_abi.h", PluginHeader()));
    RS_RETURN_IF_ERROR(work_.Write("perfetto_adapter.cc", AdapterSource()));
    RS_RETURN_IF_ERROR(CompileAll(main));
    RS_RETURN_IF_ERROR(Link(to));
    return std::move(built_);
  }

 private:
  static std::string Absolute(const std::string& path) {
    std::error_code ignored;
    const fs::path absolute = fs::absolute(path, ignored);
    return absolute.empty() ? path : absolute.lexically_normal().string();
  }

  /// The one given, or one of the checkout's, or one that is made for it. (A commit's is made, as
  /// the headers that it generates may differ.)
  Status FindBuildFolder(const Checkout& main) {
    const std::string given = options_.out.empty() ? "" : Absolute(options_.out);
    if (options_.commit.empty() || !given.empty()) {
      auto found = BuildFolder::Find(checkout_, given);
      if (found) {
        build_ = std::move(*found);
        if (!options_.commit.empty()) {
          build_.to_link.clear();
          built_.notes.push_back(
              fmt::format("the generated headers are those of {}, not the commit's", given));
        }
        return {};
      }
      if (!given.empty() || !FindGn(main)) return tl::unexpected(std::move(found).error());
    }
    if (const auto gn = FindGn(main)) return Generate(*gn, main);
    RS_ASSIGN_OR_RETURN(build_, BuildFolder::Find(main, ""));
    build_.to_link.clear();
    built_.notes.push_back(
        fmt::format("gn is not in PATH, so the generated headers are those of {}, not the commit's",
                    build_.folder));
    return {};
  }

  /// The program, if there is one: of the system, or of the checkout.
  std::optional<std::string> FindGn(const Checkout& main) const {
    if (ChildProcess::Check("gn")) return "gn";
    const std::string own = main.folder + "/tools/gn";
    if (ChildProcess::Check(own)) return own;
    return std::nullopt;
  }

  /// Makes a build folder with the generated headers alone.
  Status Generate(const std::string& gn, const Checkout& main) {
    const std::string out = work_.Path("out");
    RS_RETURN_IF_ERROR(runs_.Run(
        {gn, "gen", out, "--root=" + checkout_.folder, fmt::format("--args={}", kGnArguments)},
        checkout_.folder));
    const std::string own = main.folder + "/tools/ninja";
    Command ninja = {ChildProcess::Check("ninja") ? "ninja" : own, "-C", out};
    for (const std::string& target : HeaderTargets(checkout_)) ninja.push_back(target);
    RS_RETURN_IF_ERROR(runs_.Run(ninja, checkout_.folder));
    RS_ASSIGN_OR_RETURN(build_, BuildFolder::Find(checkout_, out));
    build_.to_link.clear();
    return {};
  }

  /// Compiles the adapter, and the sources of the buffers where nothing can be linked.
  Status CompileAll(const Checkout& main) {
    if (build_.has_other_library && !build_.to_link.empty()) {
      built_.notes.push_back(
          fmt::format("the objects in {} are for Clang's own C++ library, so the sources were "
                      "compiled",
                      build_.folder));
    } else if (build_.is_stale && !build_.to_link.empty()) {
      built_.notes.push_back(
          fmt::format("the objects in {} are older than the buffers' sources, so "
                      "these were compiled",
                      build_.folder));
    }
    if (options_.asan || build_.has_other_library || build_.is_stale) build_.to_link.clear();
    const bool links = !build_.to_link.empty();
    const bool debug = links && build_.is_debug;
    Command flags = Words(options_.compiler);
    for (const char* const flag : {"-std=c++17", "-O2", "-g1", "-fPIC", "-fvisibility=hidden",
                                   "-fno-exceptions", "-fno-rtti", "-w"})
      flags.emplace_back(flag);
    if (!debug) flags.emplace_back("-DNDEBUG");
    if (options_.asan) flags.emplace_back("-fsanitize=address");
    for (const std::string& folder :
         {work_.Path("include"), checkout_.folder, checkout_.folder + "/include",
          build_.folder + "/gen", build_.folder + "/gen/build_config"})
      flags.push_back("-I" + folder);

    std::vector<Command> commands;
    const auto compile = [&](const std::string& source, const Command& more) {
      Command command = flags;
      command.insert(command.end(), more.begin(), more.end());
      objects_.push_back(work_.Path(fmt::format("{}.o", objects_.size())));
      command.insert(command.end(), {"-c", source, "-o", objects_.back()});
      commands.push_back(std::move(command));
    };
    Command adapter;
    if (options_.buffer == "v1") adapter.emplace_back("-DRINGSCOPE_ADAPTER_V2=0");
    if (options_.buffer == "v2") adapter.emplace_back("-DRINGSCOPE_ADAPTER_V1=0");
    if (const std::string version = Version(main); !version.empty())
      adapter.push_back(fmt::format("-DRINGSCOPE_ADAPTER_VERSION=\"{}\"", version));
    compile(work_.Path("perfetto_adapter.cc"), adapter);
    if (!links) {
      for (const std::string& source : checkout_.Sources(build_.folder))
        compile(source, {"-DPERFETTO_IMPLEMENTATION", "-D_GNU_SOURCE"});
    }
    built_.from = !links                       ? fmt::format("{} sources", commands.size() - 1)
                  : build_.to_link.size() == 1 ? build_.to_link.front()
                                               : "the objects in " + build_.folder;
    return runs_.RunAll(commands, options_.at_once);
  }

  /// What git calls the sources; empty: they are not in git.
  std::string Version(const Checkout& main) const {
    Command command = {"git", "-C", main.folder, "describe", "--tags", "--always"};
    command.push_back(options_.commit.empty() ? "--dirty" : options_.commit);
    const auto version = runs_.Run(command);
    if (!version) return {};
    std::string text = Trimmed(*version);
    const bool is_plain = text.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTU"
                              "VWXYZ0123456789.-_/+") == std::string::npos;
    return is_plain ? text : std::string();
  }

  Status Link(const std::string& to) {
    Command command = Words(options_.compiler);
    command.insert(command.end(), {"-shared", "-o", to});
    command.insert(command.end(), objects_.begin(), objects_.end());
    if (options_.asan)
      command.emplace_back("-fsanitize=address");  // whose symbols the program has
    else
      command.emplace_back("-Wl,--no-undefined");
    command.insert(command.end(), {"-Wl,--gc-sections", "-Wl,-Bsymbolic"});
    command.insert(command.end(), build_.to_link.begin(), build_.to_link.end());
    command.emplace_back("-lpthread");
    auto linked = runs_.Run(command);
    if (linked) return {};
    linked.error().hint = fmt::format(
        "if symbols are missing, 'ninja -C {} libperfetto_client_experimental' makes "
        "an archive that has them",
        build_.folder);
    return tl::unexpected(std::move(linked).error());
  }

  const PluginBuildOptions& options_;
  ProgramRuns& runs_;
  const WorkFolder& work_;
  Checkout checkout_;
  BuildFolder build_;
  std::unique_ptr<Worktree> tree_;
  Command objects_;
  BuiltPlugin built_;
};

}  // namespace

Result<BuiltPlugin> BuildPlugin(const PluginBuildOptions& options, const std::string& to) {
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<ProgramRuns> runs, ProgramRuns::Create());
  RS_ASSIGN_OR_RETURN(const WorkFolder work, WorkFolder::Create());
  return PluginBuild(options, *runs, work).Run(to);
}

}  // namespace ringscope::adapter
