

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "commands/gaps/gap_filter_options.h"
#include "commands/gaps/gaps_data.h"
#include "commands/gaps/gaps_text.h"
#include "commands/gaps/packet_rows.h"
#include "commands/gaps/shown_gaps.h"
#include "commands/replays/input_notes.h"
#include "commands/replays/replay_run.h"
#include "commands/replays/session_loop.h"
#include "commands/replays/session_reads.h"
#include "commands/shell/commands.h"
#include "commands/shell/config_file.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "core/gaps/gap_analysis.h"
#include "core/gaps/gap_filter.h"
#include "core/ledger/ledger.h"
#include "core/ledger/lost_packets.h"
#include "formats/descriptors/described_kinds.h"

namespace ringscope {
namespace {

struct GapsArgs {
  std::vector<std::string> logs;
  ReplayChoices choices;
  GapFilter filter;
  bool summary = false;           // only the totals
  bool packets = false;           // each lost packet
  bool decode = false;            // with its content
  std::optional<uint64_t> limit;  // gaps to list, the largest; 0: all
  uint64_t stale_ns = kUsualStaleNs;
  std::string format = "text";
  std::optional<uint64_t> session;
  std::optional<uint64_t> clone;
  TimeBase time = TimeBase::kSession;
};

void SetUp(CLI::App& app, GapsArgs& args) {
  AddLogs(app, args.logs);
  AddSession(app, args.session);
  AddClone(app, args.clone);
  AddReplayOptions(app, args.choices);
  AddSplitOption(app, args.choices.splits);
  AddGapFilter(app, args.filter);
  InGroup(app, kOutputGroup);
  AddFlag(app, "--summary", args.summary, "Print only the totals of buffers and sequences");
  AddFlag(app, "--packets", args.packets,
          "List each lost packet, as soon as its fate is final, instead of the gaps; not with "
          "--format json");
  Exclude(app, "--packets", {"--summary"});
  AddFlag(app, "--decode", args.decode,
          "As text: after each lost packet, its content in protobuf's text format");
  Require(app, "--decode", "--packets");
  AddParsed(
      app, "--limit", args.limit,
      [](std::string_view text) { return ParseNumber(text, UINT64_MAX); }, "N",
      "List at most the N largest gaps, and as text N entries of each other list; 0: all (default: "
      "20 as text, else all)");
  Exclude(app, "--packets", {"--limit"});
  AddParsed(app, "--stale", args.stale_ns, ParseDuration, "TIME",
            "Report packets that are committed later than this after their timestamp (default: "
            "5s)");
  AddTimeBase(app, args.time);
  AddFormat(app, args.format, {"text", "json", "jsonl", "csv"});
}

Status Check(const GapsArgs& args) {
  if (args.decode && args.format != "text")
    return Fail(ErrorCode::kUsage, "--decode is for --format text", {}, "leave out --format");
  if (!args.packets || args.format != "json") return {};
  return Fail(ErrorCode::kUsage, "--packets and --format json cannot be used together", {},
              "--format jsonl prints one packet per line");
}

/// Passes accounts on, and with --packets prints those of lost packets that the filter keeps.
class LostPacketList : public LedgerSink {
 public:
  LostPacketList(const GapsArgs& args, const SessionNotes& notes, uint64_t session,
                 Console& console, GapAnalysis& next, const PacketKinds& kinds,
                 const Descriptors& descriptors)
      : args_(args),
        notes_(notes),
        session_(session),
        console_(console),
        next_(next),
        kinds_(kinds),
        descriptors_(descriptors) {}

  void OnChunkWritten(BufferId buffer, WrittenCommit& commit) override {
    next_.OnChunkWritten(buffer, commit);
  }
  void OnPacketFate(const PacketAccount& account) override {
    next_.OnPacketFate(account);
    if (args_.decode) return packets_.AddFate(account, next_.last_kind());
    if (!Lists(account)) return;
    const std::string& kind = kinds_.NameOf(next_.last_kind());
    if (args_.format == "text")
      return console_.PrintLine(lines_.Line(account, kind), kLostPacketMargin);
    console_.Print(rows_.Row(account, kind));
  }
  void OnDuplicate(const PacketAccount& account) override { next_.OnDuplicate(account); }
  void OnChunkForgotten(BufferId buffer, SequenceKey sequence, uint64_t chunk) override {
    next_.OnChunkForgotten(buffer, sequence, chunk);
    packets_.OnChunkForgotten(buffer, sequence, chunk);
  }

  /// With --decode, also a listener of the replay: it has the bytes of the packets.
  LostPackets& packets() { return packets_; }

  /// When the replay read, which decides what was lost. CSV has rows of packets alone.
  void StateReads(const ReadsUsed& used) const {
    if (args_.format == "text") {
      console_.Print(Wrap(fmt::format("Session {}: buffers were read {}. {}", session_,
                                      ReadsText(used), ReadsNotes(used)),
                          size_t{0}) +
                     "\n");
    } else if (args_.format == "jsonl") {
      console_.Print(ReadsJsonl(used, session_, args_.clone));
    }
  }
  bool listed() const { return listed_; }

 private:
  bool Lists(const PacketAccount& account) {
    const bool is_lost = IsLoss(account.fate);
    if (!args_.packets || !(is_lost || (account.fate == Fate::kFolded && lists_folded_)))
      return false;
    if (!args_.filter.Keeps(account, notes_.start_ns())) return false;
    listed_ |= is_lost;
    return true;
  }
  void PrintDecoded(const LostPacket& lost) {
    if (!Lists(lost.account)) return;
    console_.PrintLine(lines_.Line(lost.account, kinds_.NameOf(lost.kind)), kLostPacketMargin);
    if (lost.slices.empty())
      return console_.Print("    # not all of it was written, or it is malformed\n");
    const std::string text = descriptors_.Text("TracePacket", Joined(lost.slices, joined_));
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at);
      console_.Print(fmt::format("    {}\n", std::string_view(text).substr(at, end - at)));
      at = end + 1;
    }
  }

  const GapsArgs& args_;
  const SessionNotes& notes_;
  const uint64_t session_;
  Console& console_;
  GapAnalysis& next_;
  const PacketKinds& kinds_;
  const Descriptors& descriptors_;
  LostPackets packets_{[this](const LostPacket& lost) { PrintDecoded(lost); }, /*all=*/true};
  std::string joined_;  // scratch
  const bool lists_folded_ = std::ranges::find(args_.filter.fates, Fate::kFolded) !=
                             args_.filter.fates.end();  // they are asked for
  LostPacketLines lines_{notes_};
  LostPacketRows rows_{args_.format == "csv", session_, args_.clone};
  bool listed_ = false;
};

/// Warns of filters that cannot select anything of this session.
void WarnOfOddFilter(const GapFilter& filter, const ReplayOutcome& outcome, const GapReport& report,
                     const SessionNotes& notes, Console& console) {
  const auto warn = [&](const std::string& text) {
    console.Warn(fmt::format("{}: session {}: {}", outcome.path, outcome.session, text));
  };
  for (const SequenceKey wanted : filter.sequences) {
    const bool is_there = std::ranges::any_of(report.buffers, [&](const BufferGaps& buffer) {
      return std::ranges::find(buffer.sequences, wanted, &SequenceGaps::sequence) !=
             buffer.sequences.end();
    });
    if (!is_there) warn(fmt::format("sequence {} committed nothing", ToString(wanted)));
  }
  for (const BufferId buffer : filter.buffers)
    if (std::ranges::find(outcome.buffers, buffer, &BufferOutcome::id) == outcome.buffers.end())
      warn(fmt::format("there is no buffer {}", Raw(buffer)));
  if (!outcome.first_time_ns) return;
  const uint64_t start = notes.start_ns(), end = start + outcome.duration_ns();
  const auto check = [&](const char* option, const std::optional<TimePoint>& time,
                         bool is_outside) {
    if (!time || !is_outside) return;
    warn(fmt::format("{} is {} the session{}", option,
                     time->Absolute(start) > end ? "after the end of" : "before the start of",
                     time->relative
                         ? ""
                         : "; without a unit it is absolute nanoseconds: write 1.5s for a "
                           "time since the start"));
  };
  check("--from", filter.from, filter.from && filter.from->Absolute(start) > end);
  check("--to", filter.to, filter.to && filter.to->Absolute(start) < start);
}

/// Replays the session that `sessions` is at.
/// @param logs where the session can be read again, to try remedies; empty: no need to
/// @param descriptors names of fields
/// @param visit gets its losses, unless packets are listed
/// @return kNotice if it lost anything that the filter selects
template <typename Visit>
Result<ExitCode> ReplayForGaps(const GapsArgs& args, const std::vector<std::string>& logs,
                               SessionReader& sessions, Context& context,
                               const Descriptors& descriptors, const Visit& visit) {
  if (args.decode) RS_RETURN_IF_ERROR(ExpectPayload(sessions, "--decode"));
  DescribedKinds kinds(descriptors);
  ReplayRun run(context, sessions, args.choices);
  auto& notes = run.Add<SessionNotes>(args.time);
  GapAnalysis analysis(args.stale_ns, &kinds);
  run.AddListener(analysis);
  LostPacketList accounts(args, notes, sessions.session(), context.console, analysis, kinds,
                          descriptors);
  run.AddSink(accounts);
  const bool can_read_again =
      !logs.empty() && std::find(logs.begin(), logs.end(), "-") == logs.end();
  const bool tries_remedies = can_read_again && !args.packets;
  if (args.decode) run.AddListener(accounts.packets());
  RS_ASSIGN_OR_RETURN(const ReplayOutcome outcome, run.ToEnd());
  bool lost = accounts.listed();
  const GapReport report = analysis.Finish(run.totals());
  WarnOfOddFilter(args.filter, outcome, report, notes, context.console);
  WarnOfUnknownTimes(context.console, outcome.path, notes.clock());
  if (args.packets) {
    accounts.StateReads(outcome.reads);
  } else {
    // Text groups them first.
    const uint64_t limit = args.format == "text" ? 0 : args.limit.value_or(0);
    std::vector<Remedy> remedies = FindRemedies({report, outcome, notes});
    if (tries_remedies)
      RS_RETURN_IF_ERROR(TryRemedies(
          context, {.paths = logs, .only = sessions.session(), .clone = args.clone, .quiet = true},
          args.choices, outcome, run.totals(), RemediesTried::kSizesAndPeriods, {}, remedies));
    const ShownGaps selection(report, outcome, notes, args.filter, limit, remedies, kinds);
    RS_RETURN_IF_ERROR(visit(selection, run.totals()));
    lost = selection.any_loss || selection.any_sign;
  }
  return lost ? ExitCode::kNotice : ExitCode::kClean;
}

Result<ExitCode> ReportInFull(const GapsArgs& args, const std::vector<std::string>& logs,
                              Context& context, const Descriptors& descriptors) {
  SessionReader sessions(context, {logs, args.session, args.clone}, "replaying");
  // The packets of sessions follow each other without a title or an empty line.
  Report out(context.console, args.packets ? "packets" : args.format, "gaps");
  if (args.format == "csv")
    out.Print(args.packets ? LostPacketRows::CsvTitles() : GapTable().CsvTitles());
  const auto visit = [&](const ShownGaps& selection,
                         const std::map<BufferId, LedgerTotals>&) -> Status {
    if (args.format == "csv") {
      Table gaps = GapTable();
      AddGaps(selection, gaps);
      out.Print(gaps.CsvRows());
      return {};
    }
    if (args.format == "text") {
      PrintGaps(out, selection, args.summary, args.limit.value_or(20), args.stale_ns);
    } else {
      WriteGaps(out, selection, args.summary, /*lines=*/args.format == "jsonl");
    }
    if (args.format != "jsonl") ReportClones(out, selection.outcome);
    return {};
  };
  RS_ASSIGN_OR_RETURN(const ExitCode code, ReportSessions(sessions, out, [&] {
                        return ReplayForGaps(args, logs, sessions, context, descriptors, visit);
                      }));
  RS_RETURN_IF_ERROR(out.Finish());
  return code;
}

Result<ExitCode> RunGaps(const GapsArgs& args, Context& context) {
  RS_RETURN_IF_ERROR(Check(args));
  RS_ASSIGN_OR_RETURN(const DescriptorChoice descriptors,
                      DescriptorChoice::Open(context, args.choices.descriptor));
  return ReportInFull(args, args.logs, context, descriptors.get());
}

}  // namespace

Command GapsCommand() {
  return {
      "gaps",
      "Explain",
      "Report what was lost, to what, and what would have saved it",
      "Replays like 'ringscope replay', accounts for every packet that was written, and reports "
      "the missing ones, gap by gap: their content, the cause of the loss, which sequences evicted "
      "them, what the trace shows of it, and what would have saved them. Losses through buffer "
      "bugs come first. Also reports flags without a loss, packets that need lost incremental "
      "state, losses of the kernel's ftrace, and stale packets.",
      {{"ringscope gaps session.tblog", "What is missing, and why?"},
       {"ringscope gaps --seq 2:17 --from 1.2s session.tblog",
        "What did this writer lose from then on?"},
       {"ringscope gaps --size 16MiB session.tblog", "Would a larger buffer lose less?"},
       {"ringscope gaps --packets --format jsonl session.tblog",
        "Each lost packet, and whose commit overwrote it"},
       {"ringscope gaps --packets --decode --seq 2:17 session.tblog",
        "What was in the packets that this writer lost?"}},
      Bind(SetUp, RunGaps),
      {.clean = "Done; no packet that the filters select was lost, and nothing shows that more is "
                "missing.",
       .notice = "Done, and packets were lost, or may be missing; or the input was damaged and "
                 "what could be read was "
                 "used."}};
}

}  // namespace ringscope
