#include "commands/record/record_summary.h"

#include <fmt/format.h>

#include "commands/replays/verdict_words.h"
#include "commands/shell/text.h"
#include "commands/view/report.h"

namespace ringscope {
namespace {

constexpr size_t kSummaryIndent = 2;

/// "cap.tblog", "cap.tblog and 3 further parts", "parts 7 to 22 of cap.tblog (those before were
/// removed)"
std::string FilesText(const RecordSummary& summary) {
  const uint32_t last = summary.files == nullptr ? 0 : summary.files->parts() - 1;
  if (last == 0) return summary.output;
  if (summary.files->first_part() == 0)
    return fmt::format("{} and {}", summary.output, Count(last, "further part"));
  return fmt::format("parts {} to {} of {} (those before were removed: --keep)",
                     summary.files->first_part(), last, summary.output);
}

/// Whether there are producers that connect to the service directly.
std::string UnseenText(const RecordSummary& summary) {
  for (const RecordingVerdict& verdict : summary.queue.seen.verdicts)
    if (verdict.reason == InexactReason::kProducers) return "some take part: see below";
  if (summary.counts.checks == 0) return "not known: the service was not asked";
  return fmt::format(
      "none take part, as the service reported {}",
      summary.counts.checks == 1 ? "once" : WithCommas(summary.counts.checks) + " times");
}

std::string ComparedText(const RecordSummary& summary) {
  const OutputDiff& diff = summary.check->diff;
  return diff.Same() ? fmt::format("its replay equals {}: {}", Printable(summary.trace),
                                   Count(diff.packets.b, "packet"))
                     : fmt::format("its replay differs from {}: {}", Printable(summary.trace),
                                   CountsText(diff.counts));
}

std::string NextText(const RecordSummary& summary) {
  if (summary.check && !summary.check->Same())
    return fmt::format("ringscope diff {} {}", summary.output, summary.trace);
  return "ringscope info " + summary.output;
}

std::string SummaryText(const RecordSummary& summary) {
  const RecordingEnded& seen = summary.queue.seen;
  Table facts({{.title = ""}, {.title = ""}});
  facts.AddRow({summary.files != nullptr ? "written" : "so far",
                fmt::format("{}, {}", FilesText(summary), HumanSize(summary.queue.written))});
  facts.AddRow({"sessions", WithCommas(seen.sessions)});
  facts.AddRow({"producers", fmt::format("{}, {}", WithCommas(summary.counts.producers),
                                         Count(summary.counts.sequences, "sequence"))});
  facts.AddRow({"others", UnseenText(summary)});
  facts.AddRow({"chunks", fmt::format("{}, {}", WithCommas(summary.counts.chunks),
                                      HumanSize(summary.counts.chunk_bytes))});
  facts.AddRow({"gaps", GapsText(summary.queue)});
  if (summary.check) facts.AddRow({"compared", ComparedText(summary)});
  facts.AddRow({"next", NextText(summary)});
  return Wrap(VerdictSentence(seen.verdicts), size_t{0}) + "\n" +
         VerdictLines(seen.verdicts, kSummaryIndent) + facts.Text(kSummaryIndent);
}

void AddSummaryData(Report& report, const RecordSummary& summary) {
  const RecordingEnded& seen = summary.queue.seen;
  const bool ended = summary.files != nullptr;
  report.Data({{"output", summary.output},
               {"ended", ended},
               {"ending", ended ? Json(Name(seen.ending)) : Json()},
               {"first_part", ended ? summary.files->first_part() : 0},
               {"parts", ended ? summary.files->parts() : 1},
               {"file_bytes", summary.queue.written},
               {"sessions", seen.sessions},
               {"producers", summary.counts.producers},
               {"producers_checked", summary.counts.checks},
               {"sequences", summary.counts.sequences},
               {"chunks", summary.counts.chunks},
               {"chunk_bytes", summary.counts.chunk_bytes},
               {"recorder_gaps", summary.queue.gaps},
               {"dropped_records", summary.queue.dropped_records},
               {"dropped_bytes", summary.queue.dropped_bytes},
               {"exact", seen.verdicts.empty()},
               {"inexact", VerdictsJson(seen.verdicts)}});
  Json compared;
  if (summary.check)
    compared = {{"trace", summary.trace},
                {"same", summary.check->Same()},
                {"packets", summary.check->diff.packets.b},
                {"counts", FieldsToJson(summary.check->diff.counts)}};
  report.Data("compared", std::move(compared));
}

}  // namespace

std::string GapsText(const LogQueue::State& queue) {
  if (queue.gaps == 0) return "none";
  return fmt::format("{} ({}) in {} could not be written in time",
                     Count(queue.dropped_records, "record"), HumanSize(queue.dropped_bytes),
                     Count(queue.gaps, "gap"));
}

void ReportSummary(Console& console, const std::string& format, const RecordSummary& summary) {
  Report report(console, format, "record");
  if (report.is_json()) {
    AddSummaryData(report, summary);
    static_cast<void>(report.Finish());
    static_cast<void>(console.Flush());
    return;
  }
  std::string text = SummaryText(summary);
  while (text.ends_with('\n')) text.pop_back();
  console.Say(text);
}

}  // namespace ringscope
