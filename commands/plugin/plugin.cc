#include "commands/plugin/plugin.h"

#include <fstream>
#include <map>
#include <mutex>

#include "commands/plugin/plugin_engine.h"
#include "commands/plugin/plugin_library.h"
#include "commands/plugin/plugin_process.h"
#include "core/plugin/place_finder.h"

namespace ringscope {
namespace {

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

Result<std::shared_ptr<const Plugin>> Plugin::Load(const std::string& text, const PluginRun& run) {
  RS_ASSIGN_OR_RETURN(const auto plugins, LoadAll(text, run));
  return plugins.front();
}

Result<std::vector<std::shared_ptr<const Plugin>>> Plugin::LoadAll(const std::string& text,
                                                                   const PluginRun& run) {
  return run.in_process ? LoadPluginLibrary(text) : LoadInProcess(text, run);
}

EngineReports Plugin::reports() const {
  return {.chunks = Tells(RINGSCOPE_TELLS_CHUNKS),
          .abandoned = Tells(RINGSCOPE_TELLS_GIVEN_UP),
          .stalls = Tells(RINGSCOPE_TELLS_STALLED)};
}

/// @param bits all of them
bool Plugin::Tells(uint64_t bits) const {
  return (facts_.tells & RINGSCOPE_TELLS_EVENTS) != 0 || (facts_.tells & bits) == bits;
}

std::vector<std::string> Plugin::EventNames(bool reported) const {
  // By the bits' order, from RINGSCOPE_TELLS_COMMITTED on.
  constexpr const char* kNames[] = {
      "committed",    "rewritten", "relocated", "discarded", "evicting", "erased", "patched",
      "patch_missed", "given_up",  "loss_bit",  "wrap",      "padding",  "stalled"};
  std::vector<std::string> names;
  uint64_t bit = RINGSCOPE_TELLS_COMMITTED;
  for (const char* const name : kNames) {
    if (Tells(bit) == reported) names.emplace_back(name);
    bit <<= 1;
  }
  return names;
}

bool IsPluginPath(std::string_view engine) {
  return engine.find('/') != std::string_view::npos || engine.ends_with(".so") ||
         engine.find(".so:") != std::string_view::npos;
}

Status CheckEngineName(std::string_view engine) {
  if (IsPluginPath(engine)) return {};
  auto found = FindEngine(engine);
  if (found) return {};
  Error error = std::move(found).error();
  error.hint += "; a plug-in is given by its path, like ./libmybuffer.so";
  return tl::unexpected(std::move(error));
}

EngineInfo PluginEngineInfo(const std::shared_ptr<const Plugin>& plugin) {
  EngineInfo info;
  const PluginFacts& facts = plugin->facts();
  info.name = facts.path;
  info.corresponds = "Plug-in " + facts.name;
  if (!facts.version.empty()) info.corresponds += " " + facts.version;
  info.difference = facts.description;
  info.create = [plugin](const EngineConfig& config) { return CreatePluginEngine(plugin, config); };
  if (!plugin->reports_places()) info.create = WithPlaces(std::move(info.create));
  info.reports = plugin->reports();
  return info;
}

EngineLookup EnginesAndPlugins(std::shared_ptr<const PluginRun> run) {
  return [run = std::move(run), shelf = std::make_shared<PluginShelf>()](
             std::string_view name) -> Result<const EngineInfo*> {
    if (!IsPluginPath(name)) return FindEngine(name);
    const std::lock_guard lock(shelf->mutex);
    auto entry = shelf->loaded.find(name);
    if (entry == shelf->loaded.end()) {
      const std::string path(name);
      RS_ASSIGN_OR_RETURN(const std::shared_ptr<const Plugin> plugin,
                          Plugin::Load(path, run ? *run : PluginRun{}));
      entry = shelf->loaded.emplace(path, PluginEngineInfo(plugin)).first;
    }
    return &entry->second;
  };
}

}  // namespace ringscope
