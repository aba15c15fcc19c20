#include "commands/plugin/plugin.h"
#include "commands/shell/commands.h"
#include "commands/shell/options.h"
#include "commands/view/report.h"

namespace ringscope {
namespace {

struct EnginesArgs {
  Format format = Format::kText;
  std::string explain;               // an engine to explain; empty: none
  std::vector<std::string> plugins;  // to show in the catalogue's place
};

constexpr size_t kTextIndent = 6;

void SetUp(CLI::App& app, EnginesArgs& args) {
  InGroup(app, kInputGroup);
  AddTexts(app, "PLUGIN", args.plugins, "PLUGIN", "Plug-ins (shared objects) to load and describe");
  InGroup(app, kOutputGroup);
  AddParsed(
      app, "--explain", args.explain,
      [](std::string_view text) -> Result<std::string> {
        if (IsPluginPath(text))
          return Fail(ErrorCode::kUsage, fmt::format("'{}' is a plug-in", text), {},
                      fmt::format("to describe it: 'ringscope engines {}'", text));
        RS_ASSIGN_OR_RETURN(const EngineInfo* const engine, FindEngine(text));
        return engine->name;
      },
      "ENGINE", "Explain how ENGINE differs from its neighbours, and what shows this in a trace");
  Exclude(app, "--explain", {"PLUGIN"});
  AddFormat(app, args.format, {Format::kText, Format::kJson});
}

/// An engine: its name and what it is on a line, the difference to the one before below.
void ReportEngine(Report& report, const EngineInfo& engine, const std::string& more = {}) {
  report.Print(
      fmt::format("{}  {}{}\n", report.Bold(Printable(engine.name)), engine.corresponds, more));
  if (!engine.difference.empty())
    report.Paragraph(engine.difference, std::string(kTextIndent, ' '));
  report.Data(JsonOf("name", engine.name, "corresponds", engine.corresponds, "difference",
                     engine.difference));
}

/// Reports the abilities of a plug-in, and what follows from those that it lacks.
void ReportAbilities(Report& report, const Plugin& plugin) {
  const ringscope_plugin& has = plugin.functions;
  const std::vector<std::string> events = plugin.EventNames(true);
  const std::vector<std::string> missing = plugin.EventNames(false);
  const struct {
    const char* key;
    bool can;
    const char* what;
  } abilities[] = {
      {"reports_events", missing.empty(),
       missing.empty() ? "reports all events"
                       : "reports all events (without them, causes are shown as unknown)"},
      {"reports_places", plugin.reports_places(), "reports each packet's place in its sequence"},
      {"can_clone", has.clone != nullptr, "can be cloned"},
      {"has_writer_statistics", has.visit_writers != nullptr, "has statistics of writers"},
      {"checks_itself", has.check != nullptr, "checks its own structures"},
      {"reports_chunks", has.visit_chunks != nullptr, "reports the chunks that it holds"},
      {"runs_programs", plugin.runs_programs(), "runs the programs of data sources (ProtoVM)"},
  };
  Json json = {
      {"name", plugin.name}, {"version", plugin.version}, {"abi_version", has.abi_version}};
  for (const auto& ability : abilities) {
    report.Print(fmt::format("      {:<5}{}\n", ability.can ? "yes" : "no", ability.what));
    json[ability.key] = ability.can;
    if (ability.key == std::string_view("reports_events") && !missing.empty() && !events.empty())
      report.Paragraph(Joined(missing), "             not reported: ");
  }
  json["events"] = events;
  report.Data("plugin", std::move(json));
}

Status ReportPlugins(Report& report, const std::string& path) {
  RS_ASSIGN_OR_RETURN(const auto plugins, Plugin::LoadAll(path));
  for (const auto& plugin : plugins)
    report.AddItem("engines", [&] {
      ReportEngine(report, PluginEngineInfo(plugin),
                   fmt::format(", interface version {}", plugin->functions.abi_version));
      ReportAbilities(report, *plugin);
    });
  return {};
}

bool IsV2(const EngineInfo& engine) { return engine.name.starts_with("v2@"); }

/// "  v2@54:     Text ..." with the text as a column.
std::string Labelled(const std::string& label, std::string_view text) {
  return Wrap(text, fmt::format("{:<14}", fmt::format("  {}:", label))) + "\n";
}

/// Prints the differences that an engine introduced. Both sides have a name for people, and a key.
/// @return them as an array
Json ReportNotes(Report& report, const std::string& engine,
                 const std::pair<std::string, const char*>& before,
                 const std::pair<std::string, const char*>& since) {
  Json changes = Json::array();
  for (const ReleaseNote* note : NotesOf(engine)) {
    std::vector<std::string> counters;
    for (uint64_t BufferStats::*const counter : note->counters)
      counters.emplace_back(CounterName(counter));
    report.Heading(note->title, 2);
    report.Print(Labelled(before.first, note->before) + Labelled(since.first, note->since) +
                 Labelled("in a trace", note->symptom) +
                 Labelled("counters", counters.empty() ? "none" : Joined(counters)));
    changes.push_back(JsonOf("title", note->title, before.second, note->before, since.second,
                             note->since, "symptom", note->symptom, "counters", counters));
  }
  return changes;
}

/// Reports the changes from one release to the next, as the object `key`.
/// @param other of the two, which the key names
void ReportStep(Report& report, std::string_view key, const EngineInfo& older,
                const EngineInfo& newer, const EngineInfo& other) {
  report.Heading(fmt::format("What changed from {} to {}", older.name, newer.name));
  report.Data(
      key, JsonOf("engine", other.name, "changes",
                  ReportNotes(report, newer.name, {older.name, "before"}, {newer.name, "since"})));
}

/// Explains how an engine differs from its neighbours. V1 has none: it exists in parallel with all
/// releases of V2.
Result<ExitCode> ExplainEngine(const std::string& name, Format format, Console& console) {
  const std::span<const EngineInfo> engines = Engines();
  const auto found = std::ranges::find(engines, name, &EngineInfo::name);
  const EngineInfo& engine = *found;
  Report report(console, format, "engine_explanation");
  ReportEngine(report, engine);
  if (!IsV2(engine)) {
    report.Heading("What sets V1 apart from V2");
    report.Data("against_v2", ReportNotes(report, name, {"V2", "v2"}, {"V1", "v1"}));
  } else {
    if (found != engines.begin() && IsV2(found[-1])) {
      ReportStep(report, "predecessor", found[-1], engine, found[-1]);
    } else {
      report.Paragraph(
          "\nIt is the first release of V2: '--explain v1' explains how V2 differs from V1.");
    }
    if (found + 1 != engines.end()) ReportStep(report, "successor", engine, found[1], found[1]);
  }
  return report.Finish(ExitCode::kClean);
}

Result<ExitCode> RunEngines(const EnginesArgs& args, Context& context) {
  if (!args.explain.empty()) return ExplainEngine(args.explain, args.format, context.console);
  Report report(context.console, args.format, "engines");
  const auto add = [&](const EngineInfo& engine) {
    report.AddItem("engines", [&] { ReportEngine(report, engine); });
  };
  for (const std::string& name : args.plugins) {
    if (IsPluginPath(name)) {
      RS_RETURN_IF_ERROR(ReportPlugins(report, name));
      continue;
    }
    RS_ASSIGN_OR_RETURN(const EngineInfo* const built_in, FindEngine(name));
    add(*built_in);
  }
  if (args.plugins.empty()) {
    RS_ASSIGN_OR_RETURN(const EngineInfo* const newest, FindEngine(kDefaultEngine));
    report.Data("default", newest->name);
    std::ranges::for_each(Engines(), add);
    report.Print(fmt::format("{}  The newest V2: {}\n{}\n", report.Bold(kDefaultEngine),
                             newest->name,
                             Wrap("The engine of a buffer for which neither the log nor --engine "
                                  "names one.",
                                  kTextIndent)));
  }
  return report.Finish(ExitCode::kClean);
}

}  // namespace

Command EnginesCommand() {
  return {"engines",
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
