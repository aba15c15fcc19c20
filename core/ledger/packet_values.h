#ifndef RINGSCOPE_CORE_LEDGER_PACKET_VALUES_H_
#define RINGSCOPE_CORE_LEDGER_PACKET_VALUES_H_

#include <unordered_map>

#include "core/ledger/ledger.h"

namespace ringscope {

/// A value for each packet of the chunks that the ledger remembers. Memory: O(these packets).
template <typename Value>
class PacketValues {
 public:
  /// Sets the value of a packet that begins in a chunk.
  /// @param fragment index, of the packet's first one in the chunk
  void Set(const ChunkAt& at, size_t fragment, Value value) {
    if (last_.second == nullptr || last_.first != at) last_ = {at, &chunks_[at]};
    std::vector<Value>& values = *last_.second;
    if (values.capacity() == 0) values.reserve(kUsualPackets);
    if (values.size() <= fragment) values.resize(fragment + 1);
    values[fragment] = value;
  }
  /// Returns the packet's value; Value(): none was set.
  Value Of(const PacketAccount& account) const {
    const ChunkAt at{account.buffer, {account.sequence, IdOf(account.first_chunk)}};
    if (last_.second == nullptr || last_.first != at) {
      const auto found = chunks_.find(at);
      if (found == chunks_.end()) return Value();
      last_ = {at, &found->second};
    }
    return account.fragment < last_.second->size() ? (*last_.second)[account.fragment] : Value();
  }
  /// Forgets a chunk. @return its packets' values by their first fragment; may be empty
  std::vector<Value> Forget(const ChunkAt& at) {
    last_ = {};
    auto found = chunks_.extract(at);
    return found ? std::move(found.mapped()) : std::vector<Value>();
  }

 private:
  static constexpr size_t kUsualPackets = 8;  // of a chunk

  mutable std::unordered_map<ChunkAt, std::vector<Value>> chunks_;
  /// The chunk that was looked up last: packets of a chunk follow each other.
  mutable std::pair<ChunkAt, std::vector<Value>*> last_{};
};

/// Keeps the kinds of the packets of chunks until their fates are reported. Memory: O(packets of
/// chunks that the ledger remembers).
class KindsOfPackets {
 public:
  /// @param kinds may be nullptr, which makes all of them 0
  explicit KindsOfPackets(PacketKinds* kinds) : kinds_(kinds) {}

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

 private:
  PacketKinds* kinds_;
  PacketValues<uint32_t> values_;
};

/// The packets' own times (CLOCK_BOOTTIME, ns), from their commit until their fate is known.
/// Memory: 8 bytes for each packet of the chunks that the ledger remembers.
class PacketTimes {
 public:
  /// Notes the time of a packet, where it is known, by its first fragment.
  void Add(BufferId buffer, ChunkName chunk, size_t fragment, std::optional<uint64_t> time_ns) {
    times_.Set({buffer, chunk}, fragment, time_ns.value_or(0));
  }
  /// Forgets a chunk, but for its last packet, which may continue in later ones.
  void Forget(BufferId buffer, SequenceKey sequence, uint64_t chunk) {
    const std::vector<uint64_t> times = times_.Forget({buffer, {sequence, IdOf(chunk)}});
    if (!times.empty()) last_[sequence] = {chunk, times.size() - 1, times.back()};
  }
  /// Returns the packet's own time, or else that of its commit; 0: neither is known.
  uint64_t Of(const PacketAccount& account) const {
    if (const uint64_t time_ns = times_.Of(account); time_ns != 0) return time_ns;
    const Last* const last = last_.Find(account.sequence);
    const bool is_last = last != nullptr && last->chunk == account.first_chunk &&
                         last->fragment == account.fragment && last->time_ns != 0;
    return is_last ? last->time_ns : account.written.time_ns.value_or(0);
  }

 private:
  /// The last packet of the chunk that was forgotten last.
  struct Last {
    uint64_t chunk = 0;
    uint64_t fragment = 0;
    uint64_t time_ns = 0;
  };
  PacketValues<uint64_t> times_;  // 0: not known
  SequenceMap<Last> last_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LEDGER_PACKET_VALUES_H_
