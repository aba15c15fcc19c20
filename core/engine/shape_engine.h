#ifndef RINGSCOPE_CORE_ENGINE_SHAPE_ENGINE_H_
#define RINGSCOPE_CORE_ENGINE_SHAPE_ENGINE_H_

#include <cstdint>
#include <utility>

#include "core/engine/chunk_shape.h"
#include "core/engine/engine.h"
#include "core/engine/far_engine.h"
#include "core/engine/shape_tally.h"

namespace ringscope {

/// What a buffer without payloads knows of a packet in place of its bytes.
struct PacketShape {
  uint64_t committed_ns = 0;  // log time of the first commit of the chunk that it begins in
  uint32_t slot = 0;          // of its sequence: its place in the order of first commits
  uint8_t traits = 0;         // see packet_traits.h
  uint32_t packets = 1;       // that it stands for
};

/// Whole packets of a chunk, one after the other.
struct WholePackets {
  uint32_t fragments = 0;
  uint32_t packets = 0;  // without the empty ones
  uint32_t bytes = 0;    // of these
  uint32_t end = 0;      // offset after the last
};

/// A trace buffer that keeps the shapes of chunks in place of their payloads. It takes chunks by
/// CommitShape alone: a Commit makes it fail (kUnsupported). Its packets have sizes and places, and
/// a PacketShape, but no slices. It cannot be cloned.
///
/// In a pass that is expected to be read to its end, whole packets of a chunk that follow each
/// other and have the same traits come as one Packet: with the place of the first, and all their
/// bytes.
class ShapeEngine : public Engine, public FarEngine {
 public:
  void ExpectWholePass() final { joins_next_pass_ = true; }
  /// @param commit without its payload
  virtual void CommitShape(const ChunkCommit& commit, const ChunkShape& shape) = 0;
  /// Of the packet that NextPacket returned last; valid as long as that is.
  virtual const PacketShape& packet_shape() const = 0;
  /// The slot of a sequence, in shapes and in the tally; KeyIndex::kNone: it is not known.
  virtual uint32_t SlotOf(SequenceKey sequence) const = 0;
  /// Packets that begin in the buffer and that no read returned: after reads to the end, those that
  /// wait for a patch or for another chunk. It takes them out, so it is the last call.
  virtual uint64_t TakeStuckPackets() = 0;

 protected:
  /// A pass begins: whether it joins packets.
  void BeginPass() { joins_ = std::exchange(joins_next_pass_, false); }
  bool joins() const { return joins_; }
  /// Makes the buffer fail for what cannot be decided without payloads; nullptr: nothing is such.
  /// @return whether there is a problem
  bool FailFor(const char* problem) {
    if (problem == nullptr) [[likely]]
      return false;
    Fail(problem);
    return true;
  }

 private:
  /// Apart from the paths that it is called on, which are hot.
  [[gnu::cold, gnu::noinline]] void Fail(const char* problem) const {
    SetFailure(Error{ErrorCode::kUnsupported, problem, {}, {}});
  }

  bool joins_ = false;
  bool joins_next_pass_ = false;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_ENGINE_SHAPE_ENGINE_H_
