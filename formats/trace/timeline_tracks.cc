#include "formats/trace/timeline_tracks.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/examine/loss_words.h"
#include "core/log/summary.h"
#include "core/perfetto/data_loss.h"

namespace ringscope {

void BufferTracks::OnRecord(const Op& op, const LogMoment& moment) {
  ChunkLifetimes::OnRecord(op, moment);
  // Times of a log may step back a little; those of the tracks do not. A log without times takes a
  // microsecond for each record.
  const uint64_t ns = moment.time_ns.value_or(moment.record.value_or(0) * 1000);
  now_ = std::max(now_, static_cast<int64_t>(ns));
  const auto* read = std::get_if<ReadPass>(&op.body);
  reason_ = read != nullptr ? read->reason : ReadReason::kUnknown;
  const auto event = LifeEventOf(op, moment.record.value_or(0));
  if (!event || event->Is<BufferSetUp>()) return;
  if (session_ == nullptr) session_ = &root_.Add("tracing session");
  std::vector<EventArg> args = {{"record", event->record}};
  if (event->change) args.push_back({"change", Name(*event->change)});
  if (!event->name.empty()) args.push_back({"name", Printable(event->name)});
  if (event->producer) args.push_back({"producer", uint64_t{Raw(*event->producer)}});
  session_->AddInstant(now_, OpKindName(static_cast<size_t>(event->kind)), std::move(args));
}

void BufferTracks::OnBufferSetUp(SessionBuffer& setup) {
  using Unit = EventTrack::Unit;
  const std::string name = notes_.NameOf(setup.id);
  EventTrack& track = root_.Add(fmt::format("{}: {}, {}, {}", name, Printable(setup.info->name),
                                            HumanSize(setup.requested_size), Name(setup.policy)));
  buffers_[setup.id] = {.buffer = &setup,
                        .track = &track,
                        .reads = &track.Add(name + " reads"),
                        .fill = &track.Add(name + " fill", Unit::kBytes),
                        .unread = &track.Add(name + " unread", Unit::kBytes),
                        .reach = &track.Add(name + " reach", Unit::kTime),
                        .read = {},
                        .held_ns = {}};
}

void BufferTracks::OnChunkEntered(const ChunkLife& life) {
  if (life.entered()) buffers_[life.buffer].held_ns[life.number] = now_;
}

void BufferTracks::OnChunkLeft(const ChunkLife& life) {
  buffers_[life.buffer].held_ns.erase(life.number);
}

void BufferTracks::Sample(BufferId id) {
  Buffer& buffer = buffers_[id];
  if (buffer.buffer == nullptr) return;
  buffer.fill->AddSample(now_, HeldBytes(id));
  buffer.unread->AddSample(now_, buffer.buffer->engine->stats().unread_bytes());
  const int64_t oldest = buffer.held_ns.empty() ? now_ : buffer.held_ns.begin()->second;
  buffer.reach->AddSample(now_, static_cast<uint64_t>(now_ - oldest));
}

void BufferTracks::OnChunkDone(BufferId buffer, const ChunkCommit& commit) {
  ChunkLifetimes::OnChunkDone(buffer, commit);
  Sample(buffer);
}

void BufferTracks::OnReadBegun(BufferId id) {
  buffers_[id].read = {};
  buffers_[id].read_ns = now_;
}

Status BufferTracks::OnPacket(const SessionPacket& packet) {
  buffers_[packet.buffer].read += {1, packet.packet->size};
  return {};
}

void BufferTracks::OnReadDone(BufferId id, uint64_t) {
  const Buffer& buffer = buffers_[id];
  if (buffer.reads == nullptr) return;
  buffer.reads->AddSlice({.from_ns = buffer.read_ns,
                          .to_ns = now_,
                          .name = "read pass",
                          .args = {{"reason", Name(reason_)},
                                   {"record", now().record.value_or(0)},
                                   {"packets", buffer.read.packets},
                                   {"bytes", buffer.read.bytes}}});
  Sample(id);
}

void BufferTracks::OnBufferEvent(const BufferEvent& event) {
  ChunkLifetimes::OnBufferEvent(event);
  EventTrack* const track = buffers_[event.buffer].track;
  if (track == nullptr) return;
  if (event.As<BufferEvent::Wrapped>() != nullptr) track->AddInstant(now_, "wrap");
  if (const auto* missed = event.As<BufferEvent::PatchMissed>())
    track->AddInstant(now_, "patch missed: " + notes_.NameOf(event.chunk.sequence),
                      {{"chunk", uint64_t{Raw(event.chunk.chunk)}},
                       {"patches", missed->sent.patches.size()},
                       {"cause", Name(missed->reason)},
                       {"record", event.at.record.value_or(0)}});
}

void BufferTracks::Finish(const std::string& remark) {
  for (const auto& [id, buffer] : buffers_)
    if (buffer.reads != nullptr) buffer.reads->AddInstant(now_, remark);
}

namespace {

TrackSlice SliceOf(const Hole& hole, const Examination& examination) {
  TrackSlice slice{.from_ns = hole.span.first_ns, .to_ns = hole.span.last_ns, .name = hole.what};
  const auto add = [&](const char* name, auto value) {
    slice.args.push_back({name, std::move(value)});
  };
  if (hole.packets)
    add("packets", *hole.packets);
  else
    add("packets", "unknown");
  if (hole.is_unusable) return slice;
  const Gap* const gap = hole.gap;
  if (hole.loss_bits != 0 || gap != nullptr || hole.missing != nullptr)
    add("cause_bits", LossBitsToString(hole.loss_bits));
  if (gap == nullptr) add("places", hole.places);
  if (hole.missing != nullptr)
    add("chunks", fmt::format("{} to {}", hole.missing->first, hole.missing->last));
  if (gap != nullptr) {
    add("bytes", hole.bytes);
    add("cause", Joined(CauseTexts(gap->causes), "; "));
    add("chunks", fmt::format("{} to {}", gap->first.chunk, gap->last_chunk));
    add("buffer", hole.where);
    add("sequence", NameOf(examination.account.sequences[*hole.sequence]));
    if (gap->abort) add("aborted", std::string(Name(gap->abort->reason)));
    if (gap->own_fault.packets > 0) add("buffer_bug", gap->own_fault.packets);
  }
  if (!hole.remedy.empty() || gap != nullptr)
    add("remedy", hole.remedy.empty() ? std::string("none is known") : hole.remedy);
  return slice;
}

/// Adds a hole that is of no single sequence.
void AddOfSession(const Hole& hole, const Examination& examination, EventTrack& root) {
  EventTrack& session = root.OfProcess(0, {});
  TrackSlice slice{.from_ns = hole.span.first_ns, .to_ns = hole.span.last_ns, .name = hole.what};
  if (hole.stage == Stage::kImport)
    return session.AddInstant(slice.from_ns, hole.what, {{"events", *hole.packets}});
  if (hole.stage == Stage::kFile && hole.span.length_ns() == 0)
    return session.AddInstant(slice.from_ns, hole.what);
  if (hole.stage == Stage::kKernel) {
    slice.args = {{"events", "unknown"}};
  } else if (hole.buffer) {
    const BufferStats& stats = examination.trace->buffers[*hole.buffer].stats;
    slice.args = {{"bytes_overwritten", stats.bytes_overwritten},
                  {"bytes_written", stats.bytes_written},
                  {"buffer_size", stats.buffer_size}};
  }
  session.Add(hole.where.empty() ? "the file" : hole.where).AddSlice(std::move(slice));
}

/// Adds the kernel's counters of the CPUs that lost events, at the end of their last hole.
void AddKernelCounters(const Examination& examination, EventTrack& root) {
  if (examination.log != nullptr || !examination.trace) return;
  for (const auto& [number, cpu] : examination.trace->ftrace.cpus()) {
    const auto overrun = cpu[FtraceCounter::kOverrun].delta();
    const auto dropped = cpu[FtraceCounter::kDroppedEvents].delta();
    if (cpu.holes.empty() || (!overrun && !dropped)) continue;
    root.OfProcess(0, {})
        .Add(fmt::format("CPU {}", number))
        .AddInstant(cpu.holes.back().last_ns, "the kernel's counters, of the whole session",
                    {{"overrun", overrun.value_or(0)}, {"dropped", dropped.value_or(0)}});
  }
}

}  // namespace

void AddHoles(const Examination& examination,
              const std::function<std::optional<uint64_t>(size_t)>& track_of, EventTrack& root) {
  const std::vector<Hole>& holes = examination.holes;
  for (auto hole = holes.begin(), end = hole; hole != holes.end(); hole = end) {
    end = std::find_if(hole + 1, holes.end(), [&](const Hole& next) {
      return !hole->sequence || next.sequence != hole->sequence;
    });
    if (!hole->sequence) {
      AddOfSession(*hole, examination, root);
      continue;
    }
    const std::optional<uint64_t> known = track_of(*hole->sequence);
    if (!known) continue;
    const SequenceStages& sequence = examination.account.sequences[*hole->sequence];
    std::string name = sequence.thread;
    if (examination.log != nullptr)
      name = NameOf(sequence);
    else if (name.empty())
      name = fmt::format("sequence {}", sequence.id);
    const StageProcess& process = sequence.process;
    EventTrack& track =
        *known != 0 ? root.AddKnown(*known)
                    : root.OfProcess(process.pid, examination.log != nullptr ? process.name : "")
                          .Add(std::move(name));
    EventTrack& lost = track.Add("lost packets");
    EventTrack& unusable = track.Add("unusable packets");
    for (const Hole& one : std::span(hole, end))
      (one.is_unusable ? unusable : lost).AddSlice(SliceOf(one, examination));
  }
  AddKernelCounters(examination, root);
}

}  // namespace ringscope
