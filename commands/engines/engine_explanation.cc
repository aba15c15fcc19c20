#include "commands/engines/engine_explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "commands/report/report.h"
#include "commands/shell/text.h"
#include "core/engine/catalogue.h"
#include "core/engine/release_notes.h"

namespace ringscope {
namespace {

constexpr size_t kLabelWidth = 14;

/// An engine among its neighbours. V1 has none: it lived beside all releases of V2.
struct Neighbourhood {
  const EngineInfo* engine = nullptr;
  const EngineInfo* before = nullptr;  // nullptr: none
  const EngineInfo* after = nullptr;
};

bool IsV2(const EngineInfo& engine) { return engine.name.starts_with("v2@"); }

Neighbourhood Around(const std::string& name) {
  const std::span<const EngineInfo> engines = Engines();
  const auto found = std::find_if(engines.begin(), engines.end(),
                                  [&](const EngineInfo& engine) { return engine.name == name; });
  Neighbourhood around{.engine = &*found};
  if (!IsV2(*found)) return around;
  if (found != engines.begin() && IsV2(found[-1])) around.before = &found[-1];
  if (found + 1 != engines.end()) around.after = &found[1];
  return around;
}

std::vector<std::string> CounterNames(const ReleaseNote& note) {
  std::vector<std::string> names;
  for (uint64_t BufferStats::*const counter : note.counters)
    names.emplace_back(CounterName(counter));
  return names;
}

/// "  v2@54:     Text ..." with the text as a column.
std::string Labelled(const std::string& label, std::string_view text) {
  return Wrap(text, fmt::format("{:<{}}", fmt::format("  {}:", label), kLabelWidth)) + "\n";
}

/// One side of a difference: how it is called for people, and its key.
struct Half {
  std::string name;
  const char* key;
};

/// The differences that came with an engine, as the array `key`.
void ReportNotes(Report& report, std::string_view key, const std::string& engine,
                 const Half& before, const Half& since) {
  report.Data(key, Json::array());
  for (const ReleaseNote* note : NotesOf(engine)) {
    const std::vector<std::string> counters = CounterNames(*note);
    report.Heading(note->title, 2);
    report.Print(Labelled(before.name, note->before) + Labelled(since.name, note->since) +
                 Labelled("in a trace", note->symptom) +
                 Labelled("counters", counters.empty() ? "none shows it" : Joined(counters)));
    report.AddItem(key, [&] {
      report.Data({{"title", note->title},
                   {before.key, note->before},
                   {since.key, note->since},
                   {"symptom", note->symptom},
                   {"counters", counters}});
    });
  }
}

/// The changes from one release to the next, as the object `key`.
/// @param other of the two, which the key names
void ReportStep(Report& report, std::string_view key, const EngineInfo& older,
                const EngineInfo& newer, const EngineInfo& other) {
  report.Heading(fmt::format("What changed from {} to {}", older.name, newer.name));
  report.AddObject(key, [&] {
    report.Data("engine", other.name);
    ReportNotes(report, "changes", newer.name, {older.name, "before"}, {newer.name, "since"});
  });
}

}  // namespace

Result<ExitCode> ExplainEngine(const std::string& name, const std::string& format,
                               Console& console) {
  const Neighbourhood around = Around(name);
  const EngineInfo& engine = *around.engine;
  Report report(console, format, "engine_explanation");
  report.Print(fmt::format("{}  {}\n{}\n", console.Bold(engine.name), engine.corresponds,
                           Wrap(engine.difference, 6)));
  report.Data({{"name", engine.name},
               {"corresponds", engine.corresponds},
               {"difference", engine.difference}});
  if (!IsV2(engine)) {
    report.Heading("What sets V1 apart from V2");
    ReportNotes(report, "against_v2", name, {"V2", "v2"}, {"V1", "v1"});
  } else {
    if (around.before != nullptr) {
      ReportStep(report, "predecessor", *around.before, engine, *around.before);
    } else {
      report.Data("predecessor", Json());
      report.Print("\n" +
                   Wrap("It is the first release of V2: 'ringscope engines --explain v1' "
                        "explains what sets V2 apart from V1.",
                        0) +
                   "\n");
    }
    if (around.after != nullptr) {
      ReportStep(report, "successor", engine, *around.after, *around.after);
    } else {
      report.Data("successor", Json());
      report.Print("\nThere is no later one.\n");
    }
  }
  RS_RETURN_IF_ERROR(report.Finish());
  return ExitCode::kClean;
}

}  // namespace ringscope
