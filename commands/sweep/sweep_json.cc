#include <fmt/format.h>

#include "commands/report/json.h"
#include "commands/shell/text.h"
#include "commands/sweep/sweep_report.h"

namespace ringscope {
namespace {

Json SequenceJson(const SweepSequence& sequence) {
  return {{"sequence", ToString(sequence.sequence)},
          {"written", CountJson(sequence.written)},
          {"read", CountJson(sequence.read)},
          {"overwritten", CountJson(sequence.overwritten)},
          {"history_ns", sequence.history_ns}};
}

Json RowJson(const SweepRow& row, bool sequences) {
  Json json = {{"buffer", Raw(row.id)},
               {"engine", row.engine},
               {"policy", Name(row.policy)},
               {"size", row.size},
               {"written", CountJson(row.written)},
               {"read", CountJson(row.read)},
               {"unread", CountJson(row.unread)},
               {"overwritten", CountJson(row.overwritten)},
               {"discarded", CountJson(row.discarded)},
               {"history_ns", row.history_ns},
               {"shortest_history_ns", row.shortest_history_ns},
               {"shortest_sequence",
                row.shortest_sequence ? Json(ToString(*row.shortest_sequence)) : Json()},
               {"sequence_packet_loss", row.losses.sequence_packet_loss},
               {"incremental_sequences_dropped", row.losses.incremental_sequences_dropped},
               {"used_bytes", row.used_bytes}};
  Json stats = Json::object();
  for (const StatField& field : kStatFields) stats[field.name] = row.stats.*field.value;
  json["stats"] = std::move(stats);
  if (!sequences) return json;
  json["sequences"] = Json::array();
  for (const SweepSequence& sequence : row.sequences)
    json["sequences"].push_back(SequenceJson(sequence));
  return json;
}

Json SettingJson(const SweepSetting& setting) {
  return {{"engine", setting.engine},
          {"policy", setting.policy ? Json(Name(*setting.policy)) : Json()},
          {"reads", setting.reads.name}};
}

Json FoundJson(const SweepReport& report, const FoundSize& found) {
  Json json = SettingJson(report.plan.settings[found.setting]);
  json["target"] = Json::array();
  for (const SweepTarget& target : report.targets) json["target"].push_back(target.text);
  json["found"] = found.point.has_value();
  json["verified"] = found.verified;
  json["why_not"] = found.point ? Json() : Json(WhyNotText(report, found.miss));
  json["buffers"] = Json::array();
  if (found.point) {
    for (const SweepRow& row : report.result.rows[*found.point])
      json["buffers"].push_back({{"buffer", Raw(row.id)}, {"size", row.size}});
  }
  return json;
}

}  // namespace

Json SweepJson(const SweepReport& report, bool sequences) {
  const SweepResult& result = report.result;
  Json json = {{"input", report.path},
               {"session", report.session},
               {"records", result.records},
               {"recorder_gaps", result.recorder_gaps},
               {"duration_ns", result.duration_ns()}};
  json["buffers"] = Json::array();
  for (const auto& [id, buffer] : report.facts.buffers)
    json["buffers"].push_back(
        {{"buffer", Raw(id)}, {"size", buffer.size}, {"policy", Name(buffer.policy)}});
  json["configurations"] = Json::array();
  for (size_t i = 0; i < report.plan.points.size(); ++i) {
    const SweepPoint& point = report.plan.points[i];
    Json configuration = SettingJson(report.plan.settings[point.setting]);
    configuration["scale"] = point.scale;
    configuration["size"] = point.size;
    configuration["buffers"] = Json::array();
    for (const SweepRow& row : result.rows[i])
      configuration["buffers"].push_back(RowJson(row, sequences));
    json["configurations"].push_back(std::move(configuration));
  }
  if (report.targets.empty()) return json;
  json["targets"] = Json::array();
  for (const FoundSize& found : report.found) json["targets"].push_back(FoundJson(report, found));
  return json;
}

}  // namespace ringscope
