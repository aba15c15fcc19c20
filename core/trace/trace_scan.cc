#include "core/trace/trace_scan.h"

#include <algorithm>
#include <utility>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

using proto::TracePacket;

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
  facts.all.bytes += bytes.size();
  if (packet.pid) facts.pid = packet.pid;

  if (packet.dropped != 0 && packet.has_sequence_id) CountLoss(packet, offset, *sequence, is_known);
  UpdateState(packet, *sequence);
  int64_t ns = kNoTime;
  if (packet.content == TracePacket::kClockSnapshot) {
    clocks_.Of(packet.machine).AddSnapshot(packet.content_bytes, packet.sequence_id);
  } else if (packet.content == proto::TracePacket::kRemoteClockSync) {
    clocks_.AddSync(packet.machine, packet.content_bytes);
  } else if (IsUsable(packet, offset, *sequence)) {
    ns = AddTimes(packet, *sequence);
    CountMissingFields(packet);
  }
  if (ns != kNoTime) {
    ringscope::AddTo(facts.all.span, ns);
    if (!facts.signs.empty() && facts.signs.back().offset == offset && packet.dropped != 0)
      facts.signs.back().after_ns = ns;
    sequence->last_ns = ns;
  }
  AddOwnFacts(packet, ns);
  AddProcessNames(packet, facts);
}

MachineFacts& TraceScan::FactsOf(uint32_t machine) {
  if (machine == 0) return facts_;
  if (last_facts_ != nullptr && machine == last_machine_) return *last_facts_;
  const bool is_kept =
      facts_.remotes.size() < TraceFacts::kMaxMachines || facts_.remotes.contains(machine);
  last_machine_ = machine;
  last_facts_ = is_kept ? &facts_.remotes[machine] : &ignored_;
  return *last_facts_;
}

void TraceScan::CountLoss(const TracePacketView& packet, uint64_t offset, Sequence& sequence,
                          bool is_known) {
  TraceSequence& facts = sequence.facts;
  if (!is_known) {  // the first packet of a sequence never counts
    facts.first_loss_bits = packet.dropped;
    return;
  }
  facts.losses.Add(packet.dropped);
  if (facts.signs.size() == TraceSequence::kMaxSigns || signs_ == kMaxSigns) return;
  ++signs_;
  facts.signs.push_back({offset, packet.dropped, sequence.last_ns, std::nullopt});
}

void TraceScan::UpdateState(const TracePacketView& packet, Sequence& sequence) {
  sequence.state.Add(packet.clears_state, packet.dropped != 0);
  if (packet.clears_state) ++sequence.facts.clears;
  sequence.time.Update(packet);
  if (packet.has_sequence_id) return;
  MachineFacts& machine = FactsOf(packet.machine);
  if (packet.clears_state)
    ++machine.clears_without_sequence;
  else if (packet.dropped != 0)
    ++machine.drops_without_sequence;
  if (packet.defaults) ++machine.defaults_without_sequence;
  if (packet.has_interned_data) ++machine.interned_without_sequence;
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
    const auto ns = clocks_.ToTraceTime(packet.machine,
                                        ClockKey::Of(packet.sequence_id, *packet.timestamp_clock),
                                        *packet.timestamp);
    if (ns) ringscope::AddTo(sequence.facts.skipped_span, *ns);
  }
  return false;
}

/// Counts what a packet that trace processor uses lacks.
void TraceScan::CountMissingFields(const TracePacketView& packet) {
  const Bytes content = packet.content_bytes;
  constexpr uint32_t kUuid = 1, kPid = 1, kTid = 2, kThread = 4, kCounters = 2;
  if (packet.content == TracePacket::kThreadDescriptor && !packet.has_sequence_id) {
    ++FactsOf(packet.machine).threads_without_sequence;
  } else if (packet.content == TracePacket::kGpuCounterEvent && !packet.timestamp) {
    if (wire::LastBytes(content, kCounters)) ++FactsOf(packet.machine).gpu_counters_without_time;
  } else if (packet.content == TracePacket::kTrackDescriptor) {
    const auto thread = wire::LastBytes(content, kThread);
    const auto process = wire::LastBytes(content, proto::TrackDescriptor::kProcess);
    MachineFacts& machine = FactsOf(packet.machine);
    if (!wire::LastVarint(content, kUuid))
      ++machine.tracks_without_uuid;
    else if (thread && (!wire::LastVarint(*thread, kPid) || !wire::LastVarint(*thread, kTid)))
      ++machine.thread_tracks_without_ids;
    else if (!thread && process && !wire::LastVarint(*process, kPid))
      ++machine.process_tracks_without_pid;
  }
}

int64_t TraceScan::AddTimes(const TracePacketView& packet, Sequence& sequence) {
  if (packet.content == TracePacket::kServiceEvent) return kNoTime;
  TraceClocks& clocks = clocks_.Of(packet.machine);
  if (packet.machine == 0 && packet.has_sequence_id && IsTrackEventAtOwnTime(packet)) {
    uint32_t sequence_id = 0, id = 0;
    auto ns = static_cast<int64_t>(*packet.timestamp);
    if (OwnClock(packet, sequence.time, clocks, sequence_id, id) &&
        !clocks.Convert(sequence_id, id, *packet.timestamp, ns)) {
      AddFailure(packet.machine, {sequence_id, id});
      return kNoTime;
    }
    return AddTime(ns);
  }
  MachineFacts& machine = FactsOf(packet.machine);
  if (packet.content == TracePacket::kTrackEvent && !packet.has_sequence_id) {
    ++machine.track_events_without_sequence;
    return kNoTime;
  }
  ReadEventTimes(packet, sequence.time, clocks, times_);
  NoteProblems(machine);
  int64_t first = kNoTime;
  for (const EventTimes::Time& time : times_.times) {
    const auto ns = clocks_.ToTraceTime(packet.machine, time.clock, time.time);
    if (!ns) {
      if (time.clock) AddFailure(packet.machine, *time.clock);
      break;
    }
    const int64_t added = AddTime(*ns);
    if (first == kNoTime || (added != kNoTime && added < first)) first = added;
  }
  return first;
}

/// An event. @return its time, or kNoTime if trace processor drops it
int64_t TraceScan::AddTime(int64_t ns) {
  if (ns < 0) {
    ++facts_.negative_times;
    return kNoTime;
  }
  order_.AddEvent(ns);
  return ns;
}

/// Of the packet whose times were read last.
void TraceScan::NoteProblems(MachineFacts& machine) {
  machine.bundles_without_cpu += times_.bundle_without_cpu ? 1 : 0;
  machine.events_without_time += times_.events_without_time;
  machine.bad_compact_sched += times_.bad_compact_sched ? 1 : 0;
  machine.track_events_without_time += times_.track_event_without_time ? 1 : 0;
  machine.atoms_without_time += times_.atom_without_time ? 1 : 0;
  facts_.times_left_out += times_.left_out;
}

void TraceScan::AddFailure(uint32_t machine, ClockKey clock) {
  if (order_.windows() > 0) {
    ++FactsOf(machine).undeferrable;
    return;
  }
  constexpr size_t kMaxPlaces = 4096;
  constexpr ClockKey kOther = {UINT32_MAX, UINT32_MAX};  // of further ones: in no snapshot either
  std::pair key{machine, clock};
  if (failures_.size() >= kMaxPlaces && !failures_.contains(key)) key = {0, kOther};
  ++failures_[key];
}

TraceFacts TraceScan::Finish() {
  facts_.snapshots = clocks_.host().snapshots();
  facts_.invalid_snapshots = clocks_.invalid_snapshots();
  facts_.snapshots_left_out = clocks_.host().snapshots_left_out();
  for (const auto& [key, packets] : failures_) {
    const auto& [machine, clock] = key;
    if (const auto failure = clocks_.Of(machine).FailureOf(clock))
      FactsOf(machine).clock_problems.push_back({clock, *failure, packets});
  }
  facts_.late_events = order_.dropped();
  facts_.sort_windows = order_.windows();
  if (facts_.stats_packets > 0) facts_.packets_after_stats = packets_since_stats_;
  facts_.sequences.reserve(sequences_.size());
  last_sequence_ = nullptr;
  for (auto entry = sequences_.begin(); entry != sequences_.end();
       entry = sequences_.erase(entry)) {
    TraceSequence& facts = entry->second.facts;
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
