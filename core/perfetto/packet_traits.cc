#include "core/perfetto/packet_traits.h"

#include <algorithm>
#include <array>

#include "core/perfetto/data_loss.h"

namespace ringscope {
namespace {

constexpr uint8_t kClearsStateBit = 1;
constexpr uint8_t kNeedsStateBit = 2;
constexpr unsigned kDroppedShift = 2;

/// What producers may report of their own losses.
constexpr std::array<uint32_t, 4> kDropped = {0, kLossPresent, kLossSmbFull,
                                              kLossPresent | kLossSmbFull};

}  // namespace

std::optional<uint8_t> TraitsOf(const PacketFacts& facts) {
  const auto* const dropped = std::find(kDropped.begin(), kDropped.end(), facts.dropped);
  if (dropped == kDropped.end()) return std::nullopt;
  return static_cast<uint8_t>((facts.clears_state ? kClearsStateBit : 0) |
                              (facts.needs_state ? kNeedsStateBit : 0) |
                              (dropped - kDropped.begin()) << kDroppedShift);
}

PacketFacts FactsOf(uint8_t traits) {
  PacketFacts facts;
  facts.clears_state = (traits & kClearsStateBit) != 0;
  facts.needs_state = (traits & kNeedsStateBit) != 0;
  facts.dropped = kDropped[traits >> kDroppedShift & 3];
  return facts;
}

}  // namespace ringscope
