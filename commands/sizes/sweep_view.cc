#include "commands/session/session_view.h"
#include "commands/sizes/sizes.h"

namespace ringscope {

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

/// "the log lasts only 3.710 s", "even with 2 GiB for buffers[1], ..."
std::string WhyNotText(const SweepReport& report, const FoundSize& found) {
  const uint64_t duration = report.outcome.duration_ns();
  std::vector<std::string> texts;
  for (const SweepRow& row : found.misses) {
    const auto unreached = std::ranges::find_if(report.targets, [&](const SweepTarget& target) {
      return row.shortest_sequence && row.shortest_history_ns < target.keep_ns;
    });
    const bool is_short = unreached != report.targets.end();
    if (is_short && duration < *unreached->keep_ns)
      return fmt::format("the log lasts only {}", HumanDuration(duration));
    texts.push_back(fmt::format(
        "even with {} for {}, {}", is_short ? HumanSize(row.size) : SizeWithKb(row.size),
        report.outcome.NameOf(row.id),
        is_short ? fmt::format("writer {} reaches back only {}", ToString(*row.shortest_sequence),
                               HumanDuration(row.shortest_history_ns))
                 : fmt::format("{} of {} {} lost, {} of them to a full buffer",
                               WithCommas(row.lost), Count(row.written.packets, "packet"),
                               Is(row.lost), WithCommas(row.full_packets()))));
  }
  return texts.empty() ? "no sizes that were tried meet it together" : Joined(texts, "; ");
}

/// Marks in the tables that lines below them explain.
struct Explained {
  bool own_size = false, otherwise = false, waiting = false;
};

void PrintBuffer(Report& out, const SweepReport& report, const std::vector<const SweepRow*>& rows,
                 Explained& below) {
  const uint64_t duration = report.outcome.duration_ns();
  const SweepRow& first = *rows.front();
  out.Paragraph(fmt::format("{}: {}, {} written by {}", report.outcome.NameOf(first.id),
                            Count(first.written.packets, "packet"), HumanSize(first.written.bytes),
                            Count(first.sequences.size(), "sequence")));
  const auto any = [&](auto number) {
    return std::ranges::any_of(rows, [&](auto* row) { return (row->*number)() > 0; });
  };
  const bool otherwise = any(&SweepRow::lost_otherwise), waiting = any(&SweepRow::waiting_packets);
  below.otherwise |= otherwise;
  below.waiting |= waiting;
  Table table({{""},
               {"size", Align::kRight},
               {"kept", Align::kRight},
               {"packets", Align::kRight},
               {"lost", Align::kRight},
               {"otherwise", Align::kRight, "", otherwise},
               {"waiting, unfinished", Align::kRight, "", waiting},
               {"oldest", Align::kRight},
               {"shortest", Align::kRight},
               {"of"}});
  for (const SweepRow* row : rows) {
    const bool is_own = row->size == report.OwnSize(row->id);
    const bool is_short = row->shortest_sequence && row->shortest_history_ns < duration;
    const uint64_t kept = row->kept_packets();
    below.own_size |= is_own;
    table.AddRow({is_own ? "*" : "", HumanSize(row->size), ShareText(kept, row->written.packets),
                  WithCommas(kept), WithCommas(row->lost), WithCommas(row->lost_otherwise()),
                  WithCommas(row->waiting_packets()), HumanDuration(row->history_ns),
                  row->shortest_sequence ? HumanDuration(row->shortest_history_ns) : "",
                  is_short ? ToString(*row->shortest_sequence) : ""});
  }
  out.Print(table);
}

void PrintFound(Report& out, const SweepReport& report) {
  if (report.targets.empty()) return;
  std::vector<std::string> targets;
  for (const SweepTarget& target : report.targets) targets.push_back(target.text);
  out.Print("\n" + out.Bold("smallest size for " + Joined(targets, " and ")) + "\n");
  for (size_t setting = 0; setting < report.found.size(); ++setting) {
    const FoundSize& found = report.found[setting];
    const auto any = std::ranges::find(report.points, setting, &SweepPoint::setting);
    const auto& rows = found.misses.empty() ? found.rows : any->rows;
    const std::string name =
        rows.empty() ? "" : SettingText(report.settings[setting], rows.front()) + ": ";
    if (!found.misses.empty()) {
      out.Paragraph(fmt::format("{}none: {}", name, WhyNotText(report, found)), "  ");
      continue;
    }
    uint64_t waiting = 0;
    for (const SweepRow& row : rows) waiting += row.waiting_packets();
    out.Paragraph(fmt::format("{}{}{}", name, SizesText(report, rows),
                              waiting == 0 ? ""
                                           : fmt::format("; {} {} waiting or unfinished there, too",
                                                         Count(waiting, "packet"), Is(waiting))),
                  "  ");
  }
}

Json SettingJson(const SweepReport& report, size_t index) {
  const SweepSetting& setting = report.settings[index];
  const BufferChoice& all = setting.options.session.all;
  return {{"engine", all.engine},
          {"policy", FieldsToJson(all.policy)},
          {"reads", setting.reads.name},
          {"reads_assumed", setting.reads.assumed}};
}

/// The smallest buffers that meet the targets in a setting.
Json FoundJson(const SweepReport& report, size_t setting) {
  const FoundSize& found = report.found[setting];
  Json json = SettingJson(report, setting);
  json["target"] = Json::array();
  for (const SweepTarget& target : report.targets) json["target"].push_back(target.text);
  json["found"] = found.misses.empty();
  json["why_not"] = found.misses.empty() ? Json() : Json(WhyNotText(report, found));
  json["buffers"] = Json::array();
  for (const SweepRow& row : found.rows)
    json["buffers"].push_back({{"buffer", Raw(row.id)}, {"size", row.size}});
  return json;
}

void PrintSweep(Report& out, const SweepReport& report) {
  ReportTitle(out, {.path = report.outcome.path,
                    .session = report.outcome.is_only_session ? 0 : report.outcome.session,
                    .records = report.outcome.records,
                    .duration_ns = report.outcome.duration_ns(),
                    .clone = report.outcome.clone});
  Explained below;
  std::string heading;
  for (const auto& [key, rows] : SeriesOf(report)) {
    const std::string text = SettingText(report.settings[key.first], *rows.front());
    out.Print("\n");
    if (text != heading) out.Print(out.Bold(text) + "\n");
    heading = text;
    PrintBuffer(out, report, rows, below);
  }
  if (below.own_size) out.Print("\n* the log's own size\n");
  if (below.otherwise)
    out.Paragraph(
        "among the lost, but not because the buffer was full: a larger one helps nothing "
        "('ringscope gaps' has the causes)",
        "lost otherwise: ");
  if (below.waiting)
    out.Paragraph(
        "still in the buffer at the end, or not finished by their writers; neither kept nor lost",
        "waiting, unfinished: ");
  PrintFound(out, report);
}

/// A session for programs.
Json SweepJson(const SweepReport& report) {
  const ReplayOutcome& outcome = report.outcome;
  Json json = {{"input", outcome.path}, {"session", outcome.session}};
  if (outcome.clone) json["clone"] = *outcome.clone;
  json.update(Json{{"records", outcome.records},
                   {"recorder_gaps", outcome.recorder_gaps},
                   {"duration_ns", outcome.duration_ns()},
                   {"buffers", Json::array()},
                   {"configurations", Json::array()}});
  for (const auto& [id, buffer] : report.facts.buffers)
    json["buffers"].push_back({{"buffer", Raw(id)},
                               {"index", buffer.index},
                               {"size", buffer.size},
                               {"policy", Name(buffer.policy)}});
  for (const SweepPoint& point : report.points) {
    Json& configuration = json["configurations"].emplace_back(SettingJson(report, point.setting));
    configuration.update(
        Json{{"scale", point.scale}, {"size", point.size}, {"buffers", FieldsToJson(point.rows)}});
  }
  for (const RecordingVerdict& verdict : outcome.verdicts)
    json["inexact"].push_back(Name(verdict.reason));
  for (size_t i = 0; i < report.found.size(); ++i) json["targets"].push_back(FoundJson(report, i));
  return json;
}

}  // namespace

constexpr std::string_view kSweepColumns =
    "engine policy size reads packets_written=written.packets packets_read=read.packets "
    "bytes_read=read.bytes chunks_overwritten=stats.chunks_overwritten "
    "chunks_discarded=stats.chunks_discarded history_s buffer log session "
    "bytes_written=written.bytes packets_unread=unread.packets bytes_unread=unread.bytes "
    "packets_overwritten=overwritten.packets bytes_overwritten=overwritten.bytes "
    "packets_discarded=discarded.packets bytes_discarded=discarded.bytes shortest_history_s "
    "shortest_sequence sequence_packet_loss incremental_sequences_dropped reads_assumed "
    "packets_lost=lost packets_lost_otherwise=lost_otherwise packets_waiting=waiting "
    "packets_folded=folded.packets bytes_folded=folded.bytes state_bytes";

void ReportSweep(Report& out, const SweepReport& report) {
  if (out.is_text()) return PrintSweep(out, report);
  if (out.is_json()) return out.AddItem("sessions", [&] { out.Data(SweepJson(report)); });
  const auto seconds = [](uint64_t ns) {
    return fmt::format("{}.{:09}", ns / 1'000'000'000, ns % 1'000'000'000);
  };
  for (const SweepPoint& point : report.points)
    for (const SweepRow& row : point.rows) {
      Json json = SettingJson(report, point.setting);
      json["folded"] = FieldsToJson(row.folded);
      json.update(FieldsToJson(row));
      json.update(Json{{"log", report.outcome.path},
                       {"session", report.outcome.session},
                       {"history_s", seconds(row.history_ns)},
                       {"shortest_history_s", seconds(row.shortest_history_ns)}});
      out.Print(CsvRow(kSweepColumns, json));
    }
}

}  // namespace ringscope
