#ifndef RINGSCOPE_CORE_LEDGER_KINDS_OF_PACKETS_H_
#define RINGSCOPE_CORE_LEDGER_KINDS_OF_PACKETS_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/perfetto/packet_kinds.h"

namespace ringscope {

/// Keeps the kinds of the packets of chunks until their fates are reported. Memory: O(packets of
/// chunks that the ledger remembers).
class KindsOfPackets {
 public:
  /// @param kinds may be nullptr: then all are 0
  explicit KindsOfPackets(PacketKinds* kinds) : kinds_(kinds) {}

  /// False: there are no kinds, and packets need not be added.
  bool wanted() const { return kinds_ != nullptr; }
  /// A packet that begins in a chunk that was committed, once.
  /// @param fragment index, of the packet's first one in the chunk
  void Add(BufferId buffer, ChunkName chunk, size_t fragment, const PacketFacts& facts,
           Bytes content, Bytes packet);
  void Forget(BufferId buffer, SequenceKey sequence, uint64_t chunk);

  /// See PacketKinds; 0: not known.
  uint32_t Of(const PacketAccount& account);
  /// "track_event: app/frame", or only the content.
  std::string ContentText(uint32_t content, uint32_t kind) const;
  /// "app/frame"; empty: it is not known.
  const std::string& NameOf(uint32_t kind) const;

 private:
  /// Of the packets that begin in a chunk, by fragment.
  using ChunkKinds = std::vector<uint32_t>;

  PacketKinds* kinds_;
  std::unordered_map<ChunkAt, ChunkKinds> chunks_;
  std::pair<ChunkAt, ChunkKinds*> last_{};  // looked up: packets of a chunk follow each other
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LEDGER_KINDS_OF_PACKETS_H_
