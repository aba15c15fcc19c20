#ifndef RINGSCOPE_COMMANDS_GAPS_GAPS_WORDS_H_
#define RINGSCOPE_COMMANDS_GAPS_GAPS_WORDS_H_

#include "commands/session/examined.h"

namespace ringscope {

/// The gaps of a session that the user wants to see, and the examination that they are of.
struct ShownGaps : GapSelection {
  ShownGaps(const Examination& of, const LogSelection& filter, const PacketKinds& kinds_of_packets)
      : GapSelection(of.log->gaps, of.log->notes.start_ns(), filter),
        examination(of),
        outcome(of.log->outcome),
        notes(of.log->notes),
        kinds(kinds_of_packets) {
    if (!is_filtered) counts = LossCountsOf(outcome, report);
    const bool is_unread = outcome.read_passes == 0 && of.account.all.written() &&
                           of.account.all.written()->packets > 0;
    any_sign |= !is_filtered && (is_unread || !counts.empty() ||
                                 std::ranges::any_of(FtraceLossesOf(outcome.ftrace),
                                                     &FtraceCpuLosses::lost_in_session));
  }

  const Examination& examination;
  const ReplayOutcome& outcome;  // of the examination
  const SessionNotes& notes;     // likewise
  const PacketKinds& kinds;
  std::vector<LossCount> counts;  // of the whole session; none where a filter selects

  /// The account of the sequences that are shown.
  StageAccounts stages() const {
    return is_filtered ? AccountOf(sequences, notes, outcome, reported.size() + unlisted_reports)
                       : examination.account;
  }
  /// How a run ends that shows them: kNotice if packets were lost, or may be.
  ExitCode ending() const {
    return any_loss || any_sign || !stale.empty() ? ExitCode::kNotice : ExitCode::kClean;
  }
  /// Calls visit(const Gap&) for each gap, those of buffer bugs first.
  template <typename Visit>
  void VisitGaps(Visit visit) const {
    for (const std::vector<const Gap*>* list : {&own_fault, &gaps})
      for (const Gap* gap : *list) visit(*gap);
  }
};

// Facts about gaps in words: each is a sentence, or a part of one.

/// "12 packets (3.4 KiB)", "12 packets (3.4 KiB) and more at 2 places", "packets at 1 place"
/// @param places at which an unknown number more is missing
std::string LostText(const FateCount& lost, uint64_t places = 0);
/// "53% track_event, 47% clock_snapshot"
std::string ContentsText(const Gap& gap, const PacketKinds& kinds);
/// "53% 2:1 (app), 47% itself": for whom packets were evicted, or who filled the buffer before
/// their commit; empty if neither is known.
std::string TakersText(const Gap& gap, const ShownGaps& selection);
/// Returns true if the takers filled the buffer, rather than evicted the packets.
bool IsFilled(const Gap& gap);
/// Which chunk, patch or read is to blame for the loss, and since when; may be empty.
std::string BlameText(const Gap& gap, const SessionNotes& notes);
/// Describes the sign of lost packets in the trace.
/// @param chunk of the next packet, if it was read
std::string SignText(GapSign sign, uint32_t bits, std::optional<uint64_t> chunk, bool forgotten);
/// On what a sequence waits, and what would help.
std::string StallText(const OpenStall& stall, const SessionNotes& notes);

/// One session's losses for people, on a screen.
/// @param all explains each gap, and lists all else that was found
void PrintGaps(Report& out, const ShownGaps& selection, bool all);

// For programs.

/// One session's losses for programs: in a document, or if `lines` as lines of one object each with
/// its "type".
void WriteGaps(Report& out, const ShownGaps& selection, bool lines);

/// An object with its "type" on a line: the session, then the members.
std::string JsonLine(const char* type, const ReplayOutcome& outcome, const Json& members);

/// The titles of CSV, of gaps or of packets.
std::string CsvTitles(bool of_packets);
/// Gaps as rows of CSV.
std::string GapCsvRows(const ShownGaps& selection);

/// Contents of a line about packets: titles or values of CSV, or the members of an object.
enum class RowPart { kTitles, kValues, kMembers };

/// A lost packet for programs.
/// @param clone whose holder's view this is; absent: the session's own
/// @param kind its name, see PacketKinds; may be empty
std::string PacketLine(RowPart part, const PacketAccount& account, uint64_t session,
                       std::optional<uint64_t> clone, const std::string& kind);

/// The programs of a session's buffers, one by one, with what went wrong where in them.
void PrintPrograms(Report& out, const ReplayOutcome& outcome);
/// An array of the programs.
Json ProgramsJson(const ReplayOutcome& outcome);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GAPS_GAPS_WORDS_H_
