#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "commands/json_output.h"
#include "commands/json_pieces.h"
#include "commands/sweep_report.h"
#include "commands/text.h"

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
  Json json = {{"buffer", Raw(row.buffer)},
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
  return {{"engine", OrNull(setting.engine)},
          {"policy", setting.policy ? Json(Name(*setting.policy)) : Json()},
          {"reads", setting.reads.name}};
}

Json FoundJson(const SweepReport& report, const FoundSize& found) {
  Json json = SettingJson(report.plan.settings[found.setting]);
  json["target"] = Json::array();
  for (const SweepTarget& target : report.targets) json["target"].push_back(target.text);
  json["found"] = found.point.has_value();
  json["verified"] = found.verified;
  json["why_not"] = found.why_not.empty() ? Json() : Json(found.why_not);
  json["buffers"] = Json::array();
  if (found.point) {
    for (const SweepRow& row : report.result.rows[*found.point])
      json["buffers"].push_back({{"buffer", Raw(row.buffer)}, {"size", row.size}});
  }
  return json;
}

/// Nanoseconds as seconds.
std::string Seconds(uint64_t ns) {
  return fmt::format("{}.{:09}", ns / 1'000'000'000, ns % 1'000'000'000);
}

std::string CsvText(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

Json SweepJson(const SweepReport& report, bool sequences) {
  const SweepResult& result = report.result;
  Json json = {{"input", result.path},
               {"session", result.session},
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
    configuration["scale"] = OrNull(point.scale);
    configuration["size"] = OrNull(point.size);
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

const char* const kSweepCsvTitles =
    "engine,policy,size,reads,packets_written,packets_read,bytes_read,chunks_overwritten,"
    "chunks_discarded,history_s,buffer,log,session,bytes_written,packets_unread,bytes_unread,"
    "packets_overwritten,bytes_overwritten,packets_discarded,bytes_discarded,shortest_history_s,"
    "shortest_sequence,sequence_packet_loss,incremental_sequences_dropped,used_bytes\n";

void PrintSweepCsv(Console& console, const Json& session, const std::string& log) {
  const auto number = [](const Json& json) { return json.get<uint64_t>(); };
  for (const Json& configuration : session.at("configurations")) {
    for (const Json& row : configuration.at("buffers")) {
      const auto packets = [&](const char* what) { return number(row.at(what).at("packets")); };
      const auto bytes = [&](const char* what) { return number(row.at(what).at("bytes")); };
      const Json& shortest = row.at("shortest_sequence");
      console.Print(fmt::format(
          "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
          CsvText(row.at("engine")), row.at("policy").get<std::string>(), number(row.at("size")),
          configuration.at("reads").get<std::string>(), packets("written"), packets("read"),
          bytes("read"), number(row.at("stats").at("chunks_overwritten")),
          number(row.at("stats").at("chunks_discarded")), Seconds(number(row.at("history_ns"))),
          number(row.at("buffer")), CsvText(log), number(session.at("session")), bytes("written"),
          packets("unread"), bytes("unread"), packets("overwritten"), bytes("overwritten"),
          packets("discarded"), bytes("discarded"), Seconds(number(row.at("shortest_history_ns"))),
          shortest.is_null() ? "" : shortest.get<std::string>(),
          number(row.at("sequence_packet_loss")), number(row.at("incremental_sequences_dropped")),
          number(row.at("used_bytes"))));
    }
  }
}

}  // namespace ringscope
