// What fuzz has found, in words.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "commands/compare/fuzz.h"
#include "commands/shell/text.h"
#include "commands/view/report.h"
#include "core/compare/explain.h"
#include "core/engine/release_notes.h"

namespace ringscope {
namespace {

/// What a rule is about, in a few words.
std::string TitleOf(const NamedRule& rule) {
  for (const ReleaseNote& note : ReleaseNotes())
    if (note.rule == rule.rule) return note.title;
  return rule.name;
}

std::string SeedsText(const FuzzArgs& args, const CampaignResult& result) {
  if (result.streams == 0) return "";
  return fmt::format(", seeds {} to {}", args.seed, args.seed + result.streams - 1);
}

std::string ScopeText(const FuzzArgs& args, const CampaignResult& result) {
  std::string text = Count(result.streams, "stream");
  if (result.corpus_streams > 0)
    text += fmt::format(" and {} of the corpus", Count(result.corpus_streams, "stream"));
  return fmt::format("{} ({}{})", text, Count(result.operations, "operation"),
                     SeedsText(args, result));
}

void ReportHead(Report& report, const FuzzArgs& args, const FuzzPlan& plan,
                const CampaignResult& result) {
  const std::string sides = fmt::format("{} and {}", Printable(plan.sides.a.info.name),
                                        Printable(plan.sides.b.info.name));
  if (result.findings.empty()) {
    report.Title(sides, fmt::format("no difference in {}", ScopeText(args, result)));
  } else {
    report.Title(
        sides,
        fmt::format("{} in {}{}; {} show{} at least one", Count(result.findings.size(), "finding"),
                    ScopeText(args, result), result.at_limit ? ", ended at --findings" : "",
                    Count(result.differing, "stream"), result.differing == 1 ? "s" : ""));
  }
  report.Data({{"a", plan.sides.a.info.name},
               {"b", plan.sides.b.info.name},
               {"first_seed", args.seed},
               {"streams", result.streams},
               {"corpus_streams", result.corpus_streams},
               {"operations", result.operations},
               {"differing_streams", result.differing},
               {"ended_at_findings", result.at_limit},
               {"ignored", args.ignored}});
}

void ReportFinding(Report& report, const FuzzPlan& plan, const CampaignFinding& finding,
                   size_t number) {
  const FuzzFinding& first = finding.first;
  const Mismatch& shown = finding.shown ? finding.shown->mismatch : first.mismatch;
  report.Heading(fmt::format("{}. {}", number, Printable(first.cause)));
  for (const NamedRule* const rule : first.rules) report.Paragraph(TitleOf(*rule) + ".", 2);
  for (const ReleaseNote* const note : first.notes)
    report.Paragraph(note->title + std::string("."), 2);
  report.Paragraph(Printable(finding.text), 2);
  std::string origin = finding.seed ? fmt::format("seed {} ({})", *finding.seed,
                                                  Name(KindOfSeed(plan, *finding.seed)))
                                    : Printable(finding.corpus_file);
  report.Paragraph(
      fmt::format("{} and a buffer of {} show it, from {}; {} in all",
                  Count(finding.smallest.steps.size(), "operation"),
                  HumanSize(finding.smallest.size), origin, Count(finding.streams, "stream")),
      2);
  if (!finding.shown && !first.left_out.empty()) {
    std::vector<std::string> names;
    for (const NamedRule* const rule : first.left_out) names.push_back(FullName(*rule));
    report.Paragraph(fmt::format("Only without the difference that {} makes.",
                                 fmt::format("{}", fmt::join(names, ", "))),
                     2);
  }
  const std::string& file = finding.seed ? finding.written_to : finding.corpus_file;
  report.Paragraph(fmt::format("{}{}", finding.seed ? "written to " : "in ", Printable(file)), 2);

  std::vector<std::string> rules, left_out, known;
  for (const ReleaseNote* const note : first.notes) known.push_back(FullName(*note));
  for (const NamedRule* const rule : first.rules) rules.push_back(FullName(*rule));
  for (const NamedRule* const rule : first.left_out) left_out.push_back(FullName(*rule));
  Json json = {{"cause", first.cause},
               {"oracle", Name(first.mismatch.oracle)},
               {"what", finding.text},
               {"rules", rules},
               {"v1_differences", known},
               {"rules_left_out", left_out},
               {"shown_by_both_engines", finding.shown.has_value()},
               {"streams", finding.streams},
               {"operations", finding.smallest.steps.size()},
               {"buffer_size", finding.smallest.size},
               {"file", file}};
  if (first.mismatch.oracle == Oracle::kDifference) json["kind"] = Name(shown.kind);
  if (finding.seed) {
    json["seed"] = *finding.seed;
    json["mode"] = Name(KindOfSeed(plan, *finding.seed));
    json["operation"] = first.mismatch.step;
  }
  report.Data(std::move(json));
}

/// Whether an engine with these reports reports the branch.
bool Reports(const EngineReports& reports, std::string_view branch) {
  if (branch.starts_with("stall.")) return reports.stalls;
  if (branch == "packet.abandoned") return reports.abandoned;
  return reports.chunks;
}

void ReportCoverage(Report& report, const FuzzPlan& plan, const FuzzCoverage& coverage) {
  if (coverage.rule_streams > 0) {
    Table rules(
        {{"Rule", Align::kLeft, "rule"}, {"streams that it changes", Align::kRight, "streams"}});
    for (size_t i = 0; i < kNamedRules.size(); ++i)
      rules.AddRow({NameCell(FullName(kNamedRules[i])), CountCell(coverage.rules[i])});
    report.Heading(fmt::format("Rules, each switched in {}: streams whose result changed",
                               Count(coverage.rule_streams, "stream")));
    report.Data("rule_streams", coverage.rule_streams);
    report.Add("rules", rules, 2);
  }
  Table branches({{"Branch", Align::kLeft, "branch"},
                  {"A", Align::kRight, "a"},
                  {"B", Align::kRight, "b"},
                  DataColumn("meaning", kInJson)});
  const auto cell = [&](Side side, size_t i) {
    if (!Reports(plan.sides[side].info.reports, kBranches[i].name))
      return Cell("not reported", Json());
    return CountCell(coverage.branches[side][i]);
  };
  std::vector<std::string> never;
  for (size_t i = 0; i < kBranches.size(); ++i) {
    const char* const name = kBranches[i].name;
    branches.AddRow(
        {NameCell(name), cell(Side::kA, i), cell(Side::kB, i), DataCell(kBranches[i].meaning)});
    if (coverage.branches.a[i] + coverage.branches.b[i] == 0) never.emplace_back(name);
  }
  report.Heading("How often each branch was taken");
  report.Add("branches", branches, 2);
  report.Data("never_reached", never);
  if (!never.empty())
    report.Paragraph(fmt::format("Never reached: {}.", fmt::join(never, ", ")), 2);
}

}  // namespace

Status ReportFuzz(const FuzzArgs& args, const FuzzPlan& plan, const CampaignResult& result,
                  Context& context) {
  Report report(context.console, args.format, "fuzz");
  ReportHead(report, args, plan, result);
  report.Data("findings", Json::array());
  for (size_t i = 0; i < result.findings.size(); ++i) {
    report.AddItem("findings", [&] { ReportFinding(report, plan, result.findings[i], i + 1); });
  }
  report.AddObject("coverage", [&] { ReportCoverage(report, plan, result.coverage); });
  if (result.cpu_seconds > 0 && result.streams > 0 && context.console.shows_progress()) {
    context.console.Say(fmt::format(
        "{} per second and core",
        Count(static_cast<uint64_t>(static_cast<double>(result.streams) / result.cpu_seconds),
              "stream")));
  }
  return report.Finish();
}

}  // namespace ringscope
