#include "commands/replay_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "commands/json_output.h"
#include "commands/json_pieces.h"
#include "commands/table.h"
#include "commands/text.h"

namespace ringscope {
namespace {

constexpr size_t kBuffersPerTable = 5;

using Value = BufferTable::Value;

Value Stat(uint64_t BufferStats::*field) {
  return [field](const BufferOutcome& buffer) { return buffer.stats.*field; };
}

uint64_t ChunksOffered(const BufferOutcome& buffer) {
  return buffer.stats.chunks_written + buffer.stats.chunks_discarded;
}

/// What the service kept from the buffers, or from the trace.
void PrintRefusals(Console& console, const ServiceStats& service) {
  std::string refused;
  const auto add = [&](uint64_t count, const char* one, const char* many) {
    if (count == 0) return;
    refused += fmt::format("{}{} {}", refused.empty() ? "" : ", ", WithCommas(count),
                           count == 1 ? one : many);
  };
  add(service.chunks_discarded, "chunk", "chunks");
  add(service.patches_discarded, "patch", "patches");
  add(service.invalid_packets, "packet", "packets");
  if (!refused.empty()) console.Print(fmt::format("\nThe service itself refused {}.\n", refused));
}

}  // namespace

void BufferTable::AddRow(std::string group, std::string title, Cell cell) {
  rows_.push_back({std::move(group), std::move(title), std::move(cell)});
}

void BufferTable::AddNumber(std::string group, std::string title, const Value& value) {
  AddRow(std::move(group), std::move(title),
         [value](const BufferOutcome& buffer) { return WithCommas(value(buffer)); });
}

void BufferTable::AddPart(std::string group, std::string title, const Value& part,
                          const Value& whole) {
  AddRow(std::move(group), std::move(title), [part, whole](const BufferOutcome& buffer) {
    if (part(buffer) == 0) return std::string("0");
    return fmt::format("{} ({})", WithCommas(part(buffer)), Percent(part(buffer), whole(buffer)));
  });
}

void BufferTable::AddSize(std::string group, std::string title, const Value& value) {
  AddRow(std::move(group), std::move(title),
         [value](const BufferOutcome& buffer) { return HumanSize(value(buffer)); });
}

bool BufferTable::Any(const Value& value) const {
  return std::any_of(outcome_.buffers.begin(), outcome_.buffers.end(),
                     [&](const BufferOutcome& buffer) { return value(buffer) != 0; });
}

void BufferTable::Print(Console& console) const {
  for (size_t first = 0; first < outcome_.buffers.size(); first += kBuffersPerTable) {
    const size_t last = std::min(first + kBuffersPerTable, outcome_.buffers.size());
    std::vector<Column> columns = {{"", Align::kLeft}, {"", Align::kLeft}};
    for (size_t i = first; i < last; ++i) {
      columns.push_back({fmt::format("buffer {}", Raw(outcome_.buffers[i].id)), Align::kRight});
    }
    Table table(std::move(columns));
    for (const Row& row : rows_) {
      std::vector<std::string> cells = {row.group, row.title};
      for (size_t i = first; i < last; ++i) cells.push_back(row.cell(outcome_.buffers[i]));
      table.AddRow(std::move(cells));
    }
    console.Print("\n");
    table.Print(console);
  }
}

void AddIdentityRows(BufferTable& table) {
  table.AddRow("engine", "", [](const BufferOutcome& buffer) {
    return Printable(buffer.engine.substr(buffer.engine.rfind('/') + 1));  // a plug-in's file
  });
  table.AddSize("size", "", [](const BufferOutcome& buffer) { return buffer.size; });
  table.AddRow("policy", "", [](const BufferOutcome& buffer) {
    return fmt::format("{}{}", Name(buffer.policy), buffer.freed ? ", freed" : "");
  });
}

void AddLossRows(BufferTable& table) {
  const auto flagged = [](const BufferOutcome& buffer) {
    return buffer.losses.sequence_packet_loss;
  };
  table.AddNumber("loss flags", "packets", flagged);
  for (size_t bit = 0; bit < kLossBitNames.size(); ++bit) {
    const auto with_bit = [bit](const BufferOutcome& buffer) { return buffer.losses.by_bit[bit]; };
    if (table.Any(with_bit)) table.AddNumber("", kLossBitNames[bit].name, with_bit);
  }
  const auto without_state = [](const BufferOutcome& buffer) {
    return buffer.losses.incremental_sequences_dropped;
  };
  if (table.Any(without_state)) table.AddNumber("unusable", "sequences", without_state);
}

namespace {

/// What follows the log's name.
std::string HeadingBehindPath(const ReplayOutcome& outcome) {
  std::string text =
      fmt::format(": session {}: {}", outcome.session, Count(outcome.records, "record"));
  if (outcome.duration_ns() > 0) text += " over " + HumanDuration(outcome.duration_ns());
  text += ", " + Count(outcome.read_passes, "read") + "\n";
  if (outcome.buffers.empty()) text += "The session has no buffer.\n";
  return text;
}

}  // namespace

std::string ReplayHeading(const ReplayOutcome& outcome) {
  return Printable(outcome.path) + HeadingBehindPath(outcome);
}

void PrintReplayHeading(Console& console, const ReplayOutcome& outcome) {
  console.Print(console.Bold(Printable(outcome.path)) + HeadingBehindPath(outcome));
}

void PrintReplaySummary(Console& console, const ReplayOutcome& outcome) {
  PrintReplayHeading(console, outcome);
  BufferTable table(outcome);
  AddIdentityRows(table);
  table.AddNumber("written", "chunks", Stat(&BufferStats::chunks_written));
  table.AddSize("", "bytes", Stat(&BufferStats::bytes_written));
  table.AddNumber("read", "packets", [](const BufferOutcome& b) { return b.read.packets; });
  table.AddSize("", "packet bytes", [](const BufferOutcome& b) { return b.read.bytes; });
  const auto invalid = [](const BufferOutcome& b) { return b.invalid; };
  if (table.Any(invalid)) table.AddNumber("", "invalid packets", invalid);
  table.AddPart("overwritten", "chunks", Stat(&BufferStats::chunks_overwritten),
                Stat(&BufferStats::chunks_written));
  table.AddSize("", "bytes", Stat(&BufferStats::bytes_overwritten));
  table.AddPart("discarded", "chunks", Stat(&BufferStats::chunks_discarded), ChunksOffered);
  table.AddPart(
      "patches", "failed", Stat(&BufferStats::patches_failed),
      [](const BufferOutcome& b) { return b.stats.patches_failed + b.stats.patches_succeeded; });
  AddLossRows(table);
  table.AddNumber("still unread", "packets",
                  [](const BufferOutcome& b) { return b.unread.packets; });
  table.AddSize("", "packet bytes", [](const BufferOutcome& b) { return b.unread.bytes; });
  const auto stuck = [](const BufferOutcome& b) { return b.stuck_bytes; };
  if (table.Any(stuck)) table.AddSize("incomplete", "bytes", stuck);
  table.Print(console);

  PrintRefusals(console, outcome.service);
}

Json ReplaySummaryJson(const ReplayOutcome& outcome) {
  Json buffers = Json::array();
  for (const BufferOutcome& buffer : outcome.buffers) {
    Json by_cause = Json::object();
    for (size_t bit = 0; bit < kLossBitNames.size(); ++bit)
      by_cause[kLossBitNames[bit].name] = buffer.losses.by_bit[bit];
    buffers.push_back(
        {{"buffer", Raw(buffer.id)},
         {"index", buffer.index},
         {"engine", buffer.engine},
         {"size", buffer.size},
         {"policy", Name(buffer.policy)},
         {"freed", buffer.freed},
         {"written",
          {{"chunks", buffer.stats.chunks_written}, {"bytes", buffer.stats.bytes_written}}},
         {"read",
          {{"packets", buffer.read.packets},
           {"bytes", buffer.read.bytes},
           {"invalid_packets", buffer.invalid}}},
         {"overwritten",
          {{"chunks", buffer.stats.chunks_overwritten}, {"bytes", buffer.stats.bytes_overwritten}}},
         {"discarded", {{"chunks", buffer.stats.chunks_discarded}}},
         {"loss_flags",
          {{"packets", buffer.losses.sequence_packet_loss},
           {"by_cause", std::move(by_cause)},
           {"incremental_sequences_dropped", buffer.losses.incremental_sequences_dropped}}},
         {"unread", CountJson(buffer.unread)},
         {"incomplete_bytes", buffer.stuck_bytes}});
  }
  Json json = {{"input", outcome.path},
               {"session", outcome.session},
               {"records", outcome.records},
               {"read_passes", outcome.read_passes},
               {"recorder_gaps", outcome.recorder_gaps},
               {"duration_ns", outcome.duration_ns()},
               {"buffers", std::move(buffers)}};
  return json;
}

}  // namespace ringscope
