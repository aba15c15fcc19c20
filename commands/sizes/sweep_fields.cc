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

/// Titles of CSV, and paths in the JSON of a row and its setting.
constexpr std::string_view kCsvColumns =
    "engine policy size reads packets_written=written.packets packets_read=read.packets "
    "bytes_read=read.bytes chunks_overwritten=stats.chunks_overwritten "
    "chunks_discarded=stats.chunks_discarded history_s buffer log session "
    "bytes_written=written.bytes packets_unread=unread.packets bytes_unread=unread.bytes "
    "packets_overwritten=overwritten.packets bytes_overwritten=overwritten.bytes "
    "packets_discarded=discarded.packets bytes_discarded=discarded.bytes shortest_history_s "
    "shortest_sequence sequence_packet_loss incremental_sequences_dropped reads_assumed "
    "packets_lost=lost packets_lost_otherwise=lost_otherwise packets_waiting=waiting "
    "packets_folded=folded.packets bytes_folded=folded.bytes state_bytes";

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
  Json json = {{"input", report.path}, {"session", report.outcome.session}};
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

std::string SweepCsv(const SweepReport* report) {
  if (report == nullptr) return CsvTitles(kCsvColumns);
  std::string rows;
  for (const SweepPoint& point : report->points) {
    for (const SweepRow& row : point.rows) {
      Json json = SettingJson(*report, point.setting);
      json["folded"] = FieldsToJson(row.folded);
      json.update(FieldsToJson(row));
      json.update(Json{{"log", report->path},
                       {"session", report->outcome.session},
                       {"history_s", Seconds(row.history_ns)},
                       {"shortest_history_s", Seconds(row.shortest_history_ns)}});
      rows += CsvRow(kCsvColumns, json);
    }
  }
  return rows;
}

}  // namespace ringscope
