#ifndef RINGSCOPE_CORE_TAPE_TAPE_SECTION_H_
#define RINGSCOPE_CORE_TAPE_TAPE_SECTION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/reused_memory.h"
#include "core/ledger/written_commit.h"
#include "core/session/replay_listener.h"

namespace ringscope {

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
