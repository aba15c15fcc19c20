// Perfetto's own trace buffers as plug-ins of ringscope: compiled in a Perfetto checkout, against
// its headers, with 'ringscope plugin build' or by hand (see ringscope-plugin-build(1)). One source
// for the releases from v53 on.
//
// The plug-in "v2" is TraceBufferV2 (from v54 on), "v1" TraceBufferV1. With
// -DRINGSCOPE_ADAPTER_V1=0 or -DRINGSCOPE_ADAPTER_V2=0 one of them is left out, and with
// -DRINGSCOPE_ADAPTER_VERSION="..." their version is stated. The checkout is not changed: what is
// inside of V2 is read by a class that V2 has as a friend for its tests.
//
// What V2's public counters and its chunks show is reported. Not visible from outside are the
// packets that a read abandons, stalls, the places of loss bits, and why a chunk is discarded.

#include <ringscope/plugin_abi.h>
#include <stdio.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "perfetto/ext/tracing/core/basic_types.h"
#include "perfetto/ext/tracing/core/client_identity.h"
#include "perfetto/ext/tracing/core/trace_packet.h"
#include "protos/perfetto/common/trace_stats.gen.h"
#include "src/tracing/service/trace_buffer.h"
#include "src/tracing/service/trace_buffer_v1.h"

#ifndef RINGSCOPE_ADAPTER_V1
#define RINGSCOPE_ADAPTER_V1 1
#endif
#ifndef RINGSCOPE_ADAPTER_V2
#if __has_include("src/tracing/service/trace_buffer_v2.h")
#define RINGSCOPE_ADAPTER_V2 1
#else
#define RINGSCOPE_ADAPTER_V2 0
#endif
#endif
#if RINGSCOPE_ADAPTER_V2
#include "src/tracing/service/trace_buffer_v2.h"
#endif
#ifndef RINGSCOPE_ADAPTER_VERSION
#define RINGSCOPE_ADAPTER_VERSION nullptr
#endif

namespace perfetto {

#if RINGSCOPE_ADAPTER_V2
/// Where in the buffer its chunks are. The name is that of a friend of TraceBufferV2.
class TraceBufferV2Test {
 public:
  explicit TraceBufferV2Test(TraceBufferV2& buffer) : buffer_(&buffer) {}

  uint8_t* begin() const { return static_cast<uint8_t*>(buffer_->data_.Get()); }
  size_t size() const { return buffer_->size_; }
  size_t used() const { return buffer_->used_size_; }
  /// The write cursor.
  size_t cursor() const {
    return static_cast<size_t>(
        reinterpret_cast<uintptr_t>(PointerOf(buffer_->wr_)) -
        (IsPointer(buffer_->wr_) ? reinterpret_cast<uintptr_t>(begin()) : 0));
  }
  internal::TBChunk* At(size_t offset) const {
    return reinterpret_cast<internal::TBChunk*>(begin() + offset);
  }

 private:
  // The cursor is an offset, or a pointer into the buffer.
  template <typename T>
  static constexpr bool IsPointer(const T&) {
    return std::is_pointer_v<T>;
  }
  static const void* PointerOf(const void* pointer) { return pointer; }
  static const void* PointerOf(size_t offset) { return reinterpret_cast<const void*>(offset); }

  TraceBufferV2* buffer_;
};
#endif

// A namespace of its own: names of Perfetto's are hidden by those in here.
namespace ringscope_adapter {
namespace {

/// The third parameter of ReadNextTracePacket, which is what it points to: bool up to v56, then
/// uint32_t.
template <typename Function>
struct ThirdParameter;
template <typename Class, typename Result, typename A, typename B, typename C>
struct ThirdParameter<Result (Class::*)(A, B, C)> {
  using Type = std::remove_pointer_t<C>;
};
using Dropped = ThirdParameter<decltype(&TraceBuffer::ReadNextTracePacket)>::Type;

/// The counter that v58 added.
template <typename Stats>
auto Relocated(const Stats& stats, int)
    -> decltype(static_cast<uint64_t>(stats.chunks_relocated())) {
  return stats.chunks_relocated();
}
template <typename Stats>
uint64_t Relocated(const Stats&, ...) {
  return 0;
}

ringscope_sequence SequenceOf(ProducerAndWriterID both) {
  ringscope_sequence sequence = {};
  GetProducerAndWriterID(both, &sequence.producer, &sequence.writer);
  return sequence;
}

/// A buffer's counters. @param out gives the struct's size
ringscope_stats StatsOf(const TraceBuffer& buffer, ringscope_stats out = {}) {
  const auto& stats = buffer.stats();
  out.buffer_size = stats.buffer_size();
  out.bytes_written = stats.bytes_written();
  out.bytes_overwritten = stats.bytes_overwritten();
  out.bytes_read = stats.bytes_read();
  out.padding_bytes_written = stats.padding_bytes_written();
  out.padding_bytes_cleared = stats.padding_bytes_cleared();
  out.chunks_written = stats.chunks_written();
  out.chunks_rewritten = stats.chunks_rewritten();
  out.chunks_relocated = Relocated(stats, 0);
  out.chunks_overwritten = stats.chunks_overwritten();
  out.chunks_discarded = stats.chunks_discarded();
  out.chunks_read = stats.chunks_read();
  out.chunks_committed_out_of_order = stats.chunks_committed_out_of_order();
  out.write_wrap_count = stats.write_wrap_count();
  out.patches_succeeded = stats.patches_succeeded();
  out.patches_failed = stats.patches_failed();
  out.readaheads_succeeded = stats.readaheads_succeeded();
  out.readaheads_failed = stats.readaheads_failed();
  out.abi_violations = stats.abi_violations();
  out.trace_writer_packet_loss = stats.trace_writer_packet_loss();
  return out;
}

/// A buffer, and what is known of it.
class Buffer {
 public:
  Buffer(std::unique_ptr<TraceBuffer> buffer, const ringscope_observer* observer)
      : buffer_(std::move(buffer)) {
    if (observer != nullptr) observer_ = *observer;
  }
  virtual ~Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  TraceBuffer& perfetto() { return *buffer_; }

  virtual void Commit(const ringscope_commit& commit) {
    const ringscope_stats before = StatsOf(*buffer_);
    Copy(commit);
    const ringscope_stats after = StatsOf(*buffer_);
    const bool stored = after.chunks_written > before.chunks_written ||
                        after.chunks_rewritten > before.chunks_rewritten;
    if (!stored && IsRefused(before, after)) ReportDiscarded(commit);
    ReportWraps(before, after);
  }

  virtual bool Patch(const ringscope_patches& patches) {
    patches_.resize(static_cast<size_t>(patches.count));
    for (size_t i = 0; i < patches_.size(); ++i) {
      patches_[i].offset_untrusted = static_cast<size_t>(patches.patches[i].offset);
      std::copy_n(patches.patches[i].data, patches_[i].data.size(), patches_[i].data.begin());
    }
    return buffer_->TryPatchChunkContents(patches.sequence.producer, patches.sequence.writer,
                                          patches.chunk, patches_.data(), patches_.size(),
                                          patches.more != 0);
  }

  virtual void BeginRead() { buffer_->BeginRead(); }

  virtual bool NextPacket(ringscope_packet* packet) {
    packet_ = TracePacket();
    TraceBuffer::PacketSequenceProperties properties{};
    Dropped dropped{};
    if (!buffer_->ReadNextTracePacket(&packet_, &properties, &dropped)) return false;
    slices_.clear();
    for (const Slice& slice : packet_.slices())
      slices_.push_back({static_cast<const uint8_t*>(slice.start), slice.size});
    packet->sequence = {properties.producer_id_trusted, properties.writer_id};
    packet->uid = static_cast<uint32_t>(properties.producer_uid_trusted());
    packet->pid = static_cast<int32_t>(properties.producer_pid_trusted());
    packet->dropped = static_cast<uint32_t>(dropped);
    packet->slices = slices_.data();
    packet->slice_count = slices_.size();
    return true;
  }

  virtual const char* Check() { return nullptr; }
  virtual uint64_t VisitChunks(ringscope_chunk_visitor, void*) { return 0; }
  /// What else than the buffer's own copy a clone needs.
  virtual std::unique_ptr<Buffer> Around(std::unique_ptr<TraceBuffer> copy) {
    return std::make_unique<Buffer>(std::move(copy), nullptr);
  }

 protected:
  /// Its functions are null where nobody listens.
  const ringscope_observer& observer() const { return observer_; }
  const std::vector<ringscope_slice>& slices() const { return slices_; }

  void Copy(const ringscope_commit& commit) {
    const uid_t uid = static_cast<uid_t>(commit.uid);
    const pid_t pid = static_cast<pid_t>(commit.pid);
    const ClientIdentity identity = commit.machine == 0
                                        ? ClientIdentity(uid, pid)
                                        : ClientIdentity(uid, pid, MachineID(commit.machine));
    static const uint8_t kNothing = 0;
    const uint8_t* const bytes = commit.payload.size == 0 ? &kNothing : commit.payload.data;
    buffer_->CopyChunkUntrusted(commit.sequence.producer, identity, commit.sequence.writer,
                                commit.chunk, commit.fragments, commit.flags, commit.complete != 0,
                                bytes, static_cast<size_t>(commit.payload.size));
  }
  void ReportDiscarded(const ringscope_commit& commit) {
    if (observer_.discarded != nullptr)
      observer_.discarded(observer_.context, &commit, RINGSCOPE_DISCARD_UNKNOWN);
  }
  void ReportWraps(const ringscope_stats& before, const ringscope_stats& after) {
    if (observer_.wrap == nullptr) return;
    for (uint64_t i = before.write_wrap_count; i < after.write_wrap_count; ++i)
      observer_.wrap(observer_.context);
  }
  /// Returns true if the buffer counted the commit as one that it did not take.
  static bool IsRefused(const ringscope_stats& before, const ringscope_stats& after) {
    return after.chunks_discarded > before.chunks_discarded ||
           after.abi_violations > before.abi_violations;
  }

 private:
  std::unique_ptr<TraceBuffer> buffer_;
  ringscope_observer observer_ = {};
  TracePacket packet_;
  std::vector<ringscope_slice> slices_;  // of the packet returned last
  std::vector<TraceBuffer::Patch> patches_;
};

#if RINGSCOPE_ADAPTER_V2

/// TraceBufferV2 with a list of its chunks. When a chunk was read, its header is padding before the
/// packet is returned: only what was known of the chunk before shows which one it was.
class BufferV2 final : public Buffer {
 public:
  BufferV2(std::unique_ptr<TraceBuffer> buffer, const ringscope_observer* observer)
      : Buffer(std::move(buffer), observer), inside_(static_cast<TraceBufferV2&>(perfetto())) {}

  void Commit(const ringscope_commit& commit) override {
    if (in_pass_) TakeOutErased();
    const ringscope_stats before = StatsOf(perfetto());
    const size_t cursor = inside_.cursor();
    Prepare(commit, cursor);
    Copy(commit);
    const ringscope_stats after = StatsOf(perfetto());
    const uint32_t key = Key(commit.sequence);
    const auto own = live_.find({key, commit.chunk});
    if (after.chunks_relocated > before.chunks_relocated && own != live_.end()) {
      const size_t old = own->second;
      Report(observer().relocated, old);
      Erase(old);
    }
    const bool is_written = after.chunks_written > before.chunks_written;
    const auto outer = static_cast<size_t>(after.bytes_written - before.bytes_written);
    const size_t written = is_written ? FindWritten(key, commit.chunk, outer) : SIZE_MAX;
    ReportEvicted(commit, written, outer);
    ReportWraps(before, after);
    copies_.clear();
    if (is_written) {
      Insert(written);
    } else if (const auto held = live_.find({key, commit.chunk}); held != live_.end()) {
      Refresh(held->second);
      if (after.chunks_rewritten == before.chunks_rewritten && IsRefused(before, after))
        ReportDiscarded(commit);
      else
        Report(observer().rewritten, held->second);
    } else {
      ReportDiscarded(commit);
    }
  }

  bool Patch(const ringscope_patches& patches) override {
    const bool applied = Buffer::Patch(patches);
    const auto held = live_.find({Key(patches.sequence), patches.chunk});
    const bool is_held = held != live_.end() && IsThere(held->second);
    if (is_held) Refresh(held->second);
    const ringscope_chunk chunk = is_held ? ChunkAt(held->second) : ringscope_chunk{};
    if (applied && is_held && observer().patched != nullptr) {
      observer().patched(observer().context, &chunk, &patches);
    } else if (!applied && observer().patch_missed != nullptr) {
      observer().patch_missed(
          observer().context, is_held ? &chunk : nullptr, &patches,
          is_held ? RINGSCOPE_PATCH_OUT_OF_BOUNDS : RINGSCOPE_PATCH_NO_SUCH_CHUNK);
    }
    return applied;
  }

  void BeginRead() override {
    if (in_pass_) TakeOutErased();
    in_pass_ = true;
    Buffer::BeginRead();
  }

  bool NextPacket(ringscope_packet* packet) override {
    if (!Buffer::NextPacket(packet)) {
      TakeOutErased();
      in_pass_ = false;
      return false;
    }
    packet->place.first_offset = RINGSCOPE_PLACE_UNKNOWN;
    if (!slices().empty()) {
      const Place first = PlaceOf(slices().front()), last = PlaceOf(slices().back());
      // Empty fragments give no slices. A packet whose first slice continues one began with such.
      if (first.is_known && last.is_known && !first.continues && !last.is_continued)
        packet->place = {first.chunk, first.offset, last.chunk};
    }
    TakeOutErased(Key(packet->sequence));
    return true;
  }

  uint64_t VisitChunks(ringscope_chunk_visitor visit, void* context) override {
    for (size_t offset = 0; offset < inside_.used();) {
      const ringscope_chunk chunk = Describe(offset);
      visit(context, &chunk);
      if (chunk.outer_size == 0) break;
      offset += chunk.outer_size;
    }
    return inside_.cursor();
  }

  /// Whether the list agrees with the buffer.
  const char* Check() override {
    if (in_pass_) TakeOutErased();
    size_t found = 0;
    for (size_t offset = 0; offset < inside_.used();) {
      internal::TBChunk* const chunk = inside_.At(offset);
      if (chunk->outer_size() == 0 || chunk->outer_size() > inside_.used() - offset)
        return "a chunk reaches beyond what the buffer uses";
      if (!chunk->is_padding()) {
        const auto held = live_.find({chunk->pri_wri_id, chunk->chunk_id});
        if (held == live_.end()) return "the buffer has a chunk that the adapter did not see";
        // A sequence can have two chunks of one id; the newer one is listed.
        found += held->second == offset ? 1 : 0;
      }
      offset += chunk->outer_size();
    }
    return found == live_.size() ? nullptr : "the adapter lists a chunk that the buffer lost";
  }

  std::unique_ptr<Buffer> Around(std::unique_ptr<TraceBuffer> copy) override {
    auto clone = std::make_unique<BufferV2>(std::move(copy), nullptr);
    clone->known_ = known_;
    clone->live_ = live_;
    clone->sequences_ = sequences_;
    return clone;
  }

 private:
  /// A chunk that was committed here, and perhaps read since: nothing else was written here.
  struct Known {
    uint32_t sequence = 0;
    uint32_t chunk = 0;
    uint32_t outer = 0;
    uint32_t payload = 0;
    uint32_t unread = 0;
    uint8_t flags = 0;
  };
  using Name = std::pair<uint32_t, uint32_t>;  // sequence, chunk
  struct NameHash {
    size_t operator()(const Name& name) const {
      return std::hash<uint64_t>()(uint64_t{name.first} << 32 | name.second);
    }
  };
  static constexpr uint8_t kIncomplete = 0x80;
  static constexpr size_t kHeader = sizeof(internal::TBChunk);

  static uint32_t Key(ringscope_sequence sequence) {
    return MkProducerAndWriterID(sequence.producer, sequence.writer);
  }

  bool IsThere(size_t offset) const {
    const Known& known = known_.at(offset);
    internal::TBChunk* const chunk = inside_.At(offset);
    return chunk->pri_wri_id == known.sequence && chunk->chunk_id == known.chunk &&
           !chunk->is_padding();
  }
  /// Takes over what a chunk's header says now.
  void Refresh(size_t offset) {
    Known& known = known_.at(offset);
    internal::TBChunk* const chunk = inside_.At(offset);
    known.payload = chunk->payload_size;
    known.unread = chunk->payload_avail;
    known.flags = chunk->flags;
  }

  static ringscope_chunk Plain(ProducerAndWriterID sequence, uint32_t chunk, size_t offset,
                               uint32_t outer, uint32_t payload, uint32_t unread, uint8_t flags,
                               const uint8_t* bytes) {
    ringscope_chunk plain = {};
    plain.struct_size = sizeof(plain);
    plain.sequence = SequenceOf(sequence);
    plain.chunk = chunk;
    plain.outer_size = outer;
    plain.offset = offset;
    plain.payload_size = payload;
    plain.payload_avail = unread;
    plain.flags = static_cast<uint8_t>(flags & ~kIncomplete);
    plain.incomplete = (flags & kIncomplete) != 0;
    plain.payload = {bytes, payload};
    return plain;
  }
  /// What is in the buffer here, by its header.
  ringscope_chunk Describe(size_t offset) const {
    internal::TBChunk* const chunk = inside_.At(offset);
    const auto outer = static_cast<uint32_t>(chunk->outer_size());
    if (chunk->is_padding()) return Plain(0, 0, offset, outer, 0, 0, 0, nullptr);
    return Plain(chunk->pri_wri_id, chunk->chunk_id, offset, outer, chunk->payload_size,
                 chunk->payload_avail, chunk->flags, inside_.begin() + offset + kHeader);
  }
  /// A known chunk; its payload is a copy if there is one.
  ringscope_chunk ChunkAt(size_t offset) const {
    const Known& known = known_.at(offset);
    const auto copy = copies_.find(offset);
    return Plain(known.sequence, known.chunk, offset, known.outer, known.payload, known.unread,
                 known.flags,
                 copy != copies_.end() ? copy->second.data() : inside_.begin() + offset + kHeader);
  }
  void Report(void (*call)(void*, const ringscope_chunk*), size_t offset) const {
    if (call == nullptr) return;
    const ringscope_chunk chunk = ChunkAt(offset);
    call(observer().context, &chunk);
  }

  /// Before a commit: notes the chunks that it may evict, in the order in which it would, and keeps
  /// what it may overwrite of them.
  void Prepare(const ringscope_commit& commit, size_t cursor) {
    at_risk_.clear();
    const size_t most = (kHeader + static_cast<size_t>(commit.payload.size) + 15) / 16 * 16;
    const auto note = [&](size_t from, size_t to) {
      for (auto it = known_.lower_bound(from); it != known_.end() && it->first < to; ++it) {
        const size_t offset = it->first;
        if (!IsLive(offset)) continue;
        at_risk_.push_back(offset);
        // Those before it in its sequence are read before it is evicted.
        for (const size_t earlier : sequences_[it->second.sequence]) {
          Refresh(earlier);
          if (earlier == offset) break;
        }
        if (observer().struct_size == 0) continue;
        const uint8_t* const payload = inside_.begin() + offset + kHeader;
        copies_[offset].assign(payload, payload + it->second.payload);
      }
    };
    note(cursor, cursor + most);
    if (cursor + most <= inside_.size()) return;
    note(0, std::min(most, cursor));
  }
  bool IsLive(size_t offset) const {
    const Known& known = known_.at(offset);
    const auto held = live_.find({known.sequence, known.chunk});
    return held != live_.end() && held->second == offset;
  }

  /// @param written where the commit was stored, SIZE_MAX: it was not; @param outer its size there
  void ReportEvicted(const ringscope_commit& commit, size_t written, size_t outer) {
    // Where the new chunk is, old headers may still seem to be.
    const auto is_there = [&](size_t offset) {
      const bool is_covered = written != SIZE_MAX && offset >= written && offset - written < outer;
      return !is_covered && IsThere(offset);
    };
    for (const size_t offset : at_risk_) {
      if (!IsLive(offset) || is_there(offset)) continue;
      if (observer().evicting != nullptr) {
        const ringscope_chunk chunk = ChunkAt(offset);
        observer().evicting(observer().context, &chunk, &commit);
      }
      // Those before it in its sequence were read on the way.
      const std::deque<size_t>& list = sequences_[known_.at(offset).sequence];
      while (!list.empty() && list.front() != offset && !is_there(list.front()))
        Erase(list.front());
      Erase(offset);
    }
  }

  /// Takes out what a read has consumed.
  void TakeOutErased() {
    erased_.clear();
    for (const auto& [name, offset] : live_)
      if (!IsThere(offset)) erased_.push_back(offset);
    std::sort(erased_.begin(), erased_.end());
    for (const size_t offset : erased_) Erase(offset);
  }
  void TakeOutErased(uint32_t sequence) {
    const std::deque<size_t>& list = sequences_[sequence];
    while (!list.empty() && !IsThere(list.front())) Erase(list.front());
    if (!list.empty()) Refresh(list.front());
  }
  void Erase(size_t offset) {
    Report(observer().erased, offset);
    const Known& known = known_.at(offset);
    live_.erase({known.sequence, known.chunk});
    std::deque<size_t>& list = sequences_[known.sequence];
    const auto entry = std::find(list.begin(), list.end(), offset);
    if (entry != list.end()) list.erase(entry);
  }

  /// Where a commit that was stored is: before the write cursor.
  size_t FindWritten(uint32_t key, uint32_t chunk, size_t outer) const {
    const size_t cursor = inside_.cursor();
    // Up to v54 the cursor is 0 where later ones have the buffer's end.
    const size_t end = cursor == 0 ? inside_.size() : cursor;
    const size_t offset = end - std::min(outer, end);
    const internal::TBChunk* const found = inside_.At(offset);
    if (found->pri_wri_id == key && found->chunk_id == chunk) return offset;
    return SIZE_MAX;
  }
  void Insert(size_t offset) {
    if (offset == SIZE_MAX) return;
    internal::TBChunk* const header = inside_.At(offset);
    const size_t end = offset + header->outer_size();
    // A buffer that is being worked on may leave a chunk where it was and store it again, or store
    // one where another still seems to be: what is listed is always what is known.
    const auto held = live_.find({header->pri_wri_id, header->chunk_id});
    if (held != live_.end()) Erase(size_t{held->second});
    for (auto it = known_.lower_bound(offset); it != known_.end() && it->first < end; ++it)
      if (IsLive(it->first)) Erase(it->first);
    known_.erase(known_.lower_bound(offset), known_.lower_bound(end));
    Known& known = known_[offset];
    known.sequence = header->pri_wri_id;
    known.chunk = header->chunk_id;
    known.outer = static_cast<uint32_t>(header->outer_size());
    Refresh(offset);
    live_[{known.sequence, known.chunk}] = offset;
    std::deque<size_t>& list = sequences_[known.sequence];
    auto at = list.end();
    while (at != list.begin() &&
           static_cast<int32_t>(known.chunk - known_.at(*std::prev(at)).chunk) < 0)
      --at;
    list.insert(at, offset);
    Report(observer().committed, offset);
  }

  /// The fragment that a slice is.
  struct Place {
    uint32_t chunk = 0;
    uint32_t offset = 0;
    bool is_known = false;
    bool continues = false;     // a packet of the chunk before
    bool is_continued = false;  // in the next chunk
  };
  /// @return not known: no fragment that is known of begins there
  Place PlaceOf(const ringscope_slice& slice) const {
    constexpr uint8_t kFirstContinues = 1, kLastContinues = 2;
    const auto at = static_cast<size_t>(slice.data - inside_.begin());
    if (slice.data <= inside_.begin() || at > inside_.size()) return {};
    auto known = known_.upper_bound(at - 1);  // where its size ends
    if (known == known_.begin()) return {};
    --known;
    const size_t payload = known->first + kHeader;
    const uint8_t* const bytes = inside_.begin();
    const size_t end = payload + known->second.payload;
    // The reader begins with what was not consumed before.
    size_t fragment = end - known->second.unread;
    if (fragment >= at) fragment = payload;
    while (fragment < end) {
      uint64_t size = 0;
      size_t body = fragment;
      for (unsigned shift = 0; body < end && shift < 64; shift += 7) {
        const uint8_t byte = bytes[body++];
        size |= uint64_t{byte & 0x7fu} << shift;
        if (byte < 0x80) break;
      }
      if (body > at || size > end - body) return {};
      const size_t next = body + static_cast<size_t>(size);
      if (body == at)
        return {known->second.chunk, static_cast<uint32_t>(fragment - payload), true,
                fragment == payload && (known->second.flags & kFirstContinues) != 0,
                next == end && (known->second.flags & kLastContinues) != 0};
      fragment = next;
    }
    return {};
  }

  TraceBufferV2Test inside_;
  std::map<size_t, Known> known_;                               // by offset
  std::unordered_map<Name, size_t, NameHash> live_;             // those in the buffer
  std::unordered_map<uint32_t, std::deque<size_t>> sequences_;  // of these, by chunk id
  std::vector<size_t> at_risk_;                                 // of the commit under way
  std::map<size_t, std::vector<uint8_t>> copies_;               // of their payloads
  std::vector<size_t> erased_;                                  // scratch
  bool in_pass_ = false;
};

#endif  // RINGSCOPE_ADAPTER_V2

// ---- The plug-ins' functions --------------------------------------------------------------------

Buffer& Of(void* buffer) { return *static_cast<Buffer*>(buffer); }

template <typename PerfettoBuffer, typename AdapterBuffer>
void* Create(const ringscope_config* config) {
  const bool discards = config->policy == RINGSCOPE_POLICY_DISCARD;
  std::unique_ptr<TraceBuffer> buffer;
  if (config->size > 0 && config->size <= UINT32_MAX)
    buffer = PerfettoBuffer::Create(static_cast<size_t>(config->size),
                                    discards ? TraceBuffer::kDiscard : TraceBuffer::kOverwrite);
  if (buffer == nullptr) {
    // Not with std::to_string: its table would keep the plug-in loaded for good.
    char text[96];
    snprintf(text, sizeof(text), "there is no buffer of %llu bytes: no memory, or no possible size",
             static_cast<unsigned long long>(config->size));
    config->fail(config->host, text);
    return nullptr;
  }
  return new AdapterBuffer(std::move(buffer), config->observer);
}

void* Clone(void* buffer, const ringscope_config* config) {
  std::unique_ptr<TraceBuffer> copy = Of(buffer).perfetto().CloneReadOnly();
  if (copy == nullptr) {
    config->fail(config->host, "there is no memory for a clone");
    return nullptr;
  }
  return Of(buffer).Around(std::move(copy)).release();
}

void Destroy(void* buffer) { delete &Of(buffer); }
void Commit(void* buffer, const ringscope_commit* commit) { Of(buffer).Commit(*commit); }
int ApplyPatches(void* buffer, const ringscope_patches* patches) {
  return Of(buffer).Patch(*patches) ? 1 : 0;
}
void BeginRead(void* buffer) { Of(buffer).BeginRead(); }
int NextPacket(void* buffer, ringscope_packet* packet) {
  return Of(buffer).NextPacket(packet) ? 1 : 0;
}

void GetStats(void* buffer, ringscope_stats* out) { *out = StatsOf(Of(buffer).perfetto(), *out); }

void VisitWriters(void* buffer, ringscope_writer_visitor visit, void* context) {
  for (auto it = Of(buffer).perfetto().writer_stats().GetIterator(); it; ++it) {
    ringscope_writer writer = {};
    writer.struct_size = sizeof(writer);
    writer.sequence = SequenceOf(it.key());
    const auto& histogram = it.value();
    const size_t buckets = std::min<size_t>(RINGSCOPE_WRITER_BUCKETS, histogram.num_buckets());
    for (size_t i = 0; i < buckets; ++i) {
      writer.sums[i] = static_cast<uint64_t>(histogram.GetBucketSum(i));
      writer.counts[i] = static_cast<uint64_t>(histogram.GetBucketCount(i));
    }
    visit(context, &writer);
  }
}

const char* Check(void* buffer) { return Of(buffer).Check(); }
ringscope_plugin Functions() {
  ringscope_plugin plugin = {};
  plugin.struct_size = sizeof(plugin);
  plugin.abi_version = RINGSCOPE_ABI_VERSION;
  plugin.version = RINGSCOPE_ADAPTER_VERSION;
  plugin.destroy = Destroy;
  plugin.commit = Commit;
  plugin.patch = ApplyPatches;
  plugin.begin_read = BeginRead;
  plugin.next_packet = NextPacket;
  plugin.stats = GetStats;
  plugin.clone = Clone;
  plugin.visit_writers = VisitWriters;
  plugin.check = Check;
  return plugin;
}

#if RINGSCOPE_ADAPTER_V1
const ringscope_plugin& V1() {
  static const ringscope_plugin plugin = [] {
    ringscope_plugin v1 = Functions();
    v1.name = "v1";
    v1.description = "Perfetto's TraceBufferV1, compiled from its own sources.";
    v1.tells = RINGSCOPE_TELLS_DISCARDED | RINGSCOPE_TELLS_WRAP;
    v1.create = Create<TraceBufferV1, Buffer>;
    return v1;
  }();
  return plugin;
}
#endif

#if RINGSCOPE_ADAPTER_V2
uint64_t VisitChunks(void* buffer, ringscope_chunk_visitor visit, void* context) {
  return Of(buffer).VisitChunks(visit, context);
}

const ringscope_plugin& V2() {
  static const ringscope_plugin plugin = [] {
    ringscope_plugin v2 = Functions();
    v2.name = "v2";
    v2.description = "Perfetto's TraceBufferV2, compiled from its own sources.";
    v2.tells = RINGSCOPE_TELLS_PLACES | RINGSCOPE_TELLS_CHUNKS | RINGSCOPE_TELLS_RELOCATED |
               RINGSCOPE_TELLS_EVICTING | RINGSCOPE_TELLS_PATCH_MISSED | RINGSCOPE_TELLS_WRAP;
    v2.create = Create<TraceBufferV2, BufferV2>;
    v2.visit_chunks = VisitChunks;
#if RINGSCOPE_ADAPTER_V1
    v2.next = &V1();
#endif
    return v2;
  }();
  return plugin;
}
#endif

}  // namespace
}  // namespace ringscope_adapter
}  // namespace perfetto

RINGSCOPE_EXPORT const ringscope_plugin* ringscope_get_plugin(uint32_t host_abi_version) {
  if (host_abi_version < RINGSCOPE_ABI_VERSION) return nullptr;
#if RINGSCOPE_ADAPTER_V2
  return &perfetto::ringscope_adapter::V2();
#elif RINGSCOPE_ADAPTER_V1
  return &perfetto::ringscope_adapter::V1();
#else
#error "neither V1 nor V2: TraceBufferV2 exists from v54 on"
#endif
}
