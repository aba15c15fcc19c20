#include "formats/trace/session_tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/text.h"

namespace ringscope {
namespace {

constexpr std::array kMemoryCounters = {
    "shared memory: chunks free", "shared memory: being written",
    "shared memory: held back by the producer", "shared memory: waiting for the service"};

}  // namespace

using SessionArg = TrackEventWriter::Arg;

void SessionTracks::OnEvent(const LifeEvent& event, uint64_t now) {
  if (event.Is<SessionStarted>() || event.Is<SessionEnded>() || event.Is<SessionChanged>())
    return OnSession(event, now);
  if (event.instance) return OnSource(event, now);
  if (event.clone) return OnClone(event, now);
  if (event.Is<StateClearRequested>()) {
    const SessionArg args[] = {{"data_sources", uint64_t{event.instances.size()}},
                               {"record", event.record}};
    events_.Instant(producer_track_(event.producer.value_or(ProducerId{})), now,
                    "clear incremental state", args);
  } else if (event.Is<TriggerActivated>()) {
    const SessionArg args[] = {{"record", event.record}};
    events_.Instant(producer_track_(event.producer.value_or(ProducerId{})), now,
                    "trigger " + Printable(event.name), args);
  } else if (event.Is<BufferCleared>()) {
    const SessionArg args[] = {{"buffer", uint64_t{event.buffer ? Raw(*event.buffer) : 0u}},
                               {"record", event.record}};
    events_.Instant(ClonesTrack(), now, "buffer is emptied before a clone", args);
  } else if (event.Is<ProducerDisconnected>()) {
    for (auto& [id, source] : sources_)
      if (id.first == event.producer) Stop(source, now);
  }
}

void SessionTracks::OnSession(const LifeEvent& event, uint64_t now) {
  const Track track = SessionTrack(event.session);
  const uint64_t number = event.session.value_or(0);
  const SessionArg record[] = {{"record", event.record}};
  if (event.Is<SessionStarted>()) {
    if (!open_sessions_.insert(number).second) return;
    const std::string name = event.name.empty() ? "" : " " + Printable(event.name);
    events_.Begin(track, now, fmt::format("tracing session {}{}", number, name), record);
  } else if (event.Is<SessionEnded>()) {
    if (open_sessions_.erase(number) > 0) events_.End(track, now, record);
  } else {
    const std::string detail = Printable(event.detail);
    const SessionArg args[] = {{"record", event.record}, {"detail", std::string_view(detail)}};
    events_.Instant(track, now, Name(event.change.value_or(SessionChange::kStarted)), args);
  }
}

void SessionTracks::OnSource(const LifeEvent& event, uint64_t now) {
  Source& source = sources_[{event.producer.value_or(ProducerId{}), *event.instance}];
  if (event.Is<DataSourceSetUp>()) {
    Stop(source, now);
    source.name = Printable(event.name);
    source.buffer = event.buffer ? Raw(*event.buffer) : 0;
  }
  if (source.track == Track::kNone) {
    source.track =
        events_.AddTrack(fmt::format("data source {} ({})", source.name, *event.instance),
                         producer_track_(event.producer.value_or(ProducerId{})));
  }
  const SessionArg args[] = {{"buffer", source.buffer}, {"record", event.record}};
  if (event.Is<DataSourceSetUp>()) {
    events_.Instant(source.track, now, "set up", args);
  } else if (event.Is<DataSourceStarted>() && !source.running) {
    source.running = true;
    events_.Begin(source.track, now, source.name, args);
  } else if (event.Is<DataSourceNotified>()) {
    events_.Instant(source.track, now, event.flag ? "reports its stop" : "reports its start", args);
  } else if (event.Is<DataSourceStopped>()) {
    Stop(source, now);
  }
}

void SessionTracks::Stop(Source& source, uint64_t now) {
  if (source.running) events_.End(source.track, now, {});
  source.running = false;
}

void SessionTracks::OnClone(const LifeEvent& event, uint64_t now) {
  const uint64_t number = *event.clone;
  const SessionArg args[] = {{"buffer", uint64_t{event.buffer ? Raw(*event.buffer) : 0u}},
                             {"record", event.record}};
  const std::string name = fmt::format("clone {}", number);
  if (event.Is<CloneRequested>()) {
    events_.Instant(ClonesTrack(), now, name + " is asked for", args);
  } else if (event.Is<BufferCloned>()) {
    events_.Instant(ClonesTrack(), now,
                    name + (event.flag ? " takes over a buffer" : " gets a copy of a buffer"),
                    args);
  } else if (event.Is<CloneEnded>()) {
    events_.Instant(ClonesTrack(), now, name + (event.flag ? " is complete" : " fails"), args);
  }
}

auto SessionTracks::SessionTrack(std::optional<uint64_t> session) -> Track {
  Track& track = session_tracks_[session.value_or(0)];
  if (track == Track::kNone)
    track = events_.AddTrack(session ? fmt::format("tracing session {}", *session)
                                     : std::string("tracing session"));
  return track;
}

auto SessionTracks::ClonesTrack() -> Track {
  if (clones_track_ == Track::kNone) clones_track_ = events_.AddTrack("clones");
  return clones_track_;
}

void SessionTracks::Finish(uint64_t now) {
  for (auto& [id, source] : sources_) Stop(source, now);
  for (const uint64_t session : open_sessions_) events_.End(session_tracks_[session], now, {});
  open_sessions_.clear();
}

void ProgramTracks::Sample(const SessionBuffer& buffer, Track parent, uint64_t now) {
  if (buffer.vms == nullptr) return;
  Buffer& known = buffers_[buffer.id];
  known.buffer = &buffer;
  const auto& instances = buffer.vms->instances();
  for (size_t i = 0; i < instances.size(); ++i) {
    const protovm::BufferVms::Instance& instance = instances[i];
    if (known.programs.size() == i) known.programs.emplace_back();
    Program& program = known.programs[i];
    if (program.memory == Track::kNone || program.data_source != instance.data_source) {
      const std::string name = fmt::format("buffer {} program {} of {}", Raw(buffer.id), i,
                                           Printable(instance.data_source));
      program = {};
      program.data_source = instance.data_source;
      program.memory =
          events_.AddCounter(name + ": memory", TrackEventWriter::Unit::kBytes, parent);
      program.state = events_.AddCounter(name + ": state", TrackEventWriter::Unit::kBytes, parent);
      program.rate =
          events_.AddCounter(name + ": folded", TrackEventWriter::Unit::kNone, parent, "packets/s");
    }
    const uint64_t memory = instance.vm->state().counted();
    program.changed |= instance.vm->folded().packets != program.folded;
    program.folded = instance.vm->folded().packets;
    if (program.shown_memory == memory) continue;
    events_.Counter(program.memory, now, memory);
    program.shown_memory = memory;
    program.changed = true;
  }
}

/// To write a state out takes time: it is done once in a window.
void ProgramTracks::ShowState(const Buffer& buffer, size_t index, Program& program, uint64_t now) {
  const protovm::BufferVms* vms = buffer.buffer == nullptr ? nullptr : buffer.buffer->vms.get();
  if (vms == nullptr || index >= vms->instances().size()) return;  // it left for a clone
  const size_t size = vms->instances()[index].vm->SerializeState().size();
  if (program.shown_state != size) events_.Counter(program.state, now, size);
  program.shown_state = size;
}

void ProgramTracks::EndWindow(uint64_t end, uint64_t window_ns, uint64_t windows, bool is_last) {
  for (auto& [id, buffer] : buffers_) {
    for (size_t i = 0; i < buffer.programs.size(); ++i) {
      Program& program = buffer.programs[i];
      if (!program.changed && !program.shows_rate) continue;
      const uint64_t count = program.folded - program.folded_before;
      if (program.changed) ShowState(buffer, i, program, end);
      events_.Counter(program.rate, end, count * windows);
      program.shows_rate = count > 0 && !is_last;
      if (count > 0 && is_last) events_.Counter(program.rate, end + window_ns, 0);
      program.folded_before = program.folded;
      program.changed = false;
    }
  }
}

void ProgramTracks::OnLogEnd(uint64_t now) {
  for (auto& [id, buffer] : buffers_) {
    for (size_t i = 0; i < buffer.programs.size(); ++i)
      ShowState(buffer, i, buffer.programs[i], now);
    buffer.buffer = nullptr;
  }
}

void MemoryTracks::OnRecord(const Op& op, uint64_t now) {
  if (const auto* setup = std::get_if<SharedMemorySetUp>(&op.body))
    DrawOpenWays(setup->producer, now);
  if (const auto* left = std::get_if<ProducerDisconnected>(&op.body))
    DrawOpenWays(left->producer, now);
  story_.Add(op);
  if (const auto* look = std::get_if<SharedMemoryLook>(&op.body)) {
    const smb::MemoryFollower* const memory = story_.Of(look->producer);
    if (memory == nullptr || !memory->seen()) return;
    Show(look->producer, *memory->seen(), now);
    // A look without a time is no step of a way.
    if (!op.time_ns) return;
    for (const auto& [slot, way] : memory->ways().left()) DrawWay(look->producer, slot, way, now);
  } else if (const auto* commit = std::get_if<Commit>(&op.body)) {
    // What the last look showed as held back waits for the service from here on.
    const smb::MemoryFollower* const memory = story_.Of(commit->producer);
    if (memory != nullptr && memory->seen()) Show(commit->producer, memory->SeenSince(now), now);
  } else if (const auto* gone = std::get_if<ProducerDisconnected>(&op.body)) {
    const auto memory = memories_.find(gone->producer);
    if (memory == memories_.end()) return;
    EndFull(memory->second, now);
    memories_.erase(memory);
  }
}

void MemoryTracks::Show(ProducerId id, const smb::SeenMemory& seen, uint64_t now) {
  Memory& memory = memories_[id];
  const std::array<uint64_t, kCounters> values = {seen.counts.free, seen.counts.being_written,
                                                  seen.held_back(),
                                                  seen.committed + seen.counts.being_read};
  for (size_t i = 0; i < kCounters; ++i) {
    if (memory.counters[i] == Track::kNone)
      memory.counters[i] = events_.AddCounter(kMemoryCounters[i], TrackEventWriter::Unit::kCount,
                                              producer_track_(id));
    if (memory.shown[i] == values[i]) continue;
    events_.Counter(memory.counters[i], now, values[i]);
    memory.shown[i] = values[i];
  }
  if (!seen.is_full()) return EndFull(memory, now);
  if (std::exchange(memory.is_full, true)) return;
  if (memory.full_track == Track::kNone)
    memory.full_track = events_.AddTrack("shared memory: no chunk free", producer_track_(id));
  const TrackEventWriter::Arg args[] = {{"being_written", seen.counts.being_written},
                                        {"writers", seen.writers},
                                        {"held_back", seen.held_back()},
                                        {"waiting_for_service", seen.committed}};
  events_.Begin(memory.full_track, now, "no chunk free", args);
}

void MemoryTracks::EndFull(Memory& memory, uint64_t now) {
  if (std::exchange(memory.is_full, false)) events_.End(memory.full_track, now);
}

void MemoryTracks::DrawOpenWays(ProducerId id, uint64_t now) {
  const smb::MemoryFollower* const memory = story_.Of(id);
  if (memory == nullptr) return;
  for (const auto& [slot, way] : memory->ways().under_way()) DrawWay(id, slot, way, now);
}

void MemoryTracks::DrawWay(ProducerId id, smb::ChunkSlot slot, const smb::ChunkWay& way,
                           uint64_t end) {
  Memory& memory = memories_[id];
  const uint64_t begin = way.seen_ns.value_or(way.committed_ns.value_or(end));
  // Of the lanes that are free, the one that was for the shortest time.
  Memory::Lane* lane = nullptr;
  for (Memory::Lane& other : memory.lanes)
    if (other.free_ns <= begin && (lane == nullptr || other.free_ns > lane->free_ns)) lane = &other;
  if (lane == nullptr) {
    if (memory.lanes.size() >= max_lanes_) {
      ++ways_left_out_;
      return;
    }
    // Tracks of one name below one track are one for the UI.
    lane = &memory.lanes.emplace_back(
        Memory::Lane{events_.AddTrack("shared memory: chunks", producer_track_(id))});
  }
  lane->free_ns = std::max(end, begin);
  const auto slice = [&](const char* name, uint64_t from, uint64_t to) {
    from = std::clamp(from, begin, lane->free_ns);
    to = std::clamp(to, from, lane->free_ns);
    const TrackEventWriter::Arg args[] = {{"writer", uint64_t{Raw(way.holder.writer)}},
                                          {"chunk", uint64_t{Raw(way.holder.chunk)}},
                                          {"page", uint64_t{slot.first}},
                                          {"index", uint64_t{slot.second}},
                                          {"open_at_the_end", !way.left_ns}};
    events_.Begin(lane->track, from, name, args);
    events_.End(lane->track, to);
  };
  const uint64_t committed = way.committed_ns.value_or(end);
  const uint64_t returned = way.returned_ns ? way.returned_ns->second : committed;
  // Taken and returned between the same two looks: that it was written was not seen.
  const bool was_complete = way.returned && !way.returned_ns;  // in the first look already
  if (way.seen_ns && returned > *way.seen_ns && !was_complete)
    slice("being written", *way.seen_ns, returned);
  if (was_complete && committed > begin)
    slice("held back", begin, committed);
  else if (way.returned_ns && committed > returned)
    slice("held back", returned, committed);
  if (way.committed_ns) slice("waiting for the service", committed, end);
}

void MemoryTracks::Finish(uint64_t now) {
  for (auto& [id, memory] : memories_) {
    EndFull(memory, now);
    DrawOpenWays(id, now);
  }
  memories_.clear();
}

}  // namespace ringscope
