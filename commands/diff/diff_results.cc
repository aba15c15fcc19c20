#include "commands/diff/diff_results.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/diff/diff_json.h"
#include "commands/diff/diff_report.h"
#include "commands/diff/diff_words.h"
#include "commands/report/json.h"
#include "commands/report/table.h"
#include "commands/shell/output.h"
#include "commands/shell/text.h"
#include "core/diff/output_diff.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/packet_facts.h"
#include "formats/inputs/result_reader.h"

namespace ringscope {
namespace {

Result<ReplayOutput> Read(const std::string& path, InputKind kind) {
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
  return kind == InputKind::kEvents ? ReadEvents(std::move(source))
                                    : ReadTraceResults(std::move(source));
}

std::string OrDash(const std::string& text) { return text.empty() ? "-" : text; }

std::string GroupText(const OutputGroup& group, InputKind kind) {
  if (kind == InputKind::kTrace) return "";
  return fmt::format("{}{}", group.buffer,
                     group.clone == 0 ? "" : fmt::format(" (clone {})", group.clone));
}

// The report.

void PrintSequences(Console& console, const OutputDiff& diff, InputKind kind) {
  if (diff.sequences.empty()) return;
  console.Print("\n" + console.Bold("Sequences that differ") + "\n");
  std::vector<Column> columns = {
      {"A", Align::kLeft},     {"B", Align::kLeft},        {"packets in A", Align::kRight},
      {"in B", Align::kRight}, {"in both", Align::kRight}, {"difference", Align::kLeft}};
  if (kind == InputKind::kEvents) columns.insert(columns.begin(), {"buffer", Align::kLeft});
  Table table(std::move(columns));
  for (const SequenceDiff& sequence : diff.sequences) {
    std::vector<Cell> cells = {OrDash(sequence.name.a),
                               OrDash(sequence.name.b),
                               WithCommas(sequence.packets.a),
                               WithCommas(sequence.packets.b),
                               WithCommas(sequence.counts.matched),
                               CountsText(sequence.counts)};
    if (kind == InputKind::kEvents) cells.insert(cells.begin(), GroupText(sequence.group, kind));
    table.AddRow(std::move(cells));
  }
  table.Print(console, 2);
}

const OutputPacket& Seen(const OutputDifference& difference) {
  return difference.packet.a ? *difference.packet.a : *difference.packet.b;
}

/// "packet 17 of sequence 5"
std::string PlaceText(const OutputDifference& difference, Side side) {
  if (!difference.packet[side]) return "-";
  return fmt::format("{} of {}", WithCommas(difference.index[side] + 1), difference.sequence[side]);
}

void PrintPackets(Console& console, const OutputDiff& diff, InputKind kind) {
  for (size_t i = 0; i < kDifferenceKinds; ++i) {
    const std::vector<OutputDifference>& packets = diff.listed[i];
    if (packets.empty()) continue;
    const auto difference_kind = static_cast<DifferenceKind>(i);
    const uint64_t count = diff.counts[difference_kind];
    const bool of_sequences = difference_kind == DifferenceKind::kIdentity;
    std::string title = fmt::format("{}: {}", Heading(difference_kind),
                                    Count(count, of_sequences ? "sequence" : "packet"));
    if (count > packets.size())
      title += fmt::format(", of which the first {} (--limit)", WithCommas(packets.size()));
    console.Print("\n" + console.Bold(title) + "\n");
    std::vector<Column> columns = {
        {"packet in A", Align::kLeft}, {"in B", Align::kLeft}, {"bytes", Align::kRight}};
    if (kind == InputKind::kEvents) columns.insert(columns.begin(), {"buffer", Align::kLeft});
    if (kind == InputKind::kTrace) columns.push_back({"content", Align::kLeft});
    if (difference_kind == DifferenceKind::kLossBits) {
      columns.push_back({"loss bits in A", Align::kLeft});
      columns.push_back({"in B", Align::kLeft});
    }
    Table table(std::move(columns));
    for (const OutputDifference& packet : packets) {
      std::vector<Cell> cells = {PlaceText(packet, Side::kA), PlaceText(packet, Side::kB),
                                 WithCommas(Seen(packet).size)};
      if (kind == InputKind::kEvents) cells.insert(cells.begin(), GroupText(packet.group, kind));
      if (kind == InputKind::kTrace) cells.push_back(ContentName(Seen(packet).content));
      if (difference_kind == DifferenceKind::kLossBits) {
        cells.push_back(LossBitsToString(packet.packet.a->loss_bits));
        cells.push_back(LossBitsToString(packet.packet.b->loss_bits));
      }
      table.AddRow(std::move(cells));
    }
    table.Print(console, 2);
  }
}

void PrintFirst(Console& console, const OutputDiff& diff) {
  if (diff.first_patch) {
    console.Print(fmt::format("\n{}: patch result {} differs\n", console.Bold("First patch"),
                              WithCommas(*diff.first_patch + 1)));
  }
  if (!diff.first) return;
  std::string where;
  for (const Side side : kSides) {
    if (!diff.first->packet[side]) continue;
    where +=
        fmt::format("{}packet {} of {} (packet {} of its sequence {})", where.empty() ? "" : ", ",
                    WithCommas(uint64_t{diff.first->packet[side]->position} + 1), Letter(side),
                    WithCommas(diff.first->index[side] + 1), diff.first->sequence[side]);
  }
  std::string kind = Heading(diff.first->kind);
  kind.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(kind.front())));
  console.Print(fmt::format("\n{}: {}: {}\n", console.Bold("First difference"), kind, where));
}

void PrintResultDiff(Console& console, const OutputDiff& diff, const DiffArgs& args,
                     InputKind kind) {
  for (const Side side : kSides) {
    console.Print(fmt::format("{}  {}: {}", Letter(side),
                              Printable(args.logs.logs[side == Side::kA ? 0 : 1]),
                              Count(diff.packets[side], "packet")));
    if (diff.service_packets[side] > 0) {
      console.Print(fmt::format(", and {} of the service itself, which {} not compared",
                                Count(diff.service_packets[side], "packet"),
                                diff.service_packets[side] == 1 ? "is" : "are"));
    }
    console.Print("\n");
  }
  console.Print(fmt::format("{} in {} in both: ", Count(diff.counts.matched, "packet"),
                            Count(diff.sequences_matched, "sequence")));
  console.Print(diff.Same() ? std::string("A and B are the same\n")
                            : fmt::format("A and B differ: {}\n", CountsText(diff.counts)));
  PrintFirst(console, diff);
  PrintSequences(console, diff, kind);
  PrintPackets(console, diff, kind);
  for (const auto& [id, stats] : diff.stats) {
    BufferDiff buffer;
    buffer.id = BufferId{static_cast<uint16_t>(id)};
    buffer.sides.a.stats = stats.a;
    buffer.sides.b.stats = stats.b;
    PrintCounters(console, buffer, args.all, std::nullopt);
  }
}

// The document.

Json PacketJson(const OutputDifference& difference, Side side) {
  const std::optional<OutputPacket>& packet = difference.packet[side];
  if (!packet) return {};
  return {{"sequence", difference.sequence[side]},
          {"index", difference.index[side]},
          {"position", packet->position},
          {"bytes", packet->size},
          {"hash", fmt::format("{:016x}", packet->hash)},
          {"loss_bits", packet->loss_bits},
          {"content", packet->content == 0 ? Json() : Json(ContentName(packet->content))}};
}

Json DifferenceJson(const OutputDifference& difference) {
  return {{"kind", Name(difference.kind)},
          {"buffer", difference.group.buffer},
          {"clone", difference.group.clone},
          {"a", PacketJson(difference, Side::kA)},
          {"b", PacketJson(difference, Side::kB)}};
}

Json ResultDiffJson(const OutputDiff& diff, const DiffArgs& args, InputKind kind) {
  Json document = JsonDocument("diff");
  document["compares"] = kind == InputKind::kEvents ? "events" : "traces";
  document["same"] = diff.Same();
  for (const Side side : kSides) {
    document[side == Side::kA ? "a" : "b"] = {{"input", args.logs.logs[side == Side::kA ? 0 : 1]},
                                              {"packets", diff.packets[side]},
                                              {"service_packets", diff.service_packets[side]}};
  }
  document["counts"] = CountsJson(diff.counts);
  document["sequences_in_both"] = diff.sequences_matched;
  document["first_difference"] = diff.first ? DifferenceJson(*diff.first) : Json();
  document["first_patch"] = diff.first_patch ? Json(*diff.first_patch) : Json();
  Json sequences = Json::array();
  for (const SequenceDiff& sequence : diff.sequences) {
    const auto side_json = [&](Side side) -> Json {
      if (sequence.name[side].empty()) return {};
      return {{"sequence", sequence.name[side]},
              {"uid", sequence.identity[side].uid},
              {"pid", sequence.identity[side].pid},
              {"packets", sequence.packets[side]}};
    };
    sequences.push_back({{"buffer", sequence.group.buffer},
                         {"clone", sequence.group.clone},
                         {"a", side_json(Side::kA)},
                         {"b", side_json(Side::kB)},
                         {"counts", CountsJson(sequence.counts)}});
  }
  document["sequences"] = std::move(sequences);
  Json packets = Json::object();
  for (size_t i = 0; i < kDifferenceKinds; ++i) {
    if (diff.listed[i].empty()) continue;
    Json& list = packets[Name(static_cast<DifferenceKind>(i))] = Json::array();
    for (const OutputDifference& packet : diff.listed[i]) list.push_back(DifferenceJson(packet));
  }
  document["packets"] = std::move(packets);
  Json buffers = Json::array();
  for (const auto& [id, stats] : diff.stats)
    buffers.push_back({{"buffer", id}, {"counters", CountersJson(stats.a, stats.b)}});
  document["buffers"] = std::move(buffers);
  return document;
}

}  // namespace

Result<ExitCode> DiffResults(const DiffArgs& args, InputKind kind, Context& context) {
  RS_ASSIGN_OR_RETURN(const ReplayOutput a, Read(args.logs.logs[0], kind));
  RS_ASSIGN_OR_RETURN(const ReplayOutput b, Read(args.logs.logs[1], kind));
  auto compared = DiffOutputs(a, b, args.limit);
  if (!compared) {
    compared.error().where.path = args.logs.logs[1];
    compared.error().hint = fmt::format("compared with {}", args.logs.logs[0]);
    return tl::unexpected<Error>(std::move(compared.error()));
  }
  if (args.format == "json")
    context.console.Print(JsonText(ResultDiffJson(*compared, args, kind)));
  else
    PrintResultDiff(context.console, *compared, args, kind);
  return compared->Same() ? ExitCode::kClean : ExitCode::kNotice;
}

}  // namespace ringscope
