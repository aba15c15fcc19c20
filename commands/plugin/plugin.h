#ifndef RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_H_
#define RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/engine/catalogue.h"
#include "include/ringscope/plugin_abi.h"

namespace ringscope {

/// A file, and which of the plug-ins in it. By FILE or FILE:NAME; a file whose own name has a colon
/// comes first.
struct PluginName {
  static PluginName Parse(const std::string& text);

  std::string file;
  std::string plugin;  // empty: the first
};

/// A plug-in's report about itself, checked.
struct PluginFacts {
  /// The name for --engine: the file, with the plug-in's name unless it is the first.
  std::string path;
  std::string name;
  std::string version;      // may be empty
  std::string description;  // may be empty
};

/// A plug-in that is loaded and checked.
class Plugin {
 public:
  /// @param library of dlopen
  Plugin(PluginFacts facts, std::shared_ptr<void> library, const ringscope_plugin& functions)
      : facts_(std::move(facts)), library_(std::move(library)), functions_(functions) {}
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  /// Loads a shared object and checks what it reports about itself. This runs code of the plug-in.
  /// kIo: it cannot be opened; kUnsupported: it is no plug-in for this build
  /// @param text as PluginName has it
  static Result<std::shared_ptr<const Plugin>> Load(const std::string& text);
  /// All plug-ins of a shared object, or the one that `text` names.
  static Result<std::vector<std::shared_ptr<const Plugin>>> LoadAll(const std::string& text);

  const PluginFacts& facts() const { return facts_; }
  /// Functions of the plug-in; null where it has none.
  const ringscope_plugin& functions() const { return functions_; }
  EngineReports reports() const;
  /// Returns the names of the observer's calls that it makes, or of those that it does not make.
  std::vector<std::string> EventNames(bool reported) const;
  bool runs_programs() const {
    return functions_.set_up_vm != nullptr && functions_.visit_vms != nullptr;
  }
  bool reports_places() const { return (functions_.tells & RINGSCOPE_TELLS_PLACES) != 0; }

 private:
  bool Tells(uint64_t bit) const;

  PluginFacts facts_;
  std::shared_ptr<void> library_;
  ringscope_plugin functions_;
};

/// Returns true for plug-ins among engines: with a '/', or .so at the end or before a ':'.
bool IsPluginPath(std::string_view engine);

/// An engine of an option: a path, whose file is not opened, or a name of the catalogue.
Result<std::string> ParseEngineName(std::string_view engine);

/// A plug-in as one of the engines. An impossible packet, or a failure that the plug-in reports,
/// becomes the engine's failure().
EngineInfo PluginEngineInfo(const std::shared_ptr<const Plugin>& plugin);

/// A lookup that knows the catalogue and loads plug-ins, each once; for use on any thread.
EngineLookup EnginesAndPlugins();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_H_
