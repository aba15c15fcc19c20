#include "core/packet_traits.h"

#include <algorithm>
#include <array>

#include "core/data_loss.h"

namespace ringscope {
namespace {

constexpr uint8_t kClearsState = 1;
constexpr uint8_t kNeedsState = 2;
constexpr unsigned kDroppedShift = 2;

/// What producers may say of their own losses.
constexpr std::array<uint32_t, 4> kDropped = {0, kLossPresent, kLossSmbFull,
                                              kLossPresent | kLossSmbFull};

}  // namespace

std::optional<uint8_t> TraitsOf(const PacketFacts& facts) {
  const auto* const dropped = std::find(kDropped.begin(), kDropped.end(), facts.dropped);
  if (dropped == kDropped.end()) return std::nullopt;
  return static_cast<uint8_t>((facts.clears_state ? kClearsState : 0) |
                              (facts.needs_state ? kNeedsState : 0) |
                              (dropped - kDropped.begin()) << kDroppedShift);
}

PacketFacts FactsOf(uint8_t traits) {
  PacketFacts facts;
  facts.clears_state = (traits & kClearsState) != 0;
  facts.needs_state = (traits & kNeedsState) != 0;
  facts.dropped = kDropped[traits >> kDroppedShift & 3];
  return facts;
}

}  // namespace ringscope
