#include "commands/common/inexact_words.h"

#include <fmt/format.h>

#include "commands/shell/text.h"

namespace ringscope {
namespace {

/// @param times how often; for the kinds that are counted
std::string WordsOf(InexactReason reason, uint64_t times) {
  switch (reason) {
    case InexactReason::kOrder:
      return "requests of different clients are in the order of forwarding, not in the service's";
    case InexactReason::kUnconfirmed:
      return fmt::format("the service offers no way to confirm the order of requests ({})",
                         Count(times, "client"));
    case InexactReason::kClone:
      return fmt::format("the instant of {} is an estimate", Count(times, "clone"));
    case InexactReason::kSession:
      return fmt::format(
          "it is assumed which session or buffer {} to",
          times == 1 ? "1 data source writes" : Count(times, "data source") + " write");
    case InexactReason::kUnhandled:
      return fmt::format("the service ended {}, perhaps before it had handled the last requests",
                         Count(times, "connection"));
  }
  return {};
}

}  // namespace

std::string InexactText(const InexactCounts& counts) {
  std::string text;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    if (!text.empty()) text += "; ";
    text += WordsOf(static_cast<InexactReason>(i), counts[i]);
  }
  return text;
}

Json InexactJson(const InexactCounts& counts) {
  Json json = Json::object();
  for (size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0) json[std::string(Name(static_cast<InexactReason>(i)))] = counts[i];
  return json;
}

}  // namespace ringscope
