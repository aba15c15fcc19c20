#include "core/trace/trace_scan.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

using proto::TracePacket;

constexpr uint32_t kRemoteClockSync = 107;

}  // namespace

TraceScan::TraceScan() { sequences_.reserve(1024); }

void TraceScan::AddError(uint64_t offset, std::string what) {
  ++facts_.error_count;
  if (facts_.errors.size() < TraceFacts::kMaxErrors)
    facts_.errors.push_back({offset, std::move(what)});
}

auto TraceScan::SequenceOf(const TracePacketView& packet) -> Sequence* {
  const uint64_t key = KeyOf(packet.machine, packet.sequence_id);
  if (last_sequence_ != nullptr && key == last_key_) return last_sequence_;
  last_key_ = key;
  return last_sequence_ = FindSequence(packet, key);
}

auto TraceScan::FindSequence(const TracePacketView& packet, uint64_t key) -> Sequence* {
  const auto known = sequences_.find(key);
  if (known != sequences_.end()) return &known->second;
  if (sequences_.size() == kMaxSequences) {
    ++facts_.sequences_left_out;
    return nullptr;
  }
  Sequence& sequence = sequences_[key];
  sequence.facts.id = packet.sequence_id;
  sequence.facts.machine = packet.machine;
  return &sequence;
}

void TraceScan::AddPacket(uint64_t offset, Bytes bytes, const TracePacketView& packet) {
  ++facts_.all.packets;
  facts_.all.bytes += bytes.size();
  if (bytes.empty()) return;
  if (packet.has_sequence_id && packet.machine == 0 && programs_.HasProgram(packet.sequence_id)) {
    const auto state =
        programs_.Run(packet.sequence_id, bytes, {.record = facts_.all.packets, .time_ns = {}});
    if (state) {
      // The packet is that state from here on, with the trusted fields of the patch.
      TracePacketView of_state = ViewTracePacket(wire::AsBytes(*state));
      of_state.has_sequence_id = true;
      of_state.sequence_id = packet.sequence_id;
      of_state.pid = packet.pid;
      of_state.machine = packet.machine;
      return AddOfSequence(offset, bytes.size(), of_state);
    }
  }
  AddOfSequence(offset, bytes.size(), packet);
}

void TraceScan::AddOfSequence(uint64_t offset, uint64_t size, const TracePacketView& packet) {
  if (!packet.is_well_formed) {
    AddError(offset, "a packet whose fields cannot be read to its end");
    return;
  }
  ++packets_since_stats_;
  Sequence* const sequence = SequenceOf(packet);
  if (sequence == nullptr) return;
  TraceSequence& facts = sequence->facts;
  const bool is_known = facts.all.packets > 0;
  ++facts.all.packets;
  facts.all.bytes += size;
  if (packet.pid) facts.pid = packet.pid;
  if (sequence->last_count == nullptr || sequence->last_content != packet.content) {
    sequence->last_content = packet.content;
    sequence->last_count = &facts.contents[packet.content];
  }
  ++*sequence->last_count;

  if (packet.dropped != 0 && packet.has_sequence_id) CountLoss(packet, offset, *sequence, is_known);
  UpdateState(packet, *sequence);
  std::optional<int64_t> ns;
  if (packet.content == TracePacket::kClockSnapshot) {
    clocks_.Of(packet.machine).AddSnapshot(packet.content_bytes, packet.sequence_id);
  } else if (packet.content == kRemoteClockSync) {
    clocks_.AddSync(packet.machine, packet.content_bytes);
  } else if (IsUsable(packet, offset, *sequence)) {
    ns = AddTimes(packet, *sequence);
    if (packet.machine == 0 && PacketReports::Wants(packet.content))
      facts_.reported.Add(packet, ns);
  }
  if (ns) {
    ringscope::AddTo(facts.all.span, *ns);
    if (!facts.signs.empty() && facts.signs.back().offset == offset && packet.dropped != 0)
      facts.signs.back().after_ns = ns;
    sequence->last_ns = ns;
  }
  AddContent(packet, ns);
  AddOwnFacts(packet, offset, ns);
  AddProcessNames(packet, facts);
}

void TraceScan::CountLoss(const TracePacketView& packet, uint64_t offset, Sequence& sequence,
                          bool is_known) {
  TraceSequence& facts = sequence.facts;
  if (!is_known) {  // the first packet of a sequence never counts
    facts.first_loss_bits = packet.dropped;
    return;
  }
  facts.losses.Add(packet.dropped);
  if (facts.signs.size() < TraceSequence::kMaxSigns)
    facts.signs.push_back({offset, packet.dropped, sequence.last_ns, std::nullopt});
}

void TraceScan::UpdateState(const TracePacketView& packet, Sequence& sequence) {
  sequence.state.Add(packet.clears_state, packet.dropped != 0);
  if (packet.clears_state) ++sequence.facts.clears;
  sequence.time.Update(packet);
  if (packet.has_sequence_id) return;
  if (packet.clears_state)
    ++facts_.clears_without_sequence;
  else if (packet.dropped != 0)
    ++facts_.drops_without_sequence;
  if (packet.defaults) ++facts_.defaults_without_sequence;
  if (packet.has_interned_data) ++facts_.interned_without_sequence;
}

bool TraceScan::IsUsable(const TracePacketView& packet, uint64_t offset, Sequence& sequence) {
  if (!packet.needs_state || packet.content == TracePacket::kTraceStats ||
      packet.content == TracePacket::kServiceEvent)
    return true;
  if (packet.sequence_id == 0) {
    AddError(offset, "a packet that needs incremental state, without a sequence id");
    return false;
  }
  ++sequence.facts.needing;
  if (sequence.state.valid()) return true;
  ++sequence.facts.skipped;
  // Its time is known only if no default of the lost state gives it its clock.
  if (packet.timestamp && packet.timestamp_clock) {
    const auto ns = clocks_.ToTraceTime(
        packet.machine, ClockKey::Of(packet.sequence_id, *packet.timestamp_clock),
        *packet.timestamp);
    if (ns) ringscope::AddTo(sequence.facts.skipped_span, *ns);
  }
  return false;
}

std::optional<int64_t> TraceScan::AddTimes(const TracePacketView& packet, Sequence& sequence) {
  if (packet.content == TracePacket::kServiceEvent) return std::nullopt;
  const bool is_host = packet.machine == 0;
  if (packet.content == TracePacket::kTrackEvent && !packet.has_sequence_id && is_host) {
    facts_.reported.Count(Reported::kTrackEventWithoutSequence);
    return std::nullopt;
  }
  ReadEventTimes(packet, sequence.time, clocks_.Of(packet.machine), times_);
  if (is_host) NoteProblems();
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  int64_t first = kNone;
  for (const EventTimes::Time& time : times_.times) {
    const auto ns = clocks_.ToTraceTime(packet.machine, time.clock, time.time);
    if (!ns) {
      if (is_host && time.clock) AddFailure(*time.clock);
      break;
    }
    if (*ns < 0) {
      ++facts_.negative_times;
      continue;
    }
    order_.AddEvent(*ns);
    first = std::min(first, *ns);
  }
  return first == kNone ? std::nullopt : std::optional(first);
}

/// Of the packet whose times were read last.
void TraceScan::NoteProblems() {
  facts_.bundles_without_cpu += times_.bundle_without_cpu ? 1 : 0;
  facts_.events_without_time += times_.events_without_time;
  facts_.bad_compact_sched += times_.bad_compact_sched ? 1 : 0;
  facts_.track_events_without_time += times_.track_event_without_time ? 1 : 0;
  facts_.atoms_without_time += times_.atom_without_time ? 1 : 0;
}

void TraceScan::AddFailure(ClockKey clock) {
  if (order_.windows() > 0)
    ++facts_.undeferrable;
  else
    ++failures_[clock];
}

TraceFacts TraceScan::Finish() {
  facts_.snapshots = clocks_.host().snapshots();
  facts_.invalid_snapshots = clocks_.invalid_snapshots();
  facts_.snapshots_left_out = clocks_.host().snapshots_left_out();
  for (const auto& [clock, packets] : failures_)
    if (const auto failure = clocks_.host().FailureOf(clock))
      facts_.clock_problems.push_back({clock, *failure, packets});
  facts_.late_events = order_.dropped();
  facts_.sort_windows = order_.windows();
  if (facts_.stats_packets > 0) facts_.packets_after_stats = packets_since_stats_;
  facts_.programs = programs_.Finish();
  for (auto& [key, sequence] : sequences_) {
    TraceSequence& facts = sequence.facts;
    if (facts.buffer && *facts.buffer < facts_.buffers.size()) {
      TraceBuffer& buffer = facts_.buffers[*facts.buffer];
      ++buffer.sequences;
      if (facts.all.span) {
        ringscope::AddTo(buffer.span, facts.all.span->first_ns);
        ringscope::AddTo(buffer.span, facts.all.span->last_ns);
      }
    }
    facts_.sequences.push_back(std::move(facts));
  }
  std::ranges::sort(facts_.sequences, {},
                    [](const TraceSequence& one) { return KeyOf(one.machine, one.id); });
  return std::move(facts_);
}

}  // namespace ringscope
