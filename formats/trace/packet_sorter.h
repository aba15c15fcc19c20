#ifndef RINGSCOPE_FORMATS_TRACE_PACKET_SORTER_H_
#define RINGSCOPE_FORMATS_TRACE_PACKET_SORTER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "formats/io/temporary_file.h"

namespace ringscope {

/// A packet on its way through a PacketSorter.
struct TimedPacket {
  uint64_t time_ns = 0;
  uint32_t sequence = 0;  // whatever the caller numbers
  uint32_t dropped = 0;   // previous_packet_dropped
  Bytes bytes;            // at most 4 GiB
};

/// Brings packets into the order of their times; those of one time keep their order. What does not
/// fit in memory goes to a temporary file.
/// Memory: about 1.5 times `run_bytes`, and the largest packet.
class PacketSorter {
 public:
  struct Options {
    std::string folder;                     // for the temporary file
    size_t run_bytes = size_t{64} << 20;    // what is sorted at once
    size_t merge_bytes = size_t{32} << 20;  // for reading back, all runs together
  };

  explicit PacketSorter(Options options);
  ~PacketSorter();
  PacketSorter(const PacketSorter&) = delete;
  PacketSorter& operator=(const PacketSorter&) = delete;

  Status Add(const TimedPacket& packet);
  /// Ends the adding.
  Status Finish();
  /// The next packet in order; nullopt after the last. Valid until the next call.
  Result<std::optional<TimedPacket>> Next();

  /// Bytes of all packets.
  uint64_t bytes() const { return bytes_; }
  /// Bytes in the temporary file.
  uint64_t spilled_bytes() const { return file_ ? file_->size() : 0; }

 private:
  struct Entry {  // of a packet in the arena
    uint64_t time_ns;
    size_t offset;
  };
  class Run;

  Status SpillRun();

  const Options options_;
  std::vector<uint8_t> arena_;           // packets with their heads
  std::vector<Entry> entries_;           // of the arena
  size_t next_entry_ = 0;                // for Next, where nothing was spilled
  std::shared_ptr<TemporaryFile> file_;  // once something was spilled
  std::vector<uint64_t> run_starts_;     // in the file
  std::vector<Run> runs_;
  std::vector<size_t> heap_;     // of runs_, the earliest in front
  std::optional<size_t> taken_;  // the run that Next returned from
  uint64_t bytes_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_PACKET_SORTER_H_
