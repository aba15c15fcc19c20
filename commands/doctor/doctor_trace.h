#ifndef RINGSCOPE_COMMANDS_DOCTOR_DOCTOR_TRACE_H_
#define RINGSCOPE_COMMANDS_DOCTOR_DOCTOR_TRACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/shell/command.h"
#include "commands/view/answer_report.h"
#include "commands/view/json_fields.h"
#include "core/doctor/finding.h"

namespace ringscope {

/// Report of doctor on a trace or on a session of a log.
struct DoctorTrace {
  std::string file;                      // "bugreport.zip:traces/a.pftrace" in an archive
  std::optional<uint64_t> session = {};  // of a log, or of a trace that has several
  std::optional<std::string> replay =
      {};  // how the trace was made of a log: "v2@58, buffers read ..."
  Diagnosis diagnosis = {};
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
     finding.what, "where", finding.where, "cause", finding.cause, "proof", finding.proof, "remedy",
     finding.remedy, "weight", finding.weight, "changes", finding.changes);
}
inline void ListFields(JsonFieldWriter& io, const DoctorTrace& trace) {
  const Diagnosis& diagnosis = trace.diagnosis;
  io("input", trace.file);
  io.UnlessEmpty("session", trace.session);
  io.UnlessEmpty("replay", trace.replay);
  io("verdict", diagnosis.verdict, "severity", diagnosis.harm, "answer", diagnosis.answer);
  io.UnlessEmpty("error", trace.error);
  io("counters", diagnosis.counters, "findings", diagnosis.findings, "well", diagnosis.well,
     "unknown", diagnosis.unknown);
  io.UnlessEmpty("config", trace.config);
}

/// @param config of the session; nullopt: it is not known
DoctorTrace Diagnosed(std::string file, Diagnosis diagnosis,
                      const std::optional<std::string>& config);
/// Returns the entry of a trace that cannot be read.
DoctorTrace UnreadableTrace(std::string file, Error error);

/// Leaves only the findings of a rule, a verdict of these alone, and no config.
void KeepRule(DoctorTrace& trace, const std::string& rule);
/// Returns how a run over these traces ends: kFailed if none could be read, kNotice if there is a
/// warning or worse, or one of them could not be read.
ExitCode CodeOf(const DoctorTraces& traces);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_DOCTOR_DOCTOR_TRACE_H_
