#ifndef RINGSCOPE_CORE_COMPARE_SIDE_TAPE_H_
#define RINGSCOPE_CORE_COMPARE_SIDE_TAPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/reused_memory.h"
#include "core/compare/log_diff.h"
#include "core/session/buffer_event.h"

namespace ringscope {

/// A packet that one side returned.
struct ReturnedPacket {
  DiffPlace place;
  ChunkId last_chunk{};
  uint32_t content = 0;
  uint64_t size = 0;
  uint64_t hash = 0;
  uint32_t loss_bits = 0;
  Identity identity;
  bool valid = true;
  // Of what the side returned before, which is known once it is compared:
  bool again = false;  // was returned before, as far as that is known
  bool late = false;   // a later packet of its sequence was returned before

  friend bool operator==(const ReturnedPacket&, const ReturnedPacket&) = default;
};

/// Some consecutive packets of a tape.
class ReturnedPackets {
 public:
  ReturnedPackets(const ReusedList<ReturnedPacket>& packets, size_t first, size_t size)
      : packets_(packets), first_(first), size_(size) {}

  const ReturnedPacket& operator[](size_t i) const { return packets_[first_ + i]; }
  size_t size() const { return size_; }
  ReturnedPackets From(size_t first) const { return {packets_, first_ + first, size_ - first}; }

 private:
  const ReusedList<ReturnedPacket>& packets_;
  const size_t first_;
  const size_t size_;
};

struct PatchResult {
  BufferId buffer{};
  bool ok = false;
  friend bool operator==(const PatchResult&, const PatchResult&) = default;
};

/// What a side's buffer had counted after a record.
struct CountedBuffer {
  BufferId buffer{};
  bool touched = false;  // something happened to it during the record
  uint64_t requested_size = 0;
  BufferStats stats;                // of the engine
  std::optional<BufferStats> seen;  // by the reader of the buffer, if that has other ones
};

/// After a record, a buffer's engine cannot continue.
struct FailedBuffer {
  BufferId buffer{};
  Error error;
};

/// What a side did, record by record, in order.
struct SideTape {
  enum class Kind : uint8_t {
    kMoment,     // of `moments`: that of what follows
    kEvent,      // of `events`, without those of returned packets
    kPacket,     // of `packets`
    kPatch,      // of `patches`
    kCounted,    // of `counted`
    kFailed,     // of `failed`
    kWarning,    // of `warnings`
    kRecordEnd,  // of the record (or of the reads at the end)
  };
  struct Step {
    Kind kind{};
    uint32_t index = 0;
  };

  std::vector<Step> steps;
  std::vector<LogMoment> moments;
  std::vector<BufferEvent> events;
  ReusedList<ReturnedPacket> packets;
  std::vector<PatchResult> patches;
  std::vector<CountedBuffer> counted;
  std::vector<FailedBuffer> failed;
  std::vector<std::string> warnings;
  /// Of the last record on the tape: the side's replay ended there.
  std::optional<Error> error;

  template <typename T>
  void Add(Kind kind, std::vector<T>& list, T item) {
    AddStep(kind, list.size());
    list.push_back(std::move(item));
  }
  void AddStep(Kind kind, size_t index) { steps.push_back({kind, static_cast<uint32_t>(index)}); }
  void Clear() {
    constexpr size_t kMostKept = 65536;
    steps.clear();
    moments.clear();
    events.clear();
    // A read of a whole buffer is rare, and its memory would stay with each section.
    if (packets.size() > kMostKept) packets = {};
    packets.Clear();
    patches.clear();
    counted.clear();
    failed.clear();
    warnings.clear();
    error.reset();
  }
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_SIDE_TAPE_H_
