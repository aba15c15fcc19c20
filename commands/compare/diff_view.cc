#include "commands/compare/diff_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "commands/replays/record_text.h"
#include "commands/replays/session_loop.h"
#include "commands/replays/session_reads.h"
#include "commands/replays/trace_check.h"
#include "commands/shell/text.h"
#include "core/perfetto/commit_request.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/packet_facts.h"
#include "core/session/buffer_event.h"

namespace ringscope {
namespace {

using FirstTime = std::optional<uint64_t>;  // nanoseconds, of the session's first record

std::string CommitText(const Commit& commit) {
  constexpr size_t kShown = 3;
  std::vector<std::string> parts;
  CommitRequestParser parser;
  parser.Parse(commit.request);
  for (const ChunkToMove& chunk : parser.chunks()) {
    if (const auto header = chunk.header())
      parts.push_back(
          fmt::format("{} of {} to buffer {}: {}", chunk.incomplete ? "scrape" : "commit",
                      ToString(ChunkName{{commit.producer, header->writer}, header->chunk}),
                      chunk.target_buffer.value_or(0), DescribeChunk(chunk)));
  }
  for (const ChunkToPatch& patch : parser.patches())
    parts.push_back(fmt::format("patch of {} in buffer {}: {}",
                                ToString(patch.NameFor(commit.producer)),
                                patch.target_buffer.value_or(0), DescribePatches(patch)));
  if (parts.empty()) return fmt::format("commit of producer {}", Raw(commit.producer));
  if (parts.size() > kShown) {
    const std::string more = fmt::format("and {} more", parts.size() - kShown);
    parts.resize(kShown);
    parts.push_back(more);
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string PlaceText(const DiffPlace& place) {
  std::string text =
      fmt::format("{}+{}", ToString(ChunkName{place.sequence, place.chunk}), place.offset);
  if (place.clone != 0) text += fmt::format(" (clone {})", place.clone);
  return text;
}

std::string TimeText(const LogMoment& moment, FirstTime first_time_ns) {
  if (!moment.time_ns || !first_time_ns || *moment.time_ns < *first_time_ns) return "";
  return HumanDuration(*moment.time_ns - *first_time_ns);
}

std::string MomentText(const LogMoment& moment, FirstTime first_time_ns) {
  const std::string time = TimeText(moment, first_time_ns);
  return fmt::format("record {}{}{}", WithCommas(moment.record.value_or(0)),
                     time.empty() ? "" : " at ", time);
}

std::string ViewText(const PacketView& view, FirstTime first_time_ns) {
  if (view.returned) {
    std::string text = "returned by " + MomentText(view.moment, first_time_ns);
    if (view.loss_bits != 0) text += ", loss bits " + LossBitsToString(view.loss_bits);
    if (!view.valid) text += ", invalid for the service";
    return text;
  }
  if (!view.why) return "not returned again";
  std::string text = Describe(*view.why);
  if (view.why->moment.record || view.why->moment.time_ns)
    text += fmt::format(" ({})", MomentText(view.why->moment, first_time_ns));
  return text;
}

std::string StateText(const SideState& state) {
  return fmt::format("{} held, {} of {} bytes; write cursor at {}; wrapped {}",
                     Count(state.held_chunks, "chunk"), WithCommas(state.held_bytes),
                     WithCommas(state.size), WithCommas(state.write_cursor),
                     Count(state.wraps, "time"));
}

Json ChunkJson(const std::optional<ChunkName>& chunk) {
  return chunk ? Json(ToString(*chunk)) : Json();
}

Json WhyJson(const DiffWhy& why) {
  Json json = {{"kind", Name(why.kind)}, {"text", Describe(why)}};
  json.update(MomentJson(why.moment));
  if (why.kind == DiffWhy::Kind::kDiscarded) json["discard"] = Name(why.discard);
  if (why.kind == DiffWhy::Kind::kWaits) json["waits_for"] = Name(why.stall);
  if (why.loss_bits != 0) json["loss_bits"] = why.loss_bits;
  if (why.by) json["by"] = ChunkJson(why.by);
  if (why.with) json["with"] = ChunkJson(why.with);
  return json;
}

Json ViewJson(const PacketView& view) {
  Json json = {{"returned", view.returned}};
  if (view.returned) {
    json.update(MomentJson(view.moment));
    json.update({{"bytes", view.size},
                 {"xxh3", fmt::format("{:016x}", view.hash)},
                 {"loss_bits", view.loss_bits},
                 {"uid", view.identity.uid},
                 {"pid", view.identity.pid},
                 {"valid", view.valid}});
  }
  if (view.why) json["why"] = WhyJson(*view.why);
  return json;
}

/// What a side did with a packet, where the kind of difference is known.
std::string ShortText(DifferenceKind kind, const PacketView& view, FirstTime first_time_ns) {
  if (!view.returned) return ViewText(view, first_time_ns);
  if (kind == DifferenceKind::kLossBits) return LossBitsToString(view.loss_bits);
  if (kind == DifferenceKind::kIdentity)
    return fmt::format("uid {} pid {}", view.identity.uid, view.identity.pid);
  if (kind == DifferenceKind::kContent)
    return fmt::format("{} bytes, {:016x}{}", view.size, view.hash, view.valid ? "" : ", invalid");
  return MomentText(view.moment, first_time_ns);
}

/// Packets that differ in one way. For people, a side that alone has them comes first.
Table PacketTable(DifferenceKind kind, const std::vector<PacketDifference>& packets,
                  FirstTime first_time_ns) {
  const Side left = kind == DifferenceKind::kOnlyInB ? Side::kB : Side::kA;
  const bool is_one_sided = kind == OnlyIn(left);
  const auto title = [&](const char* if_one_sided, Side side) {
    return fmt::format("{}{}", is_one_sided ? if_one_sided : "", Letter(side));
  };
  Table table({DataColumn("kind"),
               {"buffer", Align::kRight, "buffer"},
               DataColumn("clone"),
               DataColumn("sequence"),
               DataColumn("chunk"),
               DataColumn("offset"),
               DataColumn("last_chunk"),
               {"packet"},
               {"written", Align::kLeft, "written"},
               {"bytes", Align::kRight},
               {"content", Align::kLeft, "content"},
               {title("read by ", left)},
               {title("why not by ", Other(left))},
               DataColumn("a"),
               DataColumn("b")});
  for (const PacketDifference& packet : packets) {
    const bool is_known = packet.written.record.has_value();
    table.AddRow({DataCell(Name(packet.kind)), NumberCell(Raw(packet.place.buffer)),
                  DataCell(packet.place.clone), DataCell(ToString(packet.place.sequence)),
                  DataCell(Raw(packet.place.chunk)), DataCell(packet.place.offset),
                  DataCell(Raw(packet.last_chunk)), PlaceText(packet.place),
                  is_known
                      ? Cell(MomentText(packet.written, first_time_ns), MomentJson(packet.written))
                      : Cell(""),
                  WithCommas(packet.seen().size), NameCell(ContentName(packet.content)),
                  ShortText(kind, packet.sides[left], first_time_ns),
                  ShortText(kind, packet.sides[Other(left)], first_time_ns),
                  DataCell(ViewJson(packet.sides.a)), DataCell(ViewJson(packet.sides.b))});
  }
  return table;
}

std::string PacketText(const PacketDifference& packet, FirstTime first_time_ns) {
  std::string text = fmt::format("{}: {} bytes, {}", PlaceText(packet.place),
                                 WithCommas(packet.seen().size), ContentName(packet.content));
  if (packet.written.record) text += ", written by " + MomentText(packet.written, first_time_ns);
  return text;
}

void ReportPackets(Report& report, const LogDiff& result) {
  for (size_t i = 0; i < kDifferenceKinds; ++i) {
    const auto kind = static_cast<DifferenceKind>(i);
    if (kind >= DifferenceKind::kPatch) continue;  // not of packets
    const std::vector<PacketDifference>& packets = result.Listed(kind);
    ReportList(report, kind, PacketTable(kind, packets, result.first_time_ns), result.counts[kind],
               packets.size(), "packet");
  }
}

void PrintField(Report& report, std::string_view name, std::string_view text) {
  report.Print(Wrap(text, fmt::format("  {:<10}", name)) + "\n");
}

Table JournalTable(const SideState& state, FirstTime first_time_ns) {
  Table table({{"", Align::kRight, "record"},
               {"", Align::kRight},
               DataColumn("time_ns"),
               DataColumn("event"),
               DataColumn("chunk"),
               {"", Align::kLeft, "text"}});
  for (const BufferEvent& event : state.journal) {
    table.AddRow({{WithCommas(event.at.record.value_or(0)), event.at.record},
                  TimeText(event.at, first_time_ns),
                  DataCell(event.at.time_ns),
                  DataCell(Name(event.kind)),
                  DataCell(ToString(event.chunk)),
                  NameCell(Describe(event))});
  }
  return table;
}

void ReportState(Report& report, const Divergence& first, Side side, FirstTime first_time_ns) {
  const SideState& state = first.states[side];
  PrintField(report, fmt::format("{} before", Letter(side)), StateText(state));
  report.Data({{"size", state.size},
               {"write_cursor", state.write_cursor},
               {"wraps", state.wraps},
               {"held_chunks", state.held_chunks},
               {"held_bytes", state.held_bytes}});
  const Table journal = JournalTable(state, first_time_ns);
  report.Data("journal", journal.ToJson());
  const bool is_repeated = side == Side::kB && !journal.empty() &&
                           journal.Text() == JournalTable(first.states.a, first_time_ns).Text();
  if (is_repeated)
    PrintField(report, "", "the same events as in A");
  else
    report.Print(journal, 12);
}

void ReportDivergence(Report& report, std::string_view key, const Divergence& first,
                      FirstTime first_time_ns) {
  report.AddObject(key, [&] {
    const bool is_counter = first.kind == DifferenceKind::kCounter;
    report.Heading(fmt::format("{}: {}",
                               is_counter ? "First divergence of counters" : "First divergence",
                               first.Text({"A", "B"})));
    PrintField(report, "where",
               first.at_end ? "the read after the last record"
                            : fmt::format("{}: {}", MomentText(first.moment, first_time_ns),
                                          Printable(first.operation)));
    report.Data("kind", Name(first.kind));
    report.Data(MomentJson(first.moment));
    report.Data({{"at_end", first.at_end},
                 {"operation", first.operation},
                 {"buffer", first.buffer ? Json(Raw(*first.buffer)) : Json()},
                 {"chunk", ChunkJson(first.chunk)}});
    report.Data("packet", Json());
    if (first.packet) {
      report.Data("packet",
                  PacketTable(first.packet->kind, {*first.packet}, first_time_ns).ToJson()[0]);
      PrintField(report, "packet", PacketText(*first.packet, first_time_ns));
      for (const Side side : kSides)
        PrintField(report, std::string(1, Letter(side)),
                   ViewText(first.packet->sides[side], first_time_ns));
    } else if (first.chunk) {
      PrintField(report, "chunk", ToString(*first.chunk));
    }
    if (first.kind == DifferenceKind::kPatch)
      report.Data("patched", {{"a", first.patched.a}, {"b", first.patched.b}});
    Json counters = Json::array();
    for (const size_t i : first.counters) {
      const StatField& field = kStatFields[i];
      counters.push_back(field.name);
      PrintField(
          report, "counter",
          fmt::format("{}: {} in A, {} in B", field.name, WithCommas(first.stats.a.*field.value),
                      WithCommas(first.stats.b.*field.value)));
    }
    report.Data("counters", std::move(counters));
    for (const Side side : kSides)
      report.AddObject(side == Side::kA ? "a" : "b",
                       [&] { ReportState(report, first, side, first_time_ns); });
  });
}

// Sides of a buffer.

/// What is reported of a buffer on one side.
struct SideRow {
  const char* key;
  const char* title;  // empty: not for people
  Cell (*cell)(const SideBuffer& side);
};
constexpr SideRow kSideRows[] = {
    {"engine", "engine", [](const SideBuffer& side) { return NameCell(side.engine); }},
    {"size", "size", [](const SideBuffer& side) { return BytesCell(side.size); }},
    {"policy", "policy", [](const SideBuffer& side) { return NameCell(Name(side.policy)); }},
    {"freed", "", [](const SideBuffer& side) { return DataCell(side.freed); }},
    {"packets", "packets read",
     [](const SideBuffer& side) { return CountCell(side.read.packets); }},
    {"packet_bytes", "packet bytes",
     [](const SideBuffer& side) { return BytesCell(side.read.bytes); }},
    {"unread_bytes", "left unread",
     [](const SideBuffer& side) { return BytesCell(side.stats.unread_bytes()); }},
    {"peak_bytes", "peak", [](const SideBuffer& side) { return BytesCell(side.peak_bytes); }},
};

Json SideJson(const SideBuffer& side) {
  Json json = Json::object();
  for (const SideRow& row : kSideRows) json[row.key] = row.cell(side).value;
  return json;
}

void PrintBuffers(Report& report, const std::vector<BufferDiff>& buffers) {
  Table table({{""}, {""}, {"A", Align::kRight}, {"B", Align::kRight}});
  for (const BufferDiff& buffer : buffers) {
    std::string name = fmt::format("buffer {}", Raw(buffer.id));
    for (const SideRow& row : kSideRows) {
      if (*row.title == '\0') continue;
      table.AddRow(
          {std::exchange(name, ""), row.title, row.cell(buffer.sides.a), row.cell(buffer.sides.b)});
    }
  }
  report.Section("", table);
}

// Sessions.

/// When the sides were read, where that is not in the log: ", read at the end (assumed)".
std::string AssumedReadsText(const Both<ReadsUsed>& reads) {
  if (!reads.a.assumed && !reads.b.assumed) return "";
  const std::string a = ReadsText(reads.a), b = ReadsText(reads.b);
  return a == b ? ", read " + a : fmt::format(", A read {}, B read {}", a, b);
}

void ReportSession(Report& report, const SessionDiff& diff, const DiffArgs& args) {
  const LogDiff& result = diff.result;
  const FirstTime first_time_ns = result.first_time_ns;
  const uint64_t duration = result.last_time_ns.value_or(0) - first_time_ns.value_or(0);
  ReportTitle(report, {.path = diff.path,
                       .session = diff.session,
                       .records = result.records,
                       .duration_ns = duration,
                       .clone = diff.clone ? std::optional(diff.clone->clone) : std::nullopt,
                       .more = AssumedReadsText(result.reads)});
  if (diff.clone) report.Data("clone", diff.clone->clone);
  report.Paragraph(result.Same() ? std::string("A and B are the same.")
                                 : fmt::format("A and B differ: {}.", CountsText(result.counts)));
  if (!result.same_reads)
    report.Paragraph(
        "The sides are read at different moments, so moments and the order across sequences are "
        "not compared.");
  PrintBuffers(report, result.buffers);
  report.Data({{"input", diff.path},
               {"session", diff.session},
               {"records", result.records},
               {"same", result.Same()},
               {"same_results", result.SameResults()},
               {"same_reads", result.same_reads},
               {"reads", {{"a", ReadsJson(result.reads.a)}, {"b", ReadsJson(result.reads.b)}}},
               {"counts", FieldsToJson(result.counts)},
               {"first_divergence", {}},
               {"first_counter_divergence", {}},
               {"first_other_order_across_sequences", {}}});
  if (result.first) ReportDivergence(report, "first_divergence", *result.first, first_time_ns);
  const bool shows_counter = report.is_json() || (!result.first && !result.Same());
  if (result.first_counter && shows_counter)
    ReportDivergence(report, "first_counter_divergence", *result.first_counter, first_time_ns);
  report.AddObject("packets", [&] { ReportPackets(report, result); });
  if (result.first_order) {
    report.Heading("Order across sequences");
    report.Print(fmt::format("  {} of {} in a different order, first at {}\n",
                             WithCommas(result.counts[DifferenceKind::kOrder]),
                             Count(result.counts.matched, "packet"),
                             MomentText(result.first_order->moment, first_time_ns)));
    report.Data("first_other_order_across_sequences", MomentJson(result.first_order->moment));
  }
  report.Data("buffers", Json::array());
  for (const BufferDiff& buffer : result.buffers) {
    report.AddItem("buffers", [&] {
      report.Data({{"buffer", Raw(buffer.id)},
                   {"a", SideJson(buffer.sides.a)},
                   {"b", SideJson(buffer.sides.b)}});
      ReportCounters(report, buffer, args.all, first_time_ns);
      Json diverged = Json::object();
      for (size_t i = 0; i < kStatFields.size(); ++i)
        if (buffer.diverged[i]) diverged[kStatFields[i].name] = MomentJson(*buffer.diverged[i]);
      report.Data("counters_differ_from", std::move(diverged));
    });
  }
}

}  // namespace

void ReportList(Report& report, DifferenceKind kind, const Table& table, uint64_t count,
                size_t listed, const char* noun) {
  report.Data(Name(kind), table.ToJson());
  const std::string more =
      count > listed ? fmt::format(", of which the first {} (--limit)", WithCommas(listed)) : "";
  std::string heading = kDifferenceTexts[static_cast<size_t>(kind)];
  heading.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(heading.front())));
  report.Section(fmt::format("{}: {}{}", heading, Count(count, noun), more), table, 2);
}

std::string OperationText(const Op& op) {
  if (const auto* commit = std::get_if<Commit>(&op.body)) return CommitText(*commit);
  const std::string what = DescribeRecord(op.body);
  return fmt::format("{}{}{}", OpKindName(op.body.index()), what.empty() ? "" : ": ", what);
}

void ReportCounters(Report& report, const BufferDiff& buffer, bool all, FirstTime first_time_ns) {
  Json counters = Json::object();
  Table table({{""},
               {"A", Align::kRight},
               {"B", Align::kRight},
               {"B - A", Align::kRight},
               {"differs from", Align::kLeft}});
  for (size_t i = 0; i < kStatFields.size(); ++i) {
    const StatField& field = kStatFields[i];
    const uint64_t a = buffer.sides.a.stats.*field.value;
    const uint64_t b = buffer.sides.b.stats.*field.value;
    const std::optional<LogMoment>& since = buffer.diverged[i];
    counters[field.name] = {{"a", a}, {"b", b}};
    if (!all && a == b && !since) continue;
    const std::string change =
        a == b ? "" : fmt::format("{}{}", a < b ? "+" : "-", WithCommas(a < b ? b - a : a - b));
    std::string from = since ? MomentText(*since, first_time_ns) : std::string();
    if (since && a == b) from += ", equal at the end";
    table.AddRow({field.name, WithCommas(a), WithCommas(b), change, from});
  }
  report.Data("counters", std::move(counters));
  report.Section(fmt::format("Counters of buffer {}", Raw(buffer.id)), table, 2);
}

Status ReportDiffs(const DiffArgs& args, const std::vector<SessionDiff>& diffs, Console& console) {
  if (args.format == "jsonl") {
    for (const SessionDiff& diff : diffs) {
      Report line(console, Report::kOneLine, kDiffDocument);
      ReportSession(line, diff, args);
      RS_RETURN_IF_ERROR(line.Finish());
    }
    return {};
  }
  Report report(console, args.format, kDiffDocument);
  const bool same = std::ranges::all_of(diffs, &LogDiff::Same, &SessionDiff::result);
  report.Data({{"compares", "replays"}, {"same", same}, {"sessions", Json::array()}});
  for (const SessionDiff& diff : diffs) {
    if (&diff != &diffs.front()) report.Print("\n");
    report.AddItem("sessions", [&] { ReportSession(report, diff, args); });
  }
  return report.Finish();
}

}  // namespace ringscope
