#ifndef RINGSCOPE_FORMATS_TRACE_PACKET_SORTER_H_
#define RINGSCOPE_FORMATS_TRACE_PACKET_SORTER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "formats/io/byte_stream.h"
#include "formats/io/output_file.h"
#include "formats/trace/trace_file_scan.h"

namespace ringscope {

/// The place of a packet's bytes: in the file that a sorter reads again, or else in its store.
struct StoredPlace {
  uint64_t at = 0;
  uint32_t size = 0;  // bytes
  bool in_file = false;
};

/// A packet on its way through a PacketSorter.
struct TimedPacket {
  uint64_t time_ns = 0;
  uint32_t sequence = 0;  // whatever the caller numbers
  uint32_t dropped = 0;   // previous_packet_dropped
  StoredPlace place;
  Bytes bytes = {};  // set by Next
};

/// Brings packets into the order of their times; those of one time keep their order. Of packets
/// that are in a file that can be read again, only their places are kept; the bytes of others go
/// into a store. What does not fit in memory goes to a temporary file, as sorted runs.
/// Memory: about twice `run_bytes`, `merge_bytes`, and the largest packet.
class PacketSorter {
 public:
  struct Options {
    std::string folder;                     // for the temporary file
    size_t run_bytes = size_t{48} << 20;    // what is in memory before the temporary file is used
    size_t merge_bytes = size_t{32} << 20;  // for reading back
    ByteSource* file = nullptr;             // CanReadAt(): of the places; must outlive the sorter
  };

  explicit PacketSorter(Options options);
  PacketSorter(const PacketSorter&) = delete;
  PacketSorter& operator=(const PacketSorter&) = delete;

  /// Keeps a copy of a packet's bytes.
  /// @param bytes fewer than 4 GiB
  Result<StoredPlace> Store(Bytes bytes);
  Status Add(const TimedPacket& packet);
  /// Ends the adding.
  Status Finish();
  /// The next packet in order; nullopt after the last. Its bytes are valid until the next call.
  Result<std::optional<TimedPacket>> Next();

  /// Bytes of all packets that were added.
  uint64_t bytes() const { return bytes_; }
  /// Bytes in the temporary file.
  uint64_t spilled_bytes() const { return spilled_ ? spilled_->size() : 0; }

 private:
  struct Entry {
    uint64_t time_ns;
    uint64_t at;
    uint32_t size;
    uint32_t sequence;
    uint32_t dropped;
    uint32_t in_file;
  };
  /// A sorted part of the temporary file, being read.
  struct Run {
    uint64_t next, end;  // in the temporary file, after the window
    std::vector<Entry> window;
    size_t at = 0;  // in the window
  };

  Status MakeSpace(size_t bytes);
  Status Spill();
  void SortEntries();
  Status Refill(size_t run);
  Result<std::optional<Entry>> NextEntry();

  const Options options_;
  std::string store_;                       // bytes of packets, to be at the temporary file's end
  std::vector<Entry> entries_;              // of the run
  size_t next_entry_ = 0;                   // for Next, where nothing was spilled
  std::shared_ptr<TemporaryFile> spilled_;  // once something was spilled
  std::unique_ptr<ByteSource> spilled_source_;
  std::vector<Run> runs_;
  /// Time of the next entry of each run, and the run; earlier runs first: what they hold came
  /// first.
  std::priority_queue<std::pair<uint64_t, size_t>, std::vector<std::pair<uint64_t, size_t>>,
                      std::greater<>>
      fronts_;
  std::optional<FileBlocks> file_blocks_, store_blocks_;
  uint64_t bytes_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_PACKET_SORTER_H_
