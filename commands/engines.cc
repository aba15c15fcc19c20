#include "commands/engines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "commands/engine_explanation.h"
#include "commands/help_text.h"
#include "commands/json_output.h"
#include "commands/options.h"
#include "commands/output.h"
#include "commands/plugin.h"
#include "commands/text.h"
#include "core/catalogue.h"

namespace ringscope {
namespace {

constexpr size_t kIndent = 6;

void SetUp(CLI::App& app, EnginesArgs& args) {
  AddTexts(app, "PLUGIN", args.plugins, kFileType,
           "Plug-ins (shared objects) to show in place of the list: what they say of "
           "themselves");
  AddParsed(
      app, "--explain", args.explain,
      [](std::string_view text) -> Result<std::string> {
        if (IsPluginPath(text)) {
          return Fail(ErrorCode::kUsage, fmt::format("'{}' is a plug-in", text), {},
                      fmt::format("what it says of itself: 'ringscope engines {}'", text));
        }
        RS_ASSIGN_OR_RETURN(const EngineInfo* const engine, FindEngine(text));
        return engine->name;
      },
      "ENGINE", "Explain how ENGINE differs from its neighbours, and what shows it in a trace");
  AddFormat(app, args.format, {"table", "json"});
}

void PrintEngine(Console& console, const std::string& name, const std::string& corresponds,
                 const std::string& difference) {
  console.Print(console.Bold(name) + "  " + corresponds + "\n");
  if (!difference.empty()) console.Print(Wrap(difference, kIndent) + "\n");
}

Json EngineJson(const EngineInfo& engine) {
  return {{"name", engine.name},
          {"corresponds", engine.corresponds},
          {"difference", engine.difference}};
}

std::string YesNo(bool yes) { return yes ? "yes" : "no"; }

/// What a plug-in can do, and what follows from what it cannot.
void PrintAbilities(Console& console, const Plugin& plugin) {
  const ringscope_plugin& functions = plugin.functions();
  const bool events = plugin.tells_events();
  const std::pair<bool, const char*> abilities[] = {
      {events, events ? "reports what happens inside"
                      : "reports what happens inside: why packets are missing stays unknown"},
      {plugin.tells_places(), "tells each packet's place in its sequence"},
      {functions.clone != nullptr, "can be cloned"},
      {functions.visit_writers != nullptr, "has statistics of writers"},
      {functions.check != nullptr, "checks its own structures"},
  };
  for (const auto& [can, what] : abilities)
    console.Print(fmt::format("      {:<5}{}\n", YesNo(can), what));
}

Json PluginJson(const Plugin& plugin) {
  const ringscope_plugin& functions = plugin.functions();
  Json json = EngineJson(PluginEngineInfo(plugin.shared_from_this()));
  json["plugin"] = {{"name", plugin.name()},
                    {"version", plugin.version()},
                    {"abi_version", functions.abi_version},
                    {"reports_events", plugin.tells_events()},
                    {"reports_places", plugin.tells_places()},
                    {"can_clone", functions.clone != nullptr},
                    {"has_writer_statistics", functions.visit_writers != nullptr},
                    {"checks_itself", functions.check != nullptr}};
  return json;
}

Result<ExitCode> ShowPlugins(const EnginesArgs& args, Console& console) {
  Json document = JsonDocument("engines");
  document["engines"] = Json::array();
  for (const std::string& path : args.plugins) {
    RS_ASSIGN_OR_RETURN(const auto plugin, Plugin::Load(path));
    if (args.format == "json") {
      document["engines"].push_back(PluginJson(*plugin));
      continue;
    }
    const EngineInfo info = PluginEngineInfo(plugin);
    PrintEngine(
        console, Printable(info.name),
        fmt::format("{}, interface version {}", info.corresponds, plugin->functions().abi_version),
        info.difference);
    PrintAbilities(console, *plugin);
  }
  if (args.format == "json") PrintJson(console, document);
  return ExitCode::kClean;
}

}  // namespace

Result<ExitCode> RunEngines(const EnginesArgs& args, Context& context) {
  if (!args.explain.empty() && !args.plugins.empty()) {
    return Fail(ErrorCode::kUsage, "--explain is about ringscope's own engines", {},
                "give either --explain or plug-ins");
  }
  if (!args.plugins.empty()) return ShowPlugins(args, context.console);
  if (!args.explain.empty()) {
    if (args.format == "json")
      PrintJson(context.console, EngineExplanationJson(args.explain));
    else
      PrintEngineExplanation(context.console, args.explain);
    return ExitCode::kClean;
  }
  RS_ASSIGN_OR_RETURN(const EngineInfo* const newest, FindEngine(kDefaultEngine));
  if (args.format == "json") {
    Json document = JsonDocument("engines");
    document["default"] = newest->name;
    document["engines"] = Json::array();
    for (const EngineInfo& engine : Engines()) document["engines"].push_back(EngineJson(engine));
    PrintJson(context.console, document);
    return ExitCode::kClean;
  }
  for (const EngineInfo& engine : Engines())
    PrintEngine(context.console, engine.name, engine.corresponds, engine.difference);
  PrintEngine(context.console, kDefaultEngine, "The newest V2: " + newest->name,
              "What a buffer is replayed with if neither the log nor --engine says otherwise.");
  return ExitCode::kClean;
}

Command EnginesCommand() {
  return {"engines",
          "Replay",
          "List the buffer versions that can be replayed",
          "Lists the trace buffers that ringscope reimplements: the name for --engine, the release "
          "that it corresponds to, and what sets it apart from the one before. With --explain, all "
          "differences of one to its neighbours: what it does otherwise, what shows in a trace, "
          "and in which counters. With plug-ins, what they say of themselves; this runs their "
          "code.",
          {{"ringscope engines", "Which buffers are there, and how do they differ?"},
           {"ringscope engines --explain v2@55", "What does v55 do otherwise than v54 and v56?"},
           {"ringscope engines ./libmybuffer.so", "Is this a plug-in, and what can it do?"}},
          Bind(SetUp, RunEngines)};
}

}  // namespace ringscope
