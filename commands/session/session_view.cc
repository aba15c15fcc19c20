#include "commands/session/session_view.h"

#include "formats/ops/ops_jsonl.h"

namespace ringscope {
namespace {

constexpr size_t kOffsetsShown = 8;
constexpr size_t kMostHex = 40;  // digits: an id, and no content

std::string FieldsText(const Json& fields);

/// "64 KiB", "'app'", "of 312 bytes": the value of a key of a record's line.
std::string ValueText(const std::string& key, const Json& value) {
  if (value.is_array()) {
    std::vector<std::string> texts;
    for (const Json& each : value) texts.push_back(ValueText(key, each));
    return Joined(texts, " ");
  }
  if (value.is_object()) return FieldsText(value);
  if (key.ends_with("size")) return HumanSize(value.get<uint64_t>());
  if (!value.is_string()) return value.dump();
  const auto& text = value.get_ref<const std::string&>();
  if (text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_@0123456789") == std::string::npos &&
      text.size() <= kMostHex)
    return text;
  const bool is_hex = text.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_hex ? fmt::format("of {} bytes", WithCommas(text.size() / 2))
                : fmt::format("'{}'", Printable(text));
}

std::string FieldsText(const Json& fields) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : fields.items())
    if (key != "op" && value != false && value != "")
      texts.push_back(key + " " + ValueText(key, value));
  return Joined(texts);
}

}  // namespace

Result<ExitCode> ForEachSession(SessionReader& sessions, const SessionTask& task) {
  ExitCode code = ExitCode::kClean;
  sessions.DivideRuns();
  RS_ASSIGN_OR_RETURN(bool more, sessions.NextSession());
  while (more) {
    RS_ASSIGN_OR_RETURN(const ExitCode ending, task());
    code = Worse(code, ending);
    RS_ASSIGN_OR_RETURN(more, sessions.NextSession());
  }
  return Worse(sessions.Finish(), code);
}

Result<ExitCode> ReportSessions(SessionReader& sessions, Report& report, const SessionTask& task) {
  report.Data("sessions", Json::array());
  bool first = true;
  if (report.is_text()) sessions.ReportsVerdicts();
  std::vector<std::string> inexact;
  const auto code = ForEachSession(sessions, [&]() -> Result<ExitCode> {
    if (!std::exchange(first, false) && report.is_text()) report.Print("\n");
    RS_ASSIGN_OR_RETURN(const ExitCode ending, report.AddItem("sessions", task));
    if (const std::string reasons = InexactText(sessions.Verdicts()); !reasons.empty())
      inexact.push_back(
          fmt::format("{}: session {}: {}", sessions.path(), sessions.session(), reasons));
    return ending;
  });
  const auto state = [&](const char* title, const char* key,
                         const std::vector<std::string>& sentences) {
    if (sentences.empty()) return;
    if (report.is_text()) report.Print("\n");
    for (const std::string& sentence : sentences)
      if (report.is_text()) report.Paragraph(fmt::format("{}: {}.", title, Printable(sentence)));
    report.Data(key, sentences);
  };
  state("Assumed", "assumed", sessions.reported().assumptions);
  if (report.is_text()) state("Not exact", "", inexact);  // for programs: in each session
  state("Not complete", "not_complete", sessions.reported().problems);
  return code;
}

void ReportTitle(Report& report, const SessionTitle& title) {
  report.PrintWrapped(
      TextStyle::kBold, Printable(title.path) + ":",
      fmt::format(
          " {}{}{}{}{}", title.session == 0 ? "" : fmt::format("session {}: ", title.session),
          title.clone ? fmt::format("clone {}: ", *title.clone) : "",
          Count(title.records, "record"),
          title.duration_ns > 0 ? " over " + HumanDuration(title.duration_ns) : "", title.more));
}

void ReportClones(Report& report, const ReplayOutcome& session) {
  if (session.clone) return;
  std::vector<std::string> numbers;
  for (const CloneFacts& clone : session.clones) {
    if (!clone.failed) numbers.push_back(std::to_string(clone.clone));
    if (clone.failed)
      report.Paragraph(fmt::format("\nClone {} was not made{}{}.", clone.clone,
                                   clone.error.empty() ? "" : ": ", Printable(clone.error)));
  }
  if (numbers.empty()) return;
  report.Data("clones", numbers);
  report.Paragraph(
      fmt::format("\nThis is what the session's own consumer has. The holder of {} {} may have "
                  "other packets: see --clone.",
                  numbers.size() == 1 ? "clone" : "clones", Joined(numbers)));
}

void ReportReplayTitle(Report& report, const ReplayOutcome& outcome) {
  ReportTitle(report, {.path = outcome.path,
                       .session = outcome.is_only_session ? 0 : outcome.session,
                       .records = outcome.records,
                       .duration_ns = outcome.duration_ns(),
                       .clone = outcome.clone,
                       .more = fmt::format(", {}, {}", Count(outcome.read_passes, "read"),
                                           ReadsText(outcome.reads))});
  if (outcome.clone) report.Data("clone", *outcome.clone);
  if (const std::string notes = ReadsNotes(outcome.reads); !notes.empty()) report.Paragraph(notes);
  if (report.is_text() && outcome.buffers.empty()) report.Print("The session has no buffer.\n");
}

std::string DescribeRecord(const OpBody& body) {
  if (std::holds_alternative<Commit>(body)) return "";  // has lines of its own
  if (const auto* const note = std::get_if<Note>(&body)) return Printable(note->text);
  return FieldsText(Json::parse(FormatOp({.time_ns = {}, .body = body})));
}

std::string DescribeChunk(const ChunkToMove& chunk) {
  if (!chunk.data)
    return fmt::format("page {} chunk {} of the shared memory, whose bytes are not in the log",
                       chunk.page.value_or(0), chunk.index.value_or(0));
  const auto header = ParseChunkHeader(*chunk.data);
  if (!header) return fmt::format("malformed chunk of {}", Count(chunk.data->size(), "byte"));
  std::string text = fmt::format("{}, {}", Count(header->fragments, "fragment"),
                                 Count(chunk.data->size() - kChunkHeaderSize, "byte"));
  for (const FlagName& known : kFlagNames)
    if ((header->flags & known.flag) != 0) text += fmt::format(", {}", known.name);
  if ((header->flags & ~kAbiFlags) != 0)
    text += fmt::format(", unknown flags {:#x}", header->flags & ~kAbiFlags);
  if (chunk.incomplete) text += ", incomplete";
  return text;
}

std::string DescribePatches(const ChunkToPatch& patch) {
  const size_t count = patch.patches.size();
  std::string text = Count(count, "patch");
  for (size_t i = 0; i < count && i < kOffsetsShown; ++i)
    text += fmt::format("{} {}", i == 0 ? " at" : ",", patch.patches[i].offset);
  if (count > kOffsetsShown) text += ", ...";
  if (patch.more) text += ", more patches follow";
  return text;
}

void WarnOfInexact(Console& console, const std::string& path, const Verdicts& verdicts) {
  if (const std::string text = InexactText(verdicts); !text.empty())
    console.Warn(fmt::format("{}: the recording is not exact: {}", path, text));
}

void AddInexact(Report& report, const Verdicts& verdicts) {
  if (!verdicts.empty()) report.Data("inexact", FieldsToJson(verdicts));
}

void ListFields(JsonFieldWriter& io, const RecordingVerdict& verdict) {
  io("reason", verdict.reason, "times", verdict.times, "session", verdict.session, "detail",
     verdict.detail);
}

}  // namespace ringscope
