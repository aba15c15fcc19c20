#include "commands/engines.h"

#include "commands/help_text.h"
#include "commands/options.h"
#include "commands/output.h"
#include "core/catalogue.h"

namespace ringscope {
namespace {

void SetUp(CLI::App& app, EnginesArgs& args) { AddFormat(app, args.format, {"table", "json"}); }

void PrintEngine(Console& console, const std::string& name, const std::string& corresponds,
                 const std::string& difference) {
  console.Print(console.Bold(name) + "  " + corresponds + "\n");
  console.Print(Wrap(difference, 6) + "\n");
}

}  // namespace

Result<ExitCode> RunEngines(const EnginesArgs& args, Context& context) {
  RS_ASSIGN_OR_RETURN(const EngineInfo* const newest, FindEngine(kDefaultEngine));
  if (args.format == "json") {
    Json document = JsonDocument("engines");
    document["default"] = newest->name;
    document["engines"] = Json::array();
    for (const EngineInfo& engine : Engines()) {
      document["engines"].push_back({{"name", engine.name},
                                     {"corresponds", engine.corresponds},
                                     {"difference", engine.difference}});
    }
    PrintJson(context.console, document);
    return ExitCode::kClean;
  }
  for (const EngineInfo& engine : Engines())
    PrintEngine(context.console, engine.name, engine.corresponds, engine.difference);
  PrintEngine(context.console, kDefaultEngine, std::string("The newest V2: ") + newest->name,
              "What a buffer is replayed with if neither the log nor --engine says otherwise.");
  return ExitCode::kClean;
}

Command EnginesCommand() {
  return {"engines",
          "Replay",
          "List the buffer versions that can be replayed",
          "Lists the trace buffers that ringscope reimplements: the name for --engine, the release "
          "that it corresponds to, and what sets it apart from the one before.",
          {{"ringscope engines", "Which buffers are there, and how do they differ?"}},
          Bind(SetUp, RunEngines)};
}

}  // namespace ringscope
