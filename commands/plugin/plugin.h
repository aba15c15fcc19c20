#ifndef RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_H_
#define RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/engine/catalogue.h"
#include "core/plugin/plugin_abi.h"

namespace ringscope {

/// A file, and which of the plug-ins in it. By FILE or FILE:NAME; a file whose own name has a colon
/// comes first.
struct PluginName {
  static PluginName Parse(const std::string& text);

  std::string file;
  std::string plugin;  // empty: the first
};

/// A plug-in that is loaded and checked. The shared object is unloaded with its last owner.
class Plugin {
 public:
  /// Loads a shared object and checks what it reports about itself. This runs code of the plug-in.
  /// Errors name the file, what was found and what was expected: kIo if it cannot be opened,
  /// kUnsupported if it is no plug-in for this build.
  /// @param text as PluginName has it
  static Result<std::shared_ptr<const Plugin>> Load(const std::string& text);
  /// All plug-ins of a shared object, or the one that `text` names.
  static Result<std::vector<std::shared_ptr<const Plugin>>> LoadAll(const std::string& text);

  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  /// What --engine calls it: the file, with the plug-in's name unless it is the first.
  const std::string& path() const { return path_; }
  /// Mandatory functions are there; optional ones may be null.
  const ringscope_plugin& functions() const { return functions_; }
  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }          // may be empty
  const std::string& description() const { return description_; }  // may be empty
  EngineReports reports() const { return reports_; }
  /// The observer's calls that it makes, and those that it does not make, by their names.
  std::vector<std::string> ReportedEvents() const { return EventNames(true); }
  std::vector<std::string> UnreportedEvents() const { return EventNames(false); }
  bool reports_places() const { return (functions_.tells & RINGSCOPE_TELLS_PLACES) != 0; }

 private:
  Plugin(std::string path, std::shared_ptr<void> library)
      : path_(std::move(path)), library_(std::move(library)) {}
  Status ReadFunctions(const ringscope_plugin& given);
  bool Tells(uint64_t bit) const;
  std::vector<std::string> EventNames(bool reported) const;

  std::string path_;
  std::shared_ptr<void> library_;  // of dlopen
  ringscope_plugin functions_{};
  EngineReports reports_;
  std::string name_;
  std::string version_;
  std::string description_;
};

/// Whether `--engine` means a plug-in by this: it has a '/', or a .so at its end or before a ':'.
bool IsPluginPath(std::string_view engine);

/// Whether `--engine` can mean anything by this: a path, or a name of the catalogue. Does not look
/// at the file.
Status CheckEngineName(std::string_view engine);

/// A plug-in as one of the engines.
EngineInfo PluginEngineInfo(const std::shared_ptr<const Plugin>& plugin);

/// A lookup that knows the catalogue and loads plug-ins, each once; for use on any thread.
EngineLookup EnginesAndPlugins();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_H_
