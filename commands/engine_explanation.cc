#include "commands/engine_explanation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "commands/help_text.h"
#include "commands/json_output.h"
#include "core/catalogue.h"
#include "core/release_notes.h"

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
void PrintLabelled(Console& console, const std::string& label, std::string_view text) {
  std::string lines = Wrap(text, kLabelWidth);
  lines.replace(2, label.size() + 1, label + ":");
  console.Print(lines + "\n");
}

/// @param before, since whose behaviour the texts describe
void PrintNote(Console& console, const ReleaseNote& note, const std::string& before,
               const std::string& since) {
  console.Print("\n  " + console.Bold(note.title) + "\n");
  PrintLabelled(console, before, note.before);
  PrintLabelled(console, since, note.since);
  PrintLabelled(console, "in a trace", note.symptom);
  const std::string counters = note.counters.empty()
                                   ? "none shows it"
                                   : fmt::format("{}", fmt::join(CounterNames(note), ", "));
  PrintLabelled(console, "counters", counters);
}

/// The differences that came with `newer`.
void PrintNotes(Console& console, const std::string& heading, const EngineInfo& older,
                const EngineInfo& newer) {
  console.Print("\n" + console.Bold(heading) + "\n");
  for (const ReleaseNote* note : NotesOf(newer.name))
    PrintNote(console, *note, older.name, newer.name);
}

/// @param before, since the keys for whose behaviour the texts describe
Json NotesJson(const std::string& engine, const char* before = "before",
               const char* since = "since") {
  Json notes = Json::array();
  for (const ReleaseNote* note : NotesOf(engine)) {
    notes.push_back({{"title", note->title},
                     {before, note->before},
                     {since, note->since},
                     {"symptom", note->symptom},
                     {"counters", CounterNames(*note)}});
  }
  return notes;
}

}  // namespace

void PrintEngineExplanation(Console& console, const std::string& name) {
  const Neighbourhood around = Around(name);
  const EngineInfo& engine = *around.engine;
  console.Print(console.Bold(engine.name) + "  " + engine.corresponds + "\n");
  console.Print(Wrap(engine.difference, 6) + "\n");
  if (!IsV2(engine)) {
    console.Print("\n" + console.Bold("What sets V1 apart from V2") + "\n");
    for (const ReleaseNote* note : NotesOf(engine.name)) PrintNote(console, *note, "V2", "V1");
    return;
  }
  if (around.before != nullptr) {
    PrintNotes(console, fmt::format("What changed from {} to {}", around.before->name, name),
               *around.before, engine);
  } else {
    console.Print("\n" +
                  Wrap("It is the first release of V2: 'ringscope engines --explain v1' "
                       "tells what sets V2 apart from V1.",
                       0) +
                  "\n");
  }
  if (around.after != nullptr) {
    PrintNotes(console, fmt::format("What changed from {} to {}", name, around.after->name), engine,
               *around.after);
  } else {
    console.Print("\nThere is no later one.\n");
  }
}

Json EngineExplanationJson(const std::string& name) {
  const Neighbourhood around = Around(name);
  Json document = JsonDocument("engine_explanation");
  document["name"] = around.engine->name;
  document["corresponds"] = around.engine->corresponds;
  document["difference"] = around.engine->difference;
  if (!IsV2(*around.engine)) {
    document["against_v2"] = NotesJson(name, "v2", "v1");
    return document;
  }
  const auto changes = [](const EngineInfo* other, const std::string& newer) {
    return other == nullptr ? Json() : Json{{"engine", other->name}, {"changes", NotesJson(newer)}};
  };
  document["predecessor"] = changes(around.before, name);
  document["successor"] = changes(around.after, around.after ? around.after->name : "");
  return document;
}

}  // namespace ringscope
