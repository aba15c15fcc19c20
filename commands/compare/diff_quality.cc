// diff --quality: two examinations side by side.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "commands/compare/diff.h"
#include "commands/session/examined.h"
#include "commands/view/table.h"
#include "core/examine/loss_words.h"

namespace ringscope {
namespace {

/// A fact of both sides: absent where a side does not have it, or does not prove it.
using Cells = std::array<std::optional<Cell>, 2>;

/// Names a hole by its cause, or by its stage where the cause is not known.
std::string CauseOf(const Hole& hole) {
  if (hole.is_unusable) return "in the trace, and unusable";
  if (hole.gap == nullptr) return RowOf(hole.stage).place;
  return CauseText({.cause = hole.gap->causes.front().cause});
}

/// The holes of one cause.
struct Holes {
  uint64_t count = 0, packets = 0;
  bool is_known = true;  // false: more packets than these may be missing

  Cell ToCell() const {
    return {Count(count, "hole") + (is_known       ? ", " + Count(packets, "packet")
                                    : packets == 0 ? ""
                                                   : ", " + Count(packets, "packet") + " or more"),
            {{"holes", count}, {"packets", is_known ? Json(packets) : Json()}}};
  }
};

/// The facts of two examinations.
class Quality {
 public:
  void Add(const Examination& examination, size_t side) {
    const Answer& answer = examination.answer;
    const StageAccount& all = examination.account.all;
    const auto set = [&](size_t order, const std::string& name, Cell cell) {
      rows_[{order, name}][side] = std::move(cell);
    };
    set(0, "severity", {HarmText(answer.severity), Name(answer.severity)});
    if (const auto written = all.written(); written && !examination.subject.is_config)
      set(1, "packets written", CountCell(written->packets));
    for (size_t i = 0; i < static_cast<size_t>(Stage::kLeft); ++i)
      if (all[i] != StageCount() && (all[i].is_known || all[i].places + all[i].chunks > 0))
        set(2 + i, std::string("lost ") + kEnumRows<Stage>[i].place,
            {EndedText(all[i]), FieldsToJson(all[i])});
    if (!examination.subject.is_config) {
      set(20, "packets in the trace", CountCell(answer.packets));
      set(21, "usable packets", CountCell(answer.usable));
    }
    for (const auto& [buffer, reach] : examination.reach)
      set(22, fmt::format("reach of buffers[{}]", buffer), DurationCell(reach.ns));
    std::map<std::string, Holes> by_cause;
    for (const Hole& hole : examination.holes) {
      Holes& holes = by_cause[CauseOf(hole)];
      ++holes.count;
      holes.packets += hole.packets.value_or(0);
      holes.is_known &= hole.packets.has_value();
    }
    for (const auto& [cause, holes] : by_cause) set(23, "holes: " + cause, holes.ToCell());
    for (const Finding& finding : examination.findings)
      if (finding.harm >= Harm::kWarning)
        set(24, std::string("finding: ") + finding.rule->title,
            {HarmText(finding.harm), Name(finding.harm)});
  }

  Table ToTable() const {
    Table table(
        {{"", Align::kLeft, "fact"}, {"old", Align::kLeft, "old"}, {"new", Align::kLeft, "new"}});
    for (const auto& [key, sides] : rows_) {
      const auto cell = [&sides = sides](size_t side) { return sides[side].value_or(Cell("-")); };
      table.AddRow({NameCell(key.second), cell(0), cell(1)});
    }
    return table;
  }

  /// Returns true if a fact differs.
  bool Differs() const {
    return std::ranges::any_of(rows_, [](const auto& row) {
      const auto& [old, now] = row.second;
      return old.has_value() != now.has_value() || (old && old->value != now->value);
    });
  }

 private:
  std::map<std::pair<size_t, std::string>, Cells> rows_;  // by their order and name
};

}  // namespace

Result<ExitCode> DiffQuality(const DiffArgs& args, Context& context) {
  const std::vector<std::string>& paths = args.input.paths;
  if (ChoosesAnything(args.sides.a) || ChoosesAnything(args.sides.b) || args.input.clone)
    return Fail(ErrorCode::kUsage, "--quality compares inputs as they are, not replays of them", {},
                "leave out the options of replays");
  if (paths.size() != 2)
    return Fail(ErrorCode::kUsage, "--quality compares two inputs", {}, "name the old and the new");
  constexpr const char* kNames[] = {"old", "new"};
  Report report(context.console, args.format == Format::kJsonl ? Format::kJson : args.format,
                "diff", args.format == Format::kJsonl ? Report::kOneLine : 2);
  Quality quality;
  for (size_t side = 0; side < paths.size(); ++side) {
    std::vector<std::string> passed_over;
    RS_ASSIGN_OR_RETURN(
        const Examinations examined,
        InFile(paths[side], ExamineInput(context, paths[side], {}, args.input.only, passed_over)));
    if (!passed_over.empty()) context.console.Say(PassedOverText(passed_over));
    if (examined.size() != 1)
      return Fail(ErrorCode::kUsage,
                  fmt::format("--quality compares one session, and this input has {}",
                              WithCommas(examined.size())),
                  {paths[side], {}, {}}, "choose one with --session");
    if (examined.front().error)
      return Fail(ErrorCode::kCorrupt, *examined.front().error, {paths[side], {}, {}});
    const Answer& answer = examined.front().answer;
    report.Paragraph(fmt::format("{}: {}: {}: {}", kNames[side], Printable(paths[side]),
                                 HarmText(answer.severity), Printable(answer.headline)));
    report.Data(
        kNames[side],
        {{"input", paths[side]}, {"severity", Name(answer.severity)}, {"answer", answer.headline}});
    quality.Add(examined.front(), side);
  }
  report.Data({{"compares", "quality"}, {"same", !quality.Differs()}});
  report.Add("rows", quality.ToTable());
  if (report.is_text())
    report.Paragraph(quality.Differs()
                         ? "\n-: there is none, or the input does not prove it; 3x: an unknown "
                           "number at 3 places."
                         : "\nOld and new have the same quality.");
  RS_RETURN_IF_ERROR(report.Finish());
  return quality.Differs() ? ExitCode::kNotice : ExitCode::kClean;
}

}  // namespace ringscope
