#ifndef RINGSCOPE_CORE_ADVICE_H_
#define RINGSCOPE_CORE_ADVICE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/advice_facts.h"

namespace ringscope {

/// Parts of a page of advice.
enum class AdviceTopic : uint8_t {
  kSizes,
  kCrowding,
  kSplit,
  kReads,
  kFlush,
  kState,
  kSharedMemory,
  kPolicy,
};
inline constexpr size_t kAdviceTopics = 8;
const char* Name(AdviceTopic topic);

/// What is said. Behind each the numbers that it comes with.
enum class AdviceKind : uint8_t {
  // Sizes, of a buffer: size, history_ns, lost, written.
  kSizeDoes,       // what is wanted, as it is
  kSizeTooSmall,   // + needed, planned: what is needed fits
  kSizeNotEnough,  // + needed, planned: what is needed is more than there is memory
  kSizeNever,      // no size that was tried does what is wanted
  kSizeUnknown,    // it would do for what a trace has, but that reports losses
  // Crowding, of a buffer: chatty, chatty_share (millionths of the room), rare, rare_lost,
  // rare_written.
  kCrowdedOut,
  // Split, of a buffer: to, rest_size, chatty_size, written, lost_before, lost_after,
  // history_before_ns, history_after_ns, chatty_before_ns, chatty_after_ns.
  kSplitHelps,
  // Reads, of a buffer: size, peak, period_ns (of these reads, or those that lose nothing).
  kPeriodDoes,     // the session's own, + share (millionths of the size that the peak takes)
  kPeriodTight,    // the session's own, by good luck; + now_ns, period_ns (0: none is shorter)
  kPeriodTooLong,  // the session's own; + now_ns
  kPeriodWouldDo,  // if it were read so
  kPeriodNever,    // not even the shortest possible would do
  // Flush: packets, limit_ns, longest_ns.
  kCommittedLate,
  kFlushAtEnd,  // packets
  // State: sequences, packets, period_ns (0: not known), history_ns.
  kClearState,
  // Shared memory, of a producer: smb_size (0: not known), peak_10ms, peak_100ms, packets, wanted.
  kSharedMemoryTooSmall,
  kSharedMemoryDoes,
  // Policy, of a buffer.
  kDiscardStreamed,  // discards, and is read periodically: at_ns, lost
  kDiscardFull,      // at_ns, duration_ns, lost
  kRingForStart,     // sequences, packets (lost), bytes, until_ns
};
const char* Name(AdviceKind kind);

/// One piece of advice, or that all is well.
struct Advice {
  AdviceTopic topic = AdviceTopic::kSizes;
  AdviceKind kind = AdviceKind::kSizeDoes;
  bool to_do = false;  // there is something to follow
  std::optional<BufferId> buffer;
  std::optional<ProducerId> producer;
  std::vector<SequenceKey> sequences;  // that it is about
  std::vector<std::pair<const char*, uint64_t>> numbers;

  /// A number by its name; 0: it has none such.
  uint64_t operator[](const char* name) const;
};

/// The advice that a session's facts and replays give, topic by topic. Never without numbers.
std::vector<Advice> MakeAdvice(const AdviceFacts& facts, const AdviceFindings& findings);

/// Whether any of it is to be followed.
bool AnyToDo(const std::vector<Advice>& advice);

/// The period with which incremental state should be cleared, for a history: an order of magnitude
/// below it, and 0 if it is too short to do so sensibly.
uint64_t ClearPeriodFor(uint64_t history_ns);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_ADVICE_H_
