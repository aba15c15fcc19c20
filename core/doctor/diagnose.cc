#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/base/text.h"
#include "core/base/wire.h"
#include "core/doctor/examiner.h"
#include "core/trace/stat_rows.h"
#include "core/trace/trace_facts.h"

namespace ringscope {
namespace {

bool IsWorse(const Finding& a, const Finding& b) {
  // What a replay proves comes before what the trace's counters say of it.
  const auto is_proved = [](const Finding& one) {
    return std::string_view(one.rule->id).starts_with("log.");
  };
  return std::tuple(a.harm, is_proved(a), a.weight) > std::tuple(b.harm, is_proved(b), b.weight);
}

Diagnosis Conclude(Examiner& examiner, std::string if_nothing) {
  Diagnosis diagnosis;
  std::ranges::stable_sort(examiner.findings(), IsWorse);
  diagnosis.findings = std::move(examiner.findings());
  diagnosis.well = std::move(examiner.well());
  diagnosis.unknown = std::move(examiner.unknown());
  const auto more = static_cast<uint64_t>(std::ranges::count_if(
      diagnosis.findings, [](const Finding& finding) { return finding.harm > Harm::kInfo; }));
  const uint64_t infos = diagnosis.findings.size() - more;
  if (!diagnosis.findings.empty()) diagnosis.harm = diagnosis.findings.front().harm;
  diagnosis.verdict =
      more == 0 ? std::move(if_nothing) : StandaloneText(examiner, diagnosis.findings.front());
  diagnosis.answer = AnswerOf(diagnosis, examiner);
  // Of a log, the answer begins with what its replay knows of the lost packets.
  if (examiner.replay != nullptr) {
    diagnosis.verdict = diagnosis.answer.headline;
    diagnosis.harm = std::max(diagnosis.harm, diagnosis.answer.severity);
  }
  // As many as are listed below it.
  if (more > 1 || (more == 1 && infos > 0)) {
    std::vector<std::string> parts;
    if (more > 1)
      parts.push_back(more == 2 ? std::string("one more finding")
                                : fmt::format("{} more findings", more - 1));
    if (infos > 0) parts.push_back(Count(infos, "informational finding"));
    diagnosis.verdict.pop_back();  // the full stop
    diagnosis.verdict += fmt::format("; {}.", fmt::join(parts, " and "));
  }
  return diagnosis;
}

}  // namespace

Diagnosis Diagnose(const TraceFacts& facts, const ReplayFacts* replay) {
  Examiner examiner(facts, replay);
  if (IsLostTrace(facts.service_version)) {
    ExamineLostTrace(examiner);
    return Conclude(examiner,
                    "This is not the trace of a session: it has the packets that a session lost.");
  }
  if (replay != nullptr) examiner.findings() = replay->findings;
  ExamineFile(examiner);
  ExamineBuffers(examiner);
  ExamineSequences(examiner);
  ExamineSession(examiner);
  ExamineFtrace(examiner);
  ExamineClocks(examiner);
  ExamineConfig(examiner);
  Diagnosis diagnosis =
      Conclude(examiner, facts.stats_packets > 0
                             ? "Nothing is wrong with this trace, as far as it shows."
                             : "Nothing is wrong with what is there, but the trace does not show "
                               "what was lost.");
  for (StatRow& row : StatRowsOf(facts))
    if (row.severity != StatSeverity::kInfo && row.value != 0)
      diagnosis.counters.push_back(std::move(row));
  return diagnosis;
}

Diagnosis DiagnoseConfig(Bytes config) {
  TraceFacts facts;
  facts.config = std::string(wire::AsText(config));
  Examiner examiner(facts);
  ExamineConfig(examiner);
  return Conclude(examiner, examiner.findings().empty()
                                ? "Nothing speaks against this config."
                                : "Nothing in this config is wrong, but see below.");
}

std::vector<ConfigChange> ChangesOf(const Diagnosis& diagnosis) {
  std::vector<ConfigChange> changes;
  for (const Finding& finding : diagnosis.findings) {
    for (const ConfigChange& change : finding.changes)
      if (std::ranges::find(changes, change.path, &ConfigChange::path) == changes.end())
        changes.push_back(change);
  }
  return changes;
}

}  // namespace ringscope
