#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "commands/gaps/gaps_text.h"
#include "commands/gaps/gaps_words.h"
#include "commands/page/page_sections.h"
#include "commands/shell/text.h"

namespace ringscope {
namespace {

/// The causes of all gaps with their packets, the most frequent first.
std::string WhyText(const PageResults& page) {
  std::map<std::string, uint64_t> packets;
  uint64_t all = 0;
  for (const BufferGaps& buffer : page.gaps.buffers) {
    for (const SequenceGaps& sequence : buffer.sequences) {
      for (const Gap& gap : sequence.gaps) {
        for (const CauseCount& cause : gap.causes) {
          packets[CauseText(cause)] += cause.count.packets;
          all += cause.count.packets;
        }
      }
    }
  }
  std::vector<std::pair<std::string, uint64_t>> sorted(packets.begin(), packets.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  for (const auto& [cause, count] : sorted) {
    if (parts.size() == 3) break;
    parts.push_back(fmt::format("{} {}", ShareText(count, all), cause));
  }
  return Joined(parts, "; ");
}

std::string PushersText(const PageResults& page) {
  const EvictionMatrix& matrix = page.evictions;
  const uint64_t all = matrix.all();
  if (all == 0) return {};
  std::vector<std::string> parts;
  for (size_t column = 0; column < std::min<size_t>(matrix.pushed.size(), 3); ++column) {
    uint64_t packets = 0;
    for (const std::vector<uint64_t>& row : matrix.packets) packets += row[column];
    parts.push_back(fmt::format("{} ({})", NameText(page.notes, matrix.pushed[column]),
                                ShareText(packets, all)));
  }
  const uint64_t more = matrix.pushed.size() + matrix.other_columns - parts.size();
  return Joined(parts) + (more > 0 ? fmt::format(" and {} more", WithCommas(more)) : "") +
         " needed the space";
}

}  // namespace

PageAnswer AnswerOf(const PageResults& page) {
  PageAnswer answer;
  const ShownGaps shown = page.Shown(0);
  const FateCount lost = page.gaps.lost(), written = page.written();
  if (shown.any_loss) {
    answer.harm = Harm::kDataLoss;
    answer.headline = fmt::format("{} of {} packets were lost ({})", WithCommas(lost.packets),
                                  WithCommas(written.packets),
                                  ShareText(lost.packets, written.packets));
    answer.lines.emplace_back("Why", WhyText(page));
  } else if (shown.any_sign) {
    answer.harm = Harm::kWarning;
    answer.headline = "No packet of the log was lost, but more may be missing";
  } else {
    answer.headline = NothingLostText(shown);
  }
  const auto add = [&](const char* label, std::string text) {
    if (!text.empty()) answer.lines.emplace_back(label, std::move(text));
  };
  add("Pushed out by", PushersText(page));
  if (page.diagnosis && page.diagnosis->severity >= Harm::kWarning) {
    answer.harm = std::max(answer.harm, page.diagnosis->severity);
    add("The trace", page.diagnosis->verdict);
  }
  if (shown.any_loss) {
    const std::vector<std::string> remedies = RemedySentences(shown);
    if (!remedies.empty()) add("What helps", remedies.front());
    answer.next = {"advise", "gaps"};
  }
  for (const std::string& text : page.problems) add("Not complete", text);
  for (const std::string& text : page.assumptions) add("Assumed", text);
  return answer;
}

void WriteAnswer(PageWriter& out, const PageResults& page) {
  const PageAnswer answer = AnswerOf(page);
  out.BeginSection("answer", "The answer");
  out.Open("p", {{"class", fmt::format("headline harm-{}", Name(answer.harm))}});
  if (answer.harm != Harm::kOk)
    out.Element("span", HarmText(answer.harm), {{"class", "badge"}});
  out.Text(" " + answer.headline);
  out.Close();
  constexpr size_t kLines = 20;
  out.Open("dl");
  for (size_t i = 0; i < std::min(answer.lines.size(), kLines); ++i) {
    out.Element("dt", answer.lines[i].first);
    out.Element("dd", HtmlShortened(answer.lines[i].second, 500));
  }
  if (!answer.next.empty()) {
    out.Element("dt", "Next");
    out.Open("dd");
    for (size_t i = 0; i < answer.next.size(); ++i) {
      if (i > 0) out.Void("br", {});
      out.Element("code", out.CommandLine(answer.next[i]));
    }
    out.Close();
  }
  out.Close();
  out.EndSection();
}

}  // namespace ringscope
