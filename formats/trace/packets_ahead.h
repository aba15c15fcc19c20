#ifndef RINGSCOPE_FORMATS_TRACE_PACKETS_AHEAD_H_
#define RINGSCOPE_FORMATS_TRACE_PACKETS_AHEAD_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "formats/io/read_ahead.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope {

/// Reads a trace's packets ahead of their use, in a thread of its own. Where the system has no more
/// threads, they are read when they are asked for.
/// Memory: a few blocks of packets, at most 2 MiB, unless one packet is larger.
class PacketsAhead {
 public:
  /// A packet, one of the two.
  struct Packet {
    uint64_t offset = 0;  // as that of TracePacket
    const BriefPacket* brief = nullptr;
    Bytes brief_bytes;                // of its producer; empty if they are in the file
    std::optional<uint64_t> in_file;  // where these are
    const TracePacket* whole = nullptr;
  };

  /// @param reader must outlive this
  /// @param keeps_file packets in the file can be read there again: brief ones are not copied
  PacketsAhead(TraceReader& reader, bool keeps_file, ReadAhead ahead);
  ~PacketsAhead();
  PacketsAhead(const PacketsAhead&) = delete;
  PacketsAhead& operator=(const PacketsAhead&) = delete;

  /// The next packet; nullopt: the clean end. What it refers to is valid until the next call.
  Result<std::optional<Packet>> Next();
  /// Whether Next returned the last packet of those that were read at once: a time to report
  /// progress.
  bool is_between_blocks() const { return block_ == nullptr || next_ == block_->items.size(); }

 private:
  static constexpr size_t kBlockPackets = 1024;
  static constexpr size_t kBlockBytes = size_t{256} << 10;
  static constexpr size_t kBlocksAhead = 4;

  struct Item {
    uint64_t offset;
    std::optional<uint64_t> in_file;
    Bytes brief_bytes;
    BriefPacket brief;
    const TracePacket* whole;
  };
  /// Packets with copies of their bytes.
  struct Block {
    std::vector<Item> items;
    std::deque<TracePacket> wholes;
    std::string bytes;              // kBlockBytes are reserved: it does not move
    std::deque<std::string> large;  // packets that do not fit there
    size_t large_bytes = 0;
    bool is_last = false;
    Status status;  // after the items

    Bytes Copy(Bytes packet);
    void Clear();
  };

  void FillBlock(Block& block);
  void FillBlocks();
  void TakeBlock();

  TraceReader& reader_;
  const bool keeps_file_;
  ProducedPacket read_;

  std::unique_ptr<Block> block_;  // that Next returns from
  size_t next_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Block>> filled_;
  std::vector<std::unique_ptr<Block>> spare_;
  size_t large_ahead_ = 0;  // bytes in filled_
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_PACKETS_AHEAD_H_
