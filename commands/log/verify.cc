#include "commands/log/logs.h"
#include "commands/session/session_view.h"
#include "commands/shell/commands.h"
#include "formats/descriptors/descriptors.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope {
namespace {

struct VerifyArgs {
  std::vector<std::string> logs;
  std::string repaired;  // the clean copy to write
  bool force = false;
  Format format = Format::kText;
};

void SetUp(CLI::App& app, VerifyArgs& args) {
  AddLogs(app, args.logs, Traces::kTaken);
  InGroup(app, kOutputGroup);
  AddText(app, "--repair", args.repaired, "OUT",
          "Write a clean copy of what is readable of one log (.tblog), and verify that; of a trace "
          "(.pftrace), the packets that are whole");
  AddForce(app, args.force);
  AddFormat(app, args.format, {Format::kText, Format::kJson});
}

void ReportVerdict(Report& report, const std::string& path, const LogInfo& info) {
  const bool good = info.damage_count == 0;
  report.Title(Printable(path),
               (good ? "no damage: " : "damaged in " + Count(info.damage_count, "place") + ": ") +
                   ExtentText(info));
  AddLogData(report, path, info);
  PrintDamage(report, info.damage, info.damage_count);
  if (!info.closed && !info.sessions.empty()) {
    report.Paragraph("Not complete: " + IncompleteText(path, info) +
                         ". 'ringscope verify --repair OUT' writes a copy that is closed.",
                     "  ");
  } else if (IsCutOff(info)) {
    report.Paragraph("Not complete: " + std::string(kCutOffText) + ".", "  ");
  } else if (good && info.format == LogFormat::kCommitLog && !info.cleanly_closed) {
    report.Paragraph("Logs were concatenated: a copy by --repair has one index for all.", "  ");
  }
  Verdicts verdicts;
  for (const SessionSummary& session : info.sessions)
    std::ranges::move(VerdictsOf(session), std::back_inserter(verdicts));
  AddInexact(report, verdicts);
  if (!verdicts.empty())
    report.Print("  The recording is not exact.\n" + VerdictLines(verdicts, /*indent=*/2));
}

/// Reports a trace, and writes what is whole of it.
/// @return kNotice if some of it is not
Result<ExitCode> VerifyTrace(const VerifyArgs& args, const std::string& path,
                             std::unique_ptr<ByteSource> source, Report& report, Context& context) {
  std::unique_ptr<OutputFile> copy;
  if (!args.repaired.empty()) {
    RS_ASSIGN_OR_RETURN(copy, CreateOutput(context, args.repaired, kTraceOutput, args.force));
  }
  std::optional<Progress> progress(std::in_place, context.console,
                                   fmt::format("verifying {}", Printable(path)));
  RS_ASSIGN_OR_RETURN(const auto reader,
                      TraceReader::Open(std::move(source), TraceReader::OnDamage::kSkip));
  uint64_t packets = 0, bytes = 0, left_out = 0;
  std::string field;
  for (RawPacket packet;;) {
    RS_ASSIGN_OR_RETURN(const bool more, reader->Next(packet));
    if (!more) break;
    progress->Update(reader->position(), reader->size().value_or(0));
    // Trace processor reads no more of a packet than it needs; other parsers refuse the whole file.
    if (copy != nullptr && !descriptors::CanParse("TracePacket", packet.bytes)) {
      ++left_out;
      continue;
    }
    ++packets;
    bytes += packet.bytes.size();
    if (copy == nullptr) continue;
    field.clear();
    wire::AppendBytes(field, proto::Trace::kPacket, packet.bytes);
    RS_RETURN_IF_ERROR(copy->Write(field));
  }
  progress.reset();
  if (copy != nullptr) RS_RETURN_IF_ERROR(copy->Commit());
  const uint64_t damaged = reader->damage_count();
  report.Data(JsonOf("input", path, "packets", packets, "bytes", bytes, "is_cut_off",
                     reader->is_cut_off(), "damage_count", damaged, "left_out", left_out, "damage",
                     DamageTable(reader->damage()).ToJson()));
  report.Title(Printable(path), fmt::format("a trace, {}: {} ({}) can be read",
                                            damaged + left_out == 0 ? "whole"
                                            : reader->is_cut_off()  ? "cut off within a packet"
                                                                    : "damaged",
                                            Count(packets, "packet"), HumanSize(bytes)));
  PrintDamage(report, reader->damage(), damaged);
  if (copy != nullptr)
    report.Paragraph(fmt::format("The packets are in {}.", Printable(args.repaired)), "  ");
  if (left_out > 0)
    report.Paragraph(fmt::format("{} with a malformed message inside {} left out.",
                                 Count(left_out, "packet"), Was(left_out)),
                     "  ");
  return damaged + left_out == 0 ? ExitCode::kClean : ExitCode::kNotice;
}

/// Writes a clean copy of the log, and lists what was lost.
/// @param source the log's bytes; nullptr: it is opened by its name
Result<ExitCode> RepairOne(const VerifyArgs& args, std::unique_ptr<ByteSource> source,
                           Context& context) {
  const std::string& log = args.logs.front();
  if (args.format != Format::kText)
    return Fail(ErrorCode::kUsage, "--repair of a log reports as text", {}, "leave --format out");
  SessionReader sessions(context, {.paths = {log}, .quiet = true}, "repairing");
  sessions.recording().KeepAsLogged();
  sessions.recording().UseOpened(std::move(source));
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                      CreateOutput(context, args.repaired, kLogOutput, args.force));
  if (file->written_to().empty())
    return Fail(ErrorCode::kUsage, "the copy is verified, so it must be a file",
                {args.repaired, {}, {}}, "name a file to write");
  RS_ASSIGN_OR_RETURN(const bool more, sessions.NextSession());
  RS_ASSIGN_OR_RETURN(const LogCopy copied, CopyLog(sessions, more, *file));
  // The copy is verified before it is in its place: one that is not clean would be trusted.
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> written, OpenByteSource(file->written_to()));
  RS_ASSIGN_OR_RETURN(const LogInfo copy, VerifyLog(std::move(written)));
  if (copy.damage_count > 0 || !copy.cleanly_closed)
    return Fail(ErrorCode::kIo,
                "the copy did not verify: " +
                    (copy.damage.empty() ? "it has no index" : copy.damage[0].ToString()),
                {args.repaired, {}, {}}, "it was removed; check the file system and try again");
  RS_RETURN_IF_ERROR(file->Commit());

  Report report(context.console, Format::kText, "verify");
  report.Title(Printable(args.repaired), "verified: " + ExtentText(copy));
  const ConsoleReporter& found = sessions.reported();
  for (const std::string& problem : found.problems)
    report.Paragraph("Not complete: " + Printable(problem) + ".");
  if (copied.is_cut_off) report.Print("The copy is marked as cut off.\n");
  const std::string& left_out = copied.left_out;
  if (!left_out.empty()) report.Print("Not complete: " + left_out + ".\n");
  if (found.damage_count > 0) {
    report.Print(fmt::format("Lost from {}:\n", Printable(log)));
    PrintDamage(report, found.damage, found.damage_count);
  } else if (left_out.empty()) {
    report.Print(found.problems.empty() ? "Nothing was lost.\n"
                                        : "Nothing of what was there was lost.\n");
  }
  return Worse(sessions.Finish(), left_out.empty() ? ExitCode::kClean : ExitCode::kNotice);
}

Result<ExitCode> RunVerify(const VerifyArgs& args, Context& context) {
  if (args.repaired == "-")
    return Fail(ErrorCode::kUsage, "the copy is verified, so it cannot go to standard output", {},
                "name a file");
  if (!args.repaired.empty() && args.logs.size() > 1)
    return Fail(ErrorCode::kUsage, "--repair copies one log or trace", {}, "name one");
  Report report(context.console, args.format, "verify");
  const LogParts parts = FindLogParts(args.logs);
  bool notice = !parts.problems.empty();
  for (const std::string& path : parts.paths) {
    RS_ASSIGN_OR_RETURN(KnownInput input, OpenOneInput(context, path));
    if (input.kind == InputKind::kTrace) {
      RS_ASSIGN_OR_RETURN(const ExitCode code, report.AddItem("traces", [&] {
        return VerifyTrace(args, path, std::move(input.source), report, context);
      }));
      notice |= code == ExitCode::kNotice;
      continue;
    }
    if (!args.repaired.empty())
      return RepairOne(args, path == args.logs.front() ? std::move(input.source) : nullptr,
                       context);
    LogInfo info;
    {
      Progress progress(context.console, fmt::format("verifying {}", Printable(path)));
      const auto update = [&](uint64_t done, uint64_t total) { progress.Update(done, total); };
      RS_ASSIGN_OR_RETURN(info, VerifyLog(std::move(input.source), update));
    }
    notice = notice || info.damage_count > 0 || !info.closed || IsCutOff(info);
    report.AddItem("logs", [&] { ReportVerdict(report, path, info); });
  }
  report.Data("parts_problems", Json(parts.problems));
  for (const std::string& problem : parts.problems)
    report.Paragraph("Parts: " + Printable(problem) + ".");
  return report.Finish(notice ? ExitCode::kNotice : ExitCode::kClean);
}

}  // namespace

Command VerifyCommand() {
  return {"verify",
          "Check a log or a trace for damage, down to each record",
          "Reads logs to their end and checks frames, checksums, seek table, index, summary, "
          "record numbers, and that every record parses. Lists the damage: where, how many bytes, "
          "which records. If one part of a recording is named, all of its parts are verified, and "
          "parts that are missing or of another recording are reported. --repair copies every "
          "readable record of one log into a new one with checksums, index and seek table, notes "
          "where records are missing, and lists what was lost. All parts of a recording become one "
          "file. The copy of a log that was not closed is marked as cut off. Of a trace it says "
          "whether it is whole, where it is cut or damaged, and how many packets can be read.",
          {{"ringscope verify *.tblog", "Are these logs undamaged?"},
           {"ringscope verify torn.tblog --repair clean.tblog", "Save the readable parts of a log"},
           {"ringscope verify cut.pftrace --repair whole.pftrace",
            "Save the whole packets of a trace"}},
          Bind(SetUp, RunVerify),
          {.clean = "Done; there is no damage.",
           .notice =
               "There is damage, a log was not closed, parts are missing, or something was lost."}};
}

}  // namespace ringscope
