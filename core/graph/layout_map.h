#ifndef RINGSCOPE_CORE_GRAPH_LAYOUT_MAP_H_
#define RINGSCOPE_CORE_GRAPH_LAYOUT_MAP_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/enum_names.h"
#include "core/ledger/ledger.h"
#include "core/session/buffer_event.h"
#include "core/session/session.h"

namespace ringscope {

/// A piece of a buffer that one thing takes.
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
  uint32_t consumed = 0;      // of these, read or given up
  bool incomplete = false;
  bool needs_patch = false;

  uint32_t unread() const { return payload_size - consumed; }
  friend bool operator==(const LayoutExtent&, const LayoutExtent&) = default;
};
template <>
inline constexpr std::array kEnumNames<LayoutExtent::Kind> = {"chunk", "padding", "unused"};

/// A buffer's bytes at a moment.
struct BufferLayout {
  BufferId buffer{};
  std::string engine;
  FillPolicy policy = FillPolicy::kRingBuffer;
  uint64_t size = 0;
  LogMoment at;                         // the last record that counts
  uint64_t write_cursor = 0;            // where the next chunk goes, unless it does not fit there
  std::optional<uint64_t> read_cursor;  // chunk that the packet read last came from, if still there
  uint64_t wraps = 0;
  std::vector<LayoutExtent> extents;  // in order of offsets; they cover the buffer
};

/// Where a layout is to be taken: behind this record, or behind the last one that came within this
/// time of the first; neither: at the end of the log.
struct LayoutMoment {
  std::optional<uint64_t> record;
  std::optional<uint64_t> offset_ns;
};

/// Follows a replay and keeps the layout of its buffers. Memory: O(chunks and fragments held).
class LayoutMap : public ReplayListener {
 public:
  explicit LayoutMap(LayoutMoment moment) : moment_(moment) {}

  bool WantsBufferEvents() const override { return true; }
  void OnRecord(const Op& op, const LogMoment& moment) override;
  void OnBufferSetUp(SessionBuffer& buffer) override;
  void OnBufferReplaced(SessionBuffer& buffer) override;
  void OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal> refusal) override;
  void OnBufferEvent(const BufferEvent& event) override;

  static constexpr uint64_t kMaxProblems = 20;

  /// Whether the moment lies behind the last record seen.
  bool is_past_end() const { return !frozen_; }
  /// The last record that counts.
  const LogMoment& at() const { return now_; }
  /// The layouts, by buffer.
  std::vector<BufferLayout> Layouts() const;
  /// What can not be, a line each: a chunk's space was taken although it never left, or it was
  /// rewritten where it is not. Empty if nothing; the first kMaxProblems if there are many.
  std::string problems() const;

 private:
  struct Extent {
    LayoutExtent extent;
    std::vector<uint32_t> ends;  // of its fragments, from the payload's first byte
  };
  struct Buffer {
    BufferLayout layout;  // but for the extents
    std::map<uint64_t, Extent> extents;
    std::map<std::pair<SequenceKey, uint32_t>, uint64_t> chunks;  // offsets
    uint64_t used = 0;
  };

  Extent* Find(Buffer& buffer, SequenceKey sequence, ChunkId chunk);
  void TakeRoom(Buffer& buffer, uint64_t offset, uint64_t size);
  void Place(Buffer& buffer, const BufferEvent& event);
  void Erase(Buffer& buffer, ChunkName chunk);
  void Complain(std::string problem);
  void Consume(Buffer& buffer, const BufferEvent& event);

  const LayoutMoment moment_;
  std::map<BufferId, Buffer> buffers_;
  std::vector<uint32_t> arriving_;  // fragment ends of the chunk under way
  LogMoment now_;
  std::optional<uint64_t> first_time_ns_;
  bool frozen_ = false;
  std::string problems_;  // the first ones
  uint64_t problem_count_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GRAPH_LAYOUT_MAP_H_
