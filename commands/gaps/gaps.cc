#include "commands/gaps/gaps_words.h"
#include "commands/session/session_view.h"
#include "commands/shell/commands.h"
#include "formats/descriptors/described_kinds.h"

namespace ringscope {
namespace {

struct GapsArgs {
  SessionSelection input;
  ReplayChoices choices;
  LogSelection filter;
  std::vector<std::string> of_trace;  // its sequences, by id or a part of the title
  bool all = false;                   // as text, each gap and all that was found
  bool packets = false;               // each lost packet
  Format format = Format::kText;
  Gate gate;

  bool is_about_replays() const {
    return ChoosesAnything(choices) || !choices.config.empty() || packets;
  }
};

void SetUp(CLI::App& app, GapsArgs& args) {
  AddReplayOptions(app, args.choices);
  AddSelection(app, args.filter, "packets written", &args.of_trace);
  InGroup(app, kOutputGroup);
  AddFlag(app, "--all", args.all, "Explain each gap, and list all that was found, as text");
  AddFlag(app, "--packets", args.packets,
          "List each lost packet, as soon as its fate is final, instead of the gaps; not with "
          "--format json or md");
  AddFormat(app, args.format,
            {Format::kText, Format::kMarkdown, Format::kJson, Format::kJsonl, Format::kCsv});
  AddGate(app, args.gate);
  Exclude(app, "--packets", {"--all", "--fail-on", "--max-lost", "--min-reach", "--min-usable"});
}

/// Finds the buffers that a filter names by their index.
class FilterBuffers : public ReplayListener {
 public:
  explicit FilterBuffers(LogSelection& filter) : filter_(filter) {}
  void OnBufferSetUp(SessionBuffer& buffer) override { filter_.Resolve(buffer.id, buffer.index); }

 private:
  LogSelection& filter_;
};

/// "1:4#7.0            320 B  track_event written 1.2 s, lost 1.5 s: evicted, for 2:1"
/// @param kind its name, see PacketKinds; may be empty
std::string LostPacketText(const PacketAccount& account, const std::string& kind,
                           const SessionNotes& notes) {
  return fmt::format(
      "{:<15} {:>9}  {}{}{} written {}, lost {}: {}{}{}",
      fmt::format("{}#{}.{}", ToString(account.sequence), account.first_chunk, account.fragment),
      HumanSize(account.size), ContentName(account.facts.content), kind.empty() ? "" : ": ", kind,
      SpanText(notes, {account.written, account.written}), TimeText(notes, account.decided.time_ns),
      CauseText({account.fate, account.cause, account.own_fault, account.loss_bits, {}}),
      account.culprit ? ", for " : "", account.culprit ? ToString(*account.culprit) : "");
}

/// Prints those of the lost packets that the filter keeps.
class LostPacketList : public LedgerSink {
 public:
  /// Listens to `run`, which outlives this, and resolves the filter of `args`.
  LostPacketList(ReplayRun& run, GapsArgs& args, uint64_t session)
      : args_(args),
        session_(session),
        console_(run.context().console),
        notes_(run.Add<SessionNotes>()),
        analysis_(run.Add<GapAnalysis>(&kinds_)) {
    run.Add<FilterBuffers>(args.filter);
    run.AddSink(*this);
  }

  void OnPacketFate(const PacketAccount& account) override {
    const std::optional<uint64_t> time_ns = account.written.time_ns;
    if (!IsLoss(account.fate) || !args_.filter.Keeps(account.buffer, account.sequence) ||
        !args_.filter.KeepsTime(time_ns, time_ns, notes_.start_ns()))
      return;
    listed_ = true;
    const std::string& kind = kinds_.NameOf(analysis_.last_kind());
    if (args_.format == Format::kText)
      return console_.PrintLine(LostPacketText(account, kind, notes_), /*indent=*/27);
    console_.Print(PacketLine(args_.format == Format::kCsv ? RowPart::kValues : RowPart::kMembers,
                              account, session_, args_.input.clone, kind));
  }

  /// When the replay read, which decides what was lost. CSV has rows of packets alone.
  void StateReads(const ReplayOutcome& outcome) const {
    if (args_.format == Format::kText)
      console_.PrintParagraph(fmt::format("Session {}: buffers were read {}. {}", session_,
                                          ReadsText(outcome.reads), ReadsNotes(outcome.reads)));
    else if (args_.format == Format::kJsonl)
      console_.Print(JsonLine("reads", outcome, FieldsToJson(outcome.reads)));
  }
  /// Returns true if a lost packet was printed.
  bool listed() const { return listed_; }

 private:
  const GapsArgs& args_;
  const uint64_t session_;
  Console& console_;
  DescribedKinds kinds_;
  const SessionNotes& notes_;
  const GapAnalysis& analysis_;  // gets each account before this
  bool listed_ = false;
};

/// Replays the session that `sessions` is at, and reports its losses.
/// @return kNotice if it lost anything that the filter selects
Result<ExitCode> ReplayForGaps(GapsArgs args, SessionReader& sessions, Context& context,
                               Report& out) {
  if (args.packets) {
    ReplayRun run(context, sessions, args.choices);
    LostPacketList list(run, args, sessions.session());
    RS_ASSIGN_OR_RETURN(const ReplayOutcome outcome, run.ToEnd());
    list.StateReads(outcome);
    return list.listed() ? ExitCode::kNotice : ExitCode::kClean;
  }
  DescribedKinds kinds;
  ExaminedSession session(context, sessions, args.choices, &kinds);
  session.run().Add<FilterBuffers>(args.filter);
  RS_ASSIGN_OR_RETURN(Examination examination, session.Examine());
  if (args.gate.is_set()) examination.broken_limits = args.gate.Broken(examination);
  const ShownGaps selection(examination, args.filter, kinds);
  if (args.format == Format::kCsv)
    out.Print(GapCsvRows(selection));
  else if (out.is_text())
    PrintGaps(out, selection, args.all);
  else
    WriteGaps(out, selection, /*lines=*/args.format == Format::kJsonl);
  if (out.is_text() || out.is_json()) ReportClones(out, selection.outcome);
  // A filter may select nothing that was lost in a session that has a finding.
  if (!args.gate.is_set())
    return args.filter.selects() ? selection.ending()
                                 : Worse(selection.ending(), CodeOf(std::span(&examination, 1)));
  if (out.is_text()) PrintBrokenLimits(out, std::span(&examination, 1));
  if (!examination.broken_limits.empty()) out.Data("broken_limits", examination.broken_limits);
  return examination.broken_limits.empty() ? ExitCode::kClean : ExitCode::kNotice;
}

Result<ExitCode> RunGaps(const GapsArgs& args, SessionReader& sessions, Context& context) {
  if (!args.of_trace.empty()) RS_RETURN_IF_ERROR(ParseSequence(args.of_trace.front()));
  if (args.packets && (args.format == Format::kJson || args.format == Format::kMarkdown))
    return Fail(ErrorCode::kUsage,
                fmt::format("--packets and --format {} cannot be used together", Name(args.format)),
                {}, "--format jsonl prints one packet per line");
  if (!args.packets) RS_RETURN_IF_ERROR(sessions.recording().Spool());
  // The packets of sessions follow each other like rows, without a title or an empty line.
  Report out(context.console, args.packets ? Format::kCsv : args.format, "gaps");
  if (args.format == Format::kCsv) out.Print(CsvTitles(args.packets));
  if (args.format == Format::kJsonl) out.Print(JsonText(JsonDocument("gaps")) + "\n");
  RS_ASSIGN_OR_RETURN(const ExitCode code, ReportSessions(sessions, out, [&] {
                        return ReplayForGaps(args, sessions, context, out);
                      }));
  return out.Finish(code);
}

/// Returns true if the filters of the command line keep a hole of a trace.
bool Keeps(const GapsArgs& args, const Examination& examination, const Hole& hole) {
  const int64_t start_ns = examination.subject.time.value_or(TimeSpan()).first_ns;
  const auto at = [&](const TimePoint& point) {
    return SignedNs(point.Absolute(static_cast<uint64_t>(start_ns)));
  };
  if (args.filter.from && hole.span.last_ns < at(*args.filter.from)) return false;
  if (args.filter.to && hole.span.first_ns > at(*args.filter.to)) return false;
  const SequenceStages* const sequence =
      hole.sequence ? &examination.account.sequences[*hole.sequence] : nullptr;
  if (!args.of_trace.empty() &&
      (sequence == nullptr || std::ranges::none_of(args.of_trace, [&](const std::string& text) {
         return text == std::to_string(sequence->id) ||
                (text.find_first_not_of("0123456789") != std::string::npos &&
                 OwnerOf(examination, hole).find(text) != std::string::npos);
       })))
    return false;
  const std::string& buffer = sequence == nullptr ? hole.where : sequence->buffer;
  return args.filter.buffers.empty() ||
         std::ranges::any_of(args.filter.buffers, [&](const BufferKey& key) {
           return key.is_index && BufferName(examination.subject.facts, key.number) == buffer;
         });
}

/// Reports what a trace proves, and its holes.
Result<ExitCode> ReportTraceGaps(const GapsArgs& args, Context& context) {
  constexpr std::string_view kColumns =
      "input session of stage from_ns to_ns packets places unusable previous_packet_dropped what";
  constexpr size_t kHolesListed = 10;
  const auto is_of_log = [](const BufferKey& key) { return !key.is_index; };
  if (!args.filter.sequences.empty() || std::ranges::any_of(args.filter.buffers, is_of_log))
    return Fail(ErrorCode::kUsage, "a trace does not have the ids that a log has",
                {args.input.paths.front(), {}, {}},
                "name sequences by their id or a part of their title (--seq 7, --seq com.app), "
                "and buffers by their index (--buffer 'buffers[0]')");
  RS_ASSIGN_OR_RETURN(ExaminedInputs examined,
                      ExamineInputs(context, args.input.paths, {}, args.input.only));
  const bool is_one = !examined.are_grouped();
  if (!is_one && (args.filter.selects() || !args.of_trace.empty() || args.format == Format::kCsv))
    return Fail(ErrorCode::kUsage, "holes can be selected, and listed as CSV, of one trace only",
                {}, "name one trace");
  size_t left_out = 0, left = 0;
  for (Examination& examination : examined.examinations) {
    left_out += std::erase_if(examination.holes,
                              [&](const Hole& hole) { return !Keeps(args, examination, hole); });
    left += examination.holes.size();
  }
  if (args.format == Format::kCsv) {
    context.console.Print(CsvTitles(kColumns));
    for (const Examination& examination : examined.examinations)
      for (const Hole& hole : examination.holes) {
        Json row = FieldsToJson(hole);
        row.update(JsonOf("input", examination.subject.file, "session", examination.subject.session,
                          "of", OwnerOf(examination, hole)));
        context.console.Print(CsvRow(kColumns, row));
      }
    return CodeOf(examined.examinations, args.gate);
  }
  RS_ASSIGN_OR_RETURN(
      const ExitCode code,
      ReportExaminations(context, args.format, examined, args.gate, /*brief=*/false, args.all));
  Report report(context.console, args.format, "gaps");
  if (report.is_text() && left_out > 0 && left == 0)
    report.Paragraph(fmt::format("\nHoles: the filters select none of {}.", left_out));
  if (report.is_text() && !args.all && is_one)
    for (const Examination& examination : examined.examinations)
      PrintHoles(report, examination, kHolesListed);
  return code;
}

}  // namespace

Command GapsCommand() {
  return {
      "gaps",
      "Report what was lost, to what, and what would have saved it",
      "Replays like 'ringscope replay', accounts for every packet that was written, and reports "
      "the missing ones: the answer, the losses by their cause with what keeps them, and the gaps "
      "that matter most. --all explains each gap: its content, the cause of the loss, which "
      "sequences evicted it, and what the trace shows of it. Of a trace: what doctor finds in it, "
      "and its holes.",
      {{"ringscope gaps session.tblog", "What is missing, and why?"},
       {"ringscope gaps --all session.tblog", "Each gap, and all other signs of a loss"},
       {"ringscope gaps --seq 2:17 --from 1.2s session.tblog",
        "What did this writer lose from then on?"},
       {"ringscope gaps --size 16MiB session.tblog", "Would a larger buffer lose less?"},
       {"ringscope gaps --packets --format jsonl session.tblog",
        "Each lost packet, and whose commit overwrote it"}},
      BindSessions({.traces = Traces::kExamined}, SetUp, RunGaps, ReportTraceGaps),
      {.clean = "Done; no packet that the filters select was lost, nothing shows that more is "
                "missing, and without filters the session has no warning.",
       .notice = "Done, and packets were lost, or may be missing, or the session has a warning; or "
                 "the input was damaged and what could be read was used."}};
}

}  // namespace ringscope
