#ifndef RINGSCOPE_COMMANDS_ADVISE_ADVISE_REPORT_H_
#define RINGSCOPE_COMMANDS_ADVISE_ADVISE_REPORT_H_

#include <string>
#include <vector>

#include "commands/report/json.h"
#include "commands/shell/console.h"
#include "core/advice/advice.h"

namespace ringscope {

/// All that is advised for one session.
struct AdviceReport {
  std::string name;      // of the log
  uint64_t session = 0;  // number in the log, from 1
  AdviceFacts facts;
  AdviceFindings findings;
  std::vector<Advice> advice;
};

/// A buffer of the plan beside what became of the same sequences as the session was.
struct PredictedBuffer {
  BufferId id{};
  std::optional<BufferId> made_from;
  FillPolicy policy = FillPolicy::kRingBuffer;
  std::optional<uint64_t> size_now;  // absent: there was none
  uint64_t size_then = 0;
  uint64_t written = 0;  // packets
  uint64_t lost_now = 0, lost_then = 0;
  uint64_t history_now_ns = 0, history_then_ns = 0;  // the shortest of any sequence
};
std::vector<PredictedBuffer> PredictionOf(const AdviceReport& report);

/// The advice in one or two plain sentences.
std::string AdviceText(const Advice& advice, const AdviceReport& report);
/// Heading of a topic.
const char* AdviceHeading(AdviceTopic topic);
/// What is wanted: "all 3.710 s, in at most 1 MiB for all buffers".
std::string WishText(const AdviceReport& report);

/// A piece of a trace config, as text proto, that follows the advice.
std::string ConfigText(const AdviceReport& report);

/// The page.
void PrintAdvice(Console& console, const AdviceReport& report);
/// One session as an object.
Json AdviceJson(const AdviceReport& report);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_ADVISE_ADVISE_REPORT_H_
