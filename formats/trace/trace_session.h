#ifndef RINGSCOPE_FORMATS_TRACE_TRACE_SESSION_H_
#define RINGSCOPE_FORMATS_TRACE_TRACE_SESSION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/log/op.h"
#include "core/perfetto/trace_stats.h"

namespace ringscope {

/// What a trace reports about its session: buffers, which sequence wrote into which, what was
/// lost. This is in packets of the service, some of them at the trace's end.
class TraceSession {
 public:
  /// Size of a buffer whose size the trace does not state: what most configs ask for.
  static constexpr uint64_t kDefaultBufferSize = uint64_t{64} << 20;
  static constexpr size_t kMaxBuffers = kMaxStatsBuffers;

  struct Buffer {
    uint64_t size = kDefaultBufferSize;  // bytes
    bool knows_size = false;
    FillPolicy policy = FillPolicy::kRingBuffer;
    std::string engine;  // empty: not in the trace
  };

  /// Takes in a TraceConfig message. Of several the last one counts.
  void AddConfig(Bytes config);
  /// Takes in a TraceStats message. Of several the last one's counters count.
  void AddStats(Bytes stats);
  /// Takes in a listing of the buffers' sequences (field 124).
  void AddListing(Bytes listing);

  /// By index; at least one.
  std::vector<Buffer> Buffers() const;
  /// Index of the buffer that a sequence wrote into; nullopt: not in the trace. Its
  /// statistics count more than the listing, and that more than a config in which all data sources
  /// have one target.
  std::optional<uint32_t> BufferOf(uint32_t sequence_id) const;

  bool has_config() const { return has_config_; }

  /// Losses that the last statistics count.
  struct Loss {
    std::string what;               // in words
    std::optional<uint64_t> bytes;  // lost, where counted
  };
  std::vector<Loss> Losses() const;
  bool has_stats() const { return !stats_.empty(); }
  /// What the buffers lost by the last statistics, in words; empty: nothing, or there are none.
  std::string LostInBuffers() const;

 private:
  void AddWriterStats(Bytes message);

  bool has_config_ = false;
  std::vector<Buffer> configured_;
  std::optional<uint32_t> only_target_;  // of all data sources of the config
  std::vector<BufferStats> stats_;
  std::vector<std::pair<const char*, uint64_t>> service_losses_;
  std::unordered_map<uint32_t, uint32_t> by_stats_, by_listing_;  // sequence id: buffer
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_TRACE_SESSION_H_
