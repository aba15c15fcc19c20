#include "core/trace/trace_facts.h"

namespace ringscope {

uint64_t TraceFacts::appended_packets() const {
  uint64_t unlisted = 0, listed = 0;
  for (const TraceSequence& sequence : sequences)
    (sequence.is_listed ? listed : unlisted) += sequence.all.packets;
  return listed > 0 && unlisted == packets_after_stats ? unlisted : 0;
}

std::optional<Reach> ReachByRate(const BufferStats& stats, const TimeSpan& session,
                                 uint64_t idle_ns) {
  if (stats.bytes_written == 0 || stats.buffer_size == 0) return std::nullopt;
  const double share =
      static_cast<double>(stats.buffer_size) / static_cast<double>(stats.bytes_written);
  const auto busy_ns = static_cast<double>(session.length_ns() - static_cast<int64_t>(idle_ns));
  return Reach{static_cast<uint64_t>(busy_ns * share) + idle_ns, true, idle_ns};
}

uint64_t IdleEndOf(int64_t newest_ns, uint64_t events, const TimeSpan& session) {
  if (events == 0) return 0;
  constexpr uint64_t kMeanGaps = 10;  // less may be a gap between events of writers of little
  newest_ns = std::clamp(newest_ns, session.first_ns, session.last_ns);
  const auto idle_ns = static_cast<uint64_t>(session.last_ns - newest_ns);
  const auto mean_ns = static_cast<uint64_t>(newest_ns - session.first_ns) / events;
  return idle_ns / kMeanGaps > mean_ns ? idle_ns : 0;
}

std::optional<Reach> ReachOf(const TraceFacts& facts, size_t index, const TimeSpan& session) {
  const BufferStats& stats = facts.buffers[index].stats;
  if (stats.chunks_overwritten == 0) return std::nullopt;
  const uint64_t idle_ns =
      facts.all.span ? IdleEndOf(facts.all.span->last_ns, facts.events, session) : 0;
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
    if (!sequence->all.span) return ReachByRate(stats, session, idle_ns);
    since_ns = std::max(since_ns, sequence->all.span->first_ns);
  }
  if (all == 0 || since_ns > session.last_ns) return ReachByRate(stats, session, idle_ns);
  return Reach{static_cast<uint64_t>(session.last_ns - since_ns), false, idle_ns};
}

}  // namespace ringscope
