#include "commands/replays/counter_words.h"

#include <fmt/format.h>

#include <array>

#include "commands/shell/text.h"
#include "core/perfetto/data_loss.h"

namespace ringscope {

namespace {

/// By CountReason; {found} and {counted} are numbers of fragments, {bits} loss bits.
constexpr std::array<const char*, kEnumNames<CountReason>.size()> kReasonTexts = {
    "the buffer does not report why",
    "has {found}, but its header counts {counted}",
    "a fragment has an impossible size",
    "larger than the buffer allows",
    "its re-commit has fewer fragments or flags than before, or does not fit in its place",
    "a patch arrived while the chunk was not in the buffer",
    "a patch is for bytes outside it",
    "its writer aborted a packet",
    "a packet is flagged {bits}",
    "no packet that needs incremental state can be used",
    "a producer did not acknowledge the flush in time"};

}  // namespace

std::string ReasonText(const CounterRise& rise) {
  return fmt::format(fmt::runtime(kReasonTexts.at(static_cast<size_t>(rise.reason))),
                     fmt::arg("found", Count(rise.found, "fragment")),
                     fmt::arg("counted", rise.fragments),
                     fmt::arg("bits", LossBitsToString(rise.loss_bits)));
}

std::string WhoText(const CounterRise& rise) {
  if (!rise.sequence) return "-";
  const std::string sequence = ToString(*rise.sequence);
  return rise.chunk ? fmt::format("{}#{}", sequence, Raw(*rise.chunk)) : sequence;
}

Json RiseJson(const CounterRise& rise) {
  return {{"counter", Name(rise.counter)},
          {"count", rise.amount},
          {"reason", Name(rise.reason)},
          {"buffer", rise.buffer ? Json(Raw(*rise.buffer)) : Json()},
          {"sequence", rise.sequence ? Json(ToString(*rise.sequence)) : Json()},
          {"chunk", rise.chunk ? Json(Raw(*rise.chunk)) : Json()},
          {"record", rise.at.record},
          {"time_ns", rise.at.time_ns},
          {"loss_bits", rise.loss_bits},
          {"text", ReasonText(rise)}};
}

}  // namespace ringscope
