#include "formats/trace/trace_holes.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/gaps/gap_report.h"
#include "core/perfetto/trace_config_facts.h"
#include "formats/trace/track_events.h"

namespace ringscope {
namespace {

class HoleTracks {
 public:
  using Track = TrackEventWriter::Track;
  using Args = TrackEventWriter::Args;

  HoleTracks(const TraceFacts& facts, TrackEventWriter& events, WrittenHoles& written)
      : facts_(facts), events_(events), written_(written) {}

  void Write() {
    for (const TraceSequence& sequence : facts_.sequences) AddSequence(sequence);
    for (size_t i = 0; i < facts_.buffers.size(); ++i) AddBuffer(i);
    for (const FtraceCpuLosses& cpu : FtraceLossesOf(facts_.ftrace)) AddCpu(cpu);
    if (facts_.is_cut_off && facts_.all.span)
      events_.Instant(Root(), static_cast<uint64_t>(facts_.all.span->last_ns),
                      "the file is cut off: what follows is missing");
  }

 private:
  /// The track of what is of no thread.
  Track Root() {
    if (root_ == Track::kNone) root_ = events_.AddTrack("ringscope: what is missing");
    return root_;
  }
  /// A slice on a track of its own kind below `parent`, which is made at its first slice.
  void AddSlice(Track& track, Track parent, const char* track_name, TimeSpan span,
                const std::string& name, const Args& args) {
    span.first_ns = std::max(span.first_ns, facts_.sorter_left_ns);
    if (span.first_ns >= span.last_ns || span.first_ns < 0) {
      ++written_.left_out;
      return;
    }
    ++written_.shown;
    if (track == Track::kNone) track = events_.AddTrack(track_name, parent);
    events_.Begin(track, static_cast<uint64_t>(span.first_ns), name, args);
    events_.End(track, static_cast<uint64_t>(span.last_ns), {});
  }

  std::string NameOf(const TraceSequence& sequence) const {
    const auto process = facts_.process_names.find(sequence.pid.value_or(0));
    return fmt::format("sequence {}{}", sequence.id,
                       process == facts_.process_names.end()
                           ? ""
                           : fmt::format(" ({})", Printable(process->second)));
  }
  static Args ArgsOf(uint32_t loss_bits, uint64_t places) {
    return {{"packets", "unknown"}, {"cause", LossBitsToString(loss_bits)}, {"places", places}};
  }
  static std::string LostText(uint32_t loss_bits) {
    std::string cause = LossBitsToString(loss_bits);
    std::ranges::replace(cause, '_', ' ');
    return cause == "present" ? "lost: packets, the trace does not show why" : "lost: " + cause;
  }

  void AddSequence(const TraceSequence& sequence) {
    if (!facts_.all.span) return;
    const TimeSpan session = facts_.lifetime.value_or(*facts_.all.span);
    const std::optional<TimeSpan>& seen =
        sequence.all.span ? sequence.all.span : sequence.skipped_span;
    const bool lacks_beginning = sequence.lost_beginning() && seen;
    if (sequence.holes.empty() && !lacks_beginning && sequence.skipped == 0) return;
    const Track parent =
        sequence.track != 0 ? Track{sequence.track} : events_.AddTrack(NameOf(sequence), Root());
    Track lost = Track::kNone, unusable = Track::kNone;
    if (lacks_beginning)
      AddSlice(lost, parent, "lost packets", {session.first_ns, seen->first_ns},
               LostText(sequence.first_loss_bits) + " (before its first packet)",
               ArgsOf(sequence.first_loss_bits, 1));
    for (const TraceHole& hole : sequence.holes)
      AddSlice(lost, parent, "lost packets", hole.span, LostText(hole.loss_bits),
               ArgsOf(hole.loss_bits, hole.places));
    if (sequence.skipped == 0) return;
    // Without their state, the times of most packets are not known either.
    const std::string when = sequence.skipped_span ? "" : "; when they were written is unknown";
    AddSlice(unusable, parent, "unusable packets", sequence.skipped_span.value_or(session),
             fmt::format("unusable: {}, what they refer to was lost{}",
                         Count(sequence.skipped, "packet"), when),
             {{"packets", sequence.skipped}, {"needing_state", sequence.needing}});
  }

  /// A ring that is read once: what it overwrote is older than all that is left.
  void AddBuffer(size_t index) {
    const TraceBuffer& buffer = facts_.buffers[index];
    if (buffer.stats.bytes_overwritten == 0 || !buffer.span || !facts_.lifetime) return;
    if (facts_.config && ReadTraceConfigFacts(wire::AsBytes(*facts_.config)).write_into_file)
      return;
    Track track = Track::kNone;
    AddSlice(track, Root(), fmt::format("buffers[{}]", index).c_str(),
             {facts_.lifetime->first_ns, buffer.span->first_ns},
             fmt::format("overwritten: {} of {}", HumanSize(buffer.stats.bytes_overwritten),
                         HumanSize(buffer.stats.bytes_written)),
             {{"bytes_overwritten", buffer.stats.bytes_overwritten},
              {"bytes_written", buffer.stats.bytes_written},
              {"buffer_size", buffer.stats.buffer_size}});
  }

  void AddCpu(const FtraceCpuLosses& cpu) {
    if (!cpu.first_loss_ns || !cpu.last_loss_ns) return;
    const std::optional<uint64_t> overrun = cpu.Rise(FtraceCounter::kOverrun);
    Track track = Track::kNone;
    AddSlice(
        track, Root(), fmt::format("CPU {}", cpu.cpu).c_str(),
        {static_cast<int64_t>(*cpu.first_loss_ns) - 1, static_cast<int64_t>(*cpu.last_loss_ns)},
        fmt::format("events lost by the kernel before {}", Count(cpu.bundles_after_loss, "bundle")),
        {{"overrun", overrun ? std::to_string(*overrun) : "unknown"}});
  }

  const TraceFacts& facts_;
  TrackEventWriter& events_;
  WrittenHoles& written_;
  Track root_ = Track::kNone;
};

}  // namespace

Result<WrittenHoles> WriteTraceHoles(std::span<const TraceFacts> sessions, ByteSink& sink) {
  WrittenHoles written;
  TraceWriter trace(sink);
  // The file may have tracks that ringscope wrote before.
  uint32_t number = 0;
  for (const TraceFacts& facts : sessions)
    for (const TraceSequence& sequence : facts.sequences)
      number += TrackEventWriter::IsOwnSequence(sequence.id) ? 1 : 0;
  for (const TraceFacts& facts : sessions) {
    TrackEventWriter events(trace, number++, facts.trace_clock);
    HoleTracks(facts, events, written).Write();
    RS_RETURN_IF_ERROR(events.status());
  }
  RS_RETURN_IF_ERROR(trace.Finish());
  return written;
}

}  // namespace ringscope
