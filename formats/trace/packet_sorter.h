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

#include "formats/io/output_file.h"

namespace ringscope {

/// A packet on its way through a PacketSorter.
struct TimedPacket {
  uint64_t time_ns = 0;
  uint32_t sequence = 0;  // whatever the caller numbers
  uint32_t dropped = 0;   // previous_packet_dropped
  Bytes bytes;            // fewer than 4 GiB
};

/// Brings packets into the order of their times; those of one time keep their order. What does not
/// fit in memory goes to a temporary file, as sorted runs.
/// Memory: about twice `run_bytes`, `merge_bytes`, and the largest packet.
class PacketSorter {
 public:
  struct Options {
    std::string folder;                     // for the temporary file
    size_t run_bytes = size_t{48} << 20;    // what is in memory before the temporary file is used
    size_t merge_bytes = size_t{16} << 20;  // for reading back
  };

  explicit PacketSorter(Options options) : options_(std::move(options)) {}
  PacketSorter(const PacketSorter&) = delete;
  PacketSorter& operator=(const PacketSorter&) = delete;

  /// Keeps a copy of the packet.
  Status Add(const TimedPacket& packet);
  /// Ends the adding.
  Status Finish();
  /// The next packet in order; nullopt after the last. Its bytes are valid until the next call.
  Result<std::optional<TimedPacket>> Next();

  /// Bytes in the temporary file.
  uint64_t spilled_bytes() const { return spilled_ ? spilled_->size() : 0; }

 private:
  /// A packet's record in the temporary file, before its bytes; in memory, they are at `at`.
  struct Entry {
    uint64_t time_ns;
    uint64_t at;
    uint32_t size;
    uint32_t sequence;
    uint32_t dropped;
    uint32_t unused;
  };
  /// A sorted part of the temporary file, being read.
  struct Run {
    uint64_t next, end;  // in the temporary file, after the window
    std::string window;
    size_t at = 0;  // in the window: of the next record
    Entry entry{};  // of that
  };

  Status Spill();
  Status Fill(Run& run, size_t size);
  Status Advance(size_t index);

  const Options options_;
  std::string store_;                       // bytes of the packets of the run
  std::vector<Entry> entries_;              // of the run
  size_t next_entry_ = 0;                   // for Next, where nothing was spilled
  std::shared_ptr<TemporaryFile> spilled_;  // once something was spilled
  std::vector<Run> runs_;
  std::optional<size_t> last_run_;  // of the packet that Next returned last
  /// Time of the next entry of each run, and the run; earlier runs first: what they hold came
  /// first.
  std::priority_queue<std::pair<uint64_t, size_t>, std::vector<std::pair<uint64_t, size_t>>,
                      std::greater<>>
      fronts_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_PACKET_SORTER_H_
