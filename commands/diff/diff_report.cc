#include "commands/diff/diff_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "commands/common/session_loop.h"
#include "commands/common/session_reads.h"
#include "commands/diff/diff_words.h"
#include "commands/shell/text.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/packet_facts.h"
#include "core/session/buffer_event.h"

namespace ringscope {
namespace {

using FirstTime = std::optional<uint64_t>;  // nanoseconds, of the session's first record

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

// Packets.

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

const PacketView& Seen(const PacketDifference& packet) {
  return packet.sides.a.returned ? packet.sides.a : packet.sides.b;
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
               {"written", Align::kRight, "written"},
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
                  WithCommas(Seen(packet).size), NameCell(ContentName(packet.content)),
                  ShortText(kind, packet.sides[left], first_time_ns),
                  ShortText(kind, packet.sides[Other(left)], first_time_ns),
                  DataCell(ViewJson(packet.sides.a)), DataCell(ViewJson(packet.sides.b))});
  }
  return table;
}

void ReportPackets(Report& report, const LogDiff& result) {
  for (size_t i = 0; i < kDifferenceKinds; ++i) {
    const auto kind = static_cast<DifferenceKind>(i);
    if (kind == DifferenceKind::kPatch || kind == DifferenceKind::kCounter) continue;
    const std::vector<PacketDifference>& packets = result.Listed(kind);
    const Table table = PacketTable(kind, packets, result.first_time_ns);
    report.Data(Name(kind), table.ToJson());
    report.Section(ListHeading(kind, result.counts[kind], packets.size(), "packet"), table, 2);
  }
}

// The first divergence.

void PrintField(Report& report, std::string_view name, std::string_view text) {
  report.Print(fmt::format("  {:<10}{}\n", name, text));
}

std::string WhatDiverges(const Divergence& first) {
  switch (first.kind) {
    case DifferenceKind::kOnlyInA:
      return "A returns a packet, B does not";
    case DifferenceKind::kOnlyInB:
      return "B returns a packet, A does not";
    case DifferenceKind::kDuplicateInA:
      return "A returns a packet twice";
    case DifferenceKind::kDuplicateInB:
      return "B returns a packet twice";
    case DifferenceKind::kMoved:
      return first.packet->sides.a.moment.record < first.packet->sides.b.moment.record
                 ? "A returns a packet earlier than B"
                 : "B returns a packet earlier than A";
    case DifferenceKind::kReordered:
      return "a packet is returned in a different order within its sequence";
    case DifferenceKind::kContent:
      return "a packet has different content";
    case DifferenceKind::kLossBits:
      return "a packet has different loss bits";
    case DifferenceKind::kIdentity:
      return "a packet has a different uid or pid";
    case DifferenceKind::kPatch:
      return first.patched.a ? "a patch is applied in A, not in B"
                             : "a patch is applied in B, not in A";
    case DifferenceKind::kCounter:
      return "counters differ, the results do not";
  }
  return "";
}

std::string PacketText(const PacketDifference& packet, FirstTime first_time_ns) {
  std::string text = fmt::format("{}: {} bytes, {}", PlaceText(packet.place),
                                 WithCommas(Seen(packet).size), ContentName(packet.content));
  if (packet.written.record) text += ", written by " + MomentText(packet.written, first_time_ns);
  return text;
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

void ReportHeldChunks(Report& report, const std::optional<ChunkName>& place,
                      const SideState& state) {
  Json json = Json::array();
  std::vector<std::string> texts;
  for (const HeldChunk& chunk : state.chunks) {
    texts.push_back(HeldChunkText(chunk));
    json.push_back({{"chunk", Raw(chunk.chunk)},
                    {"offset", chunk.offset},
                    {"bytes", chunk.outer_size},
                    {"payload_bytes", chunk.payload_size},
                    {"flags", chunk.flags},
                    {"incomplete", chunk.incomplete},
                    {"committed", MomentJson(chunk.committed)}});
  }
  report.Data("chunks", std::move(json));
  if (!place) return;
  const uint64_t more = state.sequence_chunks - texts.size();
  if (more > 0) texts.push_back(fmt::format("and {} more", WithCommas(more)));
  PrintField(report, "",
             fmt::format("chunks of {}: {}", ToString(place->sequence),
                         texts.empty() ? "none" : Joined(texts, "; ")));
}

void ReportState(Report& report, const Divergence& first, Side side, FirstTime first_time_ns) {
  const SideState& state = first.states[side];
  PrintField(report, fmt::format("{} before", Letter(side)), StateText(state));
  report.Data({{"size", state.size},
               {"write_cursor", state.write_cursor},
               {"wraps", state.wraps},
               {"held_chunks", state.held_chunks},
               {"held_bytes", state.held_bytes},
               {"sequence_chunks", state.sequence_chunks}});
  ReportHeldChunks(report, first.chunk, state);
  const Table journal = JournalTable(state, first_time_ns);
  report.Data("journal", journal.ToJson());
  const bool is_repeated = side == Side::kB && !journal.empty() &&
                           journal.Text() == JournalTable(first.states.a, first_time_ns).Text();
  if (is_repeated)
    PrintField(report, "", "the same events as in A");
  else
    report.Print(journal, 12);
}

/// The first divergence of results, or of counters, as the object `key`.
void ReportDivergence(Report& report, std::string_view key, const Divergence& first,
                      FirstTime first_time_ns) {
  report.AddObject(key, [&] {
    const bool is_counter = first.kind == DifferenceKind::kCounter;
    report.Heading(fmt::format("{}: {}",
                               is_counter ? "First divergence of counters" : "First divergence",
                               WhatDiverges(first)));
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
      report.Data("packet", PacketTable(first.kind, {*first.packet}, first_time_ns).ToJson()[0]);
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

// Sessions.

void ReportService(Report& report, const Both<ServiceStats>& service, bool all) {
  Json json = Json::object();
  Table table({{""}, {"A", Align::kRight}, {"B", Align::kRight}});
  for (const ServiceField& field : kServiceFields) {
    const uint64_t a = service.a.*field.value;
    const uint64_t b = service.b.*field.value;
    json[field.name] = {{"a", a}, {"b", b}};
    if (all || a != b) table.AddRow({field.name, WithCommas(a), WithCommas(b)});
  }
  report.Data("service", std::move(json));
  report.Section("Counters of the service", table, 2);
}

void PrintVerdict(Report& report, const LogDiff& result) {
  report.Print(result.Same() ? std::string("A and B are the same.\n")
                             : fmt::format("A and B differ: {}.\n", CountsText(result.counts)));
  const bool same_sides =
      std::all_of(result.buffers.begin(), result.buffers.end(), [](const BufferDiff& buffer) {
        const SideBuffer& a = buffer.sides.a;
        const SideBuffer& b = buffer.sides.b;
        return a.engine == b.engine && a.size == b.size && a.policy == b.policy;
      });
  if (!result.same_reads) {
    report.Print(
        "The sides are read at different moments, so moments and the order across sequences are "
        "not compared.\n");
  } else if (same_sides) {
    report.Print("Both sides use the same engine and options: see --a and --b.\n");
  }
}

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
  PrintVerdict(report, result);
  PrintBuffers(report, result.buffers);
  report.Data({{"input", diff.path},
               {"session", diff.session},
               {"records", result.records},
               {"same", result.Same()},
               {"same_results", result.SameResults()},
               {"same_reads", result.same_reads},
               {"reads", {{"a", ReadsJson(result.reads.a)}, {"b", ReadsJson(result.reads.b)}}},
               {"counts", CountsJson(result.counts)},
               {"first_divergence", {}},
               {"first_counter_divergence", {}},
               {"first_other_order_across_sequences", {}}});
  if (result.first) ReportDivergence(report, "first_divergence", *result.first, first_time_ns);
  const bool shows_counter = report.is_json() || (!result.first && !result.Same());
  if (result.first_counter && shows_counter)
    ReportDivergence(report, "first_counter_divergence", *result.first_counter, first_time_ns);
  report.AddObject("packets", [&] { ReportPackets(report, result); });
  if (result.first_across_order) {
    report.Heading("Order across sequences");
    report.Print(fmt::format("  {} of {} in a different order, first at {}\n",
                             WithCommas(result.counts.across_order),
                             Count(result.counts.matched, "packet"),
                             MomentText(*result.first_across_order, first_time_ns)));
    report.Data("first_other_order_across_sequences", MomentJson(*result.first_across_order));
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
  ReportService(report, result.service, args.all);
}

/// A line for each of many logs, and the totals.
void PrintTotals(Report& report, const std::vector<std::vector<SessionDiff>>& diffs,
                 const std::vector<LogStatus>& logs) {
  Table table({{"log"},
               {"session", Align::kRight},
               {"packets in both", Align::kRight},
               {"result", Align::kLeft}});
  const LogNames names = ShortNames(logs);
  DiffCounts totals;
  uint64_t differing = 0, sessions = 0;
  for (size_t i = 0; i < logs.size(); ++i) {
    if (logs[i].error) table.AddRow({names.names[i], "", "", "failed"});
    for (const SessionDiff& diff : diffs[i]) {
      const DiffCounts& counts = diff.result.counts;
      table.AddRow({names.names[i], std::to_string(diff.session), WithCommas(counts.matched),
                    diff.result.Same() ? "same" : CountsText(counts)});
      ++sessions;
      differing += !diff.result.Same();
      totals.matched += counts.matched;
      totals.across_order += counts.across_order;
      for (size_t kind = 0; kind < kDifferenceKinds; ++kind)
        totals.by_kind[kind] += counts.by_kind[kind];
    }
  }
  report.Print(table);
  report.Print(fmt::format("\n{}{}, {} failed; {} of {} differ{}\n", Count(logs.size(), "log"),
                           names.pattern.empty() ? "" : fmt::format(" ({})", names.pattern),
                           CountFailed(logs), WithCommas(differing), Count(sessions, "session"),
                           differing > 0 ? ": " + CountsText(totals) : ""));
  report.Print(FailuresText(logs));
}

}  // namespace

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

Status ReportDiffs(const DiffArgs& args, const std::vector<std::vector<SessionDiff>>& diffs,
                   const std::vector<LogStatus>* logs, Console& console) {
  Report report(console, args.format, "diff");
  if (logs != nullptr && report.is_text()) PrintTotals(report, diffs, *logs);
  report.Data({{"compares", "replays"}, {"same", true}, {"sessions", Json::array()}});
  bool first = logs == nullptr;
  for (const std::vector<SessionDiff>& of_log : diffs) {
    for (const SessionDiff& diff : of_log) {
      if (!diff.result.Same()) report.Data("same", false);
      if (logs != nullptr && diff.result.Same() && report.is_text()) continue;
      if (!std::exchange(first, false)) report.Print("\n");
      report.AddItem("sessions", [&] { ReportSession(report, diff, args); });
    }
  }
  if (logs != nullptr) {
    for (const LogStatus& log : *logs)
      if (log.error)
        report.AddItem("failed", [&] { report.Data({{"log", log.log}, {"error", log.error}}); });
  }
  return report.Finish();
}

}  // namespace ringscope
