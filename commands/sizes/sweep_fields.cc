#include <fmt/format.h>

#include "commands/sizes/sweep_report.h"
#include "commands/view/json_fields.h"
#include "core/log/verdict.h"

namespace ringscope {
namespace {

std::string Seconds(uint64_t ns) {
  return fmt::format("{}.{:09}", ns / 1'000'000'000, ns % 1'000'000'000);
}

Json SettingJson(const SweepReport& report, size_t index) {
  const SweepSetting& setting = report.settings[index];
  return {{"engine", setting.engine},
          {"policy", FieldsToJson(setting.policy)},
          {"reads", setting.reads.name},
          {"reads_assumed", setting.reads.assumed}};
}

/// The smallest buffers that meet the targets in a setting.
Json FoundJson(const SweepReport& report, const FoundSize& found) {
  Json json = SettingJson(report, found.setting);
  json["target"] = Json::array();
  for (const SweepTarget& target : report.targets) json["target"].push_back(target.text);
  json["found"] = found.misses.empty();
  json["why_not"] = found.misses.empty() ? Json() : Json(WhyNotText(report, found));
  json["buffers"] = Json::array();
  for (const SweepRow& row : found.rows)
    json["buffers"].push_back({{"buffer", Raw(row.id)}, {"size", row.size}});
  return json;
}

/// A row of the CSV: names of its columns and its cells.
std::vector<std::pair<const char*, Json>> CsvFields(const SweepReport& report,
                                                    const NamedReads& reads, const SweepRow& row) {
  return {{"engine", row.engine},
          {"policy", Name(row.policy)},
          {"size", row.size},
          {"reads", reads.name},
          {"packets_written", row.written.packets},
          {"packets_read", row.read.packets},
          {"bytes_read", row.read.bytes},
          {"chunks_overwritten", row.stats.chunks_overwritten},
          {"chunks_discarded", row.stats.chunks_discarded},
          {"history_s", Seconds(row.history_ns)},
          {"buffer", Raw(row.id)},
          {"log", report.path},
          {"session", report.session},
          {"bytes_written", row.written.bytes},
          {"packets_unread", row.unread.packets},
          {"bytes_unread", row.unread.bytes},
          {"packets_overwritten", row.overwritten.packets},
          {"bytes_overwritten", row.overwritten.bytes},
          {"packets_discarded", row.discarded.packets},
          {"bytes_discarded", row.discarded.bytes},
          {"shortest_history_s", Seconds(row.shortest_history_ns)},
          {"shortest_sequence", FieldsToJson(row.shortest_sequence)},
          {"sequence_packet_loss", row.losses.sequence_packet_loss},
          {"incremental_sequences_dropped", row.losses.incremental_sequences_dropped},
          {"reads_assumed", reads.assumed},
          {"packets_lost", row.lost},
          {"packets_lost_otherwise", row.lost_otherwise()},
          {"packets_waiting", row.waiting_packets()},
          {"packets_folded", row.folded.packets},
          {"bytes_folded", row.folded.bytes},
          {"state_bytes", FieldsToJson(row.state_bytes)}};
}

}  // namespace

void ListFields(JsonFieldWriter& io, const SweepSequence& sequence) {
  io("sequence", sequence.sequence, "written", sequence.written, "read", sequence.read,
     "overwritten", sequence.overwritten, "history_ns", sequence.history_ns);
}

void ListFields(JsonFieldWriter& io, const SweepRow& row) {
  io("buffer", row.id, "engine", row.engine, "policy", row.policy, "size", row.size, "written",
     row.written, "read", row.read, "unread", row.unread, "overwritten", row.overwritten,
     "discarded", row.discarded, "history_ns", row.history_ns, "shortest_history_ns",
     row.shortest_history_ns, "shortest_sequence", row.shortest_sequence, "sequence_packet_loss",
     row.losses.sequence_packet_loss, "incremental_sequences_dropped",
     row.losses.incremental_sequences_dropped);
  io.UnlessEmpty("folded", row.folded, "state_bytes", row.state_bytes);
  io("lost", row.lost, "lost_otherwise", row.lost_otherwise(), "waiting", row.waiting_packets());
  io.Object("stats", [&](auto& stats) {
    for (const StatField& field : kStatFields) stats(field.name, row.stats.*field.value);
  });
  io("sequences", row.sequences);
}

Json SweepJson(const SweepReport& report) {
  const ReplayOutcome& outcome = report.outcome;
  Json json = {{"input", report.path}, {"session", report.session}};
  if (report.clone) json["clone"] = *report.clone;
  json["records"] = outcome.records;
  json["recorder_gaps"] = outcome.recorder_gaps;
  json["duration_ns"] = outcome.duration_ns();
  json["buffers"] = Json::array();
  for (const auto& [id, buffer] : report.facts.buffers)
    json["buffers"].push_back({{"buffer", Raw(id)},
                               {"index", buffer.index},
                               {"size", buffer.size},
                               {"policy", Name(buffer.policy)}});
  json["configurations"] = Json::array();
  for (const SweepPoint& point : report.points) {
    Json& configuration = json["configurations"].emplace_back(SettingJson(report, point.setting));
    configuration["scale"] = point.scale;
    configuration["size"] = point.size;
    configuration["buffers"] = FieldsToJson(point.rows);
  }
  for (const RecordingVerdict& verdict : outcome.verdicts)
    json["inexact"].push_back(Name(verdict.reason));
  for (const FoundSize& found : report.found) json["targets"].push_back(FoundJson(report, found));
  return json;
}

Table SweepCsv() {
  std::vector<Column> columns;
  for (const auto& [name, cell] : CsvFields(SweepReport(), NamedReads(), SweepRow()))
    columns.push_back(DataColumn(name));
  return Table(std::move(columns));
}

void AddToCsv(const SweepReport& report, Table& rows) {
  for (const SweepPoint& point : report.points) {
    const NamedReads& reads = report.settings[point.setting].reads;
    for (const SweepRow& row : point.rows) {
      std::vector<Cell> cells;
      for (const auto& [name, cell] : CsvFields(report, reads, row))
        cells.push_back(DataCell(cell));
      rows.AddRow(std::move(cells));
    }
  }
}

}  // namespace ringscope
