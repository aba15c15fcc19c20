#ifndef RINGSCOPE_COMMANDS_REPLAY_COUNTER_RISES_H_
#define RINGSCOPE_COMMANDS_REPLAY_COUNTER_RISES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/log_moment.h"
#include "core/perfetto/trace_stats.h"
#include "core/session/replay_listener.h"
#include "core/session/session.h"

namespace ringscope {

/// Lists what made a counter of the buffers rise, by its value before and after each commit, patch
/// and packet.
class CounterRises : public ReplayListener {
 public:
  struct Rise {
    LogMoment at;
    BufferId buffer{};
    const char* by = "";  // "commit", "patch", "read"
    /// Committed, patched, or with the beginning of the packet that is read.
    std::optional<ChunkName> chunk;
    uint64_t count = 0;
  };
  static constexpr size_t kMostListed = 10'000;

  explicit CounterRises(const StatField& field) : field_(field) {}

  /// The first kMostListed.
  const std::vector<Rise>& rises() const { return rises_; }
  uint64_t left_out() const { return left_out_; }

  void OnRecord(const Op&, const LogMoment& moment) override { at_ = moment; }
  void OnBufferSetUp(SessionBuffer& buffer) override {
    buffers_[buffer.id] = {&buffer, buffer.stats().*field_.value};
  }
  void OnBufferReplaced(SessionBuffer& buffer) override { buffers_.erase(buffer.id); }
  void OnChunkDone(BufferId id, const ChunkCommit& commit) override {
    Compare(id, "commit", ChunkName{commit.sequence, commit.chunk});
  }
  bool WantsBufferEvents() const override { return true; }
  void OnBufferEvent(const BufferEvent& event) override { touched_ = event.chunk; }
  void OnPatch(BufferId id, bool) override { Compare(id, "patch", touched_); }
  Status OnPacket(const SessionPacket& packet) override {
    Compare(packet.buffer, "read",
            ChunkName{packet.packet->sequence, packet.packet->place.first_chunk});
    return {};
  }
  void OnReadDone(BufferId id, uint64_t) override { Compare(id, "read", {}); }

 private:
  struct Buffer {
    const SessionBuffer* buffer = nullptr;
    uint64_t value = 0;
  };

  void Compare(BufferId id, const char* by, std::optional<ChunkName> chunk) {
    const auto found = buffers_.find(id);
    if (found == buffers_.end()) return;
    const uint64_t value = found->second.buffer->stats().*field_.value;
    const uint64_t before = std::exchange(found->second.value, value);
    if (value <= before) return;
    if (rises_.size() == kMostListed)
      ++left_out_;
    else
      rises_.push_back({at_, id, by, chunk, value - before});
  }

  const StatField& field_;
  LogMoment at_;
  std::optional<ChunkName> touched_;  // by the last event of a buffer
  std::map<BufferId, Buffer> buffers_;
  std::vector<Rise> rises_;
  uint64_t left_out_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAY_COUNTER_RISES_H_
