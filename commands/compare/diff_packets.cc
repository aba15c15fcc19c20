#include "commands/compare/diff_packets.h"

#include <fmt/format.h>

#include "commands/shell/text.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/packet_facts.h"

namespace ringscope {
namespace {

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
                  WithCommas(Seen(packet).size), NameCell(ContentName(packet.content)),
                  ShortText(kind, packet.sides[left], first_time_ns),
                  ShortText(kind, packet.sides[Other(left)], first_time_ns),
                  DataCell(ViewJson(packet.sides.a)), DataCell(ViewJson(packet.sides.b))});
  }
  return table;
}

}  // namespace

Json ChunkJson(const std::optional<ChunkName>& chunk) {
  return chunk ? Json(ToString(*chunk)) : Json();
}

Json PacketJson(const PacketDifference& packet, FirstTime first_time_ns) {
  return PacketTable(packet.kind, {packet}, first_time_ns).ToJson()[0];
}

std::string PacketText(const PacketDifference& packet, FirstTime first_time_ns) {
  std::string text = fmt::format("{}: {} bytes, {}", PlaceText(packet.place),
                                 WithCommas(Seen(packet).size), ContentName(packet.content));
  if (packet.written.record) text += ", written by " + MomentText(packet.written, first_time_ns);
  return text;
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

}  // namespace ringscope
