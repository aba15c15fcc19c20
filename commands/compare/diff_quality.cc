// diff --quality: two examinations side by side.

#include "commands/compare/diff.h"
#include "commands/session/examined.h"
#include "core/examine/loss_words.h"

namespace ringscope {
namespace {

/// Facts by their order and name, each of the old and of the new side: absent where a side does not
/// have it, or does not prove it.
using Facts = std::map<std::pair<size_t, std::string>, std::array<std::optional<Cell>, 2>>;

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

void AddFacts(const Examination& examination, size_t side, Facts& facts) {
  const Answer& answer = examination.answer;
  const StageAccount& all = examination.account.all;
  const bool has_packets = !examination.subject.is_config;
  const auto set = [&](size_t order, const std::string& name, Cell cell) {
    facts[{order, name}][side] = std::move(cell);
  };
  set(0, "severity", {HarmText(answer.severity), Name(answer.severity)});
  if (const auto written = all.written(); written && has_packets)
    set(1, "packets written", CountCell(written->packets));
  for (size_t i = 0; i < static_cast<size_t>(Stage::kLeft); ++i)
    if (all[i] != StageCount() && (all[i].is_known || all[i].places + all[i].chunks > 0))
      set(2 + i, std::string("lost ") + kEnumRows<Stage>[i].place,
          {EndedText(all[i]), FieldsToJson(all[i])});
  if (has_packets) set(20, "packets in the trace", CountCell(answer.packets));
  if (has_packets) set(21, "usable packets", CountCell(answer.usable));
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

}  // namespace

Result<ExitCode> DiffQuality(const DiffArgs& args, Context& context) {
  const std::vector<std::string>& paths = args.input.paths;
  if (ChoosesAnything(args.sides.a) || ChoosesAnything(args.sides.b) || args.input.clone)
    return Fail(ErrorCode::kUsage, "--quality compares inputs as they are, not replays of them", {},
                "leave out the options of replays");
  if (paths.size() != 2)
    return Fail(ErrorCode::kUsage, "--quality compares two inputs", {}, "name the old and the new");
  constexpr const char* kNames[] = {"old", "new"};
  Report report = BeginReport(args, context.console);
  Facts facts;
  for (size_t side = 0; side < paths.size(); ++side) {
    const std::string& path = paths[side];
    std::vector<std::string> passed_over;
    RS_ASSIGN_OR_RETURN(
        const Examinations examined,
        InFile(path, ExamineInput(context, path, {}, args.input.only, passed_over)));
    if (!passed_over.empty()) context.console.Say(PassedOverText(passed_over));
    if (examined.size() != 1)
      return Fail(ErrorCode::kUsage,
                  fmt::format("--quality compares one session, and this input has {}",
                              WithCommas(examined.size())),
                  {path, {}, {}}, "choose one with --session");
    if (examined.front().error)
      return Fail(ErrorCode::kCorrupt, *examined.front().error, {path, {}, {}});
    const Answer& answer = examined.front().answer;
    report.Paragraph(fmt::format("{}: {}: {}: {}", kNames[side], Printable(path),
                                 HarmText(answer.severity), Printable(answer.headline)));
    report.Data(
        kNames[side],
        {{"input", path}, {"severity", Name(answer.severity)}, {"answer", answer.headline}});
    AddFacts(examined.front(), side, facts);
  }
  bool differs = false;
  Table table(
      {{"", Align::kLeft, "fact"}, {"old", Align::kLeft, "old"}, {"new", Align::kLeft, "new"}});
  for (const auto& [key, sides] : facts) {
    const auto& [old, now] = sides;
    differs |= !old || !now || old->value != now->value;
    table.AddRow({NameCell(key.second), old.value_or("-"), now.value_or("-")});
  }
  report.Data({{"compares", "quality"}, {"same", !differs}});
  report.Add("rows", table);
  if (report.is_text())
    report.Paragraph(differs ? "\n-: there is none, or the input does not prove it; 3x: an unknown "
                               "number at 3 places."
                             : "\nOld and new have the same quality.");
  return report.Finish(differs ? ExitCode::kNotice : ExitCode::kClean);
}

}  // namespace ringscope
