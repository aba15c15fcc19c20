#include "commands/plugin/build_plugin.h"

#include <fmt/ranges.h>
#include <stdlib.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include "commands/plugin/programs.h"
#include "commands/shell/embedded_file.h"
#include "formats/io/temporary_file.h"

RS_EMBED_FILE(AdapterSource, RS_ADAPTER_SOURCE)
RS_EMBED_FILE(PluginHeader, RS_PLUGIN_HEADER)

namespace ringscope {
namespace {

namespace fs = std::filesystem;
using Words = Programs::Words;

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

Words WordsOf(const std::string& text) {
  std::istringstream stream(text);
  Words words;
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
  Words HeaderTargets() const {
    Words targets = {"protos/perfetto/common:cpp", "protos/perfetto/common:zero",
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
    Words ninja = {Programs::IsThere("ninja") ? "ninja" : main_ + "/tools/ninja", "-C", build_};
    for (const std::string& target : HeaderTargets()) ninja.push_back(target);
    RS_RETURN_IF_ERROR(runs_.Run({ninja}, 1, checkout_));
    return {};
  }

  /// Compiles the adapter and the sources of the buffers.
  Status Compile() {
    Words flags = WordsOf(options_.compiler);
    for (const char* const flag : {"-std=c++17", "-O2", "-g1", "-fPIC", "-fvisibility=hidden",
                                   "-fno-exceptions", "-fno-rtti", "-w", "-DNDEBUG"})
      flags.emplace_back(flag);
    if (options_.asan) flags.emplace_back("-fsanitize=address");
    for (const std::string& folder : {work_.Path("include"), checkout_, checkout_ + "/include",
                                      build_ + "/gen", build_ + "/gen/build_config"})
      flags.push_back("-I" + folder);
    std::vector<Words> commands;
    const auto compile = [&](const std::string& source, const Words& more) {
      Words& command = commands.emplace_back(flags);
      command.insert(command.end(), more.begin(), more.end());
      objects_.push_back(work_.Path(fmt::format("{}.o", objects_.size())));
      command.insert(command.end(), {"-c", source, "-o", objects_.back()});
    };
    Words adapter;
    if (options_.buffer == "v1") adapter.emplace_back("-DRINGSCOPE_ADAPTER_V2=0");
    if (options_.buffer == "v2") adapter.emplace_back("-DRINGSCOPE_ADAPTER_V1=0");
    if (const std::string version = Version(); !version.empty())
      adapter.push_back(fmt::format("-DRINGSCOPE_ADAPTER_VERSION=\"{}\"", version));
    compile(work_.Path("perfetto_adapter.cc"), adapter);
    const Words perfetto = {"-DPERFETTO_IMPLEMENTATION", "-D_GNU_SOURCE"};
    for (const auto& [folder, names] : kSources)
      for (const std::string& name : WordsOf(names))
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
    const Words words = version ? WordsOf(*version) : Words();
    const bool is_plain = words.size() == 1 && std::ranges::all_of(words.front(), [](char c) {
                            return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                                   std::string_view(".-_/+").find(c) != std::string_view::npos;
                          });
    return is_plain ? words.front() : std::string();
  }
  Status Link(const std::string& to) {
    Words command = WordsOf(options_.compiler);
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
  Words objects_;
  BuiltPlugin built_;
};

}  // namespace

Result<BuiltPlugin> BuildPlugin(const PluginBuildOptions& options, const std::string& to) {
  return PluginBuild(options).Run(to);
}

}  // namespace ringscope
