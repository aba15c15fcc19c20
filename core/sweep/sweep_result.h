#ifndef RINGSCOPE_CORE_SWEEP_SWEEP_RESULT_H_
#define RINGSCOPE_CORE_SWEEP_SWEEP_RESULT_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/base/packet_count.h"
#include "core/session/replay_outcome.h"

namespace ringscope {

/// The outcome of a configuration for one sequence.
struct SweepSequence {
  SequenceKey sequence;
  PacketCount written;
  PacketCount read;
  PacketCount overwritten;
  uint64_t history_ns = 0;  // see SweepRow
};

/// The outcome of a configuration for one buffer. Each number is what a replay of the configuration
/// gives.
struct SweepRow : BufferOutcome {
  PacketCount written;  // to this buffer; bytes: of payload
  PacketCount overwritten;
  PacketCount discarded;  // by the buffer: fill policy, or a chunk committed too late
  /// Overwritten, but a program (ProtoVM) has their content in a state that is in the trace.
  PacketCount folded;
  std::optional<uint64_t> state_bytes;  // of the programs' states at the end; absent: none run
  PacketCount taken;  // of a clone: read by the session itself before the clone was made

  /// How far back the last read that returned anything reaches; 0: none did. Of a buffer that lost
  /// nothing, the log's duration.
  uint64_t history_ns = 0;
  /// The shortest one of any of its sequences that wrote packets.
  uint64_t shortest_history_ns = 0;
  std::optional<SequenceKey> shortest_sequence;
  uint64_t used_bytes = 0;               // of the buffer that were ever written: its memory
  std::vector<SweepSequence> sequences;  // in order of first commit
  uint64_t lost = 0;                     // packets, to whatever

  /// Packets that were lost because the buffer was full. A size can change that.
  uint64_t full_packets() const { return overwritten.packets + discarded.packets; }
  /// Of these, those that a larger buffer would lose, too.
  uint64_t lost_otherwise() const { return lost - std::min(lost, full_packets()); }
  /// Packets that were read, or are still there to be read.
  uint64_t kept_packets() const {
    return read.packets - std::min(read.packets, invalid) + unread.packets;
  }
  /// Packets that are neither kept nor lost: unfinished, or waiting in the buffer.
  uint64_t waiting_packets() const {
    const uint64_t known = kept_packets() + folded.packets + lost + taken.packets;
    return written.packets > known ? written.packets - known : 0;
  }
};

/// Returns the row of a buffer, or nullptr.
inline const SweepRow* FindRow(const std::vector<SweepRow>& rows, BufferId buffer) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [=](const SweepRow& row) { return row.id == buffer; });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_SWEEP_RESULT_H_
