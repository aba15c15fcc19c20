#include "commands/compare/divergence_report.h"

#include <fmt/format.h>

#include <vector>

#include "commands/compare/diff_packets.h"
#include "commands/shell/text.h"
#include "core/session/buffer_event.h"

namespace ringscope {
namespace {

void PrintField(Report& report, std::string_view name, std::string_view text) {
  report.Print(Wrap(text, fmt::format("  {:<10}", name)) + "\n");
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

}  // namespace

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
      report.Data("packet", PacketJson(*first.packet, first_time_ns));
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

}  // namespace ringscope
