#include "commands/replays/damage_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/replays/session_reader.h"
#include "commands/shell/text.h"

namespace ringscope {
namespace {

/// "7 to 9", "7", "from 7", "3, position unknown", "unknown"
std::string RecordsText(const Damage& damage) {
  if (damage.records && *damage.records == 0) return "none";
  if (!damage.first_record)
    return damage.records ? fmt::format("{}, position unknown", WithCommas(*damage.records))
                          : "unknown";
  const uint64_t first = *damage.first_record;
  if (!damage.records) return fmt::format("from {}", first);
  if (*damage.records == 1) return std::to_string(first);
  return fmt::format("{} to {}", first, first + *damage.records - 1);
}

}  // namespace

Table DamageTable(const std::vector<Damage>& damage) {
  Table table({{"offset", Align::kRight, "offset"},
               {"bytes", Align::kRight, "bytes"},
               DataColumn("first_record"),
               {"records", Align::kLeft, "records"},
               {"what", Align::kLeft, "what"}});
  for (const Damage& place : damage) {
    table.AddRow({NumberCell(place.offset),
                  CountCell(place.bytes),
                  DataCell(place.first_record),
                  {RecordsText(place), place.records},
                  NameCell(place.what)});
  }
  return table;
}

void PrintDamage(Report& report, const LogInfo& info) {
  if (info.damage.empty()) return;
  report.Print(DamageTable(info.damage), 2);
  if (info.damage_count > info.damage.size()) {
    report.Print(
        fmt::format("  ...and {} more\n", Count(info.damage_count - info.damage.size(), "place")));
  }
}

bool IsComplete(const TraceLog& log) {
  return log.damage_count == 0 && std::ranges::all_of(log.sessions, [](const auto& session) {
           return session.malformed == 0 && session.beyond_limits == 0;
         });
}

ExitCode WarnOfTraceLog(Console& console, const std::string& path, const TraceLog& log) {
  WarnOfDamage(console, path, log.damage, log.damage_count);
  uint64_t malformed = 0, beyond_limits = 0, packets = 0;
  for (const TraceImportReport& session : log.sessions) {
    malformed += session.malformed;
    beyond_limits += session.beyond_limits;
    packets += session.packets;
  }
  if (malformed > 0) {
    console.Warn(fmt::format("{} left out: not well-formed, or with fields that no producer writes",
                             Count(malformed, "packet")));
  }
  if (beyond_limits > 0) {
    console.Warn(fmt::format("{} left out: at most {} sequences are possible",
                             Count(beyond_limits, "packet"),
                             WithCommas(TraceImport::kMaxSequences)));
  }
  if (packets == 0) console.Warn("the trace has no packets of producers");
  return IsComplete(log) ? ExitCode::kClean : ExitCode::kNotice;
}

}  // namespace ringscope
