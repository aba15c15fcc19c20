#ifndef RINGSCOPE_CORE_LEDGER_FATE_H_
#define RINGSCOPE_CORE_LEDGER_FATE_H_

#include "core/engine/engine.h"
#include "core/log/service_access.h"
#include "core/trace/stage_account.h"

namespace ringscope {

/// The fate of a packet.
enum class Fate : uint8_t {
  kRead,
  kReadable,
  kStalled,
  kOverwritten,
  kDiscarded,
  kWriterDropped,
  kCut,
  kCorrupted,
  kIncomplete,
  kInvalid,
  kUnexplained,
  kReadBefore,
  kMoved,
  kCleared,
  kFolded
};
/// Fates alike. A buffer's packets are the sum of these, but for kDropped.
enum class FateGroup : uint8_t {
  kRead,
  kLost,       // gone for good
  kDropped,    // by their writers: places at which an unknown number is missing, no packets
  kLeft,       // still in the buffer, or not finished by its writer
  kElsewhere,  // of clones: the session itself read it, or another reader has it
  kFolded,
};
struct FateRow {
  Fate value;
  const char* name;
  FateGroup group;
  Stage stage;       // at which the packet ended, unless its cause has one
  const char* text;  // of one packet
};
template <>
inline constexpr auto kEnumRows<Fate> = EnumTable<FateRow>({
    {Fate::kRead, "read", FateGroup::kRead, Stage::kLeft, "a read pass returned it"},
    {Fate::kReadable, "readable", FateGroup::kLeft, Stage::kFile,
     "still in the buffer: a read at the end would return it"},
    {Fate::kStalled, "stalled", FateGroup::kLeft, Stage::kBuffer,
     "still in the buffer, and waits for something"},
    {Fate::kOverwritten, "overwritten", FateGroup::kLost, Stage::kBuffer,
     "evicted before it was read"},
    {Fate::kDiscarded, "discarded", FateGroup::kLost, Stage::kBuffer,
     "refused by the buffer or by the service"},
    {Fate::kWriterDropped, "writer_dropped", FateGroup::kDropped, Stage::kSharedMemory,
     "aborted by its writer"},
    {Fate::kCut, "cut", FateGroup::kLost, Stage::kBuffer,
     "a chunk of it was never committed, or the buffer abandoned it"},
    {Fate::kCorrupted, "corrupted", FateGroup::kLost, Stage::kCommit,
     "its bytes, or its chunk's, break the rules of the shared-memory ABI"},
    {Fate::kIncomplete, "incomplete", FateGroup::kLeft, Stage::kSharedMemory,
     "not finished by its writer when the log ends"},
    {Fate::kInvalid, "invalid", FateGroup::kLost, Stage::kFile,
     "returned, and then refused by the service's validation"},
    {Fate::kUnexplained, "unexplained", FateGroup::kLost, Stage::kBuffer,
     "the engine does not report it"},
    {Fate::kReadBefore, "read_before", FateGroup::kElsewhere, Stage::kElsewhere,
     "the session itself read it before the clone was made"},
    {Fate::kMoved, "moved", FateGroup::kElsewhere, Stage::kElsewhere,
     "in the buffer when a clone took that over"},
    {Fate::kCleared, "cleared", FateGroup::kLost, Stage::kBuffer,
     "in the buffer when that was cleared for a clone"},
    {Fate::kFolded, "folded", FateGroup::kFolded, Stage::kElsewhere,
     "evicted before it was read, but folded into a state (ProtoVM) before that was written"},
});
inline constexpr size_t kFates = kEnumRows<Fate>.size();

/// Returns true if the packet is gone for good.
constexpr bool IsLoss(Fate fate) {
  return RowOf(fate).group == FateGroup::kLost || RowOf(fate).group == FateGroup::kDropped;
}

/// Why, in more detail than the fate.
enum class Cause : uint8_t {
  kNone,
  kEvicted,
  kAwaitedPatch,
  kBehindStall,
  kSealed,
  kFull,
  kTooLarge,
  kAlreadyConsumed,
  kBadRecommit,
  kIdsReused,
  kNotReplaced,
  kNoSharedMemory,
  kNoSuchPage,
  kNoSuchBuffer,
  kMayNotWrite,
  kAborted,
  kNeverCommitted,
  kNotInLog,
  kNoBeginning,
  kBeforeLog,
  kBrokenChain,
  kReadGap,
  kAbandoned,
  kBrokenSize,
  kResent,
  kWaitsForPatch,
  kWaitsForChunk,
  kWaitsForCompletion,
  kAfterAbandoned,
  kUnfinished,
  kScraped,
  kRejected,
  kTakenBySession,
  kTransferred,
  kClearedForClone,
  kWrongPatch,
  kUnknown
};
/// The report of an engine or of the service that is the cause.
using ReportedReason = std::variant<std::monostate, DiscardReason, StallReason, Refusal>;
struct CauseRow {
  Cause value;
  const char* name;
  Fate fate;  // of most packets of that cause
  /// With {they}, {they_were}, {their} and {them}, as there can be one packet or several; nullptr:
  /// packets are not lost for it.
  const char* text;
  std::optional<Stage> stage = {};  // at which the packet ended; absent: as for its fate
  ReportedReason reported = {};
};
template <>
inline constexpr auto kEnumRows<Cause> = EnumTable<CauseRow>({
    {Cause::kNone, "none", Fate::kRead, nullptr},
    {Cause::kEvicted, "evicted", Fate::kOverwritten, "overwritten before {they_were} read"},
    {Cause::kAwaitedPatch, "awaited_patch", Fate::kOverwritten,
     "overwritten while waiting for a patch"},
    {Cause::kBehindStall, "behind_stall", Fate::kOverwritten,
     "overwritten while an earlier packet of {their} sequence lacked a patch"},
    {Cause::kSealed, "sealed", Fate::kDiscarded, "discarded: the buffer was already full",
     std::nullopt, DiscardReason::kSealed},
    {Cause::kFull, "full", Fate::kDiscarded, "discarded: {they} did not fit into the buffer",
     std::nullopt, DiscardReason::kFull},
    {Cause::kTooLarge, "too_large", Fate::kDiscarded,
     "refused by the buffer: {their} chunk is larger than it", Stage::kCommit,
     DiscardReason::kTooLarge},
    {Cause::kAlreadyConsumed, "already_consumed", Fate::kDiscarded,
     "refused by the buffer: {their} chunk, or a newer one, left it before {they_were} committed",
     Stage::kCommit, DiscardReason::kAlreadyConsumed},
    {Cause::kBadRecommit, "bad_recommit", Fate::kDiscarded,
     "refused by the buffer: the re-commit of {their} chunk breaks the rules", Stage::kCommit,
     DiscardReason::kBadRecommit},
    {Cause::kIdsReused, "ids_reused", Fate::kDiscarded,
     "refused by the buffer: {their} writer uses chunk ids again that the buffer had before",
     Stage::kCommit},
    {Cause::kNotReplaced, "not_replaced", Fate::kDiscarded,
     "not taken by the buffer: {their} chunk was re-committed with other bytes of the same size",
     Stage::kCommit},
    {Cause::kNoSharedMemory, "no_shared_memory", Fate::kDiscarded,
     "refused by the service: committed before the shared memory was set up", Stage::kCommit,
     Refusal::kNoSharedMemory},
    {Cause::kNoSuchPage, "no_such_page", Fate::kDiscarded,
     "refused by the service: {their} page is outside the shared memory", Stage::kCommit,
     Refusal::kNoSuchPage},
    {Cause::kNoSuchBuffer, "no_such_buffer", Fate::kDiscarded,
     "refused by the service: {their} buffer is not set up", Stage::kCommit,
     Refusal::kNoSuchBuffer},
    {Cause::kMayNotWrite, "may_not_write", Fate::kDiscarded,
     "refused by the service: the producer may not write to this buffer", Stage::kCommit,
     Refusal::kMayNotWrite},
    {Cause::kAborted, "aborted", Fate::kWriterDropped, "aborted by {their} writer"},
    {Cause::kNeverCommitted, "never_committed", Fate::kCut,
     "not reassembled: one of {their} chunks was never committed", Stage::kCommit},
    {Cause::kNotInLog, "not_in_log", Fate::kCut,
     "not reassembled: one of {their} chunks is not in the log, which is not complete there",
     Stage::kUnknown},
    {Cause::kNoBeginning, "no_beginning", Fate::kCut,
     "not reassembled: no chunk before {them} begins {them}", Stage::kCommit},
    {Cause::kBeforeLog, "before_log", Fate::kCut,
     "not reassembled: {their} beginning was committed before the log begins, or never",
     Stage::kUnknown},
    {Cause::kBrokenChain, "broken_chain", Fate::kCut,
     "not reassembled: the next chunk does not continue {them}", Stage::kCommit},
    {Cause::kReadGap, "read_gap", Fate::kCut, "abandoned at a gap in the chunk ids"},
    {Cause::kAbandoned, "abandoned", Fate::kCut, "abandoned by the buffer"},
    {Cause::kBrokenSize, "broken_size", Fate::kCorrupted,
     "corrupted: a fragment has an impossible size"},
    {Cause::kResent, "resent", Fate::kCorrupted,
     "corrupted: {their} chunk was re-committed with other bytes"},
    {Cause::kWaitsForPatch, "waits_for_patch", Fate::kStalled, nullptr, std::nullopt,
     StallReason::kNeedsPatch},
    {Cause::kWaitsForChunk, "waits_for_chunk", Fate::kStalled, nullptr, std::nullopt,
     StallReason::kMissingChunk},
    {Cause::kWaitsForCompletion, "waits_for_completion", Fate::kStalled, nullptr, std::nullopt,
     StallReason::kIncomplete},
    // A read would not return it, but abandon it.
    {Cause::kAfterAbandoned, "after_abandoned", Fate::kStalled, nullptr},
    {Cause::kUnfinished, "unfinished", Fate::kIncomplete, nullptr},
    // Its writer had not finished it when its chunk was scraped.
    {Cause::kScraped, "scraped", Fate::kIncomplete, nullptr},
    {Cause::kRejected, "rejected", Fate::kInvalid,
     "refused by the service's validation when {they_were} read"},
    {Cause::kTakenBySession, "taken_by_session", Fate::kReadBefore, nullptr},
    // Lost if the packet was not complete. The buffer's config has transfer_on_clone.
    {Cause::kTransferred, "transferred", Fate::kMoved,
     "not reassembled: a clone took {their} buffer over before {they_were} complete"},
    {Cause::kClearedForClone, "cleared_for_clone", Fate::kCleared,
     "cleared for a clone: {their} buffer's config has clear_before_clone"},
    {Cause::kWrongPatch, "wrong_patch", Fate::kInvalid,
     "refused by the service's validation: a patch changed {them} after {they_were} complete"},
    // Some are discarded or stalled.
    {Cause::kUnknown, "unknown", Fate::kUnexplained, "lost: the engine does not report why",
     std::nullopt, DiscardReason::kUnknown},
});

/// Returns true if the service refused the discarded packet, so that no buffer could have kept it.
constexpr bool IsByService(Cause cause) {
  return std::holds_alternative<Refusal>(RowOf(cause).reported);
}

/// The cause that an engine or the service reported.
constexpr Cause CauseOf(ReportedReason reported) {
  return std::ranges::find(kEnumRows<Cause>, reported, &CauseRow::reported)->value;
}

/// Returns the stage at which a packet ended.
constexpr Stage StageOf(Fate fate, Cause cause) {
  return RowOf(cause).stage.value_or(RowOf(fate).stage);
}

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LEDGER_FATE_H_
