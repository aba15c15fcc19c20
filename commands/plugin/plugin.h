#ifndef RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_H_
#define RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_H_

#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/engine/catalogue.h"
#include "core/plugin/plugin_abi.h"

namespace ringscope {

/// A plug-in that is loaded, checked, and unloaded with its last owner.
class Plugin : public std::enable_shared_from_this<Plugin> {
 public:
  /// Loads a shared object and checks what it reports about itself. This runs code of the plug-in.
  /// Errors name the file, what was found and what was expected: kIo if it cannot be opened,
  /// kUnsupported if it is no plug-in for this build.
  static Result<std::shared_ptr<const Plugin>> Load(const std::string& path);

  ~Plugin();
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  const std::string& path() const { return path_; }
  /// Mandatory functions are there; optional ones may be null.
  const ringscope_plugin& functions() const { return functions_; }
  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }          // may be empty
  const std::string& description() const { return description_; }  // may be empty
  bool reports_events() const { return (functions_.tells & RINGSCOPE_TELLS_EVENTS) != 0; }
  bool reports_places() const { return (functions_.tells & RINGSCOPE_TELLS_PLACES) != 0; }

 private:
  Plugin(std::string path, void* library) : path_(std::move(path)), library_(library) {}
  Status ReadFunctions();

  std::string path_;
  void* library_;  // of dlopen
  ringscope_plugin functions_{};
  std::string name_;
  std::string version_;
  std::string description_;
};

/// Whether `--engine` means a plug-in by this: it has a '/', or ends in .so.
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
