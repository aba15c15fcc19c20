#ifndef RINGSCOPE_CORE_ENGINE_ENGINE_H_
#define RINGSCOPE_CORE_ENGINE_ENGINE_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "core/base/enum_names.h"
#include "core/base/ids.h"
#include "core/base/log_moment.h"
#include "core/base/result.h"
#include "core/perfetto/chunk.h"
#include "core/perfetto/trace_stats.h"

namespace ringscope {

/// A chunk in the buffer, as observers see it.
struct ObservedChunk {
  SequenceKey sequence;  // 0:0 for padding (VisitChunks)
  ChunkId chunk{};
  uint64_t offset = 0;         // bytes, of the chunk's header in the buffer
  uint32_t outer_size = 0;     // bytes occupied, header and alignment included
  uint32_t payload_size = 0;   // bytes of valid fragments
  uint32_t payload_avail = 0;  // of these, not consumed
  uint8_t flags = 0;
  bool incomplete = false;
  Bytes payload;  // as stored, payload_size bytes; valid during the call

  ChunkName name() const { return {sequence, chunk}; }
  /// Bytes of its payload that are consumed.
  uint32_t consumed() const { return payload_size - payload_avail; }
  bool needs_patch() const { return (flags & kNeedsPatching) != 0; }
  bool is_padding() const { return sequence == SequenceKey{}; }
};

using ChunkVisitor = std::function<void(const ObservedChunk&)>;

enum class DiscardReason : uint8_t {
  kSealed,           // discard mode, and a chunk did not fit before
  kFull,             // discard mode, and this one does not fit: seals the buffer
  kTooLarge,         // larger than the whole buffer
  kAlreadyConsumed,  // older than, or the same as, the chunk consumed last
  kBadRecommit,      // a re-commit that breaks the rules
  kUnknown,          // the engine does not report why
};
template <>
inline constexpr auto kEnumRows<DiscardReason> = EnumTable<EnumRow<DiscardReason>>({
    {DiscardReason::kSealed, "sealed", "the buffer was full before"},
    {DiscardReason::kFull, "full", "the buffer is full"},
    {DiscardReason::kTooLarge, "too_large", "larger than the buffer allows"},
    {DiscardReason::kAlreadyConsumed, "already_consumed",
     "this chunk or a newer one was consumed before"},
    {DiscardReason::kBadRecommit, "bad_recommit", "a re-commit that breaks the rules"},
    {DiscardReason::kUnknown, "unknown", "the engine does not report why"},
});

/// Why a sequence waits at a chunk. The words precede the chunk's name: "the chunk after 7:3#120".
enum class StallReason : uint8_t { kNeedsPatch, kMissingChunk, kIncomplete };
template <>
inline constexpr auto kEnumRows<StallReason> = EnumTable<EnumRow<StallReason>>({
    {StallReason::kNeedsPatch, "needs_patch", "a patch of "},
    {StallReason::kMissingChunk, "missing_chunk", "the chunk after "},
    {StallReason::kIncomplete, "incomplete", "the writer to complete "},
});

enum class PatchMiss : uint8_t { kNoSuchChunk, kOutOfBounds };
template <>
inline constexpr std::array kEnumNames<PatchMiss> = {"no_such_chunk", "out_of_bounds"};

/// Watches what happens inside an engine. Calls are per chunk and per packet; an engine may drop an
/// untouched chunk without looking into it. Default: nothing is watched.
class EngineObserver {
 public:
  virtual ~EngineObserver() = default;
  virtual void OnCommitted(const ObservedChunk&) {}
  /// In place, perhaps without any change; `chunk` after it.
  virtual void OnRewritten(const ObservedChunk& /*chunk*/) {}
  /// Taken out to be committed again at the write cursor; an OnCommitted or OnDiscarded follows.
  virtual void OnRelocated(const ObservedChunk&) {}
  virtual void OnDiscarded(const ChunkCommit&, DiscardReason) {}
  /// The current commit needs the chunk's space; `chunk` is as before any fragment is consumed.
  virtual void OnEvicting(const ObservedChunk& /*chunk*/, const ChunkCommit& /*by*/) {}
  /// Gone from the buffer: fully read, or cleared.
  virtual void OnErased(const ObservedChunk&) {}
  /// `chunk` after the change.
  virtual void OnPatched(const ObservedChunk& /*chunk*/, const ChunkPatches&) {}
  /// `chunk`: after the call (patches before the one that missed stay applied); nullptr where
  /// there is none.
  virtual void OnPatchMissed(const ObservedChunk* /*chunk*/, const ChunkPatches&, PatchMiss) {}
  virtual void OnPacketReturned(const Packet&) {}
  /// In a read pass, the packet that begins at this place, or the rest of one that continues there,
  /// was consumed without being returned. `cause`: a LossBit; with kLossChunkCorrupted, all that
  /// follows the place in its chunk is abandoned as well.
  virtual void OnPacketAbandoned(SequenceKey, const PacketPlace&, uint32_t /*cause*/) {}
  /// Returns true if it needs OnPacketOverwritten.
  virtual bool wants_overwritten_packets() const { return false; }
  /// A packet that nobody read was lost, because the space of its chunk is needed.
  virtual void OnPacketOverwritten(const Packet&) {}
  /// A loss bit was set on the sequence, at this chunk.
  virtual void OnLossBit(SequenceKey, ChunkId, uint32_t /*bit*/) {}
  virtual void OnWrap() {}
  virtual void OnPadding(uint64_t /*offset*/, uint32_t /*size*/) {}
  /// A read pass left the sequence here, with something unread: it waits for a patch of the chunk,
  /// for the chunk's successor, or for the chunk's completion.
  virtual void OnStalled(SequenceKey, ChunkId, StallReason) {}
};

/// A trace buffer. Commits and patches go in; read passes take packets out. A pass (BeginRead, then
/// NextPacket until nullptr) must not be continued after a Commit or Patch.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual void Commit(const ChunkCommit& commit) = 0;
  /// @return whether all patches were applied
  virtual bool ApplyPatches(const ChunkPatches& patches) = 0;
  virtual void BeginRead() = 0;
  /// The next packet of this pass; nullptr if nothing is left. Valid until the next call.
  virtual const Packet* NextPacket() = 0;
  /// A copy to be read only (no commits, no patches): storage, sequences and what is consumed stay,
  /// the counters of reading start at 0, writer histograms are left out. Unobserved.
  virtual Result<std::unique_ptr<Engine>> Clone() const = 0;
  /// Moves this engine's state into an observed engine. The old one must not be used afterwards,
  /// unless this fails (kUnsupported). Not while a pass is under way.
  virtual Result<std::unique_ptr<Engine>> ObserveBy(EngineObserver* /*observer*/) {
    return Fail(ErrorCode::kUnsupported, "the engine cannot be observed from here on");
  }
  virtual const BufferStats& stats() const = 0;
  /// Calls `visit` for each sequence that ever committed fragments, in order of first commit.
  virtual void VisitWriterStats(const std::function<void(const WriterStats&)>& visit) const = 0;
  /// Calls `visit` for what is in the buffer, chunks and padding, in order of offsets. What they
  /// leave out was never written.
  /// @return the write cursor: where the next chunk goes, unless it does not fit there.
  /// kUnsupported: the engine does not report its chunks
  virtual Result<uint64_t> VisitChunks(const ChunkVisitor& /*visit*/) const {
    return Fail(ErrorCode::kUnsupported, "the engine does not report its chunks");
  }
  /// Walks all structures: chunks tile the buffer, lists are sorted, counters add up. For tests.
  /// @return what is wrong; empty if nothing
  virtual std::string CheckInvariants() const = 0;

  /// Returns why the engine cannot continue, or nullptr: always nullptr for built-in engines. Check
  /// it after each call.
  const Error* failure() const { return failure_.get(); }

 protected:
  /// The first failure stays.
  void SetFailure(Error error) const {
    if (!failure_) failure_ = std::make_unique<Error>(std::move(error));
  }

 private:
  mutable std::unique_ptr<const Error> failure_;
};

/// Parameters of a new engine.
struct EngineConfig {
  uint64_t size = 0;  // bytes, as asked for; the engine rounds as its version does
  FillPolicy policy = FillPolicy::kRingBuffer;
  EngineObserver* observer = nullptr;  // not owned; nullptr if nobody observes, which costs nothing
  /// The record under way, named where a plug-in ends the process. Not owned; nullptr if there are
  /// no records.
  const LogMoment* now = nullptr;
};

/// Makes a TraceBuffer V1, the buffer of every Perfetto release. Fails (kLimit) on 0, on sizes that
/// are no multiple of 16 bytes, on 4 GiB and more, and where the memory cannot be had.
Result<std::unique_ptr<Engine>> CreateV1Engine(const EngineConfig& config);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_ENGINE_ENGINE_H_
