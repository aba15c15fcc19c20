#ifndef RINGSCOPE_CORE_PERFETTO_PACKET_KINDS_H_
#define RINGSCOPE_CORE_PERFETTO_PACKET_KINDS_H_

#include <cstdint>
#include <string>

#include "core/perfetto/packet_facts.h"

namespace ringscope {

/// Tells packets of one content (PacketFacts) apart by what they are about: a track event by its
/// category and name, a bundle of ftrace by its events.
class PacketKinds {
 public:
  virtual ~PacketKinds() = default;
  /// Reads a packet; those of a sequence come in the order in which they were written.
  /// @param chunk where it begins @param content as ReadPacketFacts finds it
  /// @param packet its first fragment @return the number of its kind; 0: it is not known
  virtual uint32_t Add(BufferId buffer, ChunkName chunk, const PacketFacts& facts, Bytes content,
                       Bytes packet) = 0;
  /// "app/frame"; empty for 0. Fit for a terminal.
  virtual const std::string& NameOf(uint32_t kind) const = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_PACKET_KINDS_H_
