#include "commands/replay/buffer_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/shell/text.h"

namespace ringscope {

BufferRow CountRow(std::string group, std::string title, std::string key, BufferRow::Value value,
                   BufferRow::Shown shown) {
  return {std::move(group), std::move(title), std::move(key),
          [value](const BufferOutcome& buffer) { return CountCell(value(buffer)); }, shown};
}

BufferRow BytesRow(std::string group, std::string title, std::string key, BufferRow::Value value,
                   BufferRow::Shown shown) {
  return {std::move(group), std::move(title), std::move(key),
          [value](const BufferOutcome& buffer) { return BytesCell(value(buffer)); }, shown};
}

BufferRow ShareRow(std::string group, std::string title, std::string key, BufferRow::Value part,
                   BufferRow::Value whole) {
  return {std::move(group), std::move(title), std::move(key), [=](const BufferOutcome& buffer) {
            Cell cell = CountCell(part(buffer));
            if (part(buffer) > 0)
              cell.text += fmt::format(" ({})", Percent(part(buffer), whole(buffer)));
            return cell;
          }};
}

BufferRow::Value Stat(uint64_t BufferStats::*field) {
  return [field](const BufferOutcome& buffer) { return buffer.stats.*field; };
}

std::vector<BufferRow> IdentityRows() {
  using Buffer = const BufferOutcome&;
  return {
      {"", "", "buffer", [](Buffer b) { return NumberCell(Raw(b.id)); }, BufferRow::kNever},
      {"", "", "index", [](Buffer b) { return NumberCell(b.index); }, BufferRow::kNever},
      // Of a plug-in's path the file.
      {"engine", "", "engine",
       [](Buffer b) {
         return Cell(Printable(b.engine.substr(b.engine.rfind('/') + 1)), b.engine);
       }},
      BytesRow("size", "", "size", [](Buffer b) { return b.size; }),
      {"policy", "", "policy",
       [](Buffer b) {
         return Cell(fmt::format("{}{}", Name(b.policy), b.freed ? ", freed" : ""), Name(b.policy));
       }},
  };
}

void AddLossRows(std::vector<BufferRow>& rows, const std::string& key, const std::string& bits,
                 const std::string& unusable) {
  using Buffer = const BufferOutcome&;
  rows.push_back(CountRow("loss flags", "packets", key,
                          [](Buffer b) { return b.losses.sequence_packet_loss; }));
  for (size_t i = 0; i < kLossBitNames.size(); ++i) {
    const std::string name = kLossBitNames[i].name;
    rows.push_back(CountRow(
        "", name, bits + name, [i](Buffer b) { return b.losses.by_bit[i]; }, BufferRow::kIfAny));
  }
  rows.push_back(CountRow(
      "unusable", "sequences", unusable,
      [](Buffer b) { return b.losses.incremental_sequences_dropped; }, BufferRow::kIfAny));
}

void ReportBuffers(Report& report, const ReplayOutcome& outcome,
                   const std::vector<BufferRow>& rows) {
  Json objects = Json::array();
  for (const BufferOutcome& buffer : outcome.buffers) {
    Json object = Json::object();
    for (const BufferRow& row : rows)
      if (!row.key.empty()) object[KeyPath(row.key)] = row.cell(buffer).value;
    objects.push_back(std::move(object));
  }
  report.Data("buffers", std::move(objects));
  if (!report.is_text()) return;
  const auto is_shown = [&](const BufferRow& row) {
    if (row.shown != BufferRow::kIfAny) return row.shown == BufferRow::kAlways;
    return std::ranges::any_of(outcome.buffers, [&](const BufferOutcome& buffer) {
      return row.cell(buffer).value != Json(0);
    });
  };
  constexpr size_t kBuffersPerTable = 5;
  for (size_t first = 0; first < outcome.buffers.size(); first += kBuffersPerTable) {
    const size_t last = std::min(first + kBuffersPerTable, outcome.buffers.size());
    std::vector<Column> columns = {{""}, {""}};
    for (size_t i = first; i < last; ++i)
      columns.push_back({fmt::format("buffer {}", Raw(outcome.buffers[i].id)), Align::kRight});
    Table table(std::move(columns));
    for (const BufferRow& row : rows) {
      if (!is_shown(row)) continue;
      std::vector<Cell> cells = {row.group, row.title};
      for (size_t i = first; i < last; ++i) cells.push_back(row.cell(outcome.buffers[i]));
      table.AddRow(std::move(cells));
    }
    report.Section("", table);
  }
}

}  // namespace ringscope
