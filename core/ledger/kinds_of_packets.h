#ifndef RINGSCOPE_CORE_LEDGER_KINDS_OF_PACKETS_H_
#define RINGSCOPE_CORE_LEDGER_KINDS_OF_PACKETS_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/ledger/ledger.h"
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
    if (kind == 0) return;
    const ChunkAt at{buffer, chunk};
    if (last_.second == nullptr || last_.first != at) last_ = {at, &chunks_[at]};
    ChunkKinds& kinds = *last_.second;
    if (kinds.size() <= fragment) kinds.resize(fragment + 1);
    kinds[fragment] = kind;
  }
  void Forget(BufferId buffer, SequenceKey sequence, uint64_t chunk) {
    chunks_.erase({buffer, {sequence, IdOf(chunk)}});
    last_ = {};
  }

  /// See PacketKinds; 0: not known.
  uint32_t Of(const PacketAccount& account) {
    if (kinds_ == nullptr) return 0;
    const ChunkAt at{account.buffer, {account.sequence, IdOf(account.first_chunk)}};
    if (last_.second == nullptr || last_.first != at) {
      const auto found = chunks_.find(at);
      if (found == chunks_.end()) return 0;
      last_ = {at, &found->second};
    }
    return account.fragment < last_.second->size() ? (*last_.second)[account.fragment] : 0;
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
  /// Of the packets that begin in a chunk, by fragment.
  using ChunkKinds = std::vector<uint32_t>;

  PacketKinds* kinds_;
  std::unordered_map<ChunkAt, ChunkKinds> chunks_;
  std::pair<ChunkAt, ChunkKinds*> last_{};  // looked up: packets of a chunk follow each other
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LEDGER_KINDS_OF_PACKETS_H_
