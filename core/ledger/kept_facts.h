#ifndef RINGSCOPE_CORE_LEDGER_KEPT_FACTS_H_
#define RINGSCOPE_CORE_LEDGER_KEPT_FACTS_H_

#include "core/perfetto/packet_facts.h"

namespace ringscope::ledger {

/// The facts about a packet in 12 bytes, so that they need not be read again when its fate is
/// known. Rare facts do not fit: those of a clock, of losses that the producer reports, and of
/// contents with large numbers.
class KeptFacts {
 public:
  /// Not known: they have to be read again.
  KeptFacts() = default;
  explicit KeptFacts(const PacketFacts& facts) {
    if (facts.timestamp_clock || facts.default_clock || facts.dropped != 0 ||
        facts.content > kMostContent)
      return;
    bits_ = kKnown | facts.content << kContentShift;
    if (facts.timestamp) bits_ |= kTimestamp;
    if (facts.clears_state) bits_ |= kClearsState;
    if (facts.needs_state) bits_ |= kNeedsState;
    if (facts.has_interned_data) bits_ |= kInternedData;
    time_high_ = static_cast<uint32_t>(facts.timestamp.value_or(0) >> 32);
    time_low_ = static_cast<uint32_t>(facts.timestamp.value_or(0));
  }

  bool known() const { return (bits_ & kKnown) != 0; }
  /// What they were made of, if they are known.
  PacketFacts facts() const {
    PacketFacts facts;
    facts.content = bits_ >> kContentShift;
    if ((bits_ & kTimestamp) != 0) facts.timestamp = uint64_t{time_high_} << 32 | time_low_;
    facts.clears_state = (bits_ & kClearsState) != 0;
    facts.needs_state = (bits_ & kNeedsState) != 0;
    facts.has_interned_data = (bits_ & kInternedData) != 0;
    return facts;
  }

 private:
  enum Bit : uint32_t {
    kKnown = 1,
    kTimestamp = 2,
    kClearsState = 4,
    kNeedsState = 8,
    kInternedData = 16,
  };
  static constexpr uint32_t kContentShift = 5;
  static constexpr uint32_t kMostContent = UINT32_MAX >> kContentShift;

  uint32_t bits_ = 0;
  uint32_t time_high_ = 0;
  uint32_t time_low_ = 0;
};

}  // namespace ringscope::ledger

#endif  // RINGSCOPE_CORE_LEDGER_KEPT_FACTS_H_
