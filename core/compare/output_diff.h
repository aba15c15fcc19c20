#ifndef RINGSCOPE_CORE_COMPARE_OUTPUT_DIFF_H_
#define RINGSCOPE_CORE_COMPARE_OUTPUT_DIFF_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/compare/log_diff.h"

namespace ringscope {

// The results of a session, as a file of events or a trace has it, and how two of these compare.
// Nothing is known of packets' places in the log: they are matched by content.

/// A packet in an output.
struct OutputPacket {
  uint64_t hash = 0;  // of its content
  uint64_t size = 0;  // bytes of it
  uint32_t loss_bits = 0;
  uint32_t content = 0;   // field that holds the data; 0: not known
  uint32_t position = 0;  // number in the file, from 0, packets of all sequences counted
};

/// Where packets are put in order together: a buffer, or one clone of it. In a trace all is one.
struct OutputGroup {
  uint32_t buffer = 0;
  uint32_t clone = 0;  // 0: read passes; else the file's n-th clone

  friend auto operator<=>(const OutputGroup&, const OutputGroup&) = default;
};

struct OutputSequence {
  OutputGroup group;
  std::string name;  // "2:17", or a trace's sequence id
  Identity identity;
  std::vector<OutputPacket> packets;  // in the file's order
};

/// An output. Memory: 32 bytes a packet.
struct ReplayOutput {
  std::vector<OutputSequence> sequences;  // in order of their first packet
  std::vector<bool> patches;              // whether each was applied, in order
  std::map<uint32_t, BufferStats> stats;  // by buffer; empty if the file has none
  uint64_t packets = 0;
  uint64_t service_packets = 0;  // left out: written by the service itself
};

/// A packet that the outputs do not agree on.
struct OutputDifference {
  DifferenceKind kind{};
  OutputGroup group;
  Both<std::string> sequence;                // name; empty where the sequence is not there
  Both<std::optional<OutputPacket>> packet;  // absent where it is not there
  Both<uint64_t> index{};                    // in its sequence, from 0
};

/// A sequence, or its counterpart in the other output.
struct SequenceDiff {
  OutputGroup group;
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
  uint64_t identities_ignored = 0;  // sequences with a different uid or pid, which do not count
  /// The difference that comes first in the files.
  std::optional<OutputDifference> first;
  std::optional<uint64_t> first_patch;  // number of the first patch result that differs
  std::array<std::vector<OutputDifference>, kDifferenceKinds> listed;
  std::map<uint32_t, Both<BufferStats>> stats;  // by buffer, where both files have them

  bool Same() const;
};

/// Compares two outputs. Sequences are matched one to one by what they have in common, whatever
/// their names; the packets of a pair are aligned, so that one missing packet is one difference.
/// @param listed differences to keep in full, of each kind
/// @param ignore_identity a different uid or pid is no difference
/// @return kUsage if the outputs cannot be of one log: other buffers, or hardly a packet in common
Result<OutputDiff> DiffOutputs(const ReplayOutput& a, const ReplayOutput& b, size_t listed,
                               bool ignore_identity = false);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_OUTPUT_DIFF_H_
