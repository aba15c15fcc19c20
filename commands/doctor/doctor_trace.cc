#include "commands/doctor/doctor_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/wire.h"
#include "formats/descriptors/changed_config.h"

namespace ringscope {
namespace {

/// @param config of the session, if it is known
DoctorTrace ResultOf(std::string file, Diagnosis diagnosis, std::optional<Bytes> config) {
  DoctorTrace trace;
  trace.file = std::move(file);
  const std::vector<ConfigChange> changes = ChangesOf(diagnosis);
  if (config && !changes.empty()) trace.config = ChangedConfig(ReusableConfig(*config), changes);
  trace.verdict = std::move(diagnosis.verdict);
  trace.severity = diagnosis.harm;
  trace.answer = std::move(diagnosis.answer);
  for (const StatRow& row : diagnosis.counters)
    trace.counters.push_back({row.name, row.index, row.value, row.severity,
                              row.machine == 0 ? std::nullopt : std::optional(row.machine)});
  for (Finding& finding : diagnosis.findings)
    trace.findings.push_back(
        {finding.rule->id, finding.harm, finding.rule->title, std::move(finding.what),
         std::move(finding.where), std::move(finding.cause), std::move(finding.proof),
         std::move(finding.remedy), finding.weight, std::move(finding.changes)});
  trace.well = std::move(diagnosis.well);
  trace.unknown = std::move(diagnosis.unknown);
  return trace;
}

}  // namespace

DoctorTrace Diagnosed(std::string file, const TraceFacts& facts, const ReplayFacts* replay) {
  DoctorTrace trace =
      ResultOf(std::move(file), Diagnose(facts, replay),
               facts.config ? std::optional(wire::AsBytes(*facts.config)) : std::nullopt);
  trace.service_version = facts.service_version;
  return trace;
}

DoctorTrace DiagnosedConfig(std::string file, Bytes config) {
  return ResultOf(std::move(file), DiagnoseConfig(config), config);
}

DoctorTrace UnreadableTrace(std::string file, Error error) {
  DoctorTrace trace;
  trace.file = std::move(file);
  if (error.where.path == trace.file) error.where.path.clear();
  trace.verdict = "It could not be read.";
  trace.severity = Harm::kError;
  trace.error = error.ToString();
  trace.answer = {.severity = Harm::kError, .headline = *trace.error, .lines = {}};
  return trace;
}

void KeepRule(DoctorTrace& trace, const std::string& rule) {
  trace.config.reset();
  std::erase_if(trace.findings, [&](const DoctorFinding& finding) { return finding.rule != rule; });
  if (trace.error) return;
  trace.verdict = trace.findings.empty() ? fmt::format("'{}' finds nothing here.", rule)
                                         : trace.findings.front().what;
  trace.severity = trace.findings.empty() ? Harm::kOk : trace.findings.front().severity;
}

ExitCode CodeOf(const DoctorTraces& traces) {
  const auto failed = std::ranges::count_if(
      traces, [](const DoctorTrace& trace) { return trace.error.has_value(); });
  if (!traces.empty() && failed == std::ssize(traces)) return ExitCode::kFailed;
  const bool any = std::ranges::any_of(traces, [](const DoctorTrace& trace) {
    return std::ranges::any_of(trace.findings, [](const DoctorFinding& finding) {
      return finding.severity >= Harm::kWarning;
    });
  });
  return any || failed > 0 ? ExitCode::kNotice : ExitCode::kClean;
}

}  // namespace ringscope
