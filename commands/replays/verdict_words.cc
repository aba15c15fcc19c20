#include "commands/replays/verdict_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "commands/shell/text.h"

namespace ringscope {

namespace {

/// What of a recording is not exact: a noun, and a clause in which {} is how often, counted in
/// `counted`, and {was} is "was" or "were".
struct ReasonWords {
  const char* noun;
  const char* clause;
  const char* counted = "";
};

/// By InexactReason.
constexpr std::array<ReasonWords, 15> kReasonWords = {{
    {"the order of requests",
     "requests of different clients are in the order in which they were forwarded, which may not "
     "be the service's"},
    {"the order of requests", "the service offers no way to confirm the order of requests ({})",
     "client"},
    {"the instants of clones", "the instant of {} is an estimate", "clone"},
    {"which session some buffers belong to", "the session or buffer of {} is assumed",
     "data source"},
    {"requests at the end of connections",
     "the service ended {}, perhaps before it had handled the last requests", "connection"},
    {"what was scraped", "what the service scraped is an estimate ({})", "producer"},
    {"buffers that are not known", "size and policy of {} are not known", "buffer"},
    {"the reads",
     "when the buffers were read is not known exactly (a replay with --reads like=TRACE finds it)"},
    {"producers that it has not seen", "{} {was} not connected through the recorder", "producer"},
    {"what happened before it", "what happened before it is missing"},
    {"its gaps", "the recording has {}", "gap"},
    {"what happened after it", "what happened after it is missing: {} had not ended", "session"},
    {"what the buffers lost",
     "the log was made from a trace, which lacks what the buffers lost, so a replay cannot show "
     "what other sizes or reads would have kept"},
    {"the times of packets without a timestamp",
     "packets of the trace that have no timestamp are placed after the packet before them in their "
     "sequence, so when they were written is not known"},
    {"losses that the recorder may have caused",
     "requests of a producer were held back by the recorder, {}, while its shared memory was full",
     "time"},
}};

const ReasonWords& WordsFor(InexactReason reason) {
  return kReasonWords.at(static_cast<size_t>(reason));
}

/// @param times how often; for the kinds that are counted
std::string ClauseOf(InexactReason reason, uint64_t times) {
  const ReasonWords& words = WordsFor(reason);
  if (reason == InexactReason::kProducers && times == 0)
    return "whether producers were connected to the service itself is not known";
  return fmt::format(fmt::runtime(words.clause), Count(times, words.counted),
                     fmt::arg("was", Was(times)));
}

std::map<InexactReason, uint64_t> ByReason(const Verdicts& verdicts) {
  std::map<InexactReason, uint64_t> times;
  for (const RecordingVerdict& verdict : verdicts) times[verdict.reason] += verdict.times;
  return times;
}

}  // namespace

std::string VerdictSentence(const Verdicts& verdicts, bool is_empty) {
  if (is_empty) return "Nothing was recorded: no producer committed anything.";
  if (verdicts.empty()) return "This recording is exact.";
  std::vector<std::string> nouns;
  for (const auto& [reason, times] : ByReason(verdicts))
    if (nouns.empty() || nouns.back() != WordsFor(reason).noun)
      nouns.emplace_back(WordsFor(reason).noun);
  const std::string last = nouns.back();
  nouns.pop_back();
  return fmt::format("This recording is exact but for {}{}{}.", Joined(nouns),
                     nouns.empty() ? "" : " and ", last);
}

std::string InexactText(const Verdicts& verdicts, bool with_gaps) {
  std::vector<std::string> texts;
  for (const auto& [reason, times] : ByReason(verdicts)) {
    if (reason == InexactReason::kRecords && !with_gaps) continue;
    texts.push_back(ClauseOf(reason, times));
    if (reason == InexactReason::kTimes)
      texts.back() +=
          ": " + Printable(std::ranges::find(verdicts, reason, &RecordingVerdict::reason)->detail);
  }
  return Joined(texts, "; ");
}

std::string VerdictLines(const Verdicts& verdicts, size_t indent) {
  std::string lines;
  for (const RecordingVerdict& verdict : verdicts) {
    const std::string text =
        fmt::format("{}{}{}", verdict.session ? fmt::format("session {}: ", *verdict.session) : "",
                    ClauseOf(verdict.reason, verdict.times),
                    verdict.detail.empty() ? "" : ": " + Printable(verdict.detail));
    lines += Wrap(text, std::string(indent, ' ') + "- ") + "\n";
  }
  return lines;
}

void WarnOfInexact(Console& console, const std::string& path, const Verdicts& verdicts) {
  if (const std::string text = InexactText(verdicts, /*with_gaps=*/true); !text.empty())
    console.Warn(fmt::format("{}: the recording is not exact: {}", path, text));
}

void AddInexact(Report& report, const Verdicts& verdicts) {
  if (!verdicts.empty()) report.Data("inexact", FieldsToJson(verdicts));
}

void ListFields(JsonFieldWriter& io, const RecordingVerdict& verdict) {
  io("reason", verdict.reason, "times", verdict.times, "session", verdict.session, "detail",
     verdict.detail);
}

}  // namespace ringscope
