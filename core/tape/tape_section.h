#ifndef RINGSCOPE_CORE_TAPE_TAPE_SECTION_H_
#define RINGSCOPE_CORE_TAPE_TAPE_SECTION_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "core/ledger/written_commit.h"
#include "core/session/replay_listener.h"

namespace ringscope {

/// Things that stay where they are until all of them are cleared, and whose memory is used again.
template <typename T>
class ReusedList {
 public:
  T& Add() {
    if (used_ == items_.size()) items_.emplace_back();
    return items_[used_++];
  }
  T& operator[](size_t i) { return items_[i]; }
  size_t size() const { return used_; }
  void Clear() { used_ = 0; }

 private:
  std::deque<T> items_;
  size_t used_ = 0;
};

/// Copies of bytes; they stay where they are until all are cleared.
class ByteCopies {
 public:
  Bytes Copy(Bytes bytes) {
    if (bytes.empty()) return {};
    if (block_ == blocks_.size() || blocks_[block_].size() - used_ < bytes.size())
      Grow(bytes.size());
    uint8_t* const to = blocks_[block_].data() + used_;
    std::memcpy(to, bytes.data(), bytes.size());
    used_ += bytes.size();
    copied_ += bytes.size();
    return {to, bytes.size()};
  }
  size_t copied() const { return copied_; }
  void Clear() { block_ = used_ = copied_ = 0; }

 private:
  static constexpr size_t kBlock = size_t{256} << 10;

  void Grow(size_t wanted) {
    if (block_ < blocks_.size()) ++block_;
    used_ = 0;
    if (block_ == blocks_.size()) blocks_.emplace_back();
    if (blocks_[block_].size() < wanted) blocks_[block_].resize(std::max(wanted, kBlock));
  }

  std::vector<std::vector<uint8_t>> blocks_;
  size_t block_ = 0;   // that is filled
  size_t used_ = 0;    // bytes of it
  size_t copied_ = 0;  // bytes of all
};

/// A part of what a replay reported, call by call, with copies of all that the calls refer to.
struct TapeSection {
  enum class Kind : uint8_t {
    kRecord,       // of `records`
    kChunk,        // of `chunks`
    kChunkDone,    // likewise
    kPatch,        // of `counts`: 1 if it was applied
    kReadBegun,    // of `counts`: 0
    kReadLimited,  // likewise
    kReadDone,     // of `counts`: packets
    kPacket,       // of `packets`
    kTakenPacket,  // likewise
    kClonePacket,  // likewise
    kDrainBegun,   // of `counts`: 0
    kDrainPacket,  // of `packets`
    kEvent,        // of `events`
    kDrainEvent,   // likewise
    kStats,        // of `stats`: what the buffer counted by now, for the calls that follow
  };
  struct Step {
    Kind kind{};
    uint32_t index = 0;
  };
  struct Record {
    Op op;
    LogMoment moment;
  };
  struct Chunk {
    BufferId buffer{};
    ChunkCommit commit;
    WrittenCommit written;  // of `commit`, with what all its packets contain
    std::optional<Refusal> refusal;
  };
  struct Count {
    BufferId buffer{};
    uint64_t count = 0;
  };
  struct ReadPacket {
    SessionPacket of_session;  // of which `packet` is the one below
    Packet packet;
    std::optional<PacketFacts> facts;  // of its first slice, if it is of kPacket
    std::vector<Bytes> slices;
  };
  struct Sent {
    ChunkPatches patches;
    std::vector<Patch> list;
  };
  struct Stats {
    BufferId buffer{};
    BufferStats stats;
  };

  std::vector<Step> steps;
  ReusedList<Record> records;
  ReusedList<Chunk> chunks;
  std::vector<Count> counts;
  ReusedList<ReadPacket> packets;
  std::vector<BufferEvent> events;
  ReusedList<Sent> sent;  // of these
  std::vector<Stats> stats;
  ByteCopies bytes;

  void Clear() {
    steps.clear();
    records.Clear();
    chunks.Clear();
    counts.clear();
    packets.Clear();
    events.clear();
    sent.Clear();
    stats.clear();
    bytes.Clear();
  }
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TAPE_TAPE_SECTION_H_
