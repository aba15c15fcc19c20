#include "commands/diff/diff_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "commands/common/session_loop.h"
#include "commands/diff/diff_json.h"
#include "commands/diff/diff_words.h"
#include "commands/report/table.h"
#include "commands/shell/text.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/packet_facts.h"
#include "core/session/buffer_event.h"

namespace ringscope {
namespace {

void PrintHeading(Console& console, const std::string& title) {
  console.Print("\n" + console.Bold(title) + "\n");
}

void PrintBuffers(Console& console, const LogDiff& result) {
  Table table({{"", Align::kLeft}, {"", Align::kLeft}, {"A", Align::kRight}, {"B", Align::kRight}});
  for (const BufferDiff& buffer : result.buffers) {
    const SideBuffer& a = buffer.sides.a;
    const SideBuffer& b = buffer.sides.b;
    const auto add = [&](const char* title, const std::string& of_a, const std::string& of_b) {
      table.AddRow({"", title, of_a, of_b});
    };
    table.AddRow({fmt::format("buffer {}", Raw(buffer.id)), "engine", a.engine, b.engine});
    add("size", HumanSize(a.size), HumanSize(b.size));
    add("policy", Name(a.policy), Name(b.policy));
    add("packets read", WithCommas(a.read.packets), WithCommas(b.read.packets));
    add("packet bytes", HumanSize(a.read.bytes), HumanSize(b.read.bytes));
    add("left unread", HumanSize(a.stats.unread_bytes()), HumanSize(b.stats.unread_bytes()));
    add("most held", HumanSize(a.peak_bytes), HumanSize(b.peak_bytes));
  }
  console.Print("\n");
  table.Print(console);
}

// The first divergence.

void PrintField(Console& console, const std::string& name, const std::string& text) {
  console.Print(fmt::format("  {:<10}{}\n", name, text));
}

std::string WhatDiverges(const Divergence& first) {
  switch (first.kind) {
    case DifferenceKind::kOnlyInA:
      return "A returns a packet, B does not";
    case DifferenceKind::kOnlyInB:
      return "B returns a packet, A does not";
    case DifferenceKind::kDuplicateInA:
      return "A returns a packet once more";
    case DifferenceKind::kDuplicateInB:
      return "B returns a packet once more";
    case DifferenceKind::kMoved:
      return first.packet->sides.a.moment.record < first.packet->sides.b.moment.record
                 ? "A returns a packet, B only later"
                 : "B returns a packet, A only later";
    case DifferenceKind::kReordered:
      return "a packet comes in another order within its sequence";
    case DifferenceKind::kContent:
      return "a packet has other content";
    case DifferenceKind::kLossBits:
      return "a packet has other loss bits";
    case DifferenceKind::kIdentity:
      return "a packet has another identity";
    case DifferenceKind::kPatch:
      return first.patched.a ? "a patch is applied in A, not in B"
                             : "a patch is applied in B, not in A";
    case DifferenceKind::kCounter:
      return "counters differ, what comes out does not";
  }
  return "";
}

std::string PacketText(const PacketDifference& packet, std::optional<uint64_t> first_time_ns) {
  const PacketView& seen = packet.sides.a.returned ? packet.sides.a : packet.sides.b;
  std::string text = fmt::format("{}: {} bytes, {}", PlaceText(packet.place), WithCommas(seen.size),
                                 ContentName(packet.content));
  if (packet.written.record) text += ", written by " + MomentText(packet.written, first_time_ns);
  return text;
}

std::vector<std::string> JournalTexts(const SideState& state) {
  std::vector<std::string> texts;
  for (const BufferEvent& event : state.journal)
    texts.push_back(fmt::format("{} {}", event.at.record.value_or(0), Describe(event)));
  return texts;
}

void PrintSide(Console& console, const Divergence& first, Side side,
               std::optional<uint64_t> first_time_ns) {
  const SideState& state = first.states[side];
  PrintField(console, fmt::format("{} before", Letter(side)), StateText(state));
  if (first.chunk) {
    std::vector<std::string> chunks;
    for (const HeldChunk& chunk : state.chunks) chunks.push_back(HeldChunkText(chunk));
    const uint64_t more = state.sequence_chunks - chunks.size();
    if (more > 0) chunks.push_back(fmt::format("and {} more", WithCommas(more)));
    PrintField(console, "",
               fmt::format("chunks of {}: {}", ToString(first.chunk->sequence),
                           chunks.empty() ? "none" : fmt::format("{}", fmt::join(chunks, "; "))));
  }
  if (side == Side::kB && !state.journal.empty() &&
      JournalTexts(state) == JournalTexts(first.states.a))
    return PrintField(console, "", "the same events as in A");
  Table journal({{"", Align::kRight}, {"", Align::kRight}, {"", Align::kLeft}});
  for (const BufferEvent& event : state.journal) {
    journal.AddRow({WithCommas(event.at.record.value_or(0)), TimeText(event.at, first_time_ns),
                    Describe(event)});
  }
  journal.Print(console, 12);
}

void PrintDivergence(Console& console, const Divergence& first,
                     std::optional<uint64_t> first_time_ns) {
  const bool is_counter = first.kind == DifferenceKind::kCounter;
  PrintHeading(
      console,
      fmt::format("{}: {}", is_counter ? "First divergence of counters" : "First divergence",
                  WhatDiverges(first)));
  PrintField(console, "where",
             first.at_end ? "the read behind the last record"
                          : fmt::format("{}: {}", MomentText(first.moment, first_time_ns),
                                        Printable(first.operation)));
  if (first.packet) {
    PrintField(console, "packet", PacketText(*first.packet, first_time_ns));
    for (const Side side : kSides)
      PrintField(console, std::string(1, Letter(side)),
                 ViewText(first.packet->sides[side], first_time_ns));
  } else if (first.chunk) {
    PrintField(console, "chunk", ToString(*first.chunk));
  }
  for (const size_t i : first.counters) {
    const StatField& field = kStatFields[i];
    PrintField(
        console, "counter",
        fmt::format("{}: {} in A, {} in B", field.name, WithCommas(first.stats.a.*field.value),
                    WithCommas(first.stats.b.*field.value)));
  }
  for (const Side side : kSides) PrintSide(console, first, side, first_time_ns);
}

// Packets.

Table PacketTable(DifferenceKind kind) {
  const bool one_side = kind == DifferenceKind::kOnlyInA || kind == DifferenceKind::kOnlyInB;
  std::vector<Column> columns = {{"buffer", Align::kRight},
                                 {"packet", Align::kLeft},
                                 {"written", Align::kRight},
                                 {"bytes", Align::kRight},
                                 {"content", Align::kLeft}};
  if (one_side) {
    const bool a = kind == DifferenceKind::kOnlyInA;
    columns.push_back({a ? "read by A" : "read by B", Align::kLeft});
    columns.push_back({a ? "why not by B" : "why not by A", Align::kLeft});
  } else {
    columns.push_back({"A", Align::kLeft});
    columns.push_back({"B", Align::kLeft});
  }
  return Table(std::move(columns));
}

std::string ShortView(DifferenceKind kind, const PacketView& view,
                      std::optional<uint64_t> first_time_ns) {
  if (!view.returned) return ViewText(view, first_time_ns);
  switch (kind) {
    case DifferenceKind::kLossBits:
      return LossBitsToString(view.loss_bits);
    case DifferenceKind::kIdentity:
      return fmt::format("uid {} pid {}", view.identity.uid, view.identity.pid);
    case DifferenceKind::kContent:
      return fmt::format("{} bytes, {:016x}{}", view.size, view.hash,
                         view.valid ? "" : ", not valid");
    default:
      return MomentText(view.moment, first_time_ns);
  }
}

void PrintPackets(Console& console, const LogDiff& result) {
  for (size_t i = 0; i < kDifferenceKinds; ++i) {
    const auto kind = static_cast<DifferenceKind>(i);
    const std::vector<PacketDifference>& packets = result.Listed(kind);
    if (packets.empty()) continue;
    const uint64_t count = result.counts[kind];
    std::string title = fmt::format("{}: {}", Heading(kind), Count(count, "packet"));
    if (count > packets.size())
      title += fmt::format(", of which the first {} (--limit)", WithCommas(packets.size()));
    PrintHeading(console, title);
    Table table = PacketTable(kind);
    for (const PacketDifference& packet : packets) {
      const PacketView& seen = packet.sides.a.returned ? packet.sides.a : packet.sides.b;
      std::vector<Cell> cells = {
          std::to_string(Raw(packet.place.buffer)), PlaceText(packet.place),
          !packet.written.record ? "" : MomentText(packet.written, result.first_time_ns),
          WithCommas(seen.size), ContentName(packet.content)};
      if (kind == DifferenceKind::kOnlyInB) {
        cells.push_back(ShortView(kind, packet.sides.b, result.first_time_ns));
        cells.push_back(ShortView(kind, packet.sides.a, result.first_time_ns));
      } else {
        cells.push_back(ShortView(kind, packet.sides.a, result.first_time_ns));
        cells.push_back(ShortView(kind, packet.sides.b, result.first_time_ns));
      }
      table.AddRow(std::move(cells));
    }
    table.Print(console, 2);
  }
}

void PrintService(Console& console, const Both<ServiceStats>& service, bool all) {
  Table table({{"", Align::kLeft}, {"A", Align::kRight}, {"B", Align::kRight}});
  for (const ServiceField& field : kServiceFields) {
    const uint64_t a = service.a.*field.value;
    const uint64_t b = service.b.*field.value;
    if (all || a != b) table.AddRow({field.name, WithCommas(a), WithCommas(b)});
  }
  if (table.empty()) return;
  PrintHeading(console, "Counters of the service");
  table.Print(console, 2);
}

}  // namespace

void PrintCounters(Console& console, const BufferDiff& buffer, bool all,
                   std::optional<uint64_t> first_time_ns) {
  Table table({{"", Align::kLeft},
               {"A", Align::kRight},
               {"B", Align::kRight},
               {"B - A", Align::kRight},
               {"differs from", Align::kLeft}});
  for (size_t i = 0; i < kStatFields.size(); ++i) {
    const StatField& field = kStatFields[i];
    const uint64_t a = buffer.sides.a.stats.*field.value;
    const uint64_t b = buffer.sides.b.stats.*field.value;
    if (!all && a == b && !buffer.diverged[i]) continue;
    const std::string change =
        a == b ? "" : fmt::format("{}{}", a < b ? "+" : "-", WithCommas(a < b ? b - a : a - b));
    std::string from =
        buffer.diverged[i] ? MomentText(*buffer.diverged[i], first_time_ns) : std::string();
    if (buffer.diverged[i] && a == b) from += ", not at the end";
    table.AddRow({field.name, WithCommas(a), WithCommas(b), change, from});
  }
  if (table.empty()) return;
  PrintHeading(console, fmt::format("Counters of buffer {}", Raw(buffer.id)));
  table.Print(console, 2);
}

namespace {

void PrintSessionDiff(Console& console, const SessionDiff& diff, const DiffArgs& args) {
  const LogDiff& result = diff.result;
  const uint64_t duration = result.last_time_ns.value_or(0) - result.first_time_ns.value_or(0);
  Report report(console, "text", "diff");
  ReportTitle(report, {.path = diff.path,
                       .session = diff.session,
                       .records = result.records,
                       .duration_ns = duration});
  console.Print(result.Same() ? std::string("A and B are the same.\n")
                              : fmt::format("A and B differ: {}.\n", CountsText(result.counts)));
  const bool same_sides =
      std::all_of(result.buffers.begin(), result.buffers.end(), [](const BufferDiff& buffer) {
        const SideBuffer& a = buffer.sides.a;
        const SideBuffer& b = buffer.sides.b;
        return a.engine == b.engine && a.size == b.size && a.policy == b.policy;
      });
  if (same_sides && result.same_reads)
    console.Print("Both sides are the same engine with the same choices: see --a and --b.\n");
  if (!result.same_reads) {
    console.Print(
        "The sides are read at different moments, so moments and the order across "
        "sequences are not compared.\n");
  }
  PrintBuffers(console, result);
  if (result.first) PrintDivergence(console, *result.first, result.first_time_ns);
  if (result.first_counter && !result.first && !result.Same())
    PrintDivergence(console, *result.first_counter, result.first_time_ns);
  PrintPackets(console, result);
  if (result.first_across_order) {
    PrintHeading(console, "Order across sequences");
    console.Print(fmt::format("  {} of {} in another order, first in {}\n",
                              WithCommas(result.counts.across_order),
                              Count(result.counts.matched, "packet"),
                              MomentText(*result.first_across_order, result.first_time_ns)));
  }
  for (const BufferDiff& buffer : result.buffers)
    PrintCounters(console, buffer, args.all, result.first_time_ns);
  PrintService(console, result.service, args.all);
}

/// A line for each of many logs, and the totals.
void PrintTotals(Console& console, const std::vector<std::vector<SessionDiff>>& diffs,
                 const std::vector<LogStatus>& logs) {
  Table table({{"log", Align::kLeft},
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
  table.Print(console);
  console.Print(fmt::format("\n{}{}, {} failed; {} of {} differ{}\n", Count(logs.size(), "log"),
                            names.pattern.empty() ? "" : fmt::format(" ({})", names.pattern),
                            CountFailed(logs), WithCommas(differing), Count(sessions, "session"),
                            differing > 0 ? ": " + CountsText(totals) : ""));
  console.Print(FailuresText(logs));
}

}  // namespace

void ReportDiffs(const DiffArgs& args, const std::vector<std::vector<SessionDiff>>& diffs,
                 const std::vector<LogStatus>* logs, Console& console) {
  if (args.format == "json") {
    console.Print(JsonText(LogDiffsJson(diffs, logs)));
    return;
  }
  if (logs != nullptr) PrintTotals(console, diffs, *logs);
  bool first = logs == nullptr;
  for (const std::vector<SessionDiff>& of_log : diffs) {
    for (const SessionDiff& diff : of_log) {
      if (logs != nullptr && diff.result.Same()) continue;
      if (!std::exchange(first, false)) console.Print("\n");
      PrintSessionDiff(console, diff, args);
    }
  }
}

}  // namespace ringscope
