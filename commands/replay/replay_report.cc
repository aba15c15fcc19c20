#include "commands/replay/replay_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/replays/session_loop.h"
#include "commands/replays/session_reads.h"
#include "commands/replays/verdict_words.h"
#include "commands/shell/text.h"

namespace ringscope {
namespace {

constexpr size_t kBuffersPerTable = 5;

using Shown = BufferTable::Shown;

BufferTable::Value Stat(uint64_t BufferStats::*field) {
  return [field](const BufferOutcome& buffer) { return buffer.stats.*field; };
}

/// What the service kept from the buffers, or from the trace.
std::string RefusalsText(const ServiceStats& service) {
  std::vector<std::string> refused;
  const auto add = [&](uint64_t count, const char* noun) {
    if (count > 0)
      refused.push_back(count == 1 || std::string_view(noun) != "patch"
                            ? Count(count, noun)
                            : WithCommas(count) + " patches");
  };
  add(service.chunks_discarded, "chunk");
  add(service.patches_discarded, "patch");
  add(service.invalid_packets, "packet");
  if (refused.empty()) return "";
  return fmt::format("\nThe service itself refused {}.\n", Joined(refused));
}

/// What became of the packets that were written: the rows add up.
void AddAccounts(BufferTable& table, const std::map<BufferId, LedgerTotals>& accounts) {
  if (accounts.empty()) {
    table.AddCount("packets", "read", "packets.read",
                   [](const BufferOutcome& buffer) { return buffer.read.packets; });
    return;
  }
  const auto of = [&accounts](FateCount (*part)(const LedgerTotals&)) -> BufferTable::Value {
    return [&accounts, part](const BufferOutcome& buffer) -> uint64_t {
      const auto found = accounts.find(buffer.id);
      return found == accounts.end() ? 0 : part(found->second).packets;
    };
  };
  const auto written = of([](const LedgerTotals& of_buffer) { return of_buffer.written; });
  table.AddCount("packets", "written", "packets.written", written);
  table.AddCount("", "read", "packets.read",
                 of([](const LedgerTotals& of_buffer) { return of_buffer[Fate::kRead]; }));
  table.AddPart("", "lost", "packets.lost",
                of([](const LedgerTotals& of_buffer) { return of_buffer.lost(); }), written);
  table.AddCount("", "folded", "packets.folded",
                 of([](const LedgerTotals& of_buffer) { return of_buffer[Fate::kFolded]; }),
                 Shown::kIfAny);
  table.AddCount("", "left", "packets.left",
                 of([](const LedgerTotals& of_buffer) { return of_buffer.left(); }));
  table.AddCount("", "elsewhere", "packets.elsewhere",
                 of([](const LedgerTotals& of_buffer) { return of_buffer.elsewhere(); }),
                 Shown::kIfAny);
  table.AddCount("", "read twice", "packets.duplicates",
                 of([](const LedgerTotals& of_buffer) { return of_buffer.duplicates; }),
                 Shown::kIfAny);
  // What was folded after the states were written is lost.
  table.AddCount(
      "programs", "folded", "programs.folded",
      [](const BufferOutcome& buffer) { return buffer.programs().folded; }, Shown::kIfAny);
  table.AddCount(
      "", "in the trace", "programs.in_trace",
      [](const BufferOutcome& buffer) { return buffer.programs().in_trace; }, Shown::kIfAny);
  table.AddCount(
      "", "errors", "programs.errors",
      [](const BufferOutcome& buffer) { return buffer.programs().errors; }, Shown::kIfAny);
  table.AddCount(
      "", "aborted", "programs.aborted",
      [](const BufferOutcome& buffer) { return buffer.programs().aborted; }, Shown::kIfAny);
  table.AddCount(
      "", "at limit", "programs.at_limit",
      [](const BufferOutcome& buffer) { return buffer.programs().at_limit; }, Shown::kIfAny);
}

}  // namespace

void BufferTable::Add(std::string group, std::string title, std::string key, Show show,
                      Shown shown) {
  rows_.push_back({std::move(group), std::move(title), std::move(key), std::move(show), shown});
}

void BufferTable::AddCount(std::string group, std::string title, std::string key, Value value,
                           Shown shown) {
  Add(
      std::move(group), std::move(title), std::move(key),
      [value](const BufferOutcome& buffer) { return CountCell(value(buffer)); }, shown);
}

void BufferTable::AddBytes(std::string group, std::string title, std::string key, Value value,
                           Shown shown) {
  Add(
      std::move(group), std::move(title), std::move(key),
      [value](const BufferOutcome& buffer) { return BytesCell(value(buffer)); }, shown);
}

void BufferTable::AddPart(std::string group, std::string title, std::string key, Value part,
                          Value whole) {
  Add(std::move(group), std::move(title), std::move(key), [=](const BufferOutcome& buffer) {
    Cell cell = CountCell(part(buffer));
    if (part(buffer) > 0) cell.text += fmt::format(" ({})", Percent(part(buffer), whole(buffer)));
    return cell;
  });
}

void BufferTable::AddIdentity() {
  Add(
      "", "", "buffer", [](const BufferOutcome& buffer) { return NumberCell(Raw(buffer.id)); },
      Shown::kNever);
  AddCount(
      "", "", "index", [](const BufferOutcome& buffer) { return buffer.index; }, Shown::kNever);
  Add("engine", "", "engine", [](const BufferOutcome& buffer) {
    // Of a plug-in's path the file.
    return Cell(Printable(buffer.engine.substr(buffer.engine.rfind('/') + 1)), buffer.engine);
  });
  AddBytes("size", "", "size", [](const BufferOutcome& buffer) { return buffer.size; });
  Add("policy", "", "policy", [](const BufferOutcome& buffer) {
    return Cell(fmt::format("{}{}", Name(buffer.policy), buffer.freed ? ", freed" : ""),
                Name(buffer.policy));
  });
}

bool BufferTable::IsShown(const Row& row) const {
  if (row.shown != Shown::kIfAny) return row.shown == Shown::kAlways;
  return std::any_of(outcome_.buffers.begin(), outcome_.buffers.end(),
                     [&](const auto& buffer) { return row.show(buffer).value != Json(0); });
}

void BufferTable::AddTo(Report& report) const {
  Json objects = Json::array();
  for (const BufferOutcome& buffer : outcome_.buffers) {
    Json object = Json::object();
    for (const Row& row : rows_)
      if (!row.key.empty()) object.Set(row.key, row.show(buffer).value);
    objects.push_back(std::move(object));
  }
  report.Data("buffers", std::move(objects));
  if (!report.is_text()) return;
  for (size_t first = 0; first < outcome_.buffers.size(); first += kBuffersPerTable) {
    const size_t last = std::min(first + kBuffersPerTable, outcome_.buffers.size());
    std::vector<Column> columns = {{""}, {""}};
    for (size_t i = first; i < last; ++i)
      columns.push_back({fmt::format("buffer {}", Raw(outcome_.buffers[i].id)), Align::kRight});
    Table table(std::move(columns));
    for (const Row& row : rows_) {
      if (!IsShown(row)) continue;
      std::vector<Cell> cells = {row.group, row.title};
      for (size_t i = first; i < last; ++i) cells.push_back(row.show(outcome_.buffers[i]));
      table.AddRow(std::move(cells));
    }
    report.Section("", table);
  }
}

void AddLossBits(BufferTable& table, const std::string& prefix) {
  for (size_t bit = 0; bit < kLossBitNames.size(); ++bit) {
    table.AddCount(
        "", kLossBitNames[bit].name, prefix + kLossBitNames[bit].name,
        [bit](const BufferOutcome& buffer) { return buffer.losses.by_bit[bit]; }, Shown::kIfAny);
  }
}

void ReportReplay(Report& report, const ReplayOutcome& outcome,
                  const std::map<BufferId, LedgerTotals>& accounts) {
  ReportReplayTitle(report, outcome);
  report.Data({{"input", outcome.path},
               {"session", outcome.session},
               {"records", outcome.records},
               {"read_passes", outcome.read_passes},
               {"reads", ReadsJson(outcome.reads)},
               {"recorder_gaps", outcome.recorder_gaps},
               {"duration_ns", outcome.duration_ns()}});
  AddInexact(report, outcome.verdicts);
  using Buffer = const BufferOutcome&;
  BufferTable table(outcome);
  table.AddIdentity();
  table.Add(
      "", "", "freed", [](Buffer b) { return DataCell(b.freed); }, Shown::kNever);
  AddAccounts(table, accounts);
  table.AddCount("written", "chunks", "written.chunks", Stat(&BufferStats::chunks_written));
  table.AddBytes("", "bytes", "written.bytes", Stat(&BufferStats::bytes_written));
  table.AddCount(
      "", "", "read.packets", [](Buffer b) { return b.read.packets; }, Shown::kNever);
  table.AddBytes("read", "packet bytes", "read.bytes", [](Buffer b) { return b.read.bytes; });
  table.AddCount(
      "", "invalid packets", "read.invalid_packets", [](Buffer b) { return b.invalid; },
      Shown::kIfAny);
  table.AddPart("overwritten", "chunks", "overwritten.chunks",
                Stat(&BufferStats::chunks_overwritten), Stat(&BufferStats::chunks_written));
  table.AddBytes("", "bytes", "overwritten.bytes", Stat(&BufferStats::bytes_overwritten));
  table.AddPart("discarded", "chunks", "discarded.chunks", Stat(&BufferStats::chunks_discarded),
                [](Buffer b) { return b.stats.chunks_written + b.stats.chunks_discarded; });
  table.AddPart("patches", "failed", "", Stat(&BufferStats::patches_failed),
                [](Buffer b) { return b.stats.patches_failed + b.stats.patches_succeeded; });
  table.AddCount("loss flags", "packets", "loss_flags.packets", FlaggedPackets);
  AddLossBits(table, "loss_flags.by_cause.");
  table.AddCount("unusable", "sequences", "loss_flags.incremental_sequences_dropped",
                 SequencesDropped, Shown::kIfAny);
  table.AddCount(
      "still unread", "packets", "unread.packets", [](Buffer b) { return b.unread.packets; },
      Shown::kIfAny);
  table.AddBytes(
      "", "packet bytes", "unread.bytes", [](Buffer b) { return b.unread.bytes; }, Shown::kIfAny);
  table.AddBytes(
      "incomplete", "bytes", "incomplete_bytes", [](Buffer b) { return b.stuck_bytes; },
      Shown::kIfAny);
  table.AddTo(report);
  if (report.is_text()) report.Print(RefusalsText(outcome.service));
}

}  // namespace ringscope
