#include "commands/stats_report.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <numeric>

#include "commands/json_output.h"
#include "commands/replay_report.h"
#include "commands/table.h"
#include "commands/text.h"

namespace ringscope {
namespace {

struct ServiceField {
  const char* name;
  uint64_t ServiceStats::*value;
};

constexpr std::array<ServiceField, 11> kServiceFields = {{
    {"producers_connected", &ServiceStats::producers_connected},
    {"producers_seen", &ServiceStats::producers_seen},
    {"total_buffers", &ServiceStats::total_buffers},
    {"chunks_discarded", &ServiceStats::chunks_discarded},
    {"patches_discarded", &ServiceStats::patches_discarded},
    {"invalid_packets", &ServiceStats::invalid_packets},
    {"flushes_requested", &ServiceStats::flushes_requested},
    {"flushes_succeeded", &ServiceStats::flushes_succeeded},
    {"flushes_failed", &ServiceStats::flushes_failed},
    {"malformed_requests", &ServiceStats::malformed_requests},
    {"skipped_chunks", &ServiceStats::skipped_chunks},
}};

void PrintBufferStats(Console& console, const ReplayOutcome& outcome) {
  BufferTable table(outcome);
  AddIdentityRows(table);
  for (const StatField& field : kStatFields)
    table.AddNumber(field.name, "",
                    [&field](const BufferOutcome& buffer) { return buffer.stats.*field.value; });
  AddLossRows(table);
  table.Print(console);
}

void PrintServiceStats(Console& console, const ReplayOutcome& outcome) {
  Table table({{"service", Align::kLeft}, {"", Align::kRight}});
  for (const ServiceField& field : kServiceFields)
    table.AddRow({field.name, WithCommas(outcome.service.*field.value)});
  console.Print("\n");
  table.Print(console);
}

/// One row for each writer: how many of its commits had how many bytes of fragments.
void PrintHistograms(Console& console, const ReplayOutcome& outcome) {
  if (outcome.writers.empty()) return;
  std::vector<Column> columns = {
      {"sequence", Align::kLeft}, {"buffer", Align::kRight}, {"bytes", Align::kRight}};
  for (const uint32_t limit : kHistogramLimits)
    columns.push_back({fmt::format("<={}", limit), Align::kRight});
  columns.push_back({"more", Align::kRight});
  Table table(std::move(columns));
  for (const WriterOutcome& writer : outcome.writers) {
    const auto& sums = writer.histogram.sums;
    std::vector<std::string> cells = {
        ToString(writer.sequence), std::to_string(Raw(writer.buffer)),
        WithCommas(std::accumulate(sums.begin(), sums.end(), uint64_t{0}))};
    for (const uint32_t count : writer.histogram.counts)
      cells.push_back(count == 0 ? "." : WithCommas(count));
    table.AddRow(std::move(cells));
  }
  console.Print("\nCommits by bytes of their fragments\n");
  table.Print(console);
}

Json BufferJson(const BufferOutcome& buffer) {
  Json stats = Json::object();
  for (const StatField& field : kStatFields) stats[field.name] = buffer.stats.*field.value;
  Json bits = Json::object();
  for (size_t bit = 0; bit < kLossBitNames.size(); ++bit)
    bits[kLossBitNames[bit].name] = buffer.losses.by_bit[bit];
  return {{"buffer", Raw(buffer.id)},
          {"index", buffer.index},
          {"engine", buffer.engine},
          {"size", buffer.size},
          {"policy", Name(buffer.policy)},
          {"stats", std::move(stats)},
          {"sequence_packet_loss", buffer.losses.sequence_packet_loss},
          {"incremental_sequences_dropped", buffer.losses.incremental_sequences_dropped},
          {"data_loss", std::move(bits)}};
}

}  // namespace

void PrintStats(Console& console, const ReplayOutcome& outcome) {
  PrintBufferStats(console, outcome);
  PrintServiceStats(console, outcome);
  PrintHistograms(console, outcome);
}

Json StatsJson(const ReplayOutcome& outcome) {
  Json json = {{"input", outcome.path}, {"session", outcome.session}};
  json["buffers"] = Json::array();
  for (const BufferOutcome& buffer : outcome.buffers) json["buffers"].push_back(BufferJson(buffer));
  json["service"] = Json::object();
  for (const ServiceField& field : kServiceFields)
    json["service"][field.name] = outcome.service.*field.value;
  json["histogram_limits"] = kHistogramLimits;
  json["writers"] = Json::array();
  for (const WriterOutcome& writer : outcome.writers) {
    json["writers"].push_back({{"buffer", Raw(writer.buffer)},
                               {"sequence", ToString(writer.sequence)},
                               {"counts", writer.histogram.counts},
                               {"sums", writer.histogram.sums}});
  }
  return json;
}

}  // namespace ringscope
