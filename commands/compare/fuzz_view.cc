// The findings of fuzz: as files, for people and for programs.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <filesystem>

#include "commands/compare/fuzz.h"
#include "commands/plugin/plugin.h"
#include "commands/shell/text.h"
#include "commands/view/report.h"
#include "core/engine/release_notes.h"
#include "formats/io/byte_stream.h"
#include "formats/io/output_file.h"
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
std::string EngineWord(const FuzzSide& side) {
  const std::string name = EngineName(side);
  return FileWord(IsPluginPath(name) ? fs::path(name).stem().string() : name);
}

/// The finding in a line, as the smallest stream shows it.
std::string TextOf(const KnownFinding& finding) {
  return finding.shown ? finding.shown->text : finding.first.text;
}

/// A note about the stream, and the stream.
std::string FileText(const FuzzPlan& plan, const KnownFinding& finding) {
  const FuzzFinding& shown = finding.shown ? *finding.shown : finding.first;
  const std::string a = ShellWord(EngineName(plan.sides.a)),
                    b = ShellWord(EngineName(plan.sides.b));
  const std::string command =
      shown.oracle == Oracle::kLosses
          ? fmt::format("ringscope gaps FILE --engine {}", *shown.side == Side::kA ? a : b)
          : fmt::format("ringscope diff FILE --a {} --b {}", a, b);
  const std::string note = fmt::format("'{}' shows: {} ({})", command, shown.text, shown.cause);
  std::string text = FormatOp({.time_ns = {}, .body = Note{note}}) + "\n";
  for (const StoredOp& op : finding.smallest) text += FormatOp(op.op()) + "\n";
  return text;
}

Result<std::string> FileContent(const std::string& path) {
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
  constexpr size_t kMost = size_t{64} << 20;  // findings are small
  return ReadStart(*source, kMost);
}

/// Writes the text to the first of "NAME.ops.jsonl", "NAME-2.ops.jsonl" ... that is free, unless
/// one has this text. @return its path
Result<std::string> WriteText(const fs::path& folder, const std::string& name,
                              const std::string& text) {
  for (int i = 1;; ++i) {
    const std::string file = name + (i == 1 ? "" : fmt::format("-{}", i)) + ".ops.jsonl";
    const std::string path = folder == "." ? file : (folder / file).string();
    std::error_code ignored;
    if (fs::exists(path, ignored)) {
      const auto content = FileContent(path);
      if (content && *content == text) return path;
      continue;
    }
    RS_ASSIGN_OR_RETURN(const auto output, OutputFile::Create(path, kOpsOutput, Replace::kAny));
    RS_RETURN_IF_ERROR(output->Write(text));
    RS_RETURN_IF_ERROR(output->Commit());
    return path;
  }
}

std::string TitleOf(const NamedRule& rule) {
  for (const ReleaseNote& note : ReleaseNotes())
    if (note.rule == rule.rule) return note.title;
  return rule.name;
}

template <typename T>
std::vector<std::string> FullNames(const std::vector<const T*>& all) {
  std::vector<std::string> names;
  for (const T* const one : all) names.push_back(FullName(*one));
  return names;
}

void ReportFinding(Report& report, const FuzzPlan& plan, const KnownFinding& finding,
                   size_t number) {
  const FuzzFinding& first = finding.first;
  const uint64_t size = std::get<BufferSetUp>(finding.smallest.front().op().body).size;
  report.Heading(fmt::format("{}. {}", number, Printable(first.cause)));
  for (const NamedRule* const rule : first.rules) report.Paragraph(TitleOf(*rule) + ".", 2);
  for (const ReleaseNote* const note : first.notes)
    report.Paragraph(note->title + std::string("."), 2);
  report.Paragraph(Printable(TextOf(finding)), 2);
  report.Paragraph(
      fmt::format("{} and a buffer of {} show it, from seed {} ({}); {} in all",
                  Count(finding.operations(), "operation"), HumanSize(size), finding.seed,
                  Name(KindOfSeed(plan, finding.seed)), Count(finding.streams, "stream")),
      2);
  const std::vector<std::string> left_out = FullNames(first.left_out);
  if (!finding.shown && !left_out.empty())
    report.Paragraph(
        fmt::format("Only without the difference that {} makes.", fmt::join(left_out, ", ")), 2);
  report.Paragraph("written to " + Printable(finding.written_to), 2);
  report.Data({{"cause", first.cause},
               {"oracle", Name(first.oracle)},
               {"kind", first.first ? Json(Name(first.first->kind)) : Json()},
               {"what", TextOf(finding)},
               {"rules", FullNames(first.rules)},
               {"v1_differences", FullNames(first.notes)},
               {"rules_left_out", left_out},
               {"shown_by_both_engines", finding.shown.has_value()},
               {"streams", finding.streams},
               {"operations", finding.operations()},
               {"buffer_size", size},
               {"file", finding.written_to},
               {"seed", finding.seed},
               {"mode", Name(KindOfSeed(plan, finding.seed))},
               {"operation", first.record}});
}

}  // namespace

Status WriteFindings(const FuzzPlan& plan, const std::string& folder, FuzzResult& result) {
  for (KnownFinding& finding : result.findings) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return Fail(ErrorCode::kIo, error.message(), {folder, {}, {}});
    const std::string name = fmt::format("{}-{}-{}", EngineWord(plan.sides.a),
                                         EngineWord(plan.sides.b), FileWord(finding.first.cause));
    RS_ASSIGN_OR_RETURN(finding.written_to, WriteText(folder, name, FileText(plan, finding)));
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
