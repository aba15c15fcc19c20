#ifndef RINGSCOPE_CORE_SWEEP_WRITTEN_TALLY_H_
#define RINGSCOPE_CORE_SWEEP_WRITTEN_TALLY_H_

#include <vector>

#include "core/base/packet_count.h"
#include "core/base/sequence_map.h"
#include "core/engine/chunk_shape.h"
#include "core/engine/engine.h"

namespace ringscope {

/// Counts the packets that were written to one buffer, as the ledger does, but without following
/// each: by the shapes of chunks alone. Chunks may be re-committed and out of order, as long as
/// they are not far from the sequence's newest; else `regular` becomes false, and only the ledger
/// knows. Memory: O(sequences).
class WrittenTally {
 public:
  /// A chunk was sent to the buffer, whatever became of it.
  void Add(const ChunkCommit& commit, const ChunkShape& shape);
  /// At the log's end: what was never finished. Once.
  void Finish();

  bool regular() const { return regular_; }
  PacketCount written() const;
  /// Calls visit(SequenceKey, PacketCount) for each sequence, in order of their first chunks.
  template <typename Visit>
  void VisitSequences(Visit visit) const {
    for (size_t i = 0; i < sequences_.size(); ++i)
      visit(sequences_.At(i).key, sequences_.At(i).value.written);
  }

 private:
  /// A chunk that was there, as far as it matters for its neighbours.
  struct Seen {
    ChunkId id{};
    uint32_t bytes = 0;             // of fragments that were counted
    uint32_t unfinished_bytes = 0;  // of a last one that its writer still had
    bool complete = false;
    bool has_fragments = false;
    bool continues = false;  // its first fragment continues a packet
    bool continued = false;  // its last fragment is continued in the next chunk
  };
  struct Sequence {
    PacketCount written;
    std::vector<Seen> seen;  // by id
    bool has_gone = false;
    Seen gone;  // the one that left last
  };

  Seen* FindOrInsert(Sequence& sequence, ChunkId id);
  void Leave(Sequence& sequence);

  static constexpr size_t kWindow = 32;

  SequenceMap<Sequence> sequences_;
  bool regular_ = true;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_WRITTEN_TALLY_H_
