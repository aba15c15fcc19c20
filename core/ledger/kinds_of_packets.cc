#include "core/ledger/kinds_of_packets.h"

namespace ringscope {
namespace {

ChunkAt FirstChunkOf(const PacketAccount& account) {
  return {account.buffer, {account.sequence, IdOf(account.first_chunk)}};
}

}  // namespace

void KindsOfPackets::Add(BufferId buffer, ChunkName chunk, size_t fragment,
                         const PacketFacts& facts, Bytes content, Bytes packet) {
  if (kinds_ == nullptr) return;
  const uint32_t kind = kinds_->Add(buffer, chunk, facts, content, packet);
  if (kind == 0) return;
  const ChunkAt at{buffer, chunk};
  if (last_.second == nullptr || last_.first != at) last_ = {at, &chunks_[at]};
  ChunkKinds& kinds = *last_.second;
  if (kinds.size() <= fragment) kinds.resize(fragment + 1);
  kinds[fragment] = kind;
}

void KindsOfPackets::Forget(BufferId buffer, SequenceKey sequence, uint64_t chunk) {
  chunks_.erase({buffer, {sequence, IdOf(chunk)}});
  last_ = {};
}

uint32_t KindsOfPackets::Of(const PacketAccount& account) {
  if (kinds_ == nullptr) return 0;
  const ChunkAt at = FirstChunkOf(account);
  if (last_.second == nullptr || last_.first != at) {
    const auto found = chunks_.find(at);
    if (found == chunks_.end()) return 0;
    last_ = {at, &found->second};
  }
  return account.fragment < last_.second->size() ? (*last_.second)[account.fragment] : 0;
}

std::string KindsOfPackets::ContentText(uint32_t content, uint32_t kind) const {
  return ringscope::ContentText(content, NameOf(kind));
}

const std::string& KindsOfPackets::NameOf(uint32_t kind) const {
  static const std::string kNone;
  return kinds_ == nullptr ? kNone : kinds_->NameOf(kind);
}

}  // namespace ringscope
