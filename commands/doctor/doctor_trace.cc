#include "commands/doctor/doctor_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/wire.h"
#include "formats/descriptors/changed_config.h"

namespace ringscope {

DoctorTrace Diagnosed(std::string file, Diagnosis diagnosis,
                      const std::optional<std::string>& config) {
  DoctorTrace trace{.file = std::move(file), .diagnosis = std::move(diagnosis)};
  const std::vector<ConfigChange> changes = ChangesOf(trace.diagnosis);
  if (config && !changes.empty())
    trace.config = ChangedConfig(ReusableConfig(wire::AsBytes(*config)), changes);
  return trace;
}

DoctorTrace UnreadableTrace(std::string file, Error error) {
  if (error.where.path == file) error.where.path.clear();
  DoctorTrace trace{.file = std::move(file), .error = error.ToString()};
  trace.diagnosis.verdict = "It could not be read.";
  trace.diagnosis.harm = Harm::kError;
  trace.diagnosis.answer = {.severity = Harm::kError, .headline = *trace.error, .lines = {}};
  return trace;
}

void KeepRule(DoctorTrace& trace, const std::string& rule) {
  Diagnosis& diagnosis = trace.diagnosis;
  trace.config.reset();
  std::erase_if(diagnosis.findings,
                [&](const Finding& finding) { return finding.rule->id != rule; });
  if (trace.error) return;
  const bool is_found = !diagnosis.findings.empty();
  diagnosis.verdict =
      is_found ? diagnosis.findings.front().what : fmt::format("'{}' finds nothing here.", rule);
  diagnosis.harm = is_found ? diagnosis.findings.front().harm : Harm::kOk;
}

ExitCode CodeOf(const DoctorTraces& traces) {
  const auto failed = std::ranges::count_if(
      traces, [](const DoctorTrace& trace) { return trace.error.has_value(); });
  if (!traces.empty() && failed == std::ssize(traces)) return ExitCode::kFailed;
  const bool any = std::ranges::any_of(traces, [](const DoctorTrace& trace) {
    return std::ranges::any_of(trace.diagnosis.findings, [](const Finding& finding) {
      return finding.harm >= Harm::kWarning;
    });
  });
  return any || failed > 0 ? ExitCode::kNotice : ExitCode::kClean;
}

}  // namespace ringscope
