#ifndef RINGSCOPE_CORE_GRAPH_LAYOUT_MAP_H_
#define RINGSCOPE_CORE_GRAPH_LAYOUT_MAP_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/enum_names.h"
#include "core/graph/moment_watch.h"
#include "core/session/session.h"

namespace ringscope {

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
  bool before_read = false;             // and it is the one whose read is about to begin
  Status status;                        // an error: the engine does not report its chunks
  uint64_t write_cursor = 0;            // as Engine::VisitChunks returns it
  std::optional<uint64_t> read_cursor;  // chunk that the packet read last came from, if still there
  uint64_t wraps = 0;
  std::vector<LayoutExtent> extents;  // in order of offsets; they cover the buffer
};

/// Takes the layout of a replay's buffers at a moment.
class LayoutMap : public ReplayListener {
 public:
  /// @param moment nullopt: before each buffer's last read that returned many packets, for its
  ///     reads; at the end if none returned any
  explicit LayoutMap(std::optional<LayoutMoment> moment)
      : watch_(moment.value_or(LayoutMoment{})), before_last_read_(!moment) {}

  bool WantsBufferEvents() const override { return true; }
  void OnRecord(const Op& op, const LogMoment& moment) override;
  void OnBufferSetUp(SessionBuffer& buffer) override;
  void OnBufferReplaced(SessionBuffer& buffer) override;
  void OnBufferEvent(const BufferEvent& event) override;
  void OnReadBegun(BufferId buffer) override;
  void OnReadDone(BufferId buffer, uint64_t packets) override;
  void OnDrainBegun(BufferId buffer) override;

  /// Whether the moment is after the last record.
  bool is_past_end() const { return !watch_.has_passed(); }
  /// The last record that counts.
  const LogMoment& at() const { return watch_.at(); }
  /// The layouts, by buffer, once the replay was drained.
  const std::map<BufferId, BufferLayout>& layouts() const { return layouts_; }

 private:
  /// Where the packet read last came from.
  struct LastRead {
    std::optional<ChunkName> chunk;  // while it is in the buffer
    std::optional<uint64_t> offset;  // of its space, afterwards
  };
  struct Buffer {
    const SessionBuffer* session = nullptr;
    LastRead last_read;
    uint64_t most_read = 0;  // packets, by one read
  };

  BufferLayout LayoutOf(const Buffer& buffer) const;

  MomentWatch watch_;
  const bool before_last_read_;
  std::map<BufferId, BufferLayout> before_read_;  // of reads that are under way
  std::map<BufferId, Buffer> buffers_;
  std::map<BufferId, BufferLayout> layouts_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GRAPH_LAYOUT_MAP_H_
