// Comparisons of traces, by the content of their packets.

#include "commands/compare/diff.h"
#include "commands/session/trace_check.h"

namespace ringscope {
namespace {

Cell SequenceCell(const SequenceDiff& sequence, Side side) {
  if (sequence.name[side].empty()) return "-";
  return {sequence.name[side],
          {{"sequence", sequence.name[side]},
           {"uid", sequence.identity[side].uid},
           {"pid", sequence.identity[side].pid},
           {"packets", sequence.packets[side]}}};
}

void ReportSequences(Report& report, const OutputDiff& diff, bool all) {
  Table table({{"A", Align::kLeft, "a"},
               {"B", Align::kLeft, "b"},
               {"packets in A", Align::kRight},
               {"in B", Align::kRight},
               {"in both", Align::kRight},
               {"difference", Align::kLeft, "counts"}});
  for (const SequenceDiff& sequence : diff.sequences)
    table.AddRow({SequenceCell(sequence, Side::kA),
                  SequenceCell(sequence, Side::kB),
                  WithCommas(sequence.packets.a),
                  WithCommas(sequence.packets.b),
                  WithCommas(sequence.counts.matched),
                  {CountsText(sequence.counts), FieldsToJson(sequence.counts)}});
  report.Data("sequences", table.ToJson());
  if (all) report.Section("Sequences that differ", table, 2);
}

/// "17 of 5": packet 17 of sequence 5.
Cell PacketCell(const OutputDifference& difference, Side side) {
  const std::optional<OutputPacket>& packet = difference.packet[side];
  if (!packet) return "-";
  return {
      fmt::format("{} of {}", WithCommas(difference.index[side] + 1), difference.sequence[side]),
      {{"sequence", difference.sequence[side]},
       {"index", difference.index[side]},
       {"position", packet->position},
       {"bytes", packet->size},
       {"hash", fmt::format("{:016x}", packet->hash)},
       {"loss_bits", packet->loss_bits},
       {"content", packet->content == 0 ? Json() : Json(ContentName(packet->content))}}};
}

Table PacketTable(const std::vector<OutputDifference>& packets) {
  const bool has_bits = !packets.empty() && packets.front().kind == DifferenceKind::kLossBits;
  Table table({DataColumn("kind"),
               {"packet in A", Align::kLeft, "a"},
               {"in B", Align::kLeft, "b"},
               {"bytes", Align::kRight},
               {"content"},
               {"flag in A", Align::kLeft, "", has_bits},
               {"in B", Align::kLeft, "", has_bits}});
  for (const OutputDifference& packet : packets) {
    const OutputPacket& seen = packet.packet.a ? *packet.packet.a : *packet.packet.b;
    const auto bits = [&](Side side) {
      return has_bits ? LossBitsText(packet.packet[side]->loss_bits) : std::string();
    };
    table.AddRow({DataCell(Name(packet.kind)), PacketCell(packet, Side::kA),
                  PacketCell(packet, Side::kB), WithCommas(seen.size), ContentName(seen.content),
                  bits(Side::kA), bits(Side::kB)});
  }
  return table;
}

void ReportPackets(Report& report, const OutputDiff& diff, bool all) {
  for (const DifferenceRow& row : kEnumRows<DifferenceKind>) {
    const std::vector<OutputDifference>& listed = diff.listed[row.value];
    if (listed.empty()) continue;
    const Table table = PacketTable(listed);
    report.Data(row.name, table.ToJson());
    if (all)
      PrintList(report, row.value, table, diff.counts[row.value], listed.size(),
                row.value == DifferenceKind::kIdentity ? "sequence" : "packet");
  }
}

void ReportFirst(Report& report, const OutputDiff& diff) {
  report.Data("first_difference", diff.first ? PacketTable({*diff.first}).ToJson()[0] : Json());
  if (!diff.first) return;
  std::vector<std::string> where;
  for (const Side side : kSides)
    if (const auto& packet = diff.first->packet[side])
      where.push_back(fmt::format("packet {} of {} (packet {} of its sequence {})",
                                  WithCommas(uint64_t{packet->position} + 1), Letter(side),
                                  WithCommas(diff.first->index[side] + 1),
                                  diff.first->sequence[side]));
  report.Print("\n");
  report.Title("First difference",
               fmt::format("{}: {}", RowOf(diff.first->kind).text, Joined(where)));
}

/// @param compares names what is compared, for programs
/// @param remark about side A, for people
Report ReportOf(Context& context, const DiffArgs& args, const OutputDiff& diff,
                const char* compares, bool same, const Both<std::string>& inputs,
                const std::string& remark = {}) {
  Report report = BeginReport(args, context.console);
  report.Data({{"compares", compares}, {"same", same}});
  for (const Side side : kSides) {
    const uint64_t of_service = diff.service_packets[side];
    report.Paragraph(fmt::format(
        "{}: {}: {}{}{}", Letter(side), Printable(inputs[side]), side == Side::kA ? remark : "",
        Count(diff.packets[side], "packet"),
        of_service == 0 ? ""
                        : fmt::format(", and {} of the service itself, which {} not compared",
                                      Count(of_service, "packet"), Is(of_service))));
    report.Data(side == Side::kA ? "a" : "b", {{"input", inputs[side]},
                                               {"packets", diff.packets[side]},
                                               {"service_packets", of_service}});
  }
  report.Data({{"counts", FieldsToJson(diff.counts)},
               {"sequences_in_both", diff.sequences_matched},
               {"sequences_with_other_ids", diff.renamed_sequences},
               {"packets_with_other_ids", diff.renamed_packets}});
  report.Paragraph(fmt::format("{} in {} in both: {}", Count(diff.counts.matched, "packet"),
                               Count(diff.sequences_matched, "sequence"),
                               ComparedText(diff, {"A and B are the same", "A and B differ"})));
  if (diff.buffers.empty())
    report.Paragraph("Counters were not compared: A or B has no TraceStats packet.");
  ReportFirst(report, diff);
  ReportSequences(report, diff, args.all);
  report.AddObject("packets", [&] { ReportPackets(report, diff, args.all); });
  report.Data("buffers", Json::array());
  for (const BufferDiff& buffer : diff.buffers)
    report.AddItem("buffers", [&] {
      report.Data("buffer", Raw(buffer.id));
      ReportCounters(report, buffer, args.all, std::nullopt);
    });
  if (!args.all && !diff.Same()) report.Paragraph(kAllLists);
  return report;
}

}  // namespace

Result<ExitCode> DiffTraces(const DiffArgs& args, Context& context) {
  RS_ASSIGN_OR_RETURN(const ReplayOutput a, ReadTraceOutput(context, args.input.paths[0]));
  RS_ASSIGN_OR_RETURN(const ReplayOutput b, ReadTraceOutput(context, args.input.paths[1]));
  auto compared = DiffOutputs(a, b, args.limit);
  if (!compared) {
    compared.error().where.path = args.input.paths[1];
    compared.error().hint = fmt::format("compared with {}", args.input.paths[0]);
    return tl::unexpected<Error>(std::move(compared.error()));
  }
  Report report = ReportOf(context, args, *compared, "traces", compared->Same(),
                           {args.input.paths[0], args.input.paths[1]});
  return report.Finish(compared->Same() && !a.is_damaged && !b.is_damaged ? ExitCode::kClean
                                                                          : ExitCode::kNotice);
}

Result<ExitCode> DiffLogWithTrace(const DiffArgs& args, Context& context) {
  SessionSelection logs = args.input;
  logs.paths.pop_back();
  const std::string& trace = args.input.paths.back();
  SessionReader sessions(context, logs, "replaying");
  RS_ASSIGN_OR_RETURN(const bool any, sessions.NextSession());
  if (!any)
    return Fail(ErrorCode::kUsage, "the log has no session", {logs.paths.front(), {}, {}},
                "see 'ringscope info'");
  RS_ASSIGN_OR_RETURN(const TraceCheck check,
                      CheckWithTrace(context, sessions, args.sides.a, trace, args.limit));
  const ReplayOutcome& outcome = check.outcome;
  Report report =
      ReportOf(context, args, check.diff, "replay_and_trace", check.Same(), {outcome.path, trace},
               fmt::format("session {}{}, read {}: ", outcome.session,
                           outcome.clone ? fmt::format(", clone {}", *outcome.clone) : "",
                           ReadsText(outcome.reads)));
  report.Data({{"session", outcome.session},
               {"reads", FieldsToJson(outcome.reads)},
               {"has_recorder_identity", check.has_recorder_identity}});
  if (outcome.clone) report.Data("clone", *outcome.clone);
  report.Data({{"assumed", sessions.reported().assumptions},
               {"cut_off_packets", check.cut_off},
               {"searched_reads", check.searched_reads},
               {"recorded_reads", check.recorded ? FieldsToJson(*check.recorded) : Json()}});
  const auto print = [&](const std::string& text) {
    if (!text.empty()) report.Paragraph("\n" + text);
  };
  if (check.cut_off > 0)
    print(fmt::format(
        "B ends within a read: the service's file was full, or it was cut off. The replay has {} "
        "more, which {} not compared.",
        Count(check.cut_off, "packet"), Is(check.cut_off)));
  if (check.recorded)
    print(
        fmt::format("With the reads that the log has, A and B differ: {}. Reads that fit B better "
                    "were searched in it, and A is read there: when the service read is recorded "
                    "wrong.",
                    CountsText(*check.recorded)));
  else if (check.searched_reads)
    print(
        "Reads that fit B better than the recorded ones were searched in it, and none were found.");
  for (const std::string& assumed : sessions.reported().assumptions)
    print(fmt::format("Assumed: {}.", Printable(assumed)));
  print(ReadsNotes(outcome.reads));
  if (check.has_recorder_identity)
    print(
        "The trace has uid and pid of the process that recorded, as the service saw them; they are "
        "not compared with the producers' own.");
  RS_RETURN_IF_ERROR(report.Finish());
  return Worse(sessions.Finish(),
               check.Same() && !check.is_damaged ? ExitCode::kClean : ExitCode::kNotice);
}

}  // namespace ringscope
