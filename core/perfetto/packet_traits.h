#ifndef RINGSCOPE_CORE_PERFETTO_PACKET_TRAITS_H_
#define RINGSCOPE_CORE_PERFETTO_PACKET_TRAITS_H_

#include <cstdint>
#include <optional>

#include "core/perfetto/packet_facts.h"

namespace ringscope {

// The facts about a packet that its losses are judged by, in a byte: where packets travel without
// their bytes.

/// @return nullopt: these facts have no traits (a previous_packet_dropped that no producer writes)
std::optional<uint8_t> TraitsOf(const PacketFacts& facts);
/// The facts that TraitsOf kept.
PacketFacts FactsOf(uint8_t traits);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_PACKET_TRAITS_H_
