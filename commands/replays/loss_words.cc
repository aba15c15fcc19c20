#include "commands/replays/loss_words.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/perfetto/data_loss.h"

namespace ringscope {
namespace {

/// With {they}, {they_were}, {their} and {them}, as there can be one packet or several.
const char* CauseWords(Cause cause) {
  switch (cause) {
    case Cause::kEvicted:
      return "overwritten before {they_were} read";
    case Cause::kNeverPatched:
      return "overwritten while waiting for a patch that is not in the log";
    case Cause::kBehindStall:
      return "overwritten while an earlier packet of {their} sequence lacked a patch";
    case Cause::kSealed:
      return "discarded: the buffer was already full";
    case Cause::kFull:
      return "discarded: {they} did not fit into the buffer";
    case Cause::kTooLarge:
      return "discarded: {their} chunk is larger than the buffer";
    case Cause::kAlreadyConsumed:
      return "discarded: {their} chunk, or a newer one, left the buffer before {they_were} "
             "committed";
    case Cause::kBadRecommit:
      return "discarded: the re-commit of {their} chunk breaks the rules";
    case Cause::kNoSharedMemory:
      return "refused by the service: committed before the shared memory was set up";
    case Cause::kNoSuchPage:
      return "refused by the service: {their} page is outside the shared memory";
    case Cause::kNoSuchBuffer:
      return "refused by the service: {their} buffer is not set up";
    case Cause::kMayNotWrite:
      return "refused by the service: the producer may not write to this buffer";
    case Cause::kAborted:
      return "aborted by {their} writer";
    case Cause::kNeverCommitted:
      return "not reassembled: one of {their} chunks was never committed";
    case Cause::kNotInLog:
      return "not reassembled: one of {their} chunks is not in the log, which is not complete "
             "there";
    case Cause::kNoBeginning:
      return "not reassembled: the writer's first chunk continues a packet that does not exist";
    case Cause::kBeforeLog:
      return "not reassembled: {their} beginning was committed before the log begins, or never";
    case Cause::kBrokenChain:
      return "not reassembled: the next chunk does not continue {them}";
    case Cause::kReadGap:
      return "abandoned at a gap in the chunk ids";
    case Cause::kGivenUp:
      return "abandoned by the buffer";
    case Cause::kBrokenSize:
      return "corrupted: a fragment has an impossible size";
    case Cause::kResent:
      return "corrupted: {their} chunk was re-committed with other bytes";
    case Cause::kRejected:
      return "refused by the service's validation when {they_were} read";
    case Cause::kTransferred:
      return "not reassembled: a clone took {their} buffer over before {they_were} complete";
    case Cause::kClearedForClone:
      return "cleared for a clone: {their} buffer's config has clear_before_clone";
    case Cause::kWrongPatch:
      return "refused by the service's validation: a patch changed {them} after "
             "{they_were} complete";
    case Cause::kUnknown:
      return "lost: the engine does not report why";
    default:
      return "lost, the cause is unknown";
  }
}

const char* OwnFaultWords(const CauseCount& cause) {
  if ((cause.loss_bits & kLossReassemblyGap) != 0 || cause.cause == Cause::kReadGap)
    return "buffer bug: all fragments were in the buffer, complete and patched, but the reader "
           "attributed an earlier gap in the chunk ids to {them}";
  if ((cause.loss_bits & kLossReassemblyBrokenChain) != 0)
    return "buffer bug: all fragments were in the buffer, complete and patched, but the reader did "
           "not accept the next chunk as {their} continuation";
  return "buffer bug: all fragments were in the buffer, complete and patched";
}

}  // namespace

std::string ProducerText(const SessionNotes& notes, SequenceKey sequence) {
  return Printable(notes.ProducerOf(sequence));
}

std::string WriterText(const SessionNotes& notes, SequenceKey sequence) {
  return notes.WriterOf(sequence);
}

std::string NameText(const SessionNotes& notes, SequenceKey sequence) {
  return notes.NameOf(sequence);
}

std::string TimeText(const SessionNotes& notes, const std::optional<uint64_t>& time_ns) {
  return time_ns ? notes.clock().Text(*time_ns) : "?";
}

std::string SpanText(const SessionNotes& notes, const std::optional<uint64_t>& from,
                     const std::optional<uint64_t>& to, const char* between) {
  const std::string first = TimeText(notes, from), last = TimeText(notes, to);
  return first == last ? first : first + between + last;
}

std::string SpanText(const SessionNotes& notes, const MomentSpan& span) {
  if (span.first.time_ns && span.last.time_ns)
    return SpanText(notes, span.first.time_ns, span.last.time_ns);
  if (span.first.record == span.last.record)
    return fmt::format("record {}", span.first.record.value_or(0));
  return fmt::format("record {} to record {}", span.first.record.value_or(0),
                     span.last.record.value_or(0));
}

std::string CauseText(const CauseCount& cause) {
  const bool is_one = cause.count.packets == 1;
  std::string text = fmt::format(
      fmt::runtime(cause.own_fault ? OwnFaultWords(cause) : CauseWords(cause.cause)),
      fmt::arg("they", is_one ? "it" : "they"),
      fmt::arg("they_were", is_one ? "it was" : "they were"),
      fmt::arg("their", is_one ? "its" : "their"), fmt::arg("them", is_one ? "it" : "them"));
  if (cause.own_fault) return text;
  if (cause.cause == Cause::kUnknown && cause.fate == Fate::kDiscarded)
    return "discarded: the engine does not report why";
  if (cause.cause == Cause::kGivenUp && cause.loss_bits != 0)
    text += fmt::format(" ({})", LossBitsToString(cause.loss_bits));
  return text;
}

std::string MomentText(const SessionNotes& notes, const LogMoment& moment) {
  if (!moment.record) return "before the first record";
  if (!moment.time_ns) return fmt::format("record {}", *moment.record);
  return fmt::format("record {} ({})", *moment.record, TimeText(notes, moment.time_ns));
}

}  // namespace ringscope
