#include "core/trace/trace_facts.h"

#include <algorithm>

namespace ringscope {

uint64_t TraceFacts::appended_packets() const {
  uint64_t unlisted = 0, listed = 0;
  for (const TraceSequence& sequence : sequences)
    (sequence.is_listed ? listed : unlisted) += sequence.all.packets;
  return listed > 0 && unlisted == packets_after_stats ? unlisted : 0;
}

std::optional<Reach> ReachByRate(const BufferStats& stats, const TimeSpan& session) {
  if (stats.bytes_written == 0 || stats.buffer_size == 0) return std::nullopt;
  const double share =
      static_cast<double>(stats.buffer_size) / static_cast<double>(stats.bytes_written);
  return Reach{static_cast<uint64_t>(static_cast<double>(session.length_ns()) * share), true};
}

std::optional<Reach> ReachOf(const TraceFacts& facts, size_t index, const TimeSpan& session) {
  const BufferStats& stats = facts.buffers[index].stats;
  if (stats.chunks_overwritten == 0) return std::nullopt;
  std::vector<const TraceSequence*> sequences;
  uint64_t all = 0;  // bytes
  for (const TraceSequence& sequence : facts.sequences)
    if (sequence.machine == 0 && sequence.buffer == index) {
      sequences.push_back(&sequence);
      all += sequence.all.bytes;
    }
  std::ranges::stable_sort(sequences, std::ranges::greater(),
                           [](const TraceSequence* one) { return one->all.bytes; });
  int64_t since_ns = session.first_ns;
  uint64_t held = 0;
  for (const TraceSequence* sequence : sequences) {
    if (held > all / 2) break;
    held += sequence->all.bytes;
    if (!sequence->all.span) return ReachByRate(stats, session);
    since_ns = std::max(since_ns, sequence->all.span->first_ns);
  }
  if (all == 0 || since_ns > session.last_ns) return ReachByRate(stats, session);
  return Reach{static_cast<uint64_t>(session.last_ns - since_ns), false};
}

}  // namespace ringscope
