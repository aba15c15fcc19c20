#ifndef RINGSCOPE_CORE_EXAMINE_REPLAYED_PACKETS_H_
#define RINGSCOPE_CORE_EXAMINE_REPLAYED_PACKETS_H_

#include "core/gaps/gap_report.h"
#include "core/ledger/packet_values.h"
#include "core/reads/ready_times.h"

namespace ringscope {

/// A sequence of a trace: its machine_id and its trusted_packet_sequence_id.
using TraceSequenceId = std::pair<uint32_t, uint32_t>;

/// The packets of a sequence in a trace's order: their count, and a digest of their contents.
struct SequenceDigest {
  uint64_t packets = 0;
  uint64_t hash = 0;

  /// @param packet as its producer wrote it
  void Add(Bytes packet) {
    constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;
    ++packets;
    hash = hash * kOdd + HashOfPacket(packet);
  }
  friend bool operator==(const SequenceDigest&, const SequenceDigest&) = default;
};

/// When the packets that a replay returned were written, by sequence, to find the times around
/// holes. Times are the packets' own (CLOCK_BOOTTIME, ns), or else those of their commits. Give it
/// to the ledger and to the replay, after the analysis that has the times. Memory: 40 bytes for
/// each chunk that was read.
class ReplayedPackets : public ReplayListener, public LedgerSink {
 public:
  /// A packet before which its producer reports a loss that is not in the log.
  struct Flagged {
    GapPlace place;
    uint32_t loss_bits = 0;
  };
  struct Sequence {
    TraceSequenceId id;            // once a packet was returned
    SequenceDigest digest;         // of the packets returned
    std::vector<Flagged> flagged;  // by their producer; the first kMaxFlagged

    /// The time of the packet returned that is nearest to a place, before it; if there is none, of
    /// the sequence's first packet, lost or not.
    int64_t TimeBefore(GapPlace place) const;
    /// The time of the packet at the place or after it, or else of the sequence's last packet.
    int64_t TimeFrom(GapPlace place) const;

   private:
    friend class ReplayedPackets;
    /// Packets that follow each other.
    struct Run {
      GapPlace first;
      uint32_t count = 0;
      int64_t first_ns = 0, last_ns = 0;
    };
    std::vector<Run> runs;
    Run all;  // from the first packet to the last
  };

  /// @param times of the packets whose fates are reported; must outlive the replay
  explicit ReplayedPackets(const PacketTimes* times = nullptr) : times_(times) {}

  void OnPacketFate(const PacketAccount& account) override;
  void OnReturned(const PacketAccount& account, const SessionPacket& packet) override;
  /// Sorts what was found. At the end of the replay.
  void OnDrained() override;

  /// Returns nullptr if it has no packet.
  const Sequence* Find(SequenceKey key) const { return sequences_.Find(key); }

 private:
  static constexpr size_t kMaxFlagged = 4096;

  const PacketTimes* times_;
  SequenceMap<Sequence> sequences_;
  std::string joined_;  // scratch
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_EXAMINE_REPLAYED_PACKETS_H_
