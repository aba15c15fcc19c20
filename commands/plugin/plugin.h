#ifndef RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_H_
#define RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_H_

#include "commands/shell/command.h"
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

/// A plug-in that is loaded, and what it reports about itself, checked.
struct Plugin {
  /// Loads a shared object and checks what it reports about itself. This runs code of the plug-in.
  /// kIo: it cannot be opened; kUnsupported: it is no plug-in for this build
  /// @param text as PluginName has it
  static Result<std::shared_ptr<const Plugin>> Load(const std::string& text);
  /// All plug-ins of a shared object, or the one that `text` names.
  static Result<std::vector<std::shared_ptr<const Plugin>>> LoadAll(const std::string& text);

  EngineReports reports() const;
  /// Returns the names of the observer's calls that it makes, or of those that it does not make.
  std::vector<std::string> EventNames(bool reported) const;
  bool runs_programs() const {
    return functions.set_up_vm != nullptr && functions.visit_vms != nullptr;
  }
  bool reports_places() const { return (functions.tells & RINGSCOPE_TELLS_PLACES) != 0; }
  /// @param bits all of them
  bool Tells(uint64_t bits) const {
    return (functions.tells & RINGSCOPE_TELLS_EVENTS) != 0 || (functions.tells & bits) == bits;
  }

  /// The name for --engine: the file, with the plug-in's name unless it is the first.
  std::string path;
  std::string name;
  std::string version, description;  // may be empty
  ringscope_plugin functions{};      // null where it has none
  std::shared_ptr<void> library;     // of dlopen
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

// The guard: a process of its own for code of plug-ins.

/// Limits of a process that runs plug-ins.
struct PluginLimits {
  /// Reads RINGSCOPE_PLUGIN_TIME and RINGSCOPE_PLUGIN_MEMORY. kUsage: one of them is no such value
  static Result<PluginLimits> FromEnvironment();

  uint64_t time_ns = 10'000'000'000;    // of one call; 0: there is no guard, for debuggers
  uint64_t memory = uint64_t{4} << 30;  // bytes resident
};

/// Plug-ins that the options of a command name, each once.
std::vector<std::string> PluginsOf(const CLI::App& app);

/// Runs `body` in a child process, which a plug-in may crash, hang, or fill with memory. No thread
/// may run here yet. Files that the child left half-written are removed.
/// @param plugins used by the body
/// @return what the body returned, an exit status. kDied if the child was ended: names the plug-in,
/// its function and the record of the calls under way
Result<int> RunGuarded(const PluginLimits& limits, const std::vector<std::string>& plugins,
                       const std::function<int()>& body);

/// A call of a plug-in's function, for the error of a guarded run, for as long as this lives.
class PluginCall {
 public:
  /// @param plugin as the command line has it
  /// @param function a literal
  /// @param now the record under way; nullptr if none is
  PluginCall(std::string_view plugin, const char* function, const LogMoment* now);
  ~PluginCall();
  PluginCall(const PluginCall&) = delete;
  PluginCall& operator=(const PluginCall&) = delete;
};

/// Names the work of this thread's next calls, beside the record: "stream 17 of seed 5".
void NotePluginWork(std::string_view work);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_H_
