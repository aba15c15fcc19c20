#include "commands/doctor/doctor_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/shell/text.h"

namespace ringscope {
namespace {

constexpr size_t kPartIndent = 3;

/// "   Where:   buffer 0", unless there is nothing to print.
void PrintPart(Report& report, const char* title, const std::string& text) {
  if (text.empty()) return;
  report.Print(Wrap(Printable(text), fmt::format("{:{}}{:<9}", "", kPartIndent, title)) + "\n");
}

void PrintFinding(Report& report, size_t number, const DoctorFinding& finding) {
  report.Print("\n");
  report.PrintWrapped(
      StyleOf(finding.severity), fmt::format("{}. {}", number, Printable(finding.title)),
      fmt::format(" [{}] ({})", HarmText(finding.severity), Printable(finding.rule)));
  PrintPart(report, "What:", finding.what);
  PrintPart(report, "Where:", finding.where);
  PrintPart(report, "Cause:", finding.cause);
  PrintPart(report, "Proof:", finding.proof);
  PrintPart(report, "Remedy:", finding.remedy);
  for (const ConfigChange& change : finding.changes)
    report.Print(
        Wrap(Printable(fmt::format("{}: {}  # {}{}", change.path, change.value, change.reason,
                                   change.is_estimate ? " (an estimate)" : "")),
             kPartIndent + 9) +
        "\n");
}

void PrintList(Report& report, const char* title, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  report.Heading(title);
  for (const std::string& text : texts) report.Print(Wrap(Printable(text), "- ") + "\n");
}

bool NamesABuffer(const DoctorFinding& finding) {
  return finding.where.find("buffer ") != std::string::npos;
}

std::string NameOf(const DoctorTrace& trace) {
  return trace.session ? fmt::format("{}: session {}", Printable(trace.file), *trace.session)
                       : Printable(trace.file);
}

}  // namespace

void PrintBrief(Report& report, const DoctorTrace& trace) {
  PrintAnswer(report, NameOf(trace), trace.answer);
}

void PrintTrace(Report& report, const DoctorTrace& trace, uint64_t limit) {
  report.PrintWrapped(StyleOf(trace.severity),
                      fmt::format("{}: {}:", NameOf(trace), HarmText(trace.severity)),
                      " " + Printable(trace.error ? *trace.error : trace.verdict));
  if (trace.replay)
    report.Paragraph(Printable(fmt::format("Based on a replay with {}.", *trace.replay)));
  const size_t all = trace.findings.size();
  const size_t shown = limit == 0 ? all : std::min<size_t>(limit, all);
  for (size_t i = 0; i < shown; ++i) PrintFinding(report, i + 1, trace.findings[i]);
  if (shown < all)
    report.Print(
        fmt::format("\nand {}; --limit 0 lists them\n", Count(all - shown, "further finding")));
  // Of a log, buffers have the log's numbers.
  if (!trace.replay && std::ranges::any_of(trace.findings, NamesABuffer))
    report.Print("\nA buffer's number is its index in the config: buffer 0 is buffers[0].\n");
  PrintList(report, "Checked: no problem", trace.well);
  PrintList(report, "Not known", trace.unknown);
  if (trace.config) {
    report.Heading("The trace's config with these changes");
    report.Print(*trace.config);
  }
}

}  // namespace ringscope
