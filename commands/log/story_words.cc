#include "commands/log/story_words.h"

#include <fmt/format.h>

#include "commands/replays/loss_words.h"
#include "commands/shell/text.h"

namespace ringscope {
namespace {

/// Findings of one kind that are listed; more are counted.
constexpr size_t kFindingsShown = 12;

}  // namespace

std::string FindingText(const SourceFinding& finding) {
  const std::string source = fmt::format("data source '{}'", Printable(finding.source));
  const std::string producer =
      finding.producer ? ProducerText(*finding.producer, finding.producer_name) : std::string();
  switch (finding.problem) {
    case SourceProblem::kNoProducer:
      return fmt::format("{} of the config: no producer in this log has it", source);
    case SourceProblem::kNotSetUp:
      return fmt::format(
          "{} of the config: {} has it, but was not asked for it (see the "
          "config's producer filters)",
          source, producer);
    case SourceProblem::kUnusedProducer:
      return fmt::format("{}: the config asks for none of its data sources ({})", producer,
                         Printable(finding.source));
    case SourceProblem::kNeverWrote:
      break;
  }
  return fmt::format("{} of {} was started, and wrote nothing to buffer {}", source, producer,
                     finding.buffer ? Raw(*finding.buffer) : 0);
}

Json FindingsJson(const std::vector<SourceFinding>& findings) {
  Table table({{"problem", Align::kLeft, "problem"},
               DataColumn("session", kInJson | kUnlessNull),
               DataColumn("source"),
               DataColumn("producer", kInJson | kUnlessNull),
               DataColumn("producer_name", kInJson | kUnlessNull),
               DataColumn("buffer", kInJson | kUnlessNull)});
  for (const SourceFinding& finding : findings) {
    table.AddRow(
        {NameCell(Name(finding.problem)),
         DataCell(finding.session ? Json(*finding.session) : Json()),
         DataCell(Printable(finding.source)),
         DataCell(finding.producer ? Json(Raw(*finding.producer)) : Json()),
         DataCell(finding.producer_name.empty() ? Json() : Json(Printable(finding.producer_name))),
         DataCell(finding.buffer ? Json(Raw(*finding.buffer)) : Json())});
  }
  return table.ToJson();
}

void ReportFindings(Report& report, const std::vector<SourceFinding>& findings, size_t indent) {
  report.Data("idle_sources", FindingsJson(findings));
  if (findings.empty()) return;
  report.Heading("Data sources and producers without data", indent);
  const std::string margin(indent + 2, ' ');
  size_t shown = 0;
  for (const SourceFinding& finding : findings) {
    if (++shown > kFindingsShown) break;
    report.Print(Wrap(FindingText(finding), margin, /*hanging=*/2) + "\n");
  }
  if (findings.size() > kFindingsShown)
    report.Print(
        fmt::format("{}and {} more\n", margin, WithCommas(findings.size() - kFindingsShown)));
}

std::string FlushReasonText(uint64_t flags) {
  std::string text;
  switch (ReasonOf(flags)) {
    case FlushReason::kPeriodic:
      text = "periodic";
      break;
    case FlushReason::kTraceStop:
      text = "before the stop";
      break;
    case FlushReason::kTraceClone:
      text = "for a clone";
      break;
    case FlushReason::kExplicit:
      text = "asked for";
      break;
    case FlushReason::kUnknown:
      break;
  }
  switch (InitiatorOf(flags)) {
    case FlushInitiator::kPerfettoCmd:
      return text + (text.empty() ? "" : ", ") + "by the perfetto command";
    case FlushInitiator::kConsumerSdk:
      return text + (text.empty() ? "" : ", ") + "by a consumer";
    case FlushInitiator::kTraced:
      return text + (text.empty() ? "" : ", ") + "by the service";
    case FlushInitiator::kUnknown:
      break;
  }
  return text;
}

std::string LatencyText(uint64_t ns) {
  const double ms = static_cast<double>(ns) / 1e6;
  return ms < 1000 ? fmt::format("{:.1f} ms", ms) : fmt::format("{:.3f} s", ms / 1000);
}

}  // namespace ringscope
