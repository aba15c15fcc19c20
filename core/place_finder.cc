#include "core/place_finder.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/fragment.h"
#include "core/observer_fan.h"
#include "core/written_chunk.h"

namespace ringscope {
namespace {

/// A chunk as it was committed, with the patches that came for it.
struct Copy {
  std::string payload;
  WrittenChunk chunk;
  uint64_t serial = 0;  // of the commit that brought it
};

/// The packets of one sequence, as far as their chunks are kept.
class Sequence {
 public:
  void Keep(uint64_t id, const ChunkCommit& commit, uint64_t serial) {
    newest_ = known_ ? std::max(newest_, id) : id;
    known_ = true;
    Copy& copy = copies_[id];
    copy.serial = serial;
    WrittenChunk chunk;
    ReadWrittenChunk(commit, chunk);
    // A scrape that comes after the whole chunk says nothing new.
    if (chunk.bytes < copy.chunk.bytes) return;
    copy.payload = wire::AsText(commit.payload.first(chunk.bytes));
    copy.chunk = std::move(chunk);
  }
  void Forget(uint64_t id, uint64_t serial) {
    const auto copy = copies_.find(id);
    if (copy != copies_.end() && copy->second.serial == serial) copies_.erase(copy);
  }
  void ApplyPatches(uint64_t id, const ChunkPatches& patches) {
    const auto copy = copies_.find(id);
    if (copy == copies_.end()) return;
    std::string& payload = copy->second.payload;
    for (const Patch& patch : patches.patches)
      if (payload.size() >= kPatchSize && patch.offset <= payload.size() - kPatchSize)
        std::memcpy(payload.data() + patch.offset, patch.data, kPatchSize);
  }
  uint64_t Unwrap(ChunkId id) const { return known_ ? ringscope::Unwrap(newest_, id) : Raw(id); }

  /// Searches on from where the last packet was found, and then from the start.
  PacketPlace Find(const Packet& packet) {
    const auto start = copies_.lower_bound(next_chunk_);
    for (auto at = start; at != copies_.end(); ++at)
      if (const auto place = FindIn(at, at->first == next_chunk_ ? next_fragment_ : 0, packet))
        return *place;
    for (auto at = copies_.begin(); at != copies_.end(); ++at) {
      if (const auto place = FindIn(at, 0, packet)) return *place;
      if (at == start) break;
    }
    return kUnknownPlace;
  }

 private:
  using Copies = std::map<uint64_t, Copy>;  // by unwrapped chunk id

  std::optional<PacketPlace> FindIn(Copies::const_iterator at, size_t from, const Packet& packet) {
    const std::vector<WrittenFragment>& fragments = at->second.chunk.fragments;
    for (size_t i = from; i < fragments.size(); ++i) {
      Copies::const_iterator last = at;
      if (!IsAt(last, i, packet)) continue;
      next_chunk_ = at->first;
      next_fragment_ = i + 1;
      return PacketPlace{.first_chunk = ChunkId{static_cast<uint32_t>(at->first)},
                         .first_offset = fragments[i].offset,
                         .last_chunk = ChunkId{static_cast<uint32_t>(last->first)}};
    }
    return std::nullopt;
  }

  /// Whether the packet that begins with this fragment is this one. Sets `chunk` to its last chunk.
  bool IsAt(Copies::const_iterator& chunk, size_t index, const Packet& packet) const {
    const FragmentKind first = chunk->second.chunk.fragments[index].kind;
    if (first != FragmentKind::kWhole && first != FragmentKind::kBegin) return false;
    Rest rest(packet.slices);
    while (true) {
      const WrittenFragment& fragment = chunk->second.chunk.fragments[index];
      // Its size is of one to ten bytes; what it is now is told by the payload itself.
      Fragment found;
      const std::string& payload = chunk->second.payload;
      if (ReadFragment(wire::AsBytes(payload).data(), static_cast<uint32_t>(payload.size()),
                       fragment.offset, found) != FragmentStatus::kFragment ||
          !rest.Take(wire::AsBytes(payload).subspan(found.body, found.size())))
        return false;
      if (fragment.kind == FragmentKind::kWhole || fragment.kind == FragmentKind::kEnd)
        return rest.empty();
      // Chunks without fragments are passed over.
      uint64_t next_id = chunk->first;
      do {
        ++chunk;
        if (chunk == copies_.end() || chunk->first != ++next_id) return false;
      } while (chunk->second.chunk.fragments.empty());
      index = 0;
      const FragmentKind kind = chunk->second.chunk.fragments[0].kind;
      if (kind != FragmentKind::kContinue && kind != FragmentKind::kEnd) return false;
    }
  }

  /// The bytes of a packet that were not compared yet.
  class Rest {
   public:
    explicit Rest(std::span<const Bytes> slices) : slices_(slices) { SkipEmpty(); }
    bool empty() const { return slices_.empty(); }
    bool Take(Bytes piece) {
      while (!piece.empty()) {
        if (empty()) return false;
        const size_t size = std::min(piece.size(), slices_.front().size() - used_);
        if (std::memcmp(piece.data(), slices_.front().data() + used_, size) != 0) return false;
        piece = piece.subspan(size);
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

  Copies copies_;
  bool known_ = false;
  uint64_t newest_ = 0;
  uint64_t next_chunk_ = 0;  // behind the packet found last
  size_t next_fragment_ = 0;
};

/// What the engine itself tells, but for the packets it returns: their places are not known yet.
class AllButReturned : public ObserverFan {
 public:
  using ObserverFan::ObserverFan;
  void OnPacketReturned(const Packet&) override {}
};

class PlaceFinder final : public Engine {
 public:
  /// @param limit bytes of copies
  PlaceFinder(uint64_t limit, FillPolicy policy, EngineObserver* observer)
      : limit_(limit),
        keeps_first_(policy == FillPolicy::kDiscard),
        observer_(observer),
        inner_observer_({observer}) {}

  /// What the engine inside is made with.
  EngineObserver* inner_observer() { return observer_ != nullptr ? &inner_observer_ : nullptr; }
  void SetEngine(std::unique_ptr<Engine> engine) { engine_ = std::move(engine); }

  void Commit(const ChunkCommit& commit) override {
    engine_->Commit(commit);
    TakeFailure();
    const uint64_t size = commit.payload.size() + kOverhead;
    if (keeps_first_ && kept_bytes_ + size > limit_) return;
    Sequence& sequence = sequences_[commit.sequence.Packed()];
    const uint64_t id = sequence.Unwrap(commit.chunk);
    sequence.Keep(id, commit, ++serial_);
    kept_.push_back({commit.sequence.Packed(), id, serial_, size});
    kept_bytes_ += size;
    while (kept_bytes_ > limit_ && kept_.size() > 1) {
      const Kept& oldest = kept_.front();
      sequences_[oldest.sequence].Forget(oldest.chunk, oldest.serial);
      kept_bytes_ -= oldest.size;
      kept_.pop_front();
    }
  }
  bool ApplyPatches(const ChunkPatches& patches) override {
    const bool applied = engine_->ApplyPatches(patches);
    const auto sequence = sequences_.find(patches.sequence.Packed());
    if (applied && sequence != sequences_.end())
      sequence->second.ApplyPatches(sequence->second.Unwrap(patches.chunk), patches);
    TakeFailure();
    return applied;
  }
  void BeginRead() override {
    engine_->BeginRead();
    TakeFailure();
  }
  const Packet* NextPacket() override {
    const Packet* packet = engine_->NextPacket();
    TakeFailure();
    if (packet == nullptr) return nullptr;
    packet_ = *packet;
    const auto sequence = sequences_.find(packet_.sequence.Packed());
    packet_.place = sequence == sequences_.end() ? kUnknownPlace : sequence->second.Find(packet_);
    if (observer_ != nullptr) observer_->OnPacketReturned(packet_);
    return &packet_;
  }
  Result<std::unique_ptr<Engine>> Clone() const override {
    RS_ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine, engine_->Clone());
    auto clone = std::make_unique<PlaceFinder>(
        limit_, keeps_first_ ? FillPolicy::kDiscard : FillPolicy::kRingBuffer, nullptr);
    clone->SetEngine(std::move(engine));
    clone->sequences_ = sequences_;
    clone->kept_ = kept_;
    clone->kept_bytes_ = kept_bytes_;
    clone->serial_ = serial_;
    return clone;
  }
  const BufferStats& stats() const override { return engine_->stats(); }
  void VisitWriterStats(const std::function<void(const WriterStats&)>& visit) const override {
    engine_->VisitWriterStats(visit);
  }
  std::string CheckInvariants() const override { return engine_->CheckInvariants(); }

 private:
  struct Kept {
    uint32_t sequence;
    uint64_t chunk;
    uint64_t serial;
    uint64_t size;
  };
  static constexpr uint64_t kOverhead = 64;

  void TakeFailure() {
    if (engine_->failure() != nullptr) SetFailure(*engine_->failure());
  }

  const uint64_t limit_;
  const bool keeps_first_;  // the buffer discards what comes once it is full
  EngineObserver* const observer_;
  AllButReturned inner_observer_;
  std::unique_ptr<Engine> engine_;
  std::unordered_map<uint32_t, Sequence> sequences_;
  std::deque<Kept> kept_;  // in order of commit
  uint64_t kept_bytes_ = 0;
  uint64_t serial_ = 0;
  Packet packet_;
};

}  // namespace

Result<std::unique_ptr<Engine>> CreateWithPlaces(const EngineInfo& info,
                                                 const EngineConfig& config) {
  if (info.reports_places) return info.create(config);
  auto finder = std::make_unique<PlaceFinder>(2 * config.size, config.policy, config.observer);
  EngineConfig inner = config;
  inner.observer = finder->inner_observer();
  RS_ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine, info.create(inner));
  finder->SetEngine(std::move(engine));
  return finder;
}

}  // namespace ringscope
