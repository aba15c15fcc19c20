#include "commands/plugin/checkout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

namespace ringscope::adapter {

const char* const kGnArguments =
    "is_debug=false is_clang=false is_hermetic_clang=false use_custom_libcxx=false "
    "perfetto_use_system_protobuf=true perfetto_use_system_zlib=true";

namespace {

namespace fs = std::filesystem;

constexpr const char* kInterface = "src/tracing/service/trace_buffer.h";
constexpr const char* kV1 = "src/tracing/service/trace_buffer_v1.h";
constexpr const char* kV2 = "src/tracing/service/trace_buffer_v2.h";
constexpr const char* kStats = "gen/protos/perfetto/common/trace_stats.gen.h";
constexpr const char* kFlags = "gen/build_config/perfetto_build_flags.h";
constexpr const char* kArchive = "libperfetto_client_experimental.a";

/// The sources of a GN target that the buffers need.
struct Part {
  const char* folder;
  const char* target;
  std::vector<const char*> files;
};

const std::vector<Part>& Parts() {
  static const std::vector<Part> parts = {
      {"src/tracing/service", "service", {"trace_buffer_v1", "trace_buffer_v2"}},
      {"src/tracing/core", "core", {"trace_packet"}},
      {"src/base",
       "base",
       {"crash_keys", "file_utils", "intrusive_list", "intrusive_tree", "logging", "paged_memory",
        "pipe", "status", "string_utils", "utils"}},
      {"src/base", "perfetto_base_default_platform", {"default_platform"}},
      {"src/protovm",
       "protovm",
       {"allocator", "error_handling", "executor", "node", "parser", "ro_cursor", "rw_proto",
        "rw_proto_cursor", "vm"}},
      {"src/protozero",
       "protozero",
       {"field", "gen_field_helpers", "message", "message_arena", "packed_repeated_fields",
        "proto_decoder", "scattered_heap_buffer", "scattered_stream_writer",
        "virtual_destructors"}},
  };
  return parts;
}
constexpr const char* kGeneratedFolder = "protos/perfetto/common";
constexpr const char* kGeneratedFile = "trace_stats.gen";

bool Exists(const std::string& folder, const std::string& name) {
  std::error_code ignored;
  return fs::exists(fs::path(folder) / name, ignored);
}

bool HasHeaders(const std::string& folder) {
  return Exists(folder, kStats) && Exists(folder, kFlags);
}

/// Whether a build is one for debugging, which is GN's default.
bool IsDebug(const std::string& folder) {
  std::ifstream file(folder + "/args.gn");
  bool debug = true;
  for (std::string line; std::getline(file, line);) {
    std::erase_if(line, [](char c) { return c == ' ' || c == '\t'; });
    if (line.starts_with("is_debug=")) debug = !line.starts_with("is_debug=false");
  }
  return debug;
}

/// The objects that the buffers need; empty: some are missing.
std::vector<std::string> FindObjects(const Checkout& checkout, const std::string& folder) {
  std::vector<std::string> objects;
  const auto add = [&](const std::string& in, const char* target, const char* file) {
    const std::string name = fmt::format("obj/{}/{}.{}.o", in, target, file);
    if (!Exists(folder, name)) return false;
    objects.push_back(folder + "/" + name);
    return true;
  };
  for (const Part& part : Parts())
    for (const char* const file : part.files)
      if (!add(part.folder, part.target, file) &&
          Exists(checkout.folder, fmt::format("{}/{}.cc", part.folder, file)))
        return {};
  return add(kGeneratedFolder, "cpp", kGeneratedFile) ? objects : std::vector<std::string>();
}

/// Clang's own library has its names in an inline namespace.
bool IsForOtherLibrary(const std::string& object) {
  constexpr std::string_view kMarks[] = {"NSt3__1", "NSt4__Cr"};
  std::ifstream file(object, std::ios::binary);
  std::string bytes, part(size_t{1} << 20, '\0');
  while (file.read(part.data(), static_cast<std::streamsize>(part.size())) || file.gcount() > 0) {
    bytes.append(part, 0, static_cast<size_t>(file.gcount()));
    for (const std::string_view mark : kMarks)
      if (bytes.find(mark) != std::string::npos) return true;
    bytes.erase(0, bytes.size() - std::min<size_t>(bytes.size(), 16));  // may begin one
  }
  return false;
}

/// Whether one of the buffers' files was changed after what was made of them.
bool IsStale(const Checkout& checkout, const std::vector<std::string>& made) {
  std::error_code ignored;
  fs::file_time_type oldest = fs::file_time_type::max();
  for (const std::string& file : made)
    oldest = std::min(oldest, fs::last_write_time(file, ignored));
  for (const char* const folder : {"src/tracing/service", "src/tracing/core", "src/protovm"}) {
    for (const auto& entry : fs::directory_iterator(fs::path(checkout.folder) / folder, ignored)) {
      const std::string name = entry.path().filename().string();
      const bool counts = folder != std::string_view("src/tracing/service") ||
                          name.starts_with("trace_buffer") || name.starts_with("histogram");
      if (counts && entry.is_regular_file(ignored) && entry.last_write_time(ignored) > oldest)
        return true;
    }
  }
  return false;
}

BuildFolder Describe(const Checkout& checkout, const std::string& folder) {
  BuildFolder found;
  found.folder = folder;
  found.is_debug = IsDebug(folder);
  if (Exists(folder, kArchive))
    found.to_link = {folder + "/" + kArchive};
  else
    found.to_link = FindObjects(checkout, folder);
  if (found.to_link.empty()) return found;
  found.has_other_library = IsForOtherLibrary(found.to_link.front());
  found.is_stale = IsStale(checkout, found.to_link);
  return found;
}

}  // namespace

Result<Checkout> Checkout::Open(const std::string& folder, const std::string& name) {
  const auto fail = [&](const std::string& found, const char* hint) {
    return Fail(ErrorCode::kNotFound, found, {.path = name}, hint);
  };
  if (!Exists(folder, kInterface)) {
    return fail(fmt::format("expected a Perfetto checkout, but there is no {}", kInterface),
                "give the folder that has Perfetto's src, include and protos");
  }
  if (!Exists(folder, kV1)) {
    return fail(fmt::format("expected Perfetto v53 or later, but there is no {}", kV1),
                "v52 and earlier have one class TraceBuffer; check a later release out");
  }
  Checkout checkout;
  checkout.folder = folder;
  checkout.has_v2 = Exists(folder, kV2);
  return checkout;
}

std::vector<std::string> Checkout::Sources(const std::string& build_folder) const {
  std::vector<std::string> sources;
  for (const Part& part : Parts()) {
    for (const char* const file : part.files) {
      const std::string name = fmt::format("{}/{}.cc", part.folder, file);
      if (Exists(folder, name)) sources.push_back(folder + "/" + name);
    }
  }
  sources.push_back(fmt::format("{}/gen/{}/{}.cc", build_folder, kGeneratedFolder, kGeneratedFile));
  return sources;
}

Result<BuildFolder> BuildFolder::Find(const Checkout& checkout, const std::string& given) {
  const std::string how = fmt::format(
      "in the checkout: 'tools/gn gen out/ringscope --args=\"{}\"', then 'tools/ninja -C "
      "out/ringscope {}'",
      kGnArguments, fmt::join(HeaderTargets(checkout), " "));
  if (!given.empty()) {
    if (HasHeaders(given)) return Describe(checkout, given);
    return Fail(ErrorCode::kNotFound,
                fmt::format("expected a build folder of Perfetto, but there is no {}",
                            Exists(given, kFlags) ? kStats : kFlags),
                {.path = given}, how);
  }
  std::optional<std::pair<fs::file_time_type, std::string>> newest;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(fs::path(checkout.folder) / "out", ignored)) {
    const std::string folder = entry.path().string();
    if (!HasHeaders(folder)) continue;
    const fs::file_time_type time = fs::last_write_time(fs::path(folder) / kStats, ignored);
    if (!newest || std::pair(time, folder) > *newest) newest = {time, folder};
  }
  if (newest) return Describe(checkout, newest->second);
  return Fail(ErrorCode::kNotFound,
              fmt::format("there is no build folder with Perfetto's generated headers: none of {}/"
                          "out/* has {}",
                          checkout.folder, kStats),
              {}, how + "; or give another folder with --out");
}

std::vector<std::string> HeaderTargets(const Checkout& checkout) {
  std::vector<std::string> targets = {"protos/perfetto/common:cpp", "protos/perfetto/common:zero",
                                      "protos/perfetto/trace:zero"};
  if (Exists(checkout.folder, "protos/perfetto/protovm"))
    targets.emplace_back("protos/perfetto/protovm:zero");
  return targets;
}

}  // namespace ringscope::adapter
