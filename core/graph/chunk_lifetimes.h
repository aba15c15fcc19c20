#ifndef RINGSCOPE_CORE_GRAPH_CHUNK_LIFETIMES_H_
#define RINGSCOPE_CORE_GRAPH_CHUNK_LIFETIMES_H_

#include <unordered_map>

#include "core/session/session.h"

namespace ringscope {

/// One commit of a chunk, and what became of it. A chunk that is re-committed lives again.
struct ChunkLife {
  /// Its way into the buffer.
  enum class Entry : uint8_t {
    kCommitted,    // at the write cursor
    kRewritten,    // in place of an earlier commit of the same chunk
    kRelocated,    // at the write cursor, an earlier commit of it having been consumed
    kUnchanged,    // the buffer had it as it is
    kDiscarded,    // not at all: see `why`
    kRefused,      // the service refused it: see `why`
    kNotReported,  // the engine does not report it (a plug-in without observer callbacks)
  };
  /// Its way out of the buffer.
  enum class Exit : uint8_t {
    kNone,      // it never was in the buffer
    kHeld,      // in the buffer when the log ends, or another buffer takes this one's place
    kRead,      // all its packets were consumed
    kEvicted,   // its space was needed: see `evicted_by_number`
    kReplaced,  // the same chunk was re-committed
    kMoved,     // a clone took the buffer over
    kCleared,   // the buffer was cleared for a clone
  };

  uint64_t number = 0;  // of the commit, counted over the session, from 1
  BufferId buffer{};
  ChunkName chunk;
  LogMoment committed;
  Origin origin = Origin::kImported;
  uint16_t fragments = 0;      // as the chunk header counts them
  uint8_t flags = 0;           // of the shared-memory ABI
  bool complete = true;        // false: scraped while the writer still had it
  uint32_t payload_bytes = 0;  // as committed

  Entry entry = Entry::kNotReported;
  const char* why = "";     // kDiscarded, kRefused: a name
  uint64_t offset = 0;      // bytes, of its header in the buffer
  uint32_t outer_size = 0;  // bytes occupied, header and alignment included

  Exit exit = Exit::kNone;
  LogMoment left;                  // kHeld: the last record
  uint32_t unread_bytes = 0;       // of its fragments when it left, not consumed
  uint64_t evicted_by_number = 0;  // of the commit that needed the space

  /// Returns true if it went into the buffer.
  bool entered() const {
    return entry == Entry::kCommitted || entry == Entry::kRewritten || entry == Entry::kRelocated;
  }
};
template <>
inline constexpr std::array kEnumNames<ChunkLife::Entry> = {
    "committed", "rewritten", "relocated", "unchanged", "discarded", "refused", "not_reported"};
template <>
inline constexpr std::array kEnumNames<ChunkLife::Exit> = {"none",     "held",  "read",   "evicted",
                                                           "replaced", "moved", "cleared"};

/// Follows all chunks through a replay. Memory: O(chunks held).
class ChunkLifetimes : public ReplayListener {
 public:
  /// At the end of the log: what is still held is reported.
  void Finish() {
    for (auto& [id, buffer] : buffers_) EndAll(buffer);
  }

  const LogMoment& now() const { return now_; }
  /// Bytes that the buffer's chunks occupy.
  uint64_t HeldBytes(BufferId buffer) const {
    const Buffer* const held = FindIn(buffers_, buffer);
    return held == nullptr ? 0 : held->bytes;
  }

  bool WantsBufferEvents() const override { return true; }
  void OnRecord(const Op& op, const LogMoment& moment) override {
    now_ = moment;
    if (const auto* commit = std::get_if<Commit>(&op.body)) origin_ = commit->origin;
  }
  void OnBufferReplaced(SessionBuffer& buffer) override { EndAll(buffers_[buffer.id]); }
  void OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal> refusal) override;
  void OnChunkDone(BufferId buffer, const ChunkCommit& commit) override;
  void OnBufferEvent(const BufferEvent& event) override;

 protected:
  // Each life is reported twice if the chunk went into a buffer, else once.
  /// The buffer (or the service) has answered the commit; nothing is known yet of the exit.
  virtual void OnChunkEntered(const ChunkLife&) {}
  /// Called before the OnChunkEntered of the commit that evicted it.
  virtual void OnChunkLeft(const ChunkLife&) {}

 private:
  using Entry = ChunkLife::Entry;
  using Exit = ChunkLife::Exit;
  struct Buffer {
    std::unordered_map<uint64_t, ChunkLife> held;  // by sequence and chunk id
    uint64_t bytes = 0;                            // that they occupy
  };

  void End(Buffer& buffer, uint64_t key, Exit exit);
  void EndAll(Buffer& buffer);

  std::map<BufferId, Buffer> buffers_;
  LogMoment now_;
  Origin origin_ = Origin::kImported;
  uint64_t commits_ = 0;
  ChunkLife current_;  // the commit under way
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GRAPH_CHUNK_LIFETIMES_H_
