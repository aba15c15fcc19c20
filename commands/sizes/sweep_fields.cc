#include <fmt/format.h>

#include "commands/sizes/sweep_report.h"
#include "commands/view/json_fields.h"
#include "core/log/verdict.h"

namespace ringscope {
namespace {

struct SweptSetting {
  std::optional<std::string> engine;
  std::optional<FillPolicy> policy;
  std::string reads;
  bool reads_assumed = false;
};

struct SweptConfiguration {
  SweptSetting setting;
  std::optional<double> scale;
  std::optional<uint64_t> size;
  std::vector<SweepRow> buffers;
};

struct SweptBuffer {
  BufferId buffer{};
  uint64_t size = 0;
  FillPolicy policy = FillPolicy::kRingBuffer;
};

struct FoundBuffer {
  BufferId buffer{};
  uint64_t size = 0;
};

/// The smallest buffers that meet the targets in a setting.
struct FoundBuffers {
  SweptSetting setting;
  std::vector<std::string> target;
  bool found = false;
  std::optional<std::string> why_not;
  std::vector<FoundBuffer> buffers;
};

std::string Seconds(uint64_t ns) {
  return fmt::format("{}.{:09}", ns / 1'000'000'000, ns % 1'000'000'000);
}

SweptSetting SettingOf(const SweepReport& report, size_t index) {
  const SweepSetting& setting = report.plan.settings[index];
  return {setting.engine, setting.policy, setting.reads.name, setting.reads.assumed};
}

}  // namespace

template <typename Io>
void ListFields(Io& io, SweptSetting& setting) {
  io("engine", setting.engine, "policy", setting.policy, "reads", setting.reads, "reads_assumed",
     setting.reads_assumed);
}

template <typename Io>
void ListFields(Io& io, SweepSequence& sequence) {
  io("sequence", sequence.sequence, "written", sequence.written, "read", sequence.read,
     "overwritten", sequence.overwritten, "history_ns", sequence.history_ns);
}

template <typename Io>
void ListFields(Io& io, SweepRow& row) {
  io("buffer", row.id, "engine", row.engine, "policy", row.policy, "size", row.size, "written",
     row.written, "read", row.read, "unread", row.unread, "overwritten", row.overwritten,
     "discarded", row.discarded, "history_ns", row.history_ns, "shortest_history_ns",
     row.shortest_history_ns, "shortest_sequence", row.shortest_sequence, "sequence_packet_loss",
     row.losses.sequence_packet_loss, "incremental_sequences_dropped",
     row.losses.incremental_sequences_dropped, "used_bytes", row.used_bytes);
  io.UnlessEmpty("folded", row.folded);
  io.UnlessEmpty("state_bytes", row.state_bytes);
  io("lost", row.lost);
  io.Derived("lost_otherwise", row.lost_otherwise(), "waiting", row.waiting_packets());
  io.Object("stats", [&](auto& stats) {
    for (const StatField& field : kStatFields) stats(field.name, row.stats.*field.value);
  });
  io("sequences", row.sequences);
}

template <typename Io>
void ListFields(Io& io, SweptConfiguration& configuration) {
  ListFields(io, configuration.setting);
  io("scale", configuration.scale, "size", configuration.size, "buffers", configuration.buffers);
}

template <typename Io>
void ListFields(Io& io, SweptBuffer& buffer) {
  io("buffer", buffer.buffer, "size", buffer.size, "policy", buffer.policy);
}

template <typename Io>
void ListFields(Io& io, FoundBuffer& buffer) {
  io("buffer", buffer.buffer, "size", buffer.size);
}

template <typename Io>
void ListFields(Io& io, FoundBuffers& found) {
  ListFields(io, found.setting);
  io("target", found.target, "found", found.found, "why_not", found.why_not, "buffers",
     found.buffers);
}

Json SweepJson(const SweepReport& report) {
  const ReplayOutcome& outcome = report.outcome;
  Json json = {{"input", report.path}, {"session", report.session}};
  if (report.clone) json["clone"] = *report.clone;
  std::vector<SweptBuffer> buffers;
  for (const auto& [id, buffer] : report.facts.buffers)
    buffers.push_back({id, buffer.size, buffer.policy});
  std::vector<SweptConfiguration> configurations;
  for (size_t i = 0; i < report.plan.points.size(); ++i) {
    const SweepPoint& point = report.plan.points[i];
    configurations.push_back(
        {SettingOf(report, point.setting), point.scale, point.size, report.rows[i]});
  }
  std::vector<std::string> inexact;
  for (const RecordingVerdict& verdict : outcome.verdicts)
    inexact.emplace_back(Name(verdict.reason));
  std::vector<FoundBuffers> targets;
  for (const FoundSize& found : report.found) {
    FoundBuffers& target = targets.emplace_back();
    target.setting = SettingOf(report, found.setting);
    for (const SweepTarget& wanted : report.targets) target.target.push_back(wanted.text);
    target.found = found.point.has_value();
    if (!found.point)
      target.why_not = WhyNotText(report, found);
    else
      for (const SweepRow& row : report.rows[*found.point])
        target.buffers.push_back({row.id, row.size});
  }
  json["records"] = outcome.records;
  json["recorder_gaps"] = outcome.recorder_gaps;
  json["duration_ns"] = outcome.duration_ns();
  json["buffers"] = FieldsToJson(buffers);
  json["configurations"] = FieldsToJson(configurations);
  if (!inexact.empty()) json["inexact"] = FieldsToJson(inexact);
  if (!targets.empty()) json["targets"] = FieldsToJson(targets);
  return json;
}

Table SweepCsv() {
  std::vector<Column> columns;
  for (const char* key : {"engine",
                          "policy",
                          "size",
                          "reads",
                          "packets_written",
                          "packets_read",
                          "bytes_read",
                          "chunks_overwritten",
                          "chunks_discarded",
                          "history_s",
                          "buffer",
                          "log",
                          "session",
                          "bytes_written",
                          "packets_unread",
                          "bytes_unread",
                          "packets_overwritten",
                          "bytes_overwritten",
                          "packets_discarded",
                          "bytes_discarded",
                          "shortest_history_s",
                          "shortest_sequence",
                          "sequence_packet_loss",
                          "incremental_sequences_dropped",
                          "used_bytes",
                          "reads_assumed",
                          "packets_lost",
                          "packets_lost_otherwise",
                          "packets_waiting",
                          "packets_folded",
                          "bytes_folded",
                          "state_bytes"})
    columns.push_back(DataColumn(key));
  return Table(std::move(columns));
}

void AddToCsv(const SweepReport& report, Table& rows) {
  for (size_t i = 0; i < report.rows.size(); ++i) {
    const NamedReads& reads = report.plan.settings[report.plan.points[i].setting].reads;
    for (const SweepRow& row : report.rows[i]) {
      rows.AddRow(DataCells({row.engine,
                             Name(row.policy),
                             row.size,
                             reads.name,
                             row.written.packets,
                             row.read.packets,
                             row.read.bytes,
                             row.stats.chunks_overwritten,
                             row.stats.chunks_discarded,
                             Seconds(row.history_ns),
                             Raw(row.id),
                             report.path,
                             report.session,
                             row.written.bytes,
                             row.unread.packets,
                             row.unread.bytes,
                             row.overwritten.packets,
                             row.overwritten.bytes,
                             row.discarded.packets,
                             row.discarded.bytes,
                             Seconds(row.shortest_history_ns),
                             FieldsToJson(row.shortest_sequence),
                             row.losses.sequence_packet_loss,
                             row.losses.incremental_sequences_dropped,
                             row.used_bytes,
                             reads.assumed,
                             row.lost_packets(),
                             row.lost_otherwise(),
                             row.waiting_packets(),
                             row.folded.packets,
                             row.folded.bytes,
                             FieldsToJson(row.state_bytes)}));
    }
  }
}

}  // namespace ringscope
