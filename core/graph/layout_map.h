#ifndef RINGSCOPE_CORE_GRAPH_LAYOUT_MAP_H_
#define RINGSCOPE_CORE_GRAPH_LAYOUT_MAP_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/enum_names.h"
#include "core/base/log_moment.h"
#include "core/log/op.h"
#include "core/perfetto/chunk.h"
#include "core/session/session.h"

namespace ringscope {

/// A moment of a log: after this record, or after the last one within this time of the first; by
/// default the end of the log.
struct LayoutMoment {
  std::optional<uint64_t> record;
  std::optional<uint64_t> offset_ns;
};

/// Follows the buffers of a replay up to that moment.
class MomentWatch : public ReplayListener {
 public:
  explicit MomentWatch(LayoutMoment moment) : moment_(moment) {}

  void OnRecord(const Op& op, const LogMoment& now) override;
  void OnBufferSetUp(SessionBuffer& buffer) override { buffers_[buffer.id] = &buffer; }
  void OnBufferReplaced(SessionBuffer& buffer) override { buffers_.erase(buffer.id); }

  bool has_passed() const { return has_passed_; }
  /// The last record before the moment.
  const LogMoment& at() const { return at_; }

 protected:
  /// The next record, which is not applied yet, is the first after the moment.
  virtual void OnMoment() = 0;
  /// Returns false for the end of the log.
  bool is_given() const { return moment_.record || moment_.offset_ns; }

  std::map<BufferId, const SessionBuffer*> buffers_;

 private:
  const LayoutMoment moment_;
  LogMoment at_;
  SessionStart start_;
  bool has_passed_ = false;
};

/// The part of a buffer that one thing takes.
struct LayoutExtent {
  enum class Kind : uint8_t {
    kChunk,
    kPadding,  // what is left of chunks that were consumed or cleared, and fillers
    kUnused,   // never written
  };
  Kind kind = Kind::kUnused;
  uint64_t offset = 0;  // bytes
  uint64_t size = 0;    // bytes, header and alignment included
  // Of chunks:
  ChunkName chunk;
  uint32_t payload_size = 0;  // bytes of fragments
  uint32_t consumed = 0;      // of these, read or abandoned
  bool incomplete = false;
  bool needs_patch = false;

  uint32_t unread() const { return payload_size - consumed; }
  /// Returns the end of its consumed part: the header goes with what was consumed, and so does the
  /// alignment if nothing is unread.
  uint64_t consumed_end() const {
    if (kind != Kind::kChunk) return offset;
    if (unread() == 0) return offset + size;
    return consumed == 0 ? offset : offset + kStoredHeaderSize + consumed;
  }
};
template <>
inline constexpr std::array kEnumNames<LayoutExtent::Kind> = {"chunk", "padding", "unused"};

/// A buffer's bytes at a moment.
struct BufferLayout {
  BufferId buffer{};
  std::string engine;
  FillPolicy policy = FillPolicy::kRingBuffer;
  uint64_t size = 0;
  LogMoment at;               // the last record that counts
  bool before_read = false;   // and it is the one whose read is about to begin
  Status status;              // an error if the engine does not report its chunks
  uint64_t write_cursor = 0;  // as Engine::VisitChunks returns it
  uint64_t wraps = 0;
  std::vector<LayoutExtent> extents;  // in order of offsets; they cover the buffer
};

/// Owner of a share of a buffer: one sequence, or none.
struct LayoutShare {
  LayoutExtent::Kind kind = LayoutExtent::Kind::kUnused;
  SequenceKey sequence;  // of chunks
  uint64_t chunks = 0;
  uint64_t bytes = 0;   // headers and alignment included
  uint64_t unread = 0;  // bytes of fragments
};

/// The part of a layout that one cell of a map shows.
struct LayoutCell {
  size_t share = 0;       // index in LayoutGrid::shares: of the byte in its middle
  bool consumed = false;  // that byte was read
  bool starts = false;    // a chunk begins here
};

/// A buffer cut into cells of the same size.
struct LayoutGrid {
  uint64_t bytes_per_cell = 0;
  std::vector<LayoutShare> shares;  // sequences, the largest first; padding; unused
  std::vector<LayoutCell> cells;
};

/// @param max_cells the most there may be; cells take a multiple of 16 bytes, a power of two
LayoutGrid MakeGrid(const BufferLayout& layout, size_t max_cells);

/// Takes the layout of a replay's buffers at a moment.
class LayoutMap : public MomentWatch {
 public:
  /// @param moment by default before each buffer's last read that returned many packets, or at the
  ///     end if none returned any
  explicit LayoutMap(std::optional<LayoutMoment> moment)
      : MomentWatch(moment.value_or(LayoutMoment{})), before_last_read_(!moment) {}

  void OnBufferReplaced(SessionBuffer& buffer) override;
  void OnReadBegun(BufferId buffer) override;
  void OnReadDone(BufferId buffer, uint64_t packets) override;
  void OnDrainBegun(BufferId buffer) override;

  /// The layouts, by buffer, once the replay was drained.
  std::vector<BufferLayout> buffers() const {
    std::vector<BufferLayout> list;
    for (const auto& [id, layout] : layouts_) list.push_back(layout);
    return list;
  }

 private:
  void OnMoment() override;
  BufferLayout LayoutOf(const SessionBuffer& session) const;

  const bool before_last_read_;
  std::map<BufferId, BufferLayout> before_read_;  // of reads that are under way
  std::map<BufferId, uint64_t> most_read_;        // packets, by one read
  std::map<BufferId, BufferLayout> layouts_;
};

/// Packets that a read pass returns one after the other, of one sequence.
struct ReadStep {
  uint64_t number = 0;  // from 1
  SequenceKey sequence;
  ChunkId first_chunk{};  // the packets begin in these chunks, from the first to the last
  ChunkId last_chunk{};
  PacketCount packets;
};

/// A sequence of which the pass leaves something unread.
struct ReadStall {
  ChunkName chunk;      // the first that it leaves
  ChunkId waits_for{};  // the chunk that has not its patches, its successor or its end
  StallReason reason{};
  uint64_t chunks = 0;  // that it leaves
};

/// In which order a read pass at one moment would take what a buffer holds.
struct ReadWalk {
  BufferId buffer{};
  uint32_t index = 0;  // in the trace config: the order of the buffers in a pass
  std::string engine;
  ReadOrder order{};
  LogMoment at;
  Status status;  // an error if the engine cannot be cloned
  uint64_t write_cursor = 0;
  std::vector<ReadStep> steps;
  std::vector<ReadStall> stalls;  // by sequence
};

/// Finds the order of a read pass at a moment of a replay, by a pass over a clone of each buffer.
/// Without a moment: before the first read that finds anything, or at the end.
class ReadWalks : public MomentWatch {
 public:
  using MomentWatch::MomentWatch;

  void OnReadBegun(BufferId buffer) override;
  Status OnLogEnd(Session& session) override;

  /// In the order in which a pass reads the buffers, once the replay is at its end.
  const std::vector<ReadWalk>& buffers() const { return walks_; }

 private:
  bool has_steps() const;
  void OnMoment() override;

  std::vector<ReadWalk> walks_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GRAPH_LAYOUT_MAP_H_
