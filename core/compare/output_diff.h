#ifndef RINGSCOPE_CORE_COMPARE_OUTPUT_DIFF_H_
#define RINGSCOPE_CORE_COMPARE_OUTPUT_DIFF_H_

#include "core/compare/log_differ.h"

namespace ringscope {

// The results of a session, as a trace has them, and how two of these compare. Nothing is known of
// packets' places in the log: they are matched by content.

/// A packet in an output.
struct OutputPacket {
  uint64_t hash = 0;  // of its content
  uint64_t size = 0;  // bytes of it
  uint32_t loss_bits = 0;
  uint32_t content = 0;   // field that holds the data; 0: not known
  uint32_t position = 0;  // number in the file, from 0, packets of all sequences counted
};

struct OutputSequence {
  std::string name;  // the trace's sequence id
  Identity identity;
  std::vector<OutputPacket> packets;  // in the file's order
};

/// An output. Memory: 32 bytes a packet.
struct ReplayOutput {
  std::vector<OutputSequence> sequences;  // in order of their first packet
  std::vector<BufferStats> stats;         // by buffer; empty if the file has none
  uint64_t packets = 0;
  uint64_t service_packets = 0;  // left out: written by the service itself
  bool is_damaged = false;       // the file: these are the packets that could be read
  /// The file is of a clone, by the service's events; absent: it has none of them.
  std::optional<bool> is_clone;
  /// By the service's events, a read for the file is not in it to its end.
  bool ends_within_read = false;

  /// Leaves out the packets after so many, and the statistics. @return how many
  uint64_t CutTo(uint64_t most);
};

/// A packet that the outputs do not agree on.
struct OutputDifference {
  DifferenceKind kind{};
  Both<std::string> sequence;                // name; empty where the sequence is not there
  Both<std::optional<OutputPacket>> packet;  // absent where it is not there
  Both<uint64_t> index{};                    // in its sequence, from 0

  /// Returns the earlier of its positions in the two files.
  uint64_t position() const;
};

/// A sequence, or its counterpart in the other output.
struct SequenceDiff {
  Both<std::string> name;  // empty: not there
  Both<Identity> identity;
  Both<uint64_t> packets;
  DiffCounts counts;
};

struct OutputDiff {
  DiffCounts counts;
  std::vector<SequenceDiff> sequences;  // those that differ
  Both<uint64_t> packets;
  Both<uint64_t> service_packets;
  uint64_t sequences_matched = 0;
  uint64_t renamed_sequences = 0;  // of these, with another trusted_packet_sequence_id
  uint64_t renamed_packets = 0;    // of these sequences in both
  /// The difference that comes first in the files.
  std::optional<OutputDifference> first;
  PerKind<std::vector<OutputDifference>> listed;
  std::vector<BufferDiff> buffers;  // with their counters, where both files have them

  /// Returns true if nothing but the ids of sequences differs.
  bool Same() const { return counts.all() == 0; }
  /// Returns true if the outputs have more in common than those of the other comparison.
  bool IsCloserThan(const OutputDiff& other) const {
    return counts.matched != other.counts.matched ? counts.matched > other.counts.matched
                                                  : counts.all() < other.counts.all();
  }
};

/// Compares two outputs. Sequences are matched one to one by what they have in common, whatever
/// their names; the packets of a pair are aligned, so that one missing packet is one difference.
/// @param listed differences to keep in full, of each kind
/// @return kUsage if the outputs cannot be of one log: other buffers, or hardly a packet in common
Result<OutputDiff> DiffOutputs(const ReplayOutput& a, const ReplayOutput& b, size_t listed);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_OUTPUT_DIFF_H_
