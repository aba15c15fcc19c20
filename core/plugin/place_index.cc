#include "core/plugin/place_index.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "core/base/wire.h"
#include "core/perfetto/fragment.h"

namespace ringscope {
namespace {

/// So many bytes of a packet's first fragment count for the index, unless it is the whole packet.
constexpr uint64_t kPrefix = 64;
/// In place of the size of a first fragment that has more.
constexpr uint64_t kLongBeginning = UINT64_MAX;

uint64_t KeyOf(uint64_t hash, uint64_t size) { return hash ^ size * 0x9E3779B97F4A7C15; }

/// A hash of a packet's first bytes that grows with each of them (FNV-1a).
class PrefixHash {
 public:
  void Add(uint8_t byte) { hash_ = (hash_ ^ byte) * 0x100000001B3; }
  void Add(Bytes bytes) {
    for (const uint8_t byte : bytes) Add(byte);
  }
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0xCBF29CE484222325;
};

/// The bytes of a packet that were not compared yet.
class Rest {
 public:
  explicit Rest(std::span<const Bytes> slices) : slices_(slices) { SkipEmpty(); }
  bool empty() const { return slices_.empty(); }
  uint8_t TakeByte() {
    const uint8_t byte = slices_.front()[used_++];
    SkipEmpty();
    return byte;
  }
  bool Take(Bytes fragment) {
    while (!fragment.empty()) {
      if (empty()) return false;
      const size_t size = std::min(fragment.size(), slices_.front().size() - used_);
      if (std::memcmp(fragment.data(), slices_.front().data() + used_, size) != 0) return false;
      fragment = fragment.subspan(size);
      used_ += size;
      SkipEmpty();
    }
    return true;
  }

 private:
  void SkipEmpty() {
    while (!slices_.empty() && used_ == slices_.front().size()) {
      slices_ = slices_.subspan(1);
      used_ = 0;
    }
  }
  std::span<const Bytes> slices_;
  size_t used_ = 0;
};

}  // namespace

/// A packet that is looked for, and the first place from next_ on, or of all.
struct PlaceIndex::Search {
  const Packet& packet;
  std::optional<Found> next;
  std::optional<Found> first;
};

void PlaceIndex::Keep(uint64_t id, const ChunkCommit& commit, uint64_t serial) {
  ids_.AddNumber(id);
  Copy& copy = copies_[id];
  copy.serial = serial;
  WrittenChunk chunk;
  ReadWrittenChunk(commit, chunk);
  // A scrape that is committed after the whole chunk adds nothing.
  if (chunk.bytes < copy.chunk.bytes) return;
  TakeOutOfIndex(id, copy);
  copy.payload = wire::AsText(commit.payload.first(chunk.bytes));
  copy.chunk = std::move(chunk);
  PutIntoIndex(id, copy);
}

void PlaceIndex::Forget(uint64_t id, uint64_t serial) {
  const auto copy = copies_.find(id);
  if (copy == copies_.end() || copy->second.serial != serial) return;
  TakeOutOfIndex(id, copy->second);
  copies_.erase(copy);
}

void PlaceIndex::ApplyPatches(uint64_t id, const ChunkPatches& patches) {
  const auto copy = copies_.find(id);
  if (copy == copies_.end()) return;
  TakeOutOfIndex(id, copy->second);
  std::string& payload = copy->second.payload;
  for (const Patch& patch : patches.patches)
    if (payload.size() >= kPatchSize && patch.offset <= payload.size() - kPatchSize)
      std::memcpy(payload.data() + patch.offset, patch.data, kPatchSize);
  PutIntoIndex(id, copy->second);
}

PacketPlace PlaceIndex::Find(const Packet& packet) {
  Search search{packet, {}, {}};
  // Its first fragment has none of its bytes, some, or all.
  Rest rest(packet.slices);
  PrefixHash hash;
  Look(hash.value(), 0, search);
  for (uint64_t size = 1; size <= packet.size && !rest.empty(); ++size) {
    hash.Add(rest.TakeByte());
    if (size < kPrefix || size == packet.size) Look(hash.value(), size, search);
    if (size == kPrefix) Look(hash.value(), kLongBeginning, search);
  }
  const std::optional<Found>& found = search.next ? search.next : search.first;
  if (!found) return kUnknownPlace;
  next_ = {found->at.first, found->at.second + 1};
  return found->place;
}

/// Bytes of a fragment as the payload has them now: patches may change its size.
std::optional<Bytes> PlaceIndex::BodyOf(const Copy& copy, const WrittenFragment& fragment) {
  Fragment found;
  const Bytes payload = wire::AsBytes(copy.payload);
  if (ReadFragment(payload.data(), static_cast<uint32_t>(payload.size()), fragment.offset, found) !=
      FragmentStatus::kFragment)
    return std::nullopt;
  return payload.subspan(found.body, found.size());
}

/// Calls `visit` with the key and the index of each fragment that a packet begins with. (No buffer
/// returns empty packets that are whole.)
template <typename Visit>
void PlaceIndex::VisitKeys(const Copy& copy, Visit visit) {
  for (uint32_t i = 0; i < copy.chunk.fragments.size(); ++i) {
    const WrittenFragment& fragment = copy.chunk.fragments[i];
    const bool is_whole = fragment.kind == FragmentKind::kWhole;
    if (!is_whole && fragment.kind != FragmentKind::kBegin) continue;
    const auto body = BodyOf(copy, fragment);
    if (!body || (is_whole && body->empty())) continue;
    const bool is_cut = !is_whole && body->size() >= kPrefix;
    PrefixHash hash;
    hash.Add(is_cut ? body->first(kPrefix) : *body);
    visit(KeyOf(hash.value(), is_cut ? kLongBeginning : body->size()), i);
  }
}

void PlaceIndex::PutIntoIndex(uint64_t id, const Copy& copy) {
  VisitKeys(copy, [&](uint64_t key, uint32_t i) { index_[key].insert({id, i}); });
}

void PlaceIndex::TakeOutOfIndex(uint64_t id, const Copy& copy) {
  VisitKeys(copy, [&](uint64_t key, uint32_t i) {
    const auto entry = index_.find(key);
    entry->second.erase({id, i});
    if (entry->second.empty()) index_.erase(entry);
  });
}

/// Looks for the packet at the first fragments with this key.
void PlaceIndex::Look(uint64_t hash, uint64_t size, Search& search) {
  const auto entry = index_.find(KeyOf(hash, size));
  if (entry == index_.end()) return;
  const std::set<Position>& positions = entry->second;
  const auto look = [&](auto at, auto end, std::optional<Found>& best) {
    for (; at != end && (!best || *at < best->at); ++at)
      if (const auto place = PlaceAt(*at, search.packet)) best = Found{*at, *place};
  };
  const auto middle = positions.lower_bound(next_);
  look(middle, positions.end(), search.next);
  if (!search.next) look(positions.begin(), middle, search.first);
}

/// Where the packet is if it begins with this fragment.
std::optional<PacketPlace> PlaceIndex::PlaceAt(Position at, const Packet& packet) {
  const auto begin = copies_.find(at.first);
  auto chunk = begin;
  size_t index = at.second;
  Rest rest(packet.slices);
  while (true) {
    const WrittenFragment& fragment = chunk->second.chunk.fragments[index];
    const auto body = BodyOf(chunk->second, fragment);
    ++compared_;
    if (!body || !rest.Take(*body)) return std::nullopt;
    if (fragment.kind == FragmentKind::kWhole || fragment.kind == FragmentKind::kEnd) break;
    // Chunks without fragments are passed over.
    uint64_t next_id = chunk->first;
    do {
      ++chunk;
      if (chunk == copies_.end() || chunk->first != ++next_id) return std::nullopt;
    } while (chunk->second.chunk.fragments.empty());
    index = 0;
    const FragmentKind kind = chunk->second.chunk.fragments[0].kind;
    if (kind != FragmentKind::kContinue && kind != FragmentKind::kEnd) return std::nullopt;
  }
  if (!rest.empty()) return std::nullopt;
  return PacketPlace{.first_chunk = IdOf(at.first),
                     .first_offset = begin->second.chunk.fragments[at.second].offset,
                     .last_chunk = IdOf(chunk->first)};
}

}  // namespace ringscope
