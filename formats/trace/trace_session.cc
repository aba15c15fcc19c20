#include "formats/trace/trace_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/text.h"
#include "core/base/wire.h"
#include "core/perfetto/trace_config_facts.h"

namespace ringscope {
namespace {

template <typename Stats>
using Counter = std::pair<const char*, uint64_t Stats::*>;

/// Counters of a buffer that report a loss, or (the first) only that data is no longer there.
constexpr std::array<Counter<BufferStats>, 5> kBufferLosses = {{
    {"chunks_overwritten", &BufferStats::chunks_overwritten},
    {"chunks_discarded", &BufferStats::chunks_discarded},
    {"trace_writer_packet_loss", &BufferStats::trace_writer_packet_loss},
    {"patches_failed", &BufferStats::patches_failed},
    {"abi_violations", &BufferStats::abi_violations},
}};
constexpr std::array<Counter<ServiceStats>, 4> kServiceLosses = {{
    {"chunks_discarded", &ServiceStats::chunks_discarded},
    {"patches_discarded", &ServiceStats::patches_discarded},
    {"invalid_packets", &ServiceStats::invalid_packets},
    {"flushes_failed", &ServiceStats::flushes_failed},
}};

/// "chunks_overwritten 12, patches_failed 4"
template <typename Stats, size_t N>
std::string CountersText(const Stats& stats, const std::array<Counter<Stats>, N>& counters) {
  std::vector<std::string> counts;
  for (const auto& [name, value] : counters)
    if (stats.*value > 0) counts.push_back(fmt::format("{} {}", name, stats.*value));
  return Joined(counts);
}

/// "overwrote 7.70 MiB of 7.95 MiB written (96.9%) unread and discarded 460 of 476 chunks"
std::string LostText(const BufferStats& stats) {
  std::string text;
  if (stats.chunks_overwritten > 0)
    text = fmt::format("overwrote {} of {} written ({}) unread", HumanSize(stats.bytes_overwritten),
                       HumanSize(stats.bytes_written),
                       ShareText(stats.bytes_overwritten, stats.bytes_written));
  if (stats.chunks_discarded > 0)
    text += fmt::format("{}discarded {} of {}", text.empty() ? "" : " and ",
                        WithCommas(stats.chunks_discarded),
                        Count(stats.chunks_written + stats.chunks_discarded, "chunk"));
  return text;
}

}  // namespace

TraceSession::TraceSession(const TraceFacts& facts) : config(facts.config.value_or("")) {
  const TraceConfigFacts known = ReadTraceConfigFacts(wire::AsBytes(config));
  for (const TraceSequence& sequence : facts.sequences)
    if (sequence.buffer) listed_[sequence.id] = BufferId{static_cast<uint16_t>(*sequence.buffer)};
  size_t count = std::max<size_t>({1, known.buffers.size(), facts.buffers.size()});
  for (const auto& [id, buffer] : listed_) count = std::max<size_t>(count, Raw(buffer) + 1);
  count = std::min(count, kMaxStatsBuffers);
  for (size_t i = 0; i < count; ++i) {
    constexpr uint64_t kBytesPerKb = 1024, kMaxSizeKb = 4'194'300;  // that a buffer can have
    uint64_t kb = i < known.buffers.size() ? known.buffers[i].size_kb : 0;
    if ((kb == 0 || kb > kMaxSizeKb) && i < facts.buffers.size())
      kb = facts.buffers[i].stats.buffer_size / kBytesPerKb +
           (facts.buffers[i].stats.buffer_size % kBytesPerKb == 0 ? 0 : 1);
    const bool knows_size = kb > 0 && kb <= kMaxSizeKb;
    guessed_sizes += knows_size ? 0 : 1;
    BufferSetUp& buffer = buffers.emplace_back();
    buffer.id = BufferId{static_cast<uint16_t>(i)};
    buffer.index = static_cast<uint32_t>(i);
    buffer.size = knows_size ? kb * kBytesPerKb : kDefaultBufferSize;
    buffer.policy = FillPolicy::kRingBuffer;
    if (i < known.buffers.size()) {
      buffer.policy = known.buffers[i].policy;
      buffer.engine = known.buffers[i].is_v2 ? "v2" : "v1";
    }
    if (i >= facts.buffers.size()) continue;
    if (const std::string lost = LostText(facts.buffers[i].stats); !lost.empty())
      lost_in_buffers += fmt::format(
          "{}buffer {} {}", lost_in_buffers.empty() ? "by the trace's statistics " : "; ", i, lost);
  }
  const auto is_first_target = [&](const ConfiguredSource& source) {
    return source.target_buffer == known.sources.front().target_buffer;
  };
  if (known.buffers.size() == 1) only_target_ = BufferId{0};
  if (!known.sources.empty() && known.sources.front().target_buffer < count &&
      std::ranges::all_of(known.sources, is_first_target))
    only_target_ = BufferId{static_cast<uint16_t>(known.sources.front().target_buffer)};
}

std::optional<BufferId> TraceSession::BufferOf(uint32_t sequence_id) const {
  const auto found = listed_.find(sequence_id);
  return found != listed_.end() ? std::optional(found->second) : only_target_;
}

std::vector<RecorderGap> CountedLosses(const TraceFacts& facts) {
  std::vector<RecorderGap> losses;
  const auto add = [&](std::string reason, uint64_t bytes) {
    RecorderGap& loss = losses.emplace_back();
    loss.reason = std::move(reason);
    if (bytes > 0) loss.bytes = bytes;
  };
  for (size_t i = 0; i < facts.buffers.size(); ++i)
    if (const std::string counts = CountersText(facts.buffers[i].stats, kBufferLosses);
        !counts.empty())
      add(fmt::format("the statistics of the trace's buffer {}: {}", i, counts),
          facts.buffers[i].stats.bytes_overwritten);
  if (const std::string counts = CountersText(facts.service, kServiceLosses); !counts.empty())
    add("the trace's statistics of the service: " + counts, 0);
  return losses;
}

}  // namespace ringscope
