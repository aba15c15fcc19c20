#include "commands/diff_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "commands/diff_words.h"
#include "commands/table.h"
#include "commands/text.h"
#include "core/data_loss.h"
#include "core/journal.h"
#include "core/packet_facts.h"

namespace ringscope {
namespace {

void PrintHeading(Console& console, const std::string& title) {
  console.Print("\n" + console.Bold(title) + "\n");
}

void PrintBuffers(Console& console, const LogDiffResult& result) {
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
    add("packets read", WithCommas(a.packets), WithCommas(b.packets));
    add("packet bytes", HumanSize(a.packet_bytes), HumanSize(b.packet_bytes));
    add("left unread", HumanSize(a.unread_bytes), HumanSize(b.unread_bytes));
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
  if (packet.written.record != 0)
    text += ", written by " + MomentText(packet.written, first_time_ns);
  return text;
}

std::vector<std::string> JournalTexts(const SideState& state) {
  std::vector<std::string> texts;
  for (const JournalEvent& event : state.journal)
    texts.push_back(fmt::format("{} {}", event.record, Describe(event)));
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
  for (const JournalEvent& event : state.journal) {
    journal.AddRow({WithCommas(event.record),
                    TimeText({event.record, event.time_ns}, first_time_ns), Describe(event)});
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

void PrintPackets(Console& console, const LogDiffResult& result) {
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
      std::vector<std::string> cells = {
          std::to_string(Raw(packet.place.buffer)), PlaceText(packet.place),
          packet.written.record == 0 ? "" : MomentText(packet.written, result.first_time_ns),
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

void PrintSessionDiff(Console& console, const SessionDiff& diff, const DiffArgs& args) {
  const LogDiffResult& result = diff.result;
  console.Print(console.Bold(Printable(diff.path)));
  console.Print(fmt::format(": session {}: {}", diff.session, Count(result.records, "record")));
  const uint64_t duration = result.last_time_ns.value_or(0) - result.first_time_ns.value_or(0);
  if (duration > 0) console.Print(fmt::format(" over {}", HumanDuration(duration)));
  console.Print(result.Same() ? std::string("\nA and B are the same.\n")
                              : fmt::format("\nA and B differ: {}.\n", CountsText(result.counts)));
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

void PrintFolderDiff(Console& console, const std::string& folder,
                     const std::vector<SessionDiff>& diffs, uint64_t others) {
  Table table({{"log", Align::kLeft},
               {"session", Align::kRight},
               {"packets in both", Align::kRight},
               {"result", Align::kLeft}});
  DiffCounts totals;
  uint64_t differing = 0;
  for (const SessionDiff& diff : diffs) {
    const DiffCounts& counts = diff.result.counts;
    std::string name = diff.path;
    if (name.starts_with(folder)) name.erase(0, folder.size() + (folder.ends_with('/') ? 0 : 1));
    table.AddRow({Printable(name), std::to_string(diff.session), WithCommas(counts.matched),
                  diff.result.Same() ? "same" : CountsText(counts)});
    differing += !diff.result.Same();
    totals.matched += counts.matched;
    totals.across_order += counts.across_order;
    for (size_t i = 0; i < kDifferenceKinds; ++i) totals.by_kind[i] += counts.by_kind[i];
  }
  table.Print(console);
  console.Print(fmt::format("\n{}: {} of {} differ", Printable(folder), WithCommas(differing),
                            Count(diffs.size(), "session")));
  if (differing > 0) console.Print(": " + CountsText(totals));
  console.Print("\n");
  if (others > 0)
    console.Print(fmt::format("{} that {} no log left out.\n", Count(others, "file"),
                              others == 1 ? "is" : "are"));
}

}  // namespace ringscope
