#include "commands/common/damage_report.h"

#include <fmt/format.h>

#include "commands/shell/text.h"

namespace ringscope {
namespace {

/// "7 to 9", "7", "from 7", "3, position unknown", "unknown"
std::string RecordsText(const Damage& damage) {
  if (damage.records && *damage.records == 0) return "none";
  if (!damage.first_record)
    return damage.records ? fmt::format("{}, position unknown", WithCommas(*damage.records)) : "unknown";
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

}  // namespace ringscope
