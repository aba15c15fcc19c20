#ifndef RINGSCOPE_CORE_PERFETTO_DATA_LOSS_H_
#define RINGSCOPE_CORE_PERFETTO_DATA_LOSS_H_

#include <array>
#include <cstdint>
#include <string>

namespace ringscope {

/// Bits of a packet's previous_packet_dropped: something of its sequence is missing before it.
/// Source: Perfetto since v57; earlier releases and V1 only set 0 or 1.
enum LossBit : uint32_t {
  kLossPresent = 1,  // set with every other
  kLossReadGap = 2,
  kLossChunkCorrupted = 4,
  kLossOrphanContinuation = 8,
  kLossReassemblyGap = 16,
  kLossReassemblyBrokenChain = 32,
  kLossOverwrite = 64,
  kLossWriterAbort = 128,
  kLossSmbFull = 256,  // set by producers in their own packets
};

struct LossBitName {
  LossBit bit;
  const char* name;   // as in trace processor's data_loss_NAME
  const char* words;  // for people
};

/// The bits that name a cause, ascending.
inline constexpr std::array<LossBitName, 8> kLossBitNames = {{
    {kLossReadGap, "read_gap", "missing chunks"},
    {kLossChunkCorrupted, "chunk_corrupted", "unreadable chunk"},
    {kLossOrphanContinuation, "orphan_continuation", "missing beginning"},
    {kLossReassemblyGap, "reassembly_gap", "missing middle"},
    {kLossReassemblyBrokenChain, "reassembly_broken_chain", "missing continuation"},
    {kLossOverwrite, "overwrite", "overwritten"},
    {kLossWriterAbort, "writer_abort", "aborted"},
    {kLossSmbFull, "smb_full", "full shared memory"},
}};

/// Packets before which something of their sequence is missing, and those with each cause.
struct LossCounts {
  uint64_t sequence_packet_loss = 0;
  std::array<uint64_t, kLossBitNames.size()> by_bit{};  // as kLossBitNames

  /// Counts a packet. @param bits of it, not 0
  void Add(uint32_t bits) {
    ++sequence_packet_loss;
    for (size_t i = 0; i < by_bit.size(); ++i)
      by_bit[i] += (bits & kLossBitNames[i].bit) != 0 ? 1 : 0;
  }
  LossCounts& operator+=(const LossCounts& other) {
    sequence_packet_loss += other.sequence_packet_loss;
    for (size_t i = 0; i < by_bit.size(); ++i) by_bit[i] += other.by_bit[i];
    return *this;
  }
  friend bool operator==(const LossCounts&, const LossCounts&) = default;
};

/// "read_gap+overwrite", as programs read them; "present" for 1 alone; "none" for 0.
inline std::string LossBitsToString(uint32_t bits,
                                    const char* LossBitName::*names = &LossBitName::name,
                                    const char* between = "+") {
  std::string text;
  for (const LossBitName& entry : kLossBitNames)
    if ((bits & entry.bit) != 0) text += (text.empty() ? "" : between) + std::string(entry.*names);
  if (text.empty()) text = bits == 0 ? "none" : "present";
  return text;
}
/// "missing chunks, overwritten", as people read them.
inline std::string LossBitsText(uint32_t bits) {
  return LossBitsToString(bits, &LossBitName::words, ", ");
}

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_DATA_LOSS_H_
