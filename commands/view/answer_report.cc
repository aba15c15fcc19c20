#include "commands/view/answer_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/shell/text.h"
#include "core/base/text.h"

namespace ringscope {

std::string HarmText(Harm harm) { return harm == Harm::kDataLoss ? "data loss" : Name(harm); }

TextStyle StyleOf(Harm harm) {
  if (harm == Harm::kOk) return TextStyle::kGood;
  if (harm == Harm::kInfo) return TextStyle::kBold;
  return harm == Harm::kWarning ? TextStyle::kWarning : TextStyle::kLoss;
}

void PrintAnswer(Report& report, const std::string& name, const Answer& answer) {
  const std::string change =
      answer.change.empty() ? "" : fmt::format(" Change: {}.", answer.change);
  if (name.empty())
    report.PrintWrapped(StyleOf(answer.severity), answer.headline, change);
  else
    report.PrintWrapped(StyleOf(answer.severity),
                        fmt::format("{}: {}:", name, HarmText(answer.severity)),
                        " " + answer.headline + change);
  std::vector<AnswerLine> lines = answer.lines;
  for (const char* spare : {"Session", "Folded", "Clones", "More hints", "Evicted by", "Over time"})
    if (lines.size() > kAnswerLines)
      std::erase_if(lines, [&](const AnswerLine& line) { return line.label == spare; });
  size_t width = 0;
  for (const AnswerLine& line : lines) width = std::max(width, line.label.size());
  for (const AnswerLine& line : lines)
    report.Print(Wrap(line.text, fmt::format("  {:<{}}  ", line.label, width)) + "\n");
}

}  // namespace ringscope
