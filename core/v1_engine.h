#ifndef RINGSCOPE_CORE_V1_ENGINE_H_
#define RINGSCOPE_CORE_V1_ENGINE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/engine.h"
#include "core/key_index.h"
#include "core/zeroed_storage.h"

namespace ringscope {

/// Makes a TraceBuffer V1, the buffer of every Perfetto release. Fails (kLimit) on 0, on sizes that
/// are no multiple of 16 bytes, on 4 GiB and more, and where the memory cannot be had.
Result<std::unique_ptr<Engine>> CreateV1Engine(const EngineConfig& config);

namespace v1 {

/// What the index knows of a chunk in the buffer.
struct Chunk {
  uint64_t offset = 0;         // of its record in the buffer
  Identity identity;           // of the commit that brought it
  uint32_t record_size = 0;    // header and alignment included
  uint32_t next_fragment = 0;  // offset in the payload
  uint16_t fragments = 0;
  uint16_t fragments_read = 0;
  uint8_t flags = 0;
  bool complete = true;
  bool skipped_last = false;  // the last read of it gave no packet

  uint32_t payload_size() const;  // alignment bytes included
};

struct Sequence {
  std::map<uint32_t, Chunk> chunks;  // by chunk id as a plain number
  uint32_t last_written = 0;         // highest chunk id, modulo 2^32
};

/// A record in the buffer, as its 16-byte header says.
struct Record {
  uint32_t chunk = 0;
  uint16_t producer = 0;
  uint16_t writer = 0;
  uint32_t size = 0;  // 0: never written
  bool is_padding = false;
};

class V1Engine final : public Engine {
 public:
  V1Engine(const EngineConfig& config, ZeroedStorage storage);

  void Commit(const ChunkCommit& commit) override;
  bool ApplyPatches(const ChunkPatches& patches) override;
  void BeginRead() override;
  const Packet* NextPacket() override;
  Result<std::unique_ptr<Engine>> Clone() const override;
  const BufferStats& stats() const override { return stats_; }
  void VisitWriterStats(const std::function<void(const WriterStats&)>& visit) const override;
  std::string CheckInvariants() const override;

 private:
  using SequenceMap = std::map<uint32_t, Sequence>;  // by packed SequenceKey
  using ChunkMap = std::map<uint32_t, Chunk>;
  enum class Fragment : uint8_t { kPacket, kEmpty, kInvalid };
  enum class Ahead : uint8_t { kPacket, kLost, kFailed };

  // Writing (v1_engine.cc).
  void Recommit(Sequence& sequence, Chunk& chunk, const ChunkCommit& commit, uint32_t record_size,
                uint16_t fragments, uint8_t flags);
  bool MakeRoom(uint32_t record_size, const ChunkCommit& commit, uint64_t& gap);
  bool Clear(uint64_t size, const ChunkCommit& by, uint64_t& gap);
  void WritePadding(uint64_t size);
  void WriteRecord(const ChunkCommit& commit, uint64_t offset, uint32_t size);
  void Discard(const ChunkCommit& commit, DiscardReason reason);
  Record RecordAt(uint64_t offset) const;
  Chunk* FindChunk(SequenceKey key, uint32_t id, Sequence** sequence = nullptr);
  ObservedChunk Observed(SequenceKey key, uint32_t id, const Chunk& chunk) const;
  // Reading (v1_reader.cc).
  void EnterSequence();
  void EndSequence();
  bool MoveOn(ChunkMap::iterator& at) const;
  Fragment ReadFragment(Chunk& chunk);
  SequenceKey CurrentKey() const;
  void ReportStall(ChunkMap::iterator at, bool packet_goes_on) const;
  void ReportGivenUp(uint32_t chunk, uint32_t offset, uint32_t cause) const;
  void AddToHistogram(uint32_t bytes);
  Ahead ReadAhead();
  const Packet* Return(uint32_t first_chunk, uint32_t first_offset, Identity identity,
                       uint32_t dropped);

  uint64_t size_;
  bool discards_;
  bool sealed_ = false;
  uint64_t wr_ = 0;
  ZeroedStorage storage_;
  EngineObserver* observer_;
  SequenceMap sequences_;
  BufferStats stats_;
  KeyIndex histogram_slots_;
  StableVector<WriterHistogram> histograms_;
  std::vector<SequenceKey> histogram_keys_;
  // The pass under way: the sequence, and the chunk in it.
  SequenceMap::iterator at_sequence_;
  ChunkMap::iterator at_chunk_;
  Packet packet_;
  std::vector<Bytes> slices_;
};

}  // namespace v1
}  // namespace ringscope

#endif  // RINGSCOPE_CORE_V1_ENGINE_H_
