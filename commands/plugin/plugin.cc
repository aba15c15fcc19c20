#include "commands/plugin/plugin.h"

#include <dlfcn.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <mutex>

namespace ringscope {
namespace {

#ifdef RS_STATIC
constexpr bool kCanLoad = false;
#else
constexpr bool kCanLoad = true;
#endif

constexpr const char* kBuildHint =
    "build the plug-in against this ringscope's ringscope/plugin_abi.h";

/// The error of dlopen, without the path that it begins with.
std::string LoaderError(const std::string& path) {
  const char* const error = dlerror();
  std::string text = error != nullptr ? error : "unknown reason";
  if (text.starts_with(path + ": ")) text.erase(0, path.size() + 2);
  return text;
}

/// How many plug-ins one shared object may have: more is a list without an end.
constexpr size_t kMostPlugins = 64;

/// Bytes of the struct's mandatory part.
constexpr size_t kMandatorySize =
    offsetof(ringscope_plugin, stats) + sizeof(ringscope_plugin::stats);

std::string TextOrNothing(const char* text) { return text == nullptr ? "" : Printable(text); }

/// Reads what a plug-in reports about itself, and checks it.
/// @param fail makes an error of what was found and a hint
template <typename MakeError>
Result<Plugin> ReadPlugin(const ringscope_plugin& given, const MakeError& fail) {
  if (given.abi_version == 0 || given.abi_version > RINGSCOPE_ABI_VERSION)
    return fail(fmt::format("the plug-in has version {} of the plug-in interface, expected 1 to {}",
                            given.abi_version, RINGSCOPE_ABI_VERSION),
                kBuildHint);
  if (given.struct_size < kMandatorySize)
    return fail(
        fmt::format("the plug-in's struct_size is {} bytes, expected at least {}: mandatory "
                    "functions are missing",
                    given.struct_size, kMandatorySize),
        "set it to sizeof(ringscope_plugin)");
  Plugin plugin;
  ringscope_plugin& f = plugin.functions;
  // An older plug-in's struct is shorter, a newer one's longer.
  std::memcpy(&f, &given, std::min<size_t>(given.struct_size, sizeof(f)));
  if (given.abi_version < 2) {  // what may follow its struct is not ours
    f.next = nullptr;
    f.set_up_vm = nullptr;
    f.visit_vms = nullptr;
    f.tells &= RINGSCOPE_TELLS_EVENTS | RINGSCOPE_TELLS_PLACES;
  }
  const std::pair<const char*, bool> mandatory[] = {
      {"create", f.create != nullptr},         {"destroy", f.destroy != nullptr},
      {"commit", f.commit != nullptr},         {"patch", f.patch != nullptr},
      {"begin_read", f.begin_read != nullptr}, {"next_packet", f.next_packet != nullptr},
      {"stats", f.stats != nullptr},
  };
  for (const auto& [name, is_there] : mandatory)
    if (!is_there)
      return fail(
          fmt::format("the plug-in's function '{}' is null, expected one", name),
          "only clone, visit_writers, check, visit_chunks, set_up_vm and visit_vms are optional");
  plugin.name = TextOrNothing(f.name);
  plugin.version = TextOrNothing(f.version);
  plugin.description = TextOrNothing(f.description);
  if (plugin.name.empty())
    return fail("the plug-in has no name, expected one", "set ringscope_plugin.name");
  return plugin;
}

/// Owns the plug-ins that were asked for, by path.
struct PluginShelf {
  std::mutex mutex;
  std::map<std::string, EngineInfo, std::less<>> loaded;
};

}  // namespace

PluginName PluginName::Parse(const std::string& text) {
  const size_t colon = text.rfind(':');
  const size_t slash = text.rfind('/');
  const bool has_name = colon != std::string::npos && colon > 0 && colon + 1 < text.size() &&
                        (slash == std::string::npos || slash < colon);
  if (!has_name || std::ifstream(text)) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

Result<std::shared_ptr<const Plugin>> Plugin::Load(const std::string& text) {
  RS_ASSIGN_OR_RETURN(const auto plugins, LoadAll(text));
  return plugins.front();
}

Result<std::vector<std::shared_ptr<const Plugin>>> Plugin::LoadAll(const std::string& text) {
  const PluginName name = PluginName::Parse(text);
  // dlopen without a '/' in its argument looks elsewhere.
  const std::string loadable =
      name.file.find('/') == std::string::npos ? "./" + name.file : name.file;
  const auto fail = [&](std::string found, std::string hint) {
    return Fail(ErrorCode::kUnsupported, std::move(found), {.path = text}, std::move(hint));
  };
  if (!kCanLoad)
    return fail("this ringscope is linked without shared libraries, and cannot load plug-ins",
                "use the Debian package, or build ringscope from its sources");
  errno = 0;
  if (!std::ifstream(loadable))
    return Fail(ErrorCode::kIo, fmt::format("the plug-in cannot be opened: {}", strerror(errno)),
                {.path = text},
                "an engine is a version such as v2@58, or the path of a shared object; 'ringscope "
                "engines' lists the versions");
  const PluginCall call(text, RINGSCOPE_ENTRY, nullptr);
  void* const opened = dlopen(loadable.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr)
    return fail(fmt::format("expected a shared object that can be loaded, found: {}",
                            LoaderError(loadable)),
                "build the plug-in for this machine with -shared -fPIC");
  const std::shared_ptr<void> library(opened, dlclose);
  const auto get_plugin =
      reinterpret_cast<ringscope_get_plugin_function>(dlsym(opened, RINGSCOPE_ENTRY));
  if (get_plugin == nullptr)
    return fail("the shared object exports no function '" RINGSCOPE_ENTRY
                "', so it is not a plug-in",
                "define it with RINGSCOPE_EXPORT, see ringscope-plugin(3)");
  const ringscope_plugin* given = nullptr;
  for (uint32_t version = RINGSCOPE_ABI_VERSION; version > 0 && given == nullptr; --version)
    given = get_plugin(version);
  if (given == nullptr)
    return fail(fmt::format("the plug-in does not support version {} of the plug-in interface, or "
                            "an earlier one: its '" RINGSCOPE_ENTRY "' returned nothing",
                            RINGSCOPE_ABI_VERSION),
                kBuildHint);
  std::vector<std::shared_ptr<const Plugin>> found;
  std::string names;
  while (given != nullptr) {
    if (found.size() == kMostPlugins)
      return fail(fmt::format("the shared object has more than {} plug-ins, expected a list that "
                              "ends",
                              kMostPlugins),
                  "set ringscope_plugin.next to NULL in the last one");
    RS_ASSIGN_OR_RETURN(Plugin plugin, ReadPlugin(*given, fail));
    names += (names.empty() ? "" : ", ") + plugin.name;
    plugin.library = library;
    plugin.path = found.empty() || !name.plugin.empty() ? text : text + ":" + plugin.name;
    given = plugin.functions.next;
    found.push_back(std::make_shared<const Plugin>(std::move(plugin)));
    if (name.plugin == found.back()->name) return std::vector{found.back()};
  }
  if (name.plugin.empty()) return found;
  return fail(fmt::format("the shared object has no plug-in '{}', found: {}", name.plugin, names),
              "give one of these names after the colon, or the file alone for the first");
}

EngineReports Plugin::reports() const {
  return {.chunks = Tells(RINGSCOPE_TELLS_CHUNKS),
          .abandoned = Tells(RINGSCOPE_TELLS_GIVEN_UP),
          .stalls = Tells(RINGSCOPE_TELLS_STALLED)};
}

std::vector<std::string> Plugin::EventNames(bool reported) const {
  // By the bits' order, from RINGSCOPE_TELLS_COMMITTED on.
  constexpr const char* kNames[] = {
      "committed",    "rewritten", "relocated", "discarded", "evicting", "erased", "patched",
      "patch_missed", "abandoned", "loss_bit",  "wrap",      "padding",  "stalled"};
  std::vector<std::string> names;
  uint64_t bit = RINGSCOPE_TELLS_COMMITTED;
  for (const char* const event : kNames) {
    if (Tells(bit) == reported) names.emplace_back(event);
    bit <<= 1;
  }
  return names;
}

bool IsPluginPath(std::string_view engine) {
  return engine.find('/') != std::string_view::npos || engine.ends_with(".so") ||
         engine.find(".so:") != std::string_view::npos;
}

Result<std::string> ParseEngineName(std::string_view engine) {
  auto found = FindEngine(engine);
  if (found || IsPluginPath(engine)) return std::string(engine);
  Error error = std::move(found).error();
  error.hint += "; a plug-in is given by its path, like ./libmybuffer.so";
  return tl::unexpected(std::move(error));
}

EngineLookup EnginesAndPlugins() {
  return [shelf =
              std::make_shared<PluginShelf>()](std::string_view name) -> Result<const EngineInfo*> {
    if (!IsPluginPath(name)) return FindEngine(name);
    const std::lock_guard lock(shelf->mutex);
    auto entry = shelf->loaded.find(name);
    if (entry == shelf->loaded.end()) {
      const std::string path(name);
      RS_ASSIGN_OR_RETURN(const std::shared_ptr<const Plugin> plugin, Plugin::Load(path));
      entry = shelf->loaded.emplace(path, PluginEngineInfo(plugin)).first;
    }
    return &entry->second;
  };
}

}  // namespace ringscope
