#include "commands/damage_report.h"

#include <fmt/format.h>

#include "commands/table.h"
#include "commands/text.h"

namespace ringscope {
namespace {

/// "7 to 9", "7", "7 and on", "3 somewhere", "unknown"
std::string RecordsText(const Damage& damage) {
  if (damage.records && *damage.records == 0) return "none";
  if (!damage.first_record)
    return damage.records ? fmt::format("{} somewhere", WithCommas(*damage.records)) : "unknown";
  const uint64_t first = *damage.first_record;
  if (!damage.records) return fmt::format("{} and on", first);
  if (*damage.records == 1) return std::to_string(first);
  return fmt::format("{} to {}", first, first + *damage.records - 1);
}

}  // namespace

void PrintDamage(Console& console, const LogInfo& info) {
  if (info.damage.empty()) return;
  Table table({{"offset", Align::kRight},
               {"bytes", Align::kRight},
               {"records", Align::kLeft},
               {"what", Align::kLeft}});
  for (const Damage& damage : info.damage) {
    table.AddRow({std::to_string(damage.offset), WithCommas(damage.bytes), RecordsText(damage),
                  Printable(damage.what)});
  }
  table.Print(console, 2);
  if (info.damage_count > info.damage.size()) {
    console.Print(
        fmt::format("  ...and {} more\n", Count(info.damage_count - info.damage.size(), "place")));
  }
}

}  // namespace ringscope
