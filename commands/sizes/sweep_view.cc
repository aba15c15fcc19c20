#include <fmt/format.h>

#include "commands/session/session_view.h"
#include "commands/sizes/sizes.h"
#include "commands/view/json_fields.h"
#include "core/log/verdict.h"

namespace ringscope {
namespace {

/// "1 MiB", or "1 MiB for buffers[0], 64 KiB for buffers[1]"
std::string SizesText(const SweepReport& report, const std::vector<SweepRow>& rows) {
  if (rows.size() == 1) return SizeWithKb(rows.front().size);
  std::vector<std::string> texts;
  for (const SweepRow& row : rows)
    texts.push_back(fmt::format("{} for {}", SizeWithKb(row.size), report.outcome.NameOf(row.id)));
  return Joined(texts);
}

/// "v2@58, ring_buffer, read at the end"
std::string SettingText(const SweepSetting& setting, const SweepRow& row) {
  const auto& [name, choice, assumed] = setting.reads;
  const char* const text =
      name == Name(ReadsMode::kStreamed) ? "read as for a file" : RowOf(choice.mode).swept;
  return fmt::format("{}, {}, {}{}", Printable(row.engine), Name(row.policy),
                     fmt::format(fmt::runtime(text), name), assumed ? " (assumed)" : "");
}

/// @return nullopt if the log is too short for the history wanted
std::optional<std::string> MissText(const SweepReport& report, const SweepRow& row) {
  for (const SweepTarget& target : report.targets) {
    if (!target.keep_ns || !row.shortest_sequence || row.shortest_history_ns >= *target.keep_ns)
      continue;
    if (report.outcome.duration_ns() < *target.keep_ns) return std::nullopt;
    return fmt::format("even with {} for {}, writer {} reaches back only {}", HumanSize(row.size),
                       report.outcome.NameOf(row.id), ToString(*row.shortest_sequence),
                       HumanDuration(row.shortest_history_ns));
  }
  return fmt::format("even with {} for {}, {} of {} {} lost, {} of them to a full buffer",
                     SizeWithKb(row.size), report.outcome.NameOf(row.id), WithCommas(row.lost),
                     Count(row.written.packets, "packet"), Is(row.lost),
                     WithCommas(row.full_packets()));
}

/// "the log lasts only 3.710 s", "even with 2 GiB for buffers[1], ..."
std::string WhyNotText(const SweepReport& report, const FoundSize& found) {
  std::vector<std::string> texts;
  for (const SweepRow& row : found.misses) {
    const std::optional<std::string> text = MissText(report, row);
    if (!text)
      return fmt::format("the log lasts only {}", HumanDuration(report.outcome.duration_ns()));
    texts.push_back(*text);
  }
  return texts.empty() ? "no sizes that were tried meet it together" : Joined(texts, "; ");
}

/// A table's columns. Some are shown only if they are not 0 in all rows.
std::vector<Column> ColumnsOf(const SweepSeries& series) {
  const auto shown_if = [&](const auto& any) {
    return std::any_of(series.rows.begin(), series.rows.end(), any);
  };
  const auto right = [](const char* title, bool is_shown = true) -> Column {
    return {title, Align::kRight, "", is_shown};
  };
  return {
      {""},
      right("size"),
      right("kept"),
      right("packets"),
      right("lost"),
      right("otherwise", shown_if([](auto* row) { return row->lost_otherwise() > 0; })),
      right("waiting, unfinished", shown_if([](auto* row) { return row->waiting_packets() > 0; })),
      right("oldest"),
      right("shortest"),
      {"of"}};
}

void PrintBuffer(Report& out, const SweepReport& report, const SweepSeries& series) {
  const uint64_t duration = report.outcome.duration_ns();
  const SweepRow& first = *series.rows.front();
  const uint64_t own = report.OwnSize(series.buffer);
  out.Paragraph(fmt::format("{}: {}, {} written by {}", report.outcome.NameOf(first.id),
                            Count(first.written.packets, "packet"), HumanSize(first.written.bytes),
                            Count(first.sequences.size(), "sequence")));
  Table table(ColumnsOf(series));
  for (const SweepRow* each : series.rows) {
    const SweepRow& row = *each;
    const uint64_t kept = row.kept_packets();
    table.AddRow({row.size == own ? "*" : "", HumanSize(row.size),
                  ShareText(kept, row.written.packets), WithCommas(kept), WithCommas(row.lost),
                  WithCommas(row.lost_otherwise()), WithCommas(row.waiting_packets()),
                  HumanDuration(row.history_ns),
                  row.shortest_sequence ? HumanDuration(row.shortest_history_ns) : "",
                  row.shortest_sequence && row.shortest_history_ns < duration
                      ? ToString(*row.shortest_sequence)
                      : ""});
  }
  out.Print(table);
}

void PrintFound(Report& out, const SweepReport& report) {
  if (report.targets.empty()) return;
  std::string targets;  // "keep=30s and loss=0"
  for (const SweepTarget& target : report.targets)
    targets += (targets.empty() ? "" : " and ") + target.text;
  out.Print(out.Bold("smallest size for " + targets) + "\n");
  for (const FoundSize& found : report.found) {
    const SweepSetting& setting = report.settings[found.setting];
    const auto any = std::ranges::find(report.points, found.setting, &SweepPoint::setting);
    const auto& rows = found.misses.empty() ? found.rows : any->rows;
    const std::string name = rows.empty() ? "" : SettingText(setting, rows.front()) + ": ";
    if (!found.misses.empty()) {
      out.Paragraph(fmt::format("{}none: {}", name, WhyNotText(report, found)), "  ");
      continue;
    }
    uint64_t waiting = 0;
    for (const SweepRow& row : rows) waiting += row.waiting_packets();
    out.Paragraph(
        fmt::format("{}{}{}", name, SizesText(report, rows),
                    waiting == 0 ? ""
                                 : fmt::format("; {} waiting or unfinished there, too",
                                               waiting == 1 ? "1 packet is"
                                                            : Count(waiting, "packet") + " are")),
        "  ");
  }
}

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

void PrintSweep(Report& out, const SweepReport& report) {
  ReportTitle(out, {.path = report.path,
                    .session = report.outcome.is_only_session ? 0 : report.outcome.session,
                    .records = report.outcome.records,
                    .duration_ns = report.outcome.duration_ns(),
                    .clone = report.clone});
  bool marked = false, otherwise = false, waiting = false;
  std::string heading;
  for (const SweepSeries& series : SeriesOf(report)) {
    const std::string text = SettingText(*series.setting, *series.rows.front());
    out.Print("\n");
    if (text != heading) out.Print(out.Bold(text) + "\n");
    heading = text;
    PrintBuffer(out, report, series);
    const uint64_t own = report.OwnSize(series.buffer);
    for (const SweepRow* row : series.rows) {
      marked |= row->size == own;
      otherwise |= row->lost_otherwise() > 0;
      waiting |= row->waiting_packets() > 0;
    }
  }
  if (marked) out.Print("\n* the log's own size\n");
  if (otherwise)
    out.Paragraph(
        "among the lost, but not because the buffer was full: a larger one helps nothing "
        "('ringscope gaps' has the causes)",
        "lost otherwise: ");
  if (waiting)
    out.Paragraph(
        "still in the buffer at the end, or not finished by their writers; neither kept nor lost",
        "waiting, unfinished: ");
  if (!report.targets.empty()) out.Print("\n");
  PrintFound(out, report);
}

// For programs.

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
