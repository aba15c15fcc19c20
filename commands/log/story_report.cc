#include "commands/log/story_report.h"

#include <fmt/format.h>

#include "commands/log/story_text.h"
#include "commands/replays/story_words.h"
#include "commands/shell/text.h"
#include "core/base/wire.h"
#include "formats/descriptors/descriptors.h"
#include "formats/io/hex.h"

namespace ringscope {
namespace {

constexpr size_t kStoryIndent = 2;

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}
template <typename Id>
Json IdOrNull(const std::optional<Id>& id) {
  return id ? Json(Raw(*id)) : Json();
}
Json TextOrNull(const std::string& text) { return text.empty() ? Json() : Json(Printable(text)); }

/// Columns that only a program sees, and that an object without a value does not have.
Table DataTable(std::initializer_list<const char*> keys) {
  std::vector<Column> columns;
  for (const char* key : keys) columns.push_back(DataColumn(key, kInJson | kUnlessNull));
  return Table(std::move(columns));
}

/// What a record's flag means; nullptr: this kind has none.
const char* FlagKey(const LifeEvent& event) {
  if (event.Is<DataSourceRegistered>()) return "no_flush";
  if (event.Is<DataSourceNotified>()) return "stopped";
  if (event.Is<BufferCloned>()) return "transfer";
  return event.Is<CloneEnded>() ? "success" : nullptr;
}

Json EventData(const LifeEvent& event) {
  Json json = Json::object();
  const auto put = [&](const char* key, Json value) {
    if (!value.is_null()) json[key] = std::move(value);
  };
  put("record", event.record);
  put("time_ns", OrNull(event.time_ns));
  put("event", event.kind < kOpKinds ? OpKindName(event.kind) : "unknown");
  if (event.change) put("change", Name(*event.change));
  put("session", OrNull(event.session));
  put("producer", IdOrNull(event.producer));
  put("instance", OrNull(event.instance));
  if (!event.instances.empty()) put("instances", event.instances);
  put("buffer", IdOrNull(event.buffer));
  put("flush", OrNull(event.flush));
  if (event.flags != 0) {
    put("flags", event.flags);
    put("reason", Name(ReasonOf(event.flags)));
    put("initiator", Name(InitiatorOf(event.flags)));
  }
  put("clone", OrNull(event.clone));
  if (const char* const key = FlagKey(event)) put(key, event.flag);
  if (event.size > 0) put("size", event.size);
  put("name", TextOrNull(event.name));
  if (!event.Is<TraceConfigRecord>()) put("detail", TextOrNull(event.detail));
  return json;
}

void ReportEvents(Report& report, const SessionSummary& session, std::optional<uint64_t> start_ns) {
  Json events = Json::array();
  Json configs = Json::array();
  for (const LifeEvent& event : session.life) {
    events.push_back(EventData(event));
    if (!event.Is<TraceConfigRecord>()) continue;
    std::string hex;
    AppendHex(hex, wire::AsBytes(event.detail));
    Json config = {
        {"bytes", hex},
        {"text", Descriptors::BuiltIn().Text("TraceConfig", wire::AsBytes(event.detail))}};
    if (event.session) config["session"] = *event.session;
    configs.push_back(std::move(config));
  }
  report.Data({{"start_ns", OrNull(start_ns)},
               {"configs", std::move(configs)},
               {"events", std::move(events)}});
}

void ReportInstances(Report& report, const std::vector<InstanceStory>& instances) {
  Table table =
      DataTable({"producer", "instance", "name", "buffer", "session", "set_up_ns", "started_ns",
                 "reported_start_ns", "stopped_ns", "reported_stop_ns", "started", "stopped"});
  for (const InstanceStory& instance : instances) {
    table.AddRow(DataCells(
        {Raw(instance.producer), instance.instance, Printable(instance.name), Raw(instance.buffer),
         OrNull(instance.session), OrNull(instance.set_up_ns), OrNull(instance.started_ns),
         OrNull(instance.reported_start_ns), OrNull(instance.stopped_ns),
         OrNull(instance.reported_stop_ns), instance.started, instance.stopped}));
  }
  report.Data("data_sources", table.ToJson());
}

void ReportFlushes(Report& report, const SessionStory& story) {
  Json flushes = Json::array();
  for (const FlushAccount& flush : story.flushes) {
    Table answers = DataTable({"producer", "acknowledged", "latency_ns"});
    for (const FlushAccount::Answer& answer : flush.answers)
      answers.AddRow(
          DataCells({Raw(answer.producer), answer.acknowledged, OrNull(answer.latency_ns())}));
    Json json = {{"flush", flush.flush},
                 {"outcome", Name(flush.outcome)},
                 {"timed_out", flush.timed_out},
                 {"reason", Name(ReasonOf(flush.flags))},
                 {"initiator", Name(InitiatorOf(flush.flags))},
                 {"answers", answers.ToJson()}};
    if (flush.time_ns) json["time_ns"] = *flush.time_ns;
    flushes.push_back(std::move(json));
  }
  report.Data("flushes", std::move(flushes));

  Table table({{"flushes of", Align::kLeft},
               DataColumn("producer"),
               DataColumn("name"),
               {"asked", Align::kRight, "asked"},
               {"answered", Align::kRight, "acknowledged"},
               {"missed", Align::kRight, "missed"},
               {"mean", Align::kRight, "mean_ns"},
               {"slowest", Align::kRight, "max_ns"},
               {"flush", Align::kRight, "max_flush"}});
  for (const ProducerFlushes& producer : story.producers) {
    const auto latency = [&](uint64_t ns) {
      return producer.timed == 0 ? Cell("-", Json()) : Cell(LatencyText(ns), ns);
    };
    table.AddRow({ProducerText(producer.producer, producer.name), DataCell(Raw(producer.producer)),
                  DataCell(Printable(producer.name)), CountCell(producer.asked),
                  CountCell(producer.acknowledged), CountCell(producer.missed()),
                  latency(producer.mean_ns()), latency(producer.max_ns),
                  producer.timed == 0 ? Cell("-", Json()) : NumberCell(producer.max_flush)});
  }
  report.Add("flush_latency", table, kStoryIndent);
}

}  // namespace

void ReportStory(Report& report, const SessionSummary& session) {
  SessionStoryBuilder builder;
  for (const LifeEvent& event : session.life) builder.Add(event);
  for (const SequenceSummary& sequence : session.sequences)
    if (sequence.commits > 0) builder.AddChunk(sequence.sequence.producer, sequence.buffer);
  if (session.truncated || session.recorder_gaps > 0) builder.SetCommitsIncomplete();
  const SessionStory story = builder.Finish();
  StoryText text(session, story);
  const std::vector<StoryLine> lines = text.Tell();
  ReportEvents(report, session, text.start_ns());
  ReportInstances(report, story.instances);
  ReportFindings(report, story.findings, kStoryIndent);
  if (!lines.empty()) {
    report.Print(fmt::format("\n  {}\n", report.Bold("   seconds  what happened")));
    for (const StoryLine& line : lines)
      report.Print(Wrap(line.text, fmt::format("  {:>10}  ", line.seconds)) + "\n");
  }
  ReportFlushes(report, story);
}

}  // namespace ringscope
