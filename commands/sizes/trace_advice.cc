#include "commands/sizes/trace_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "commands/shell/text.h"
#include "core/base/wire.h"
#include "core/doctor/examiner.h"
#include "formats/descriptors/changed_config.h"

namespace ringscope {
namespace {

constexpr size_t kTopWriters = 5;
constexpr size_t kBodyIndent = 2;

Cell OrDash(const std::optional<uint64_t>& value, std::string (*text)(uint64_t)) {
  return value ? Cell(text(*value), *value) : Cell("-", Json());
}

Table EstimateTable(const TraceAdvice& advice) {
  Table table({{"buffer", Align::kRight, "buffer"},
               {"policy", Align::kLeft, "policy"},
               {"size", Align::kRight, "size"},
               {"written", Align::kRight, "written_bytes"},
               {"lost", Align::kRight, "lost_bytes"},
               {"holds", Align::kRight, "history_ns"},
               {"size then", Align::kRight, "size_then"},
               {"holds then", Align::kRight, "history_then_ns"}});
  for (const EstimatedBuffer& buffer : advice.sizes.buffers) {
    table.AddRow({NumberCell(buffer.index),
                  NameCell(Name(buffer.policy)),
                  BytesCell(buffer.size),
                  OrDash(buffer.written, HumanSize),
                  {buffer.written ? ShareText(buffer.lost, *buffer.written) : "-", buffer.lost},
                  OrDash(buffer.reach_ns, HumanDuration),
                  BytesCell(buffer.planned),
                  OrDash(buffer.planned_reach_ns, HumanDuration)});
  }
  return table;
}

/// @param limit rows
Table WriterTable(const TraceAdvice& advice, size_t limit) {
  Table table({{"sequence", Align::kRight, "sequence"},
               {"writer", Align::kLeft, "writer"},
               {"buffer", Align::kRight, "buffer"},
               {"bytes", Align::kRight, "bytes"},
               {"of all", Align::kRight},
               {"packets left", Align::kRight, "packets_left"},
               {"unusable", Align::kRight, "unusable"}});
  for (const WriterShare& writer : advice.writers.writers) {
    if (limit-- == 0) break;
    table.AddRow({NumberCell(writer.sequence), NameCell(writer.name),
                  writer.buffer ? NumberCell(*writer.buffer) : Cell("-", Json()),
                  BytesCell(writer.bytes), ShareText(writer.bytes, advice.writers.bytes),
                  CountCell(writer.packets_left), CountCell(writer.unusable)});
  }
  return table;
}

/// "all that was written", "the last 30 s"
std::string WishText(const TraceAdvice& advice) {
  return advice.keep_ns ? "the last " + HumanDuration(*advice.keep_ns) : "all that was written";
}

std::vector<const Finding*> FindingsWithChanges(const TraceAdvice& advice) {
  std::vector<const Finding*> findings;
  for (const Finding& finding : advice.diagnosis.findings)
    if (!finding.changes.empty()) findings.push_back(&finding);
  return findings;
}

std::string ItemText(const Finding& finding) {
  std::string text = fmt::format("{}: {}", finding.rule->title, finding.what);
  if (!finding.cause.empty()) text += " " + finding.cause;
  return Printable(text);
}

void ReportHeading(Report& out, const TraceAdvice& advice) {
  const Examiner examiner(advice.facts);
  const uint64_t duration_ns =
      examiner.session() ? static_cast<uint64_t>(examiner.session()->length_ns()) : 0;
  out.Data({{"log", advice.name},
            {"session", advice.facts.session},
            {"duration_ns", duration_ns},
            {"is_trace", true},
            {"is_estimate", true},
            {"wanted",
             {{"keep_ns", advice.keep_ns},
              {"memory", nullptr},
              {"memory_now", advice.sizes.TotalSize()}}},
            {"to_do", advice.AnyToDo()}});
  out.Title(Printable(advice.name),
            fmt::format(
                "{}{}, {}, {}",
                advice.facts.sessions > 1 ? fmt::format("session {}: ", advice.facts.session) : "",
                HumanDuration(duration_ns), Count(advice.sizes.buffers.size(), "buffer"),
                Count(advice.writers.writers.size(), "sequence")));
  out.Paragraph(
      "Based on a trace that lacks what its buffers lost, so that no replay can try sizes: they "
      "are "
      "estimates from the trace's statistics. A log of such a session ('ringscope record') would "
      "prove them.");
  if (advice.facts.is_cut_off || advice.facts.error_count > 0) {
    const std::string what =
        advice.facts.errors.empty() ? "it ends within a packet" : advice.facts.errors.front().what;
    out.Data("not_complete", std::vector<std::string>{what});
    out.Paragraph(fmt::format("Not complete: the trace is damaged, {}.", Printable(what)));
  }
  out.Paragraph("wanted: " + WishText(advice));
}

}  // namespace

TraceAdvice AdviseOnTrace(std::string name, TraceFacts facts, std::optional<uint64_t> keep_ns) {
  TraceAdvice advice{.name = std::move(name), .facts = std::move(facts), .keep_ns = keep_ns};
  advice.diagnosis = Diagnose(advice.facts);
  advice.sizes = EstimateSizes(advice.facts, advice.diagnosis, keep_ns);
  advice.writers = WriterSharesOf(advice.facts);
  if (advice.facts.config) advice.config = ReusableConfig(wire::AsBytes(*advice.facts.config));
  return advice;
}

void PrintConfig(Report& out, std::string_view config) {
  while (!config.empty()) {
    const size_t end = std::min(config.find('\n'), config.size());
    out.Print(fmt::format("  {}\n", config.substr(0, end)));
    config.remove_prefix(std::min(end + 1, config.size()));
  }
}

void ReportTraceAdvice(Report& out, const TraceAdvice& advice) {
  ReportHeading(out, advice);
  out.Heading("Buffer sizes");
  const Table buffers = EstimateTable(advice);
  out.Data("buffers", buffers.ToJson());
  out.Print(buffers, kBodyIndent);
  out.Data("memory_planned", advice.sizes.TotalPlanned());
  if (advice.sizes.TotalPlanned() != advice.sizes.TotalSize())
    out.Print(fmt::format("  Price: {} for all buffers, instead of {}.\n",
                          HumanSize(advice.sizes.TotalPlanned()),
                          HumanSize(advice.sizes.TotalSize())));
  out.Data("writers", WriterTable(advice, SIZE_MAX).ToJson());
  out.Data("writers_of_all", advice.writers.of_all);
  out.Heading(advice.writers.of_all ? "Who fills the buffers, lost or not"
                                    : "Who wrote what is in the trace");
  out.Print(WriterTable(advice, kTopWriters), kBodyIndent);
  if (advice.writers.writers.size() > kTopWriters)
    out.Print(
        fmt::format("  and {} more\n", WithCommas(advice.writers.writers.size() - kTopWriters)));
  out.Data("advice", Json::array());
  const std::vector<const Finding*> findings = FindingsWithChanges(advice);
  if (!findings.empty()) out.Heading("What to change, and why");
  for (const Finding* const finding : findings)
    out.AddItem("advice", [&] {
      const std::string text = ItemText(*finding);
      out.Data({{"rule", finding->rule->id}, {"to_do", true}, {"text", text}});
      out.Print(Wrap(text, "  ! ") + "\n");
    });
  if (const size_t others = advice.diagnosis.findings.size() - findings.size(); others > 0)
    out.Paragraph(fmt::format("{} no line of the config: 'ringscope doctor' has {}.",
                              others == 1 ? "One more finding has"
                                          : Count(others, "further finding") + " have",
                              others == 1 ? "it" : "them"),
                  kBodyIndent);
  if (advice.config.empty()) {
    out.Paragraph("The trace has no trace config to be changed.", kBodyIndent);
  } else {
    const std::string config = ChangedConfig(advice.config, advice.sizes.changes);
    out.Data("config", config);
    out.Heading(advice.AnyToDo() ? "Trace config" : "Nothing to do. The trace config as it is");
    PrintConfig(out, config);
  }
}

}  // namespace ringscope
