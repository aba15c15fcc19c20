#include "commands/replays/session_reads.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <utility>

#include "commands/plugin/plugin.h"
#include "commands/replays/further_replays.h"
#include "commands/shell/input.h"
#include "commands/shell/text.h"
#include "core/reads/read_finder.h"
#include "formats/inputs/input_kind.h"
#include "formats/trace/trace_file_scan.h"

namespace ringscope {
namespace {

/// Texts by UnexplainedPacket::Why.
constexpr std::array kWhyTexts = {"the log has no such packet",
                                  "the replay returns another packet in its place, or none",
                                  "the replay returns it with another previous_packet_dropped",
                                  "the trace ends before it, and the replay returns more"};
static_assert(kWhyTexts.size() == kEnumNames<UnexplainedPacket::Why>.size());

/// Texts by ReadsMode, with {} for the period.
constexpr std::array kReadsTexts = {"as recorded", "as recorded", "at the end",
                                    "by choice",   "every {}",    "every {} as for a file"};
static_assert(kReadsTexts.size() == kEnumNames<ReadsMode>.size());

}  // namespace

LookAhead LookAheadIn(Context& context, const SessionSelection& session) {
  // This reading is in the middle of another one that shows its progress.
  const auto muted = std::make_shared<MutedContext>(context);
  return std::make_shared<LogReads>(
      [muted, session] { return OpenSession(muted->context(), session, "looking ahead in"); });
}

Result<FoundReads> FindSessionReads(Context& context, const SessionSelection& session,
                                    const std::string& trace) {
  if (session.IsReadOnce() || trace == "-") {
    return Fail(ErrorCode::kUsage,
                "the reads of a trace cannot be found in standard input, which can be read once",
                {}, "write it to a file, and name that");
  }
  RS_ASSIGN_OR_RETURN(KnownInput input, OpenOneInput(context, trace));
  if (input.kind != InputKind::kTrace && !ContentWords(input.start).empty())
    return tl::unexpected<Error>(
        WrongContent(input.start, trace, "a trace", "expected a .pftrace"));
  RS_ASSIGN_OR_RETURN(const auto file, InFile(trace, ReadWrittenFile(std::move(input.source))));
  SessionReader checked(context, session, {});
  RS_RETURN_IF_ERROR(checked.NextSession());
  RS_RETURN_IF_ERROR(ExpectPayload(checked, "a comparison with a trace"));
  const auto open = [&] { return OpenSession(context, session, "finding the reads of"); };
  RS_ASSIGN_OR_RETURN(FoundReads found, FindReads(open, EnginesAndPlugins(), file));
  if (found.packets > 0 && found.explained == 0) {
    return Fail(ErrorCode::kUsage,
                "no choice of reads returns even the first packet of this trace: it is not what "
                "the service wrote for this session",
                {trace, {}, {}}, "name the file that the session was written into");
  }
  return found;
}

std::string ReadsText(const ReadsUsed& used) {
  const bool is_like = used.mode == ReadsMode::kRecorded && !used.like.empty();
  const std::string text =
      is_like ? "like " + Printable(used.like.substr(used.like.rfind('/') + 1))
              : fmt::format(fmt::runtime(kReadsTexts[static_cast<size_t>(used.mode)]),
                            HumanDuration(used.period_ns));
  return text + (used.assumed ? " (assumed)" : "");
}

std::string ReadsName(const ReadsUsed& used) {
  return std::string(Name(used.mode)) + (used.assumed ? " (assumed)" : "");
}

std::string ReadsNotes(const ReadsUsed& used) {
  std::vector<std::string> notes;
  const auto add = [&notes](std::string text) { notes.push_back(std::move(text)); };
  if (used.alignment_assumed)
    add("The log has no clock snapshot, so where the periods begin is assumed.");
  if (used.added_passes > 0)
    add(fmt::format("Reads were continued by {}, until nothing was left, as the service does{}",
                    used.added_passes == 1 ? "1 pass" : WithCommas(used.added_passes) + " passes",
                    used.recorded_end_unknown
                        ? "; the log does not show that the recorded last read left nothing."
                        : ": the recorded ones left nothing, either."));
  if (used.empty_reads > 0)
    add(
        fmt::format("{} returned nothing, as in the service, because the session is written into a "
                    "file, is only cloned, or waits for a trigger.",
                    Count(used.empty_reads, "consumer read")));
  if (used.seen_in_file > 0)
    add(fmt::format("{} {} seen by the recorder as the service's file grew.",
                    Count(used.seen_in_file, "read"), used.seen_in_file == 1 ? "was" : "were"));
  if (used.left_out > 0)
    add(fmt::format(
        "{} of the log came after the first assumed one, and were left out: use --reads "
        "recorded.",
        Count(used.left_out, "read")));
  if (used.like_explained < used.like_packets)
    add(fmt::format("No choice of reads explains more than the first {} of {} of {}.",
                    WithCommas(used.like_explained), Count(used.like_packets, "packet"),
                    Printable(used.like)));
  return Joined(notes, " ");
}

void ListFields(JsonFieldWriter& io, const ReadsUsed& used) {
  io("mode", used.mode, "assumed", used.assumed);
  if (used.mode == ReadsMode::kEvery || used.mode == ReadsMode::kStreamed)
    io("period_ns", used.period_ns);
  if (used.mode == ReadsMode::kStreamed) io("alignment_assumed", used.alignment_assumed);
  io("added_passes", used.added_passes);
  if (used.recorded_end_unknown) io("recorded_end_unknown", true);
  io("empty_reads", used.empty_reads);
  if (used.seen_in_file > 0) io("seen_in_file", used.seen_in_file);
  io("left_out", used.left_out);
  if (!used.like.empty())
    io("like", used.like, "like_packets", used.like_packets, "like_explained", used.like_explained);
}

void ReportFoundReads(Report& report, const FoundReads& found, uint64_t first_record) {
  // Record numbers in the file.
  const auto number = [&](uint64_t count) {
    return count == 0 ? Json() : Json(first_record + count - 1);
  };
  Json reads = Json::array();
  for (const FoundRead& read : found.reads)
    reads.push_back({{"read", reads.size() + 1},
                     {"after_record", number(read.after)},
                     {"earliest", number(read.earliest)},
                     {"latest", number(read.latest)},
                     {"packets", read.packets},
                     {"time_ns", FieldsToJson(read.time_ns)}});
  report.AddObject("found_reads", [&] {
    report.Data({{"packets", found.packets},
                 {"explained", found.explained},
                 {"from_events", found.from_events},
                 {"replays", found.replays},
                 {"has_stats", found.has_stats},
                 {"different_stats", found.different_stats}});
    if (const auto& packet = found.unexplained)
      report.Data("unexplained", {{"packet", packet->packet},
                                  {"sequence_id", packet->sequence_id},
                                  {"read", packet->read + 1},
                                  {"why", Name(packet->why)}});
    report.Data("reads", std::move(reads));
  });
  std::string text;
  if (const auto& packet = found.unexplained) {
    text = fmt::format(
        "{} of {} explained. The first that no choice of reads explains is packet {} of sequence "
        "{} "
        "in the trace, in read {}: {}.",
        WithCommas(found.explained), Count(found.packets, "packet"), WithCommas(packet->packet),
        packet->sequence_id, packet->read + 1, kWhyTexts[static_cast<size_t>(packet->why)]);
  } else {
    text = fmt::format("With {} the replay equals the trace: {}.",
                       Count(found.reads.size(), "read"), Count(found.packets, "packet"));
    if (!found.different_stats.empty())
      text += fmt::format(" These of the statistics at its end differ: {}.",
                          Joined(found.different_stats));
    else if (found.has_stats)
      text += " The statistics at its end are equal, too.";
  }
  if (!found.from_events)
    text +=
        " The trace lacks the service's events at the end of reads, so the reads were searched "
        "near the multiples of its period.";
  report.Paragraph("\n" + text);
}

}  // namespace ringscope
