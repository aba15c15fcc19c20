#ifndef RINGSCOPE_COMMANDS_DOCTOR_DOCTOR_TRACE_H_
#define RINGSCOPE_COMMANDS_DOCTOR_DOCTOR_TRACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/replays/replay_run.h"
#include "commands/replays/tried_remedies.h"
#include "commands/shell/command.h"
#include "commands/shell/input.h"
#include "commands/view/json_fields.h"
#include "commands/view/report.h"
#include "core/doctor/finding.h"

namespace ringscope {

/// Report of doctor on a trace or on a session of a log.
struct DoctorTrace {
  std::string file;                      // "bugreport.zip:traces/a.pftrace" in an archive
  std::optional<uint64_t> session = {};  // of a log, or of a trace that has several
  bool is_only_session = false;
  std::optional<std::string> replay =
      {};  // how the trace was made of a log: "v2@58, buffers read ..."
  Diagnosis diagnosis = {};
  std::vector<Remedy> remedies = {};      // of a log
  std::optional<std::string> error = {};  // why it could not be read: then there are no findings
  /// The trace's config with the changes of all findings marked, if it has one and there are any.
  std::optional<std::string> config = {};
};
using DoctorTraces = std::vector<DoctorTrace>;

inline void ListFields(JsonFieldWriter& io, const StatRow& row) {
  io("name", row.name, "idx", row.index, "value", row.value, "severity", row.severity);
  if (row.machine != 0) io("machine", row.machine);
}
inline void ListFields(JsonFieldWriter& io, const Finding& finding) {
  io("rule", finding.rule->id, "severity", finding.harm, "title", finding.rule->title, "what",
     finding.what.text, "where", finding.where.text, "cause", finding.cause.text, "proof",
     finding.proof.text, "remedy", finding.remedy.text, "figures", finding.figures(), "weight",
     finding.weight, "changes", finding.changes);
}
inline void ListFields(JsonFieldWriter& io, const DoctorTrace& trace) {
  const Diagnosis& diagnosis = trace.diagnosis;
  io("input", trace.file);
  io.UnlessEmpty("session", trace.session);
  io.UnlessEmpty("replay", trace.replay);
  const Answer& answer = diagnosis.answer;
  io("verdict", answer.headline, "severity", answer.severity, "answer", answer);
  io.UnlessEmpty("error", trace.error);
  io("stages", diagnosis.stages, "counters", diagnosis.counters, "findings", diagnosis.findings,
     "well", diagnosis.well, "unknown", diagnosis.unknown, "figures", diagnosis.figures);
  io.UnlessEmpty("remedies", trace.remedies);
  io.UnlessEmpty("config", trace.config);
}

/// @param config of the session; nullopt if it is not known
DoctorTrace Diagnosed(std::string file, Diagnosis diagnosis,
                      const std::optional<std::string>& config);
/// Judges a trace config alone.
DoctorTrace DiagnosedConfig(const std::string& path, const ConfigFile& config);
/// Returns the entry of a trace that cannot be read.
DoctorTrace UnreadableTrace(std::string file, Error error);

/// Leaves only the findings of a rule, an answer of these alone, and no config.
void KeepRule(DoctorTrace& trace, const std::string& rule);
/// Returns how a run over these traces ends: kFailed if none could be read, kNotice if there is a
/// warning or worse, or one of them could not be read.
ExitCode CodeOf(const DoctorTraces& traces);

/// Diagnoses all traces of an input: a Perfetto trace, each trace of a zip archive, or the replay
/// of each session of a log. Members of an archive that cannot be read are results, too.
/// @param path "-": standard input
/// @param choices of a log's replay @param session only this one
Result<DoctorTraces> ExamineInput(Context& context, const std::string& path,
                                  const ReplayChoices& choices, std::optional<uint64_t> session);
/// Returns true if the input is a log; standard input is not looked at.
bool IsLog(Context& context, const std::string& path);

/// The result of one trace, as text: the headline and the findings, the worst first.
/// @param brief the answer alone
/// @param all each finding in full, what was checked, and the config with the changes
void PrintTrace(Report& report, const DoctorTrace& trace, bool brief, bool all);

/// Prints many traces as text: those with the same findings as one, the changes of the config that
/// would fit them, and the worst ones, a paragraph each.
/// @param all lists all with findings, not the worst alone
void PrintManyTraces(Report& report, const DoctorTraces& traces, bool all);

/// Prints all traces for programs: one document (json), an object for each trace on a line of its
/// own (jsonl), or a row for each finding (csv).
Status WriteTraces(Console& console, const std::string& format, const DoctorTraces& traces);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_DOCTOR_DOCTOR_TRACE_H_
