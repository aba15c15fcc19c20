#include <fmt/format.h>

#include <algorithm>

#include "commands/replays/log_answer.h"
#include "commands/report/page_sections.h"
#include "commands/view/answer_report.h"

namespace ringscope {
namespace {

/// As 'ringscope FILE' answers, with what is to be known of the input.
Answer AnswerOf(const PageResults& page) {
  Answer answer = page.diagnosis ? page.diagnosis->answer
                                 : AnswerOf(page.gaps, page.outcome, page.notes, page.remedies);
  for (const std::string& text : page.problems) answer.Add("Not complete", text);
  for (const std::string& text : page.assumptions) answer.Add("Assumed", text);
  return answer;
}

}  // namespace

void WriteAnswer(PageWriter& out, const PageResults& page) {
  const Answer answer = AnswerOf(page);
  out.BeginSection("answer", "The answer");
  out.Open("p", {{"class", fmt::format("headline harm-{}", Name(answer.severity))}});
  if (answer.severity != Harm::kOk)
    out.Element("span", HarmText(answer.severity), {{"class", "badge"}});
  out.Text(" " + HtmlShortened(answer.headline, 500));
  out.Close();
  constexpr size_t kLines = 20;
  out.Open("dl");
  for (size_t i = 0; i < std::min(answer.lines.size(), kLines); ++i) {
    out.Element("dt", answer.lines[i].label);
    out.Element("dd", HtmlShortened(answer.lines[i].text, 500));
  }
  out.Close();
  out.Reproduce("doctor --brief");
  out.EndSection();
}

}  // namespace ringscope
