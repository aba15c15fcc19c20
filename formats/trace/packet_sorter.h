#ifndef RINGSCOPE_FORMATS_TRACE_PACKET_SORTER_H_
#define RINGSCOPE_FORMATS_TRACE_PACKET_SORTER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "formats/io/byte_stream.h"
#include "formats/io/temporary_file.h"
#include "formats/trace/file_blocks.h"

namespace ringscope {

/// Where a packet's bytes are in the file that a sorter reads again.
struct FilePlace {
  uint64_t offset = 0;
  uint32_t size = 0;  // bytes
};

/// A packet on its way through a PacketSorter.
struct TimedPacket {
  uint64_t time_ns = 0;
  uint32_t sequence = 0;  // whatever the caller numbers
  uint32_t dropped = 0;   // previous_packet_dropped
  Bytes bytes;            // at most 4 GiB
};

/// Brings packets into the order of their times; those of one time keep their order. Of packets
/// that are in a file that can be read again, only their places are kept. What does not fit in
/// memory goes to a temporary file.
/// Memory: about 1.5 times `run_bytes`, `merge_bytes`, and the largest packet.
class PacketSorter {
 public:
  struct Options {
    std::string folder;                     // for the temporary file
    size_t run_bytes = size_t{64} << 20;    // what is sorted at once
    size_t merge_bytes = size_t{32} << 20;  // for reading back, all runs together
    ByteSource* file = nullptr;             // CanReadAt(): of the places; must outlive the sorter
  };

  explicit PacketSorter(Options options);
  ~PacketSorter();
  PacketSorter(const PacketSorter&) = delete;
  PacketSorter& operator=(const PacketSorter&) = delete;

  Status Add(const TimedPacket& packet);
  /// A packet whose bytes are in the file.
  Status Add(const TimedPacket& packet, const FilePlace& place);
  /// Ends the adding.
  Status Finish();
  /// The next packet in order; nullopt after the last. Valid until the next call.
  Result<std::optional<TimedPacket>> Next();

  /// Bytes of all packets.
  uint64_t bytes() const { return bytes_; }
  /// Bytes in the temporary file.
  uint64_t spilled_bytes() const { return file_ ? file_->size() : 0; }

 private:
  struct Entry {
    uint64_t time_ns;
    uint64_t at;        // in the arena, or else in the file
    uint32_t size;      // of a packet in the file
    uint32_t sequence;  // of a packet in the file; kInArena: see there
  };
  static constexpr uint32_t kInArena = UINT32_MAX;
  class Run;

  Status AddEntry(const Entry& entry, size_t arena_bytes);
  void AppendToArena(Bytes bytes) { arena_.insert(arena_.end(), bytes.begin(), bytes.end()); }
  void SortEntries();
  Status SpillRun();
  /// A packet as it is in the arena or in the temporary file.
  Result<TimedPacket> PacketAt(const uint8_t* at);
  Result<TimedPacket> PacketOf(const Entry& entry);

  const Options options_;
  std::vector<uint8_t> arena_;           // packets with their heads
  std::vector<Entry> entries_;           // of all packets of the run
  bool is_sorted_ = true;                // entries_
  size_t next_entry_ = 0;                // for Next, where nothing was spilled
  std::shared_ptr<TemporaryFile> file_;  // once something was spilled
  std::vector<uint64_t> run_starts_;     // in the temporary file
  std::vector<Run> runs_;
  std::vector<size_t> heap_;          // of runs_, the earliest in front
  std::optional<size_t> taken_;       // the run that Next returned from
  std::optional<FileBlocks> blocks_;  // of the file
  uint64_t bytes_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_PACKET_SORTER_H_
