#include "commands/replays/counter_words.h"

#include <fmt/format.h>

#include "commands/shell/text.h"
#include "core/perfetto/data_loss.h"

namespace ringscope {

std::string ReasonText(const CounterRise& rise) {
  switch (rise.reason) {
    case CountReason::kUnknown:
      return "the buffer does not report why";
    case CountReason::kFewerFragments:
      return fmt::format("has {}, but its header counts {}", Count(rise.found, "fragment"),
                         rise.fragments);
    case CountReason::kBrokenSize:
      return "a fragment has an impossible size";
    case CountReason::kTooLarge:
      return "larger than the buffer allows";
    case CountReason::kBadRecommit:
      return "its re-commit has fewer fragments or flags than before, or does not fit in its place";
    case CountReason::kChunkGone:
      return "a patch arrived while the chunk was not in the buffer";
    case CountReason::kOutOfBounds:
      return "a patch is for bytes outside it";
    case CountReason::kAborted:
      return "its writer aborted a packet";
    case CountReason::kFlagged:
      return fmt::format("a packet is flagged {}", LossBitsToString(rise.loss_bits));
    case CountReason::kStateMissing:
      return "no packet that needs incremental state can be used";
    case CountReason::kFlushTimedOut:
      return "a producer did not acknowledge the flush in time";
  }
  return "";
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
