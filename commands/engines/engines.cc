#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "commands/common/plugin.h"
#include "commands/engines/engine_explanation.h"
#include "commands/report/report.h"
#include "commands/shell/commands.h"
#include "commands/shell/options.h"
#include "commands/shell/output.h"
#include "commands/shell/text.h"
#include "core/engine/catalogue.h"

namespace ringscope {
namespace {

struct EnginesArgs {
  std::string format;
  std::string explain;               // an engine to explain; empty: none
  std::vector<std::string> plugins;  // to show in the catalogue's place
};

constexpr size_t kIndent = 6;

void SetUp(CLI::App& app, EnginesArgs& args) {
  InGroup(app, kInputGroup);
  AddTexts(app, "PLUGIN", args.plugins, "PLUGIN", "Plug-ins (shared objects) to load and describe");
  InGroup(app, kOutputGroup);
  AddParsed(
      app, "--explain", args.explain,
      [](std::string_view text) -> Result<std::string> {
        if (IsPluginPath(text)) {
          return Fail(ErrorCode::kUsage, fmt::format("'{}' is a plug-in", text), {},
                      fmt::format("to describe it: 'ringscope engines {}'", text));
        }
        RS_ASSIGN_OR_RETURN(const EngineInfo* const engine, FindEngine(text));
        return engine->name;
      },
      "ENGINE", "Explain how ENGINE differs from its neighbours, and what shows this in a trace");
  Exclude(app, "--explain", {"PLUGIN"});
  AddFormat(app, args.format, {"text", "json"});
}

/// An engine: its name and what it is on a line, the difference to the one before below.
void ReportEngine(Report& report, const EngineInfo& engine, const std::string& more = {}) {
  report.Print(
      fmt::format("{}  {}{}\n", report.Bold(Printable(engine.name)), engine.corresponds, more));
  if (!engine.difference.empty()) report.Print(Wrap(engine.difference, kIndent) + "\n");
  report.Data({{"name", engine.name},
               {"corresponds", engine.corresponds},
               {"difference", engine.difference}});
}

/// What a plug-in can do, and what follows from what it cannot.
void ReportAbilities(Report& report, const Plugin& plugin) {
  const ringscope_plugin& functions = plugin.functions();
  const bool events = plugin.tells_events();
  const struct {
    const char* key;
    bool can;
    const char* what;
  } abilities[] = {
      {"reports_events", events,
       events ? "reports what happens inside"
              : "reports what happens inside: why packets are missing stays unknown"},
      {"reports_places", plugin.tells_places(), "reports each packet's place in its sequence"},
      {"can_clone", functions.clone != nullptr, "can be cloned"},
      {"has_writer_statistics", functions.visit_writers != nullptr, "has statistics of writers"},
      {"checks_itself", functions.check != nullptr, "checks its own structures"},
  };
  Json json = {{"name", plugin.name()},
               {"version", plugin.version()},
               {"abi_version", functions.abi_version}};
  for (const auto& ability : abilities) {
    report.Print(fmt::format("      {:<5}{}\n", ability.can ? "yes" : "no", ability.what));
    json[ability.key] = ability.can;
  }
  report.Data("plugin", std::move(json));
}

Status ReportPlugin(Report& report, const std::string& path) {
  RS_ASSIGN_OR_RETURN(const auto plugin, Plugin::Load(path));
  ReportEngine(report, PluginEngineInfo(plugin),
               fmt::format(", interface version {}", plugin->functions().abi_version));
  ReportAbilities(report, *plugin);
  return {};
}

Result<ExitCode> RunEngines(const EnginesArgs& args, Context& context) {
  if (!args.explain.empty()) return ExplainEngine(args.explain, args.format, context.console);
  Report report(context.console, args.format, "engines");
  if (!args.plugins.empty()) {
    for (const std::string& path : args.plugins)
      RS_RETURN_IF_ERROR(report.AddItem("engines", [&] { return ReportPlugin(report, path); }));
  } else {
    RS_ASSIGN_OR_RETURN(const EngineInfo* const newest, FindEngine(kDefaultEngine));
    report.Data("default", newest->name);
    for (const EngineInfo& engine : Engines())
      report.AddItem("engines", [&] { ReportEngine(report, engine); });
    report.Print(fmt::format("{}  The newest V2: {}\n{}\n", report.Bold(kDefaultEngine),
                             newest->name,
                             Wrap("What a buffer is replayed with if neither the log nor --engine "
                                  "says otherwise.",
                                  kIndent)));
  }
  RS_RETURN_IF_ERROR(report.Finish());
  return ExitCode::kClean;
}

}  // namespace

Command EnginesCommand() {
  return {"engines",
          "Replay",
          "List the buffer versions that can be replayed",
          "Lists the trace buffers that ringscope reimplements: the name for --engine, the "
          "Perfetto release that has this buffer, and its differences from the previous one. With "
          "--explain: all differences of one engine from those before and after it, their effects "
          "on a trace, and the counters that show them. With plug-ins: what they report about "
          "themselves; this runs their code.",
          {{"ringscope engines", "Which buffers are there, and how do they differ?"},
           {"ringscope engines --explain v2@55", "How does v55 differ from v54 and v56?"},
           {"ringscope engines ./libmybuffer.so", "Is this a plug-in, and what can it do?"}},
          Bind(SetUp, RunEngines),
          {.notice = nullptr}};
}

}  // namespace ringscope
