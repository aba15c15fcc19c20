#include "formats/trace/trace_holes.h"

#include <fmt/format.h>


#include "core/base/text.h"
#include "core/perfetto/trace_config_facts.h"

namespace ringscope {

std::string UnusableText(uint64_t packets) {
  return fmt::format("unusable: {}, names that they need were lost", Count(packets, "packet"));
}

namespace {

/// "lost: overwrite", by the flag of the packet after a hole.
TrackSlice SliceOf(TimeSpan span, uint32_t loss_bits, uint64_t places) {
  const std::string cause = LossBitsText(loss_bits);
  return {
      .from_ns = span.first_ns,
      .to_ns = span.last_ns,
      .name = cause == "present" ? "lost: packets, the trace does not show why" : "lost: " + cause,
      .args = {
          {"packets", "unknown"}, {"cause_bits", LossBitsToString(loss_bits)}, {"places", places}}};
}

class HoleTracks {
 public:
  HoleTracks(const TraceFacts& facts, EventTrack& root) : facts_(facts), root_(root) {}

  void Add(const std::set<TraceSequenceId>& without) {
    if (!facts_.all.span) return;
    session_ = facts_.lifetime.value_or(*facts_.all.span);
    for (const TraceSequence& sequence : facts_.sequences)
      if (!without.contains({sequence.machine, sequence.id})) AddSequence(sequence);
    for (size_t i = 0; i < facts_.buffers.size(); ++i) AddBuffer(i);
    for (const auto& [number, cpu] : facts_.ftrace.cpus()) AddCpu(number, cpu);
    if (facts_.late_events > 0)  // at their place it would be dropped, too
      root_.OfProcess(0, {}).AddInstant(
          facts_.sorter_left_ns,
          fmt::format("dropped by the import: {}, older than what it sorted before",
                      Count(facts_.late_events, "event")),
          {{"events", facts_.late_events}});
    if (facts_.is_cut_off)
      root_.OfProcess(0, {}).AddInstant(facts_.all.span->last_ns,
                                        "the file is cut off: what follows is missing");
  }

 private:
  void AddSequence(const TraceSequence& sequence) {
    const std::vector<TrackSlice> lost = HolesOf(sequence), unusable = UnusableOf(sequence);
    if (lost.empty() && unusable.empty()) return;
    EventTrack& track = sequence.track != 0 ? root_.AddKnown(sequence.track)
                                            : root_.OfProcess(sequence.pid.value_or(0), {})
                                                  .Add(sequence.thread_name.empty()
                                                           ? fmt::format("sequence {}", sequence.id)
                                                           : Printable(sequence.thread_name));
    track.Add("lost packets").AddSlices(lost);
    track.Add("unusable packets").AddSlices(unusable);
  }

  std::vector<TrackSlice> HolesOf(const TraceSequence& sequence) const {
    std::vector<TrackSlice> lost;
    const auto add = [&](TimeSpan span, uint32_t loss_bits, uint64_t places, const char* when) {
      lost.push_back(SliceOf(span, loss_bits, places));
      lost.back().name += when;
    };
    const std::optional<TimeSpan>& seen =
        sequence.all.span ? sequence.all.span : sequence.skipped_span;
    if (sequence.lost_beginning() && seen)
      add({session_.first_ns, seen->first_ns}, sequence.first_loss_bits, 1,
          " (before its first packet)");
    for (const TraceHole& hole : sequence.holes) add(hole.span, hole.loss_bits, hole.places, "");
    // Without their state, the times of most packets are not known.
    const uint64_t all = sequence.losses.sequence_packet_loss + (sequence.lost_beginning() ? 1 : 0);
    if (!seen && all > 0)
      add(session_, sequence.first_loss_bits | kLossPresent, all, "; when is unknown");
    return lost;
  }

  std::vector<TrackSlice> UnusableOf(const TraceSequence& sequence) const {
    if (sequence.skipped == 0) return {};
    const TimeSpan span = sequence.skipped_span.value_or(session_);
    // Without their state, the times of most packets are not known either.
    const char* const when = sequence.skipped_span ? "" : "; when they were written is unknown";
    return {{.from_ns = span.first_ns,
             .to_ns = span.last_ns,
             .name = UnusableText(sequence.skipped) + when,
             .args = {{"packets", sequence.skipped}, {"needing_state", sequence.needing}}}};
  }

  /// A ring that is read once: what it overwrote is older than all that is left.
  void AddBuffer(size_t index) {
    const TraceBuffer& buffer = facts_.buffers[index];
    if (buffer.stats.bytes_overwritten == 0 || !buffer.span || !facts_.lifetime) return;
    if (facts_.config && ReadTraceConfigFacts(wire::AsBytes(*facts_.config)).write_into_file)
      return;
    root_.OfProcess(0, {})
        .Add(fmt::format("buffers[{}]", index))
        .AddSlice(
            {.from_ns = session_.first_ns,
             .to_ns = buffer.span->first_ns,
             .name = fmt::format("overwritten: {} of {}", HumanSize(buffer.stats.bytes_overwritten),
                                 HumanSize(buffer.stats.bytes_written)),
             .args = {{"bytes_overwritten", buffer.stats.bytes_overwritten},
                      {"bytes_written", buffer.stats.bytes_written},
                      {"buffer_size", buffer.stats.buffer_size}}});
  }

  void AddCpu(uint64_t number, const FtraceCounters::Cpu& cpu) {
    if (cpu.holes.empty()) return;
    EventTrack& track = root_.OfProcess(0, {}).Add(fmt::format("CPU {}", number));
    for (const TimeSpan& hole : cpu.holes)
      track.AddSlice({.from_ns = hole.first_ns,
                      .to_ns = hole.last_ns,
                      .name = "lost: ftrace events, overwritten by the kernel",
                      .args = {{"events", "unknown"}}});
    const auto overrun = cpu[FtraceCounter::kOverrun].delta();
    const auto dropped = cpu[FtraceCounter::kDroppedEvents].delta();
    if (overrun || dropped)
      track.AddInstant(cpu.holes.back().last_ns, "the kernel's counters, of the whole session",
                       {{"overrun", overrun.value_or(0)}, {"dropped", dropped.value_or(0)}});
  }

  const TraceFacts& facts_;
  EventTrack& root_;
  TimeSpan session_;
};

}  // namespace

void AddTraceHoles(const TraceFacts& facts, const std::set<TraceSequenceId>& without,
                   EventTrack& root) {
  HoleTracks(facts, root).Add(without);
}

}  // namespace ringscope
