#include "commands/replays/verdict_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "commands/shell/text.h"

namespace ringscope {
namespace {

std::string Were(uint64_t times, const char* noun) {
  return Count(times, noun) + (times == 1 ? " was" : " were");
}

/// @param times how often; for the kinds that are counted
std::string WordsOf(InexactReason reason, uint64_t times) {
  switch (reason) {
    case InexactReason::kOrder:
      return "requests of different clients are in the order in which they were forwarded, which "
             "may not be the service's";
    case InexactReason::kUnconfirmed:
      return fmt::format("the service offers no way to confirm the order of requests ({})",
                         Count(times, "client"));
    case InexactReason::kClone:
      return fmt::format("the instant of {} is an estimate", Count(times, "clone"));
    case InexactReason::kSession:
      return fmt::format("the session or buffer of {} is assumed", Count(times, "data source"));
    case InexactReason::kUnhandled:
      return fmt::format("the service ended {}, perhaps before it had handled the last requests",
                         Count(times, "connection"));
    case InexactReason::kScrapes:
      return fmt::format("what the service scraped is an estimate ({})", Count(times, "producer"));
    case InexactReason::kSetUp:
      return fmt::format("size and policy of {} are not known", Count(times, "buffer"));
    case InexactReason::kReads:
      return "when the buffers were read is not known exactly (a replay with --reads like=TRACE "
             "finds it)";
    case InexactReason::kProducers:
      return fmt::format("{} not connected through the recorder", Were(times, "producer"));
    case InexactReason::kStart:
      return "what happened before it is missing";
    case InexactReason::kRecords:
      return fmt::format("it has {}", Count(times, "gap"));
    case InexactReason::kEnd:
      return fmt::format("what happened after it is missing: {} not ended",
                         times == 1 ? "1 session had" : Count(times, "session") + " had");
    case InexactReason::kLosses:
      return "the log was made from a trace, which lacks what the buffers lost, so a replay cannot "
             "show what other sizes or reads would have kept";
    case InexactReason::kTimes:
      return "packets of the trace that have no timestamp are placed after the packet before them "
             "in their sequence, so when they were written is not known";
  }
  return {};
}

const char* NounOf(InexactReason reason) {
  switch (reason) {
    case InexactReason::kOrder:
    case InexactReason::kUnconfirmed:
      return "the order of requests";
    case InexactReason::kClone:
      return "the instants of clones";
    case InexactReason::kSession:
      return "which session some buffers belong to";
    case InexactReason::kUnhandled:
      return "requests at the end of connections";
    case InexactReason::kScrapes:
      return "what was scraped";
    case InexactReason::kSetUp:
      return "buffers that are not known";
    case InexactReason::kReads:
      return "the reads";
    case InexactReason::kProducers:
      return "producers that it has not seen";
    case InexactReason::kStart:
      return "what happened before it";
    case InexactReason::kRecords:
      return "its gaps";
    case InexactReason::kEnd:
      return "what happened after it";
    case InexactReason::kLosses:
      return "what the buffers lost";
    case InexactReason::kTimes:
      return "the times of packets without a timestamp";
  }
  return "";
}

std::map<InexactReason, uint64_t> ByReason(const Verdicts& verdicts) {
  std::map<InexactReason, uint64_t> times;
  for (const RecordingVerdict& verdict : verdicts) times[verdict.reason] += verdict.times;
  return times;
}

}  // namespace

std::string VerdictSentence(const Verdicts& verdicts) {
  if (verdicts.empty()) return "This recording is exact.";
  std::vector<std::string> nouns;
  for (const auto& [reason, times] : ByReason(verdicts))
    if (nouns.empty() || nouns.back() != NounOf(reason)) nouns.emplace_back(NounOf(reason));
  const std::string last = nouns.back();
  nouns.pop_back();
  return fmt::format("This recording is exact but for {}{}{}.", Joined(nouns),
                     nouns.empty() ? "" : " and ", last);
}

std::string InexactText(const Verdicts& verdicts) {
  std::string text;
  for (const auto& [reason, times] : ByReason(verdicts)) {
    if (reason == InexactReason::kRecords) continue;
    if (!text.empty()) text += "; ";
    text += WordsOf(reason, times);
    if (reason != InexactReason::kTimes) continue;
    text +=
        ": " + Printable(std::ranges::find(verdicts, reason, &RecordingVerdict::reason)->detail);
  }
  return text;
}

std::string VerdictLines(const Verdicts& verdicts, size_t indent) {
  std::string lines;
  for (const RecordingVerdict& verdict : verdicts) {
    const std::string text =
        fmt::format("{}{}{}", verdict.session ? fmt::format("session {}: ", *verdict.session) : "",
                    WordsOf(verdict.reason, verdict.times),
                    verdict.detail.empty() ? "" : ": " + Printable(verdict.detail));
    lines += Wrap(text, std::string(indent, ' ') + "- ") + "\n";
  }
  return lines;
}

std::string InexactSentence(const Verdicts& verdicts) {
  const auto times = ByReason(verdicts);
  const auto gaps = times.find(InexactReason::kRecords);
  const std::string incomplete =
      gaps == times.end() ? "" : "the recording has " + Count(gaps->second, "gap");
  const std::string inexact = InexactText(verdicts);
  return incomplete + (incomplete.empty() || inexact.empty() ? "" : "; ") + inexact;
}

void WarnOfInexact(Console& console, const std::string& path, const Verdicts& verdicts) {
  const auto times = ByReason(verdicts);
  if (const auto gaps = times.find(InexactReason::kRecords); gaps != times.end())
    console.Warn(fmt::format("{}: the recording is not complete: it has {}", path,
                             Count(gaps->second, "gap")));
  if (const std::string inexact = InexactText(verdicts); !inexact.empty())
    console.Warn(fmt::format("{}: the recording is not exact: {}", path, inexact));
}

void AddInexact(Report& report, const Verdicts& verdicts) {
  if (!verdicts.empty()) report.Data("inexact", VerdictsJson(verdicts));
}

Json VerdictsJson(const Verdicts& verdicts) {
  Json json = Json::array();
  for (const RecordingVerdict& verdict : verdicts)
    json.push_back({{"reason", Name(verdict.reason)},
                    {"times", verdict.times},
                    {"session", verdict.session},
                    {"detail", verdict.detail}});
  return json;
}

}  // namespace ringscope
