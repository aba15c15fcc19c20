#ifndef RINGSCOPE_FORMATS_DESCRIPTORS_DESCRIBED_KINDS_H_
#define RINGSCOPE_FORMATS_DESCRIPTORS_DESCRIBED_KINDS_H_

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/perfetto/packet_facts.h"

namespace ringscope {

/// The kinds of track events ("CATEGORY/NAME") and of bundles of ftrace ("sched_switch and
/// others"). Interned names are those since the last reset or missing chunk. Memory: O(names),
/// limited.
class DescribedKinds : public PacketKinds {
 public:
  /// Beyond these, packets have no kind.
  static constexpr size_t kMaxKinds = 65536;
  static constexpr size_t kMaxInterned = 1 << 20;  // of all sequences
  static constexpr size_t kLongestName = 64;       // bytes; longer ones are cut
  /// Events of a bundle that decide its kind: the first ones.
  static constexpr size_t kEventsRead = 64;

  uint32_t Add(BufferId buffer, ChunkName chunk, const PacketFacts& facts, Bytes content,
               Bytes packet) override;
  const std::string& NameOf(uint32_t kind) const override { return names_[kind]; }

 private:
  using Interned = std::unordered_map<uint64_t, std::string>;
  struct HashOfText {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  struct Sequence {
    std::optional<ChunkId> chunk;  // the last one
    Interned categories;
    Interned events;
    std::map<std::pair<uint64_t, uint64_t>, uint32_t> kinds;  // by both numbers
  };

  void Intern(Sequence& sequence, Bytes interned_data);
  uint32_t OfTrackEvent(Sequence& sequence, Bytes event);
  uint32_t OfFtrace(Bytes bundle);
  uint32_t OfProcessTree(Bytes tree);
  uint32_t Number(std::string_view name);

  std::map<std::pair<BufferId, SequenceKey>, Sequence> sequences_;
  std::pair<BufferId, SequenceKey> last_key_;  // of the packet before
  Sequence* last_ = nullptr;
  size_t interned_ = 0;
  uint32_t end_of_slice_ = 0;
  uint32_t counter_ = 0;
  std::vector<std::string> names_{std::string()};
  std::unordered_map<std::string, uint32_t, HashOfText, std::equal_to<>> numbers_;
  std::string name_;  // scratch
  /// By the event, and whether there are others.
  std::map<std::pair<uint32_t, bool>, uint32_t> of_ftrace_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_DESCRIPTORS_DESCRIBED_KINDS_H_
