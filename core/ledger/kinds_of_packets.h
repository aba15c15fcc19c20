#ifndef RINGSCOPE_CORE_LEDGER_KINDS_OF_PACKETS_H_
#define RINGSCOPE_CORE_LEDGER_KINDS_OF_PACKETS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/ledger/packet_values.h"
#include "core/perfetto/packet_facts.h"

namespace ringscope {

/// Keeps the kinds of the packets of chunks until their fates are reported. Memory: O(packets of
/// chunks that the ledger remembers).
class KindsOfPackets {
 public:
  /// @param kinds may be nullptr, which makes all of them 0
  explicit KindsOfPackets(PacketKinds* kinds) : kinds_(kinds) {}

  /// False: there are no kinds, and packets need not be added.
  bool wanted() const { return kinds_ != nullptr; }
  /// A packet that begins in a chunk that was committed, once.
  /// @param fragment index, of the packet's first one in the chunk
  void Add(BufferId buffer, ChunkName chunk, size_t fragment, const PacketFacts& facts,
           Bytes content, Bytes packet) {
    if (kinds_ == nullptr) return;
    const uint32_t kind = kinds_->Add(buffer, chunk, facts, content, packet);
    if (kind != 0) values_.Set({buffer, chunk}, fragment, kind);
  }
  void Forget(BufferId buffer, SequenceKey sequence, uint64_t chunk) {
    values_.Forget({buffer, {sequence, IdOf(chunk)}});
  }

  /// See PacketKinds; 0: not known.
  uint32_t Of(const PacketAccount& account) const {
    return kinds_ == nullptr ? 0 : values_.Of(account);
  }
  /// "track_event: app/frame", or only the content.
  std::string ContentText(uint32_t content, uint32_t kind) const {
    return ringscope::ContentText(content, NameOf(kind));
  }
  /// "app/frame"; empty: it is not known.
  const std::string& NameOf(uint32_t kind) const {
    static const std::string kNone;
    return kinds_ == nullptr ? kNone : kinds_->NameOf(kind);
  }

 private:
  PacketKinds* kinds_;
  PacketValues<uint32_t> values_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LEDGER_KINDS_OF_PACKETS_H_
