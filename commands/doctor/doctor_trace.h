#ifndef RINGSCOPE_COMMANDS_DOCTOR_DOCTOR_TRACE_H_
#define RINGSCOPE_COMMANDS_DOCTOR_DOCTOR_TRACE_H_

#include <optional>
#include <string>
#include <vector>

#include "commands/shell/exit_code.h"
#include "commands/view/answer_report.h"
#include "commands/view/json_fields.h"
#include "core/doctor/finding.h"

namespace ringscope {

struct DoctorCounter {
  std::string name;
  std::optional<uint32_t> idx;
  uint64_t value = 0;
  StatSeverity severity = StatSeverity::kInfo;
  std::optional<uint32_t> machine = {};  // machine_id; absent: the service's own
};

struct DoctorFinding {
  std::string rule;
  Harm severity = Harm::kInfo;
  std::string title, what, where, cause, proof, remedy;
  uint64_t weight = 0;
  std::vector<ConfigChange> changes;
};

struct DoctorTrace {
  std::string file;                   // "bugreport.zip:traces/a.pftrace" in an archive
  std::optional<uint64_t> session;    // of a log, or of a trace that has several
  std::optional<std::string> replay;  // how the trace was made of a log: "v2@58, buffers read ..."
  std::string verdict;
  Harm severity = Harm::kOk;
  Answer answer;
  std::optional<std::string> error;  // why it could not be read: then there are no findings
  std::vector<DoctorCounter> counters;
  std::vector<DoctorFinding> findings;
  std::vector<std::string> well, unknown;
  std::string service_version;  // of a trace; empty: it does not say. Not part of the JSON
  /// The trace's config with the changes of all findings marked, if it has one and there are any.
  std::optional<std::string> config;
};

template <typename Io>
void ListFields(Io& io, DoctorCounter& counter) {
  io("name", counter.name, "idx", counter.idx, "value", counter.value, "severity",
     counter.severity);
  io.UnlessEmpty("machine", counter.machine);
}

template <typename Io>
void ListFields(Io& io, DoctorFinding& finding) {
  io("rule", finding.rule, "severity", finding.severity, "title", finding.title, "what",
     finding.what, "where", finding.where, "cause", finding.cause, "proof", finding.proof, "remedy",
     finding.remedy, "weight", finding.weight, "changes", finding.changes);
}

template <typename Io>
void ListFields(Io& io, DoctorTrace& trace) {
  io("file", trace.file);
  io.UnlessEmpty("session", trace.session);
  io.UnlessEmpty("replay", trace.replay);
  io("verdict", trace.verdict, "severity", trace.severity, "answer", trace.answer);
  io.UnlessEmpty("error", trace.error);
  io("counters", trace.counters, "findings", trace.findings, "well", trace.well, "unknown",
     trace.unknown);
  io.UnlessEmpty("config", trace.config);
}

using DoctorTraces = std::vector<DoctorTrace>;

/// Judges a trace with these facts.
/// @param replay that made it of a log; nullptr: it is from a service
DoctorTrace Diagnosed(std::string file, const TraceFacts& facts,
                      const ReplayFacts* replay = nullptr);
/// Judges a trace config alone.
DoctorTrace DiagnosedConfig(std::string file, Bytes config);
/// Returns the entry of a trace that cannot be read.
DoctorTrace UnreadableTrace(std::string file, Error error);
/// Leaves only the findings of a rule, a verdict of these alone, and no config.
void KeepRule(DoctorTrace& trace, const std::string& rule);

/// Returns how a run over these traces ends: kFailed if none could be read, kNotice if there is a
/// warning or worse, or one of them could not be read.
ExitCode CodeOf(const DoctorTraces& traces);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_DOCTOR_DOCTOR_TRACE_H_
