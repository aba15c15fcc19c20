// The findings of fuzz: as files, for people and for programs.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <filesystem>

#include "commands/compare/diff.h"
#include "commands/compare/fuzz.h"
#include "commands/plugin/plugin.h"
#include "commands/shell/output.h"
#include "commands/shell/text.h"
#include "commands/view/report.h"
#include "core/base/wire.h"
#include "core/engine/release_notes.h"
#include "formats/ops/ops_jsonl.h"

namespace ringscope {
namespace {

namespace fs = std::filesystem;

/// Letters, digits and dashes, of bounded length.
std::string FileWord(std::string_view text) {
  constexpr size_t kLongest = 80;
  std::string word;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      word += c;
    else if (!word.empty() && word.back() != '-')
      word += '-';
  }
  word.resize(std::min(word.size(), kLongest));
  while (word.ends_with('-')) word.pop_back();
  return word;
}

/// The engine without its switched rules: those are no engines elsewhere.
std::string EngineName(const FuzzSide& side) {
  const std::string& full = side.info.name;
  return IsPluginPath(full) ? full : full.substr(0, full.find_first_of("+-"));
}

/// Returns true if a file begins with the note that each finding has.
bool IsFinding(Bytes start) {
  return wire::AsText(start).starts_with(R"({"op":"note","text":"'ringscope )");
}
constexpr OutputKind kFindingOutput = {"a finding", true, IsFinding};

/// A note about the stream, and the stream.
std::string FileText(const FuzzPlan& plan, const KnownFinding& finding) {
  const FuzzFinding& shown = finding.smallest.finding;
  const std::string a = ShellWord(EngineName(plan.sides.a)),
                    b = ShellWord(EngineName(plan.sides.b));
  const std::string command =
      shown.oracle == Oracle::kLosses
          ? fmt::format("ringscope gaps FILE --engine {}", *shown.side == Side::kA ? a : b)
          : fmt::format("ringscope diff FILE --a {} --b {}", a, b);
  const std::string note = fmt::format("'{}' shows: {} ({})", command, shown.text, shown.Cause());
  std::string text = FormatOp({.time_ns = {}, .body = Note{note}}) + "\n";
  for (const StoredOp& op : finding.smallest.ops) text += FormatOp(op.op()) + "\n";
  return text;
}

/// The finding as an example in a line; empty: the notation cannot say it.
std::string ExampleOf(const FuzzPlan& plan, const SmallestStream& smallest) {
  if (!smallest.is_of_plan_sides || smallest.finding.oracle != Oracle::kDifference) return {};
  const auto& setup = std::get<BufferSetUp>(smallest.ops.front().op().body);
  const auto shows = [&](const std::vector<StoredOp>& ops) {
    const auto found = CompareOver(plan.sides, plan.ignored, ops);
    return found && found->sort == smallest.finding.sort;
  };
  return ExampleLine(smallest.ops, {EngineName(plan.sides.a), EngineName(plan.sides.b)}, setup.size,
                     setup.policy, shows);
}

std::string TitleOf(const NamedRule& rule) {
  for (const ReleaseNote& note : ReleaseNotes())
    if (note.rule == rule.rule) return note.title;
  return rule.name;
}

std::vector<std::string> FullNames(const std::vector<const NamedRule*>& rules) {
  std::vector<std::string> names;
  for (const NamedRule* const rule : rules) names.push_back(FullName(*rule));
  return names;
}

void ReportFinding(Report& report, const FuzzPlan& plan, const KnownFinding& finding,
                   size_t number) {
  const auto& [first, streams, seed, smallest, written_to] = finding;
  const uint64_t size = std::get<BufferSetUp>(smallest.ops.front().op().body).size;
  report.Heading(fmt::format("{}. {}", number, Printable(first.Cause())));
  for (const NamedRule* const rule : first.rules) report.Paragraph(TitleOf(*rule) + ".", 2);
  report.Paragraph(Printable(smallest.finding.text), 2);
  const char* const kind = Name(KindOfSeed(plan, seed));
  report.Paragraph(fmt::format("{} and a buffer of {} show it, from seed {} ({}); {} in all",
                               Count(finding.operations(), "operation"), HumanSize(size), seed,
                               kind, Count(streams, "stream")),
                   2);
  if (!smallest.is_of_plan_sides)
    report.Paragraph(fmt::format("Only without the difference that {} makes.",
                                 fmt::join(FullNames(first.left_out), ", ")),
                     2);
  const std::string example = ExampleOf(plan, smallest);
  if (!example.empty()) report.Print(fmt::format("  {}\n", Printable(example)));
  report.Paragraph("written to " + Printable(written_to), 2);
  report.Data({{"cause", first.Cause()},
               {"oracle", Name(first.oracle)},
               {"kind", first.kind ? Json(Name(*first.kind)) : Json()},
               {"what", smallest.finding.text},
               {"rules", FullNames(first.rules)},
               {"rules_left_out", FullNames(first.left_out)},
               {"shown_by_both_engines", smallest.is_of_plan_sides},
               {"streams", streams},
               {"operations", finding.operations()},
               {"buffer_size", size},
               {"example", example},
               {"file", written_to},
               {"seed", seed},
               {"mode", kind},
               {"operation", first.record}});
}

}  // namespace

Status WriteFindings(const FuzzPlan& plan, const std::string& folder, FuzzResult& result,
                     Context& context) {
  for (KnownFinding& finding : result.findings) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return Fail(ErrorCode::kIo, error.message(), {folder, {}, {}});
    const std::string name =
        FileWord(fmt::format("{} {} {}", EngineName(plan.sides.a), EngineName(plan.sides.b),
                             finding.first.Cause())) +
        ".ops.jsonl";
    finding.written_to = folder == "." ? name : (fs::path(folder) / name).string();
    RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                        CreateOutput(context, finding.written_to, kFindingOutput, /*force=*/false));
    RS_RETURN_IF_ERROR(file->Write(FileText(plan, finding)));
    RS_RETURN_IF_ERROR(file->Commit());
  }
  return {};
}

Status ReportFuzz(const FuzzArgs& args, const FuzzPlan& plan, const FuzzResult& result,
                  Context& context) {
  Report report(context.console, args.format, "fuzz");
  const auto name = [&](Side side) { return Printable(plan.sides[side].info.name); };
  std::string scope =
      fmt::format("{} ({}", Count(result.streams, "stream"), Count(result.operations, "operation"));
  if (result.streams > 0)
    scope += fmt::format(", seeds {} to {}", args.seed, args.seed + result.streams - 1);
  scope += ")";
  report.Title(
      fmt::format("{} and {}", name(Side::kA), name(Side::kB)),
      result.findings.empty()
          ? fmt::format("no difference in {}", scope)
          : fmt::format("{} in {}{}; {} show{} at least one",
                        Count(result.findings.size(), "finding"), scope,
                        result.at_limit ? ", ended at --findings" : "",
                        Count(result.differing, "stream"), result.differing == 1 ? "s" : ""));
  report.Data({{"a", plan.sides.a.info.name},
               {"b", plan.sides.b.info.name},
               {"first_seed", args.seed},
               {"streams", result.streams},
               {"operations", result.operations},
               {"differing_streams", result.differing},
               {"ended_at_findings", result.at_limit},
               {"ignored", args.ignored},
               {"findings", Json::array()}});
  for (size_t i = 0; i < result.findings.size(); ++i)
    report.AddItem("findings", [&] { ReportFinding(report, plan, result.findings[i], i + 1); });
  return report.Finish();
}

}  // namespace ringscope
