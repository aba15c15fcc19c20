#include "core/trace/trace_scan.h"

#include <set>

#include "core/base/wire.h"
#include "core/perfetto/clocks.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/trace_config_facts.h"

namespace ringscope {
auto SessionSplit::PlaceOf(const TracePacketView& packet) -> Place {
  switch (packet.content) {
    case proto::TracePacket::kTraceConfig:
      return PlaceOfOpening(has_config_ || has_uuid_, has_config_);
    case proto::TracePacket::kTraceUuid:
      return PlaceOfOpening(has_uuid_, has_uuid_);
    case proto::TracePacket::kClockSnapshot:
    case proto::TracePacket::kSynchronizationMarker:
      if (packet.sequence_id > kServiceSequenceId) break;
      return has_content_ && (has_config_ || has_uuid_) ? Place::kPerhapsNext : Place::kSame;
    case proto::TracePacket::kTraceStats:
      has_content_ = true;
      if (!std::exchange(has_stats_, true)) break;  // each session has some
      return kept_.empty() ? Place::kSame : Place::kPerhapsNext;
    case proto::TracePacket::kServiceEvent:
      has_content_ = true;
      return Place::kSame;
    default:
      break;
  }
  has_content_ |= !IsOfService(packet);
  return Place::kSame;
}

/// @param was_opened the session has had its opening, which does not come twice
auto SessionSplit::PlaceOfOpening(bool was_opened, bool& has_this) -> Place {
  bool is_next = was_opened && has_content_;
  has_missed_ |= is_next && is_stopped_;
  is_next &= !is_stopped_;
  if (is_next) {
    has_config_ = has_uuid_ = has_content_ = false;
    has_stats_ = has_kept_stats_;
    if (++sessions_ == kMaxSessions) Stop();
  }
  has_this = true;
  return is_next ? Place::kNext : Place::kSame;
}

Status SessionSplit::Add(const RawPacket& packet, const TracePacketView& view) {
  const Place place = PlaceOf(view);
  // Snapshots after statistics begin another pass.
  const bool is_stats = view.content == proto::TracePacket::kTraceStats;
  if (place == Place::kPerhapsNext && has_kept_stats_) RS_RETURN_IF_ERROR(Finish());
  has_kept_stats_ = is_stats && place == Place::kPerhapsNext;
  if (place == Place::kPerhapsNext && kept_bytes_ + packet.bytes.size() <= kMaxKept) {
    kept_bytes_ += packet.bytes.size();
    kept_.push_back({packet, std::string(wire::AsText(packet.bytes))});
    return {};
  }
  if (place == Place::kNext)
    RS_RETURN_IF_ERROR(to_.OnNextSession((kept_.empty() ? packet : kept_.front().packet).offset));
  if (!kept_.empty()) RS_RETURN_IF_ERROR(Finish());
  return to_.OnPacket(packet, view);
}

Status SessionSplit::Finish() {
  kept_bytes_ = 0;
  for (Kept& kept : std::exchange(kept_, {})) {
    kept.packet.bytes = wire::AsBytes(kept.bytes);
    RS_RETURN_IF_ERROR(to_.OnPacket(kept.packet, ViewTracePacket(kept.packet.bytes)));
  }
  return {};
}

namespace {

using proto::TracePacket;

/// A name; longer ones are cut.
std::string NameIn(Bytes bytes, size_t longest = 256) {
  return std::string(wire::AsText(bytes.first(std::min(bytes.size(), longest))));
}

/// Adds those of a list in an event of the service, up to a limit.
void AddSlowSources(Bytes list, std::vector<SlowSource>& to) {
  using DataSource = proto::TracingServiceEvent::DataSources::DataSource;
  constexpr size_t kMost = 64;
  wire::ForEachMessage(
      list, proto::TracingServiceEvent::DataSources::kDataSource, [&](Bytes source) {
        if (to.size() < kMost)
          to.push_back({NameIn(wire::BytesIn(source, DataSource::kProducerName)),
                        NameIn(wire::BytesIn(source, DataSource::kDataSourceName))});
      });
}

}  // namespace

auto TraceScan::SequenceOf(uint32_t machine, uint32_t id) -> Sequence* {
  const uint64_t key = KeyOf(machine, id);
  if (last_sequence_ != nullptr && key == last_key_) return last_sequence_;
  if (sequences_.size() == kMaxSequences && !sequences_.contains(key)) {
    ++facts_.sequences_left_out;
    return nullptr;
  }
  Sequence& sequence = sequences_[key];
  sequence.facts.id = id;
  sequence.facts.machine = machine;
  last_key_ = key;
  return last_sequence_ = &sequence;
}

void TraceScan::AddPacket(uint64_t offset, Bytes bytes, const TracePacketView& packet) {
  ++facts_.all.packets;
  facts_.all.bytes += bytes.size();
  if (bytes.empty()) return;
  if (!packet.is_well_formed) {
    facts_.AddError(offset, "a packet whose fields cannot be read to its end");
    return;
  }
  ++packets_since_stats_;
  Sequence* const sequence = SequenceOf(packet.machine, packet.sequence_id);
  if (sequence == nullptr) return;
  TraceSequence& facts = sequence->facts;
  if (packet.dropped != 0 && packet.has_sequence_id) {
    if (!sequence->is_seen) {  // the first packet of a sequence never counts
      facts.first_loss_bits = packet.dropped;
    } else {
      facts.losses.Add(packet.dropped);
      sequence->loss_bits |= packet.dropped;
    }
  }
  sequence->is_seen = true;
  const bool is_data = !IsOfService(packet);
  facts_.largest_packet = std::max<uint64_t>(facts_.largest_packet, bytes.size());
  facts_.trusted_packets += packet.uid ? 1 : 0;
  ++(is_data ? facts_.data_packets : facts_.service_packets);
  MachineFacts& machine = FactsOf(packet.machine);
  if (packet.machine != 0) ++machine.packets;
  if (packet.pid) facts.pid = packet.pid;
  UpdateState(packet, *sequence, machine);

  std::optional<TimeSpan> times;  // of the events
  bool is_skipped = false;
  if (packet.content == TracePacket::kClockSnapshot) {
    clocks_.Of(packet.machine).AddSnapshot(packet.content_bytes, packet.sequence_id);
    if (packet.machine == 0 && !is_data)
      for (const ClockReading& clock : ReadClockSnapshot(packet.content_bytes).clocks) {
        const auto time = static_cast<int64_t>(clock.time);
        if (clock.id == kBootTime) AddTo(facts_.snapshot_span, time);
        if (clock.id == proto::BuiltinClock::kBuiltinClockMonotonic) AddTo(facts_.awake_span, time);
      }
  } else if (packet.content == TracePacket::kRemoteClockSync) {
    clocks_.AddSync(packet.machine, packet.content_bytes);
    machine.has_clock_sync = true;
  } else if (IsUsable(packet, offset, *sequence)) {
    times = AddTimes(packet, *sequence, machine);
    content_.Add(packet, times_.event, times ? std::optional(times->first_ns) : std::nullopt,
                 sequence->content, machine);
  } else if (packet.sequence_id != 0) {
    is_skipped = true;
    if (const auto own_ns = OwnTime(packet, *sequence)) AddTo(facts.skipped_span, *own_ns);
  }
  if (is_data) {
    // A packet with only the descriptors of GPU counters has none.
    constexpr uint32_t kCounters = 2;
    const bool is_event = times && KindOf(packet.content).has_events &&
                          (packet.content != TracePacket::kGpuCounterEvent ||
                           wire::LastBytes(packet.content_bytes, kCounters));
    if (is_event) {
      AddTo(facts_.all.span, times);
      holes_.Add(times->first_ns);
    }
    AddContent(packet, bytes.size(), is_skipped, is_event ? times : std::nullopt, facts);
  }
  AddOwnFacts(packet, times, machine);
  AddProcessNames(packet, facts);
  if (!times)
    if (const auto own_ns = OwnTime(packet, *sequence)) times = TimeSpan{*own_ns, *own_ns};
  if (times) {
    CloseHole(*sequence, times->first_ns);
    sequence->last_ns = times->first_ns;
  }
}

/// Counts a packet of a producer or a tool in its sequence.
/// @param events their times; nullopt: it has none
void TraceScan::AddContent(const TracePacketView& packet, uint64_t bytes, bool is_skipped,
                           const std::optional<TimeSpan>& events, TraceSequence& sequence) {
  const Amount one{1, bytes, events};
  sequence.all += one;
  auto found = std::ranges::find(sequence.contents, packet.content, &ContentAmount::content);
  if (found == sequence.contents.end()) {
    if (sequence.contents.size() == TraceSequence::kMaxContents) return;
    found = sequence.contents.insert(found, ContentAmount{packet.content});
  }
  found->amount += one;
  found->skipped += is_skipped ? 1 : 0;
}

/// Returns the time of a packet whose time trace processor does not use: when it was written.
std::optional<int64_t> TraceScan::OwnTime(const TracePacketView& packet, const Sequence& sequence) {
  if (!packet.timestamp || packet.machine != 0) return std::nullopt;
  // Without its clock, its time would be known only by a default that may be lost.
  const bool has_state = !packet.needs_state || sequence.state.valid();
  if (!has_state && !packet.timestamp_clock) return std::nullopt;
  TraceClocks& clocks = clocks_.Of(0);
  const auto clock = OwnClockOf(packet, sequence.time, clocks);
  return clock ? clocks.Peek(*clock, *packet.timestamp) : static_cast<int64_t>(*packet.timestamp);
}

/// Returns where what the packets of a machine lack or report is counted.
MachineFacts& TraceScan::FactsOf(uint32_t machine) {
  if (machine == 0) return facts_;
  const bool is_kept =
      facts_.remotes.size() < TraceFacts::kMaxMachines || facts_.remotes.contains(machine);
  return is_kept ? facts_.remotes[machine] : ignored_;
}

/// Keeps the names of interned categories; a group of them is one name, with commas.
void TraceScan::AddCategories(Bytes interned, MachineFacts& machine) {
  constexpr uint32_t kName = 2;
  wire::ForEachMessage(interned, proto::InternedData::kEventCategories, [&](Bytes category) {
    const Bytes name = wire::BytesIn(category, kName);
    if (machine.categories.size() < MachineFacts::kMaxCategories &&
        name.size() <= MachineFacts::kMaxCategoryBytes)
      machine.categories.emplace(wire::AsText(name));
    else
      machine.has_other_categories = true;
  });
}

void TraceScan::UpdateState(const TracePacketView& packet, Sequence& sequence,
                            MachineFacts& machine) {
  sequence.state.Add(packet.clears_state, packet.dropped != 0);
  if (packet.clears_state) ++sequence.facts.clears;
  sequence.time.Update(packet);
  if (!sequence.state.valid() && !packet.needs_state && sequence.facts.clears == 0 &&
      packet.content == TracePacket::kTrackEvent && packet.dropped == 0 &&
      wire::LastVarint(packet.content_bytes, proto::TrackEvent::kNameIid))
    ++sequence.facts.nameless;
  if (packet.clears_state || packet.defaults || packet.interned_data)
    sequence.content.Update(packet);
  if (packet.interned_data) AddCategories(*packet.interned_data, machine);
  if (packet.has_sequence_id) return;
  ContentCounts& counts = machine.content;
  if (packet.content == TracePacket::kThreadDescriptor)
    counts.Add("thread_descriptor_missing_sequence_id"_stat);
  if (packet.clears_state)
    counts.Add("incremental_state_cleared_missing_sequence_id"_stat);
  else if (packet.dropped != 0)
    counts.Add("previous_packet_dropped_missing_sequence_id"_stat);
  if (packet.defaults) counts.Add("trace_packet_defaults_missing_sequence_id"_stat);
  if (packet.interned_data) counts.Add("interned_data_missing_sequence_id"_stat);
}

/// Returns true if trace processor uses the packet: it needs no incremental state, or has it.
bool TraceScan::IsUsable(const TracePacketView& packet, uint64_t offset, Sequence& sequence) {
  if (!packet.needs_state || packet.content == TracePacket::kTraceStats ||
      packet.content == TracePacket::kServiceEvent)
    return true;
  if (packet.sequence_id == 0) {
    facts_.AddError(offset, "a packet that needs incremental state, without a sequence id");
    return false;
  }
  ++sequence.facts.needing;
  if (!sequence.state.valid()) ++sequence.facts.skipped;
  return sequence.state.valid();
}

/// Counts the events of a packet, up to the first whose time cannot be converted.
/// @return their times; nullopt if none is known, or trace processor drops them all
std::optional<TimeSpan> TraceScan::AddTimes(const TracePacketView& packet, Sequence& sequence,
                                            MachineFacts& machine) {
  if (packet.content == TracePacket::kServiceEvent) return std::nullopt;
  if (packet.content == TracePacket::kTrackEvent && !packet.has_sequence_id) {
    machine.content.Add("track_event_missing_sequence_id"_stat);
    times_.event.is_left_out = true;
    return std::nullopt;
  }
  ReadEventTimes(packet, sequence.time, clocks_.Of(packet.machine), machine, times_);
  machine.has_other_categories |= times_.event.has_own_categories;
  facts_.times_left_out += times_.left_out;
  std::optional<TimeSpan> all;
  for (const EventTimes::Time& time : times_.times) {
    const auto ns = clocks_.ToTraceTime(packet.machine, time.clock, time.time);
    if (!ns) {
      if (time.clock) AddFailure(packet.machine, *time.clock);
      break;
    }
    if (*ns < 0) {
      constexpr ClockKey kUnixTime = {0, proto::BuiltinClock::kBuiltinClockRealtime};
      if (packet.content == TracePacket::kTrackEvent && times_.event.has_own_time) {
        times_.event.has_negative_time = true;
        continue;
      }
      ++facts_.negative_times;
      if (time.clock == kUnixTime && static_cast<int64_t>(time.time) > 0) ++facts_.before_boot;
      continue;
    }
    order_.AddEvent(*ns);
    if (packet.content == TracePacket::kFtraceEvents) machine.ftrace.AddEvent(*ns);
    AddTo(all, *ns);
    ++facts_.events;
  }
  return all;
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

/// Ends the hole that a packet of the sequence reported, at the first time that is known after it.
void TraceScan::CloseHole(Sequence& sequence, int64_t ns) {
  const uint32_t loss_bits = std::exchange(sequence.loss_bits, 0);
  if (loss_bits == 0 || !sequence.last_ns) return;
  std::vector<TraceHole>& holes = sequence.facts.holes;
  if (holes_kept_ < kMaxHoles) {
    holes.push_back({{*sequence.last_ns, *sequence.last_ns}, loss_bits});
    holes.back().span.Add(ns);  // a later packet may have an earlier time
    ++holes_kept_;
  } else if (!holes.empty()) {
    holes.back().span.Add(ns);
    ++holes.back().places;
  }
}

void HoleFinder::Add(int64_t ns) {
  const int64_t number = ns / width_ns_;
  if (last_.second == nullptr || last_.first != number)
    last_ = {number, &intervals_.try_emplace(number, Interval{{ns, ns}, 0}).first->second};
  last_.second->span.Add(ns);
  ++last_.second->packets;
  if (intervals_.size() <= kMost) return;
  width_ns_ *= 2;
  std::map<int64_t, Interval> wider;
  for (const auto& [narrow, more] : intervals_) {
    Interval& joined = wider.try_emplace(narrow / 2, Interval{more.span, 0}).first->second;
    joined.span.Add(more.span.last_ns);
    joined.packets += more.packets;
  }
  intervals_ = std::move(wider);
  last_ = {};
}

std::optional<TimeHole> HoleFinder::Find() const {
  TimeHole longest;
  uint64_t before = 0;
  const Interval* last = nullptr;
  for (const auto& [number, interval] : intervals_) {
    const TimeSpan hole{last == nullptr ? interval.span.first_ns : last->span.last_ns,
                        interval.span.first_ns};
    if (hole.length_ns() > longest.span.length_ns()) longest = {hole, before};
    before += interval.packets;
    last = &interval;
  }
  if (last == nullptr) return std::nullopt;
  longest.after = before - longest.packets;
  const int64_t all_ns = last->span.last_ns - intervals_.begin()->second.span.first_ns;
  const bool is_long =
      longest.span.length_ns() >= kShortestNs && longest.span.length_ns() * 2 > all_ns;
  return is_long ? std::optional(longest) : std::nullopt;
}

TraceFacts TraceScan::Finish() {
  facts_.hole = holes_.Find();
  facts_.content.Set("clock_sync_unrelatable_clock_domains"_stat,
                     clocks_.host().lacks_boot_time() ? 1 : 0);
  for (auto& [machine, remote] : facts_.remotes)
    remote.content.Set("clock_sync_unrelatable_clock_domains"_stat,
                       clocks_.Of(machine).lacks_boot_time() ? 1 : 0);
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
  facts_.sorter_left_ns = order_.left_ns();
  facts_.trace_clock = clocks_.host().trace_clock().id;
  if (facts_.stats_packets > 0) facts_.packets_after_stats = packets_since_stats_;
  // A pid of which one sequence proves that it is not its process's is not known of the others.
  std::set<int32_t> shared;
  for (const auto& [key, sequence] : sequences_)
    if (const TraceSequence& facts = sequence.facts;
        facts.pid && facts.own_pid.value_or(*facts.pid) != *facts.pid)
      shared.insert(*facts.pid);
  facts_.sequences.reserve(sequences_.size());
  last_sequence_ = nullptr;
  for (auto entry = sequences_.begin(); entry != sequences_.end();
       entry = sequences_.erase(entry)) {
    TraceSequence& facts = entry->second.facts;
    if (facts.pid && !facts.own_pid && shared.contains(*facts.pid)) facts.own_pid = 0;
    content_.EndGraph(entry->second.content, FactsOf(facts.machine), /*is_finished=*/false);
    if (facts_.all.span) CloseHole(entry->second, facts_.all.span->last_ns);
    if (facts.buffer && *facts.buffer < facts_.buffers.size())
      AddTo(facts_.buffers[*facts.buffer].span, facts.all.span);
    facts_.sequences.push_back(std::move(facts));
  }
  if (content_.has_unfinished_graph()) facts_.content.Add("heap_graph_non_finalized_graph"_stat);
  std::ranges::sort(facts_.sequences, {},
                    [](const TraceSequence& one) { return KeyOf(one.machine, one.id); });
  return std::move(facts_);
}

// Facts that the service reports of its session, and producers of themselves.

/// @param times of its events
void TraceScan::AddOwnFacts(const TracePacketView& packet, const std::optional<TimeSpan>& times,
                            MachineFacts& machine) {
  const Bytes content = packet.content_bytes;
  switch (packet.content) {
    case TracePacket::kTraceConfig:
      return AddConfig(content);
    case TracePacket::kTraceStats:
      if (packet.machine == 0) AddStats(content);
      return;
    case TracePacket::kTraceProvenance:
      return AddListing(content);
    case TracePacket::kServiceEvent:
      return AddServiceEvent(packet);
    case TracePacket::kTrigger:
      if (const auto name = wire::LastBytes(content, proto::Trigger::kTriggerName);
          name && facts_.triggers.size() < TraceFacts::kMaxErrors)
        facts_.triggers.push_back(NameIn(*name));
      return;
    case TracePacket::kFtraceEvents:
      return machine.ftrace.AddBundle(content, times);
    case TracePacket::kFtraceStats:
      return machine.ftrace.AddStats(content);
    case TracePacket::kSystemInfo:
      if (const auto version = wire::LastBytes(content, proto::SystemInfo::kTracingServiceVersion);
          version && packet.machine == 0)
        facts_.service_version = NameIn(*version, 1024);
      return;
    default:
      return;
  }
}

void TraceScan::AddConfig(Bytes message) {
  const bool is_kept = message.size() <= TraceFacts::kMaxConfigBytes;
  facts_.config_bytes_left_out = is_kept ? 0 : message.size();
  facts_.config = is_kept ? std::optional<std::string>(wire::AsText(message)) : std::nullopt;
  const TraceConfigFacts config = ReadTraceConfigFacts(message);
  if (!config.write_into_file) return;
  for (uint32_t i = 0; i < config.buffers.size(); ++i)
    if (config.buffers[i].policy == FillPolicy::kDiscard) ++facts_.discards_into_file[i];
}

void TraceScan::AddServiceEvent(const TracePacketView& packet) {
  using Event = proto::TracingServiceEvent;
  const auto now_ns = static_cast<int64_t>(packet.timestamp.value_or(0));
  for (const wire::Field& field : wire::FieldReader(packet.content_bytes)) {
    if (field.number == Event::kTracingStarted || field.number == Event::kTracingDisabled)
      AddTo(facts_.lifetime, now_ns);
    if (field.number == Event::kAllDataSourcesStarted) facts_.sources_started_ns = now_ns;
    if (field.number == Event::kSlowStartingDataSources)
      AddSlowSources(field.bytes, facts_.slow_to_start);
    if (field.number == Event::kLastFlushSlowDataSources)
      AddSlowSources(field.bytes, facts_.slow_to_flush);
    facts_.is_clone |= field.number == Event::kCloneStarted;
    if (packet.machine != 0) continue;
    if (field.number == Event::kAllDataSourcesFlushed) order_.AddFlush();
    if (field.number == Event::kReadTracingBuffersCompleted) order_.AddRead();
  }
}

TraceBuffer& TraceScan::BufferOf(size_t index) {
  if (index >= facts_.buffers.size()) facts_.buffers.resize(index + 1);
  return facts_.buffers[index];
}

void TraceScan::AddStats(Bytes stats) {
  constexpr uint64_t kSucceeded = 1, kFailed = 2;
  constexpr uint32_t kFilterStats = 11, kErrors = 4;
  packets_since_stats_ = 0;
  facts_.service = ReadServiceStats(stats);
  if (++facts_.stats_packets == 1) facts_.first_service = facts_.service;
  facts_.unknown_counters = UnknownBufferStats(stats);
  facts_.final_flushes_succeeded += facts_.service.final_flush_outcome == kSucceeded ? 1 : 0;
  facts_.final_flushes_failed += facts_.service.final_flush_outcome == kFailed ? 1 : 0;
  size_t index = 0;
  for (const BufferStats& counters : ReadTraceStats(stats)) {
    TraceBuffer& buffer = BufferOf(index++);
    buffer.stats = counters;
    buffer.has_stats = true;
  }
  if (const auto filter = wire::LastBytes(stats, kFilterStats)) {
    facts_.has_filter = true;
    facts_.filter_errors = wire::NumberIn(*filter, kErrors);
  }
  AddWriterStats(stats);
}

/// Assigns sequences to buffers, and what they lost so far.
void TraceScan::AddWriterStats(Bytes stats) {
  std::map<size_t, TraceBuffer> losses;  // of the buffers whose sequences are named
  wire::ForEachMessage(stats, proto::TraceStats::kWriterStats, [&](Bytes message) {
    using Writer = proto::TraceStats::WriterStats;
    const auto number = [&](uint32_t field) {
      return static_cast<uint32_t>(wire::NumberIn(message, field));
    };
    const uint32_t buffer = number(Writer::kBuffer);
    Sequence* const listed = SequenceOf(0, number(Writer::kSequenceId));
    if (listed == nullptr || buffer >= kMaxStatsBuffers) return;
    TraceSequence& sequence = listed->facts;
    sequence.buffer = buffer;
    sequence.is_listed = true;
    if (!listed->is_seen) return;
    losses[buffer].losses += sequence.losses;
    losses[buffer].dropped_sequences += sequence.is_dropped() ? 1 : 0;
  });
  for (const auto& [index, sum] : losses) {
    TraceBuffer& buffer = BufferOf(index);
    buffer.has_losses = true;
    buffer.losses = sum.losses;
    buffer.dropped_sequences = sum.dropped_sequences;
  }
}

/// The sequences of each buffer that the service has seen so far.
void TraceScan::AddListing(Bytes listing) {
  uint32_t index = 0;
  wire::ForEachMessage(listing, proto::TraceProvenance::kBuffers, [&](Bytes buffer) {
    if (index == kMaxStatsBuffers) return;
    wire::ForEachMessage(buffer, proto::TraceProvenance::Buffer::kSequences, [&](Bytes entry) {
      const auto id = wire::LastVarint(entry, proto::TraceProvenance::Sequence::kId);
      Sequence* const sequence = id ? SequenceOf(0, static_cast<uint32_t>(*id)) : nullptr;
      if (sequence == nullptr) return;
      sequence->facts.buffer = index;
      sequence->facts.is_listed = true;
    });
    ++index;
  });
}

void TraceScan::NameProcess(int32_t pid, Bytes name) {
  constexpr size_t kMaxNames = 20'000;
  if (!name.empty() && facts_.process_names.size() < kMaxNames)
    facts_.process_names.try_emplace(pid, NameIn(name));
}

void TraceScan::AddProcessNames(const TracePacketView& packet, TraceSequence& sequence) {
  using Process = proto::ProcessTree::Process;
  if (packet.content == TracePacket::kProcessTree) {
    wire::ForEachMessage(packet.content_bytes, proto::ProcessTree::kProcesses, [&](Bytes process) {
      const auto pid = static_cast<int32_t>(wire::NumberIn(process, Process::kPid));
      // The first word of its command line.
      wire::ForEachMessage(process, Process::kCmdline, [&](Bytes word) { NameProcess(pid, word); });
    });
  }
  if (packet.content != TracePacket::kTrackDescriptor) return;
  const TrackNames names = ReadTrackNames(packet.content_bytes);
  if (names.pid) NameProcess(*names.pid, names.process);
  if (sequence.thread_name.empty()) sequence.thread_name = NameIn(names.thread, 64);
  if (sequence.track == 0 && names.is_of_thread) {
    sequence.track = names.uuid;
    sequence.own_pid = names.thread_pid;
  }
}

}  // namespace ringscope
