#ifndef RINGSCOPE_CORE_REMEDIES_ADVICE_H_
#define RINGSCOPE_CORE_REMEDIES_ADVICE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/enum_names.h"
#include "core/remedies/advice_facts.h"
#include "core/remedies/advice_numbers.h"

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
  kPrograms,
};
template <>
inline constexpr std::array kEnumNames<AdviceTopic> = {
    "sizes", "crowding", "split", "reads", "flush", "state", "shared_memory", "policy", "programs"};
inline constexpr size_t kAdviceTopics = kEnumNames<AdviceTopic>.size();

/// Kinds of advice, each with the struct of its numbers.
enum class AdviceKind : uint8_t {
  // Sizes, of a buffer: SizeNumbers.
  kSizeDoes,       // the size meets the goal
  kSizeTooSmall,   // the size that is needed fits into the memory
  kSizeNotEnough,  // the size that is needed does not
  kSizeNever,      // no size that was tried meets the goal
  kSizeTooLarge,   // half the size, or less, would meet the goal as well
  // Crowding, of a buffer: CrowdingNumbers.
  kCrowdedOut,
  // Split, of a buffer: SplitNumbers.
  kSplitHelps,
  // Reads, of a buffer.
  kPeriodDoes,     // the session's period is short enough: PeriodNumbers
  kPeriodTight,    // it is only just short enough: ShorterPeriodNumbers
  kPeriodTooLong,  // it is too long: ShorterPeriodNumbers
  kPeriodWouldDo,  // nothing would be lost if it were read so: NewPeriodNumbers
  kPeriodNever,    // even the shortest possible period is too long: NewPeriodNumbers
  // Flush.
  kCommittedLate,  // LateNumbers
  kFlushAtEnd,     // UnfinishedNumbers
  kFlushedInVain,  // UnfinishedNumbers
  // State: StateNumbers.
  kClearState,
  // Shared memory, of a producer: SharedMemoryNumbers.
  kSharedMemoryTooSmall,
  kSharedMemoryDoes,
  // Policy, of a buffer.
  kDiscardStreamed,  // discards, and is read periodically: DiscardNumbers
  kDiscardFull,      // was full before the end: DiscardNumbers
  kRingForStart,     // lost what was written at the start alone: RingNumbers
  kDiscardWillSeal,  // discards, is read periodically, and was not full yet: DiscardRiskNumbers
  // Programs (ProtoVM), of a data source in a buffer: ProgramNumbers.
  kProgramDoes,           // drops nothing because of its memory limit
  kProgramAtLimit,        // does, and another limit is enough
  kProgramNeverEnough,    // does, with all limits that were tried
  kProgramWithoutMemory,  // does not run, and would save packets
};
template <>
inline constexpr std::array kEnumNames<AdviceKind> = {"size_does",
                                                      "size_too_small",
                                                      "size_not_enough",
                                                      "size_never",
                                                      "size_too_large",
                                                      "crowded_out",
                                                      "split_helps",
                                                      "period_does",
                                                      "period_tight",
                                                      "period_too_long",
                                                      "period_would_do",
                                                      "period_never",
                                                      "committed_late",
                                                      "flush_at_end",
                                                      "flushed_in_vain",
                                                      "clear_state",
                                                      "shared_memory_too_small",
                                                      "shared_memory_does",
                                                      "discard_streamed",
                                                      "discard_full",
                                                      "ring_for_start",
                                                      "discard_will_seal",
                                                      "program_does",
                                                      "program_at_limit",
                                                      "program_never_enough",
                                                      "program_without_memory"};

/// One recommendation, or that nothing needs to change.
struct Advice {
  AdviceTopic topic = AdviceTopic::kSizes;
  AdviceKind kind = AdviceKind::kSizeDoes;
  bool to_do = false;  // there is something to follow
  std::optional<BufferId> buffer;
  std::optional<ProducerId> producer;
  std::string data_source;             // whose program it is about; else empty
  std::vector<SequenceKey> sequences;  // that it is about
  AdviceNumbers numbers;

  /// The numbers, of the type that the kind has.
  template <typename Numbers>
  const Numbers& As() const {
    return std::get<Numbers>(numbers);
  }
};

/// The advice that a session's facts and replays give, topic by topic. Never without numbers.
std::vector<Advice> MakeAdvice(const AdviceFacts& facts, const AdviceFindings& findings);

/// Whether any of it is to be followed.
bool AnyToDo(const std::vector<Advice>& advice);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_REMEDIES_ADVICE_H_
