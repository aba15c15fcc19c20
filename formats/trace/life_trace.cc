#include "formats/trace/life_trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/perfetto/data_loss.h"

namespace ringscope {
namespace {

using Unit = TrackEventWriter::Unit;

/// Chunks of a sequence that are shown side by side.
constexpr uint32_t kMaxLanes = 4096;

std::string FlagsText(const ChunkLife& life) {
  std::vector<const char*> names;
  for (const FlagName& known : kFlagNames)
    if ((life.flags & known.flag) != 0) names.push_back(known.name);
  if (!life.complete) names.push_back("incomplete");
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The name of a chunk's slice: what became of it.
const char* SliceName(const ChunkLife& life) {
  const bool was_read = life.exit == ChunkLife::Exit::kEvicted && life.unread_bytes == 0;
  return was_read ? "read, then overwritten" : ExitText(life.exit);
}

}  // namespace

uint32_t Lanes::Take() {
  if (free_.empty()) return size_++;
  return free_.extract(free_.begin()).value();
}

LifeTrace::LifeTrace(ByteSink& sink, PacketKinds* kinds)
    : trace_(sink), events_(trace_), lives_(*this), kinds_(kinds) {
  trace_.AddTool();
}

void LifeTrace::OnRecord(const Op& op, const LogMoment& moment) {
  notes_.OnRecord(op, moment);
  lives_.OnRecord(op, moment);
  // Times of a log may step back a little; those of the trace do not.
  ShowGauges();
  now_ = std::max(now_, TraceTime(lives_.now()));
  reason_ = ReadReason::kUnknown;
  if (const auto* clocks = std::get_if<ClockSnapshotRecord>(&op.body)) {
    if (status_) status_ = trace_.AddClockSnapshot(wire::AsBytes(clocks->snapshot));
  } else if (const auto* producer = std::get_if<ProducerConnected>(&op.body)) {
    producers_[producer->producer] = *producer;
  } else if (const auto* read = std::get_if<ReadPass>(&op.body)) {
    reason_ = read->reason;
  }
  if (const auto event = LifeEventOf(op, moment.record.value_or(0))) ShowEvent(*event);
}

/// Shows what happens to tracing sessions, data sources, flushes and clones.
void LifeTrace::ShowEvent(const LifeEvent& event) {
  if (event.Is<BufferSetUp>()) return;  // it has a track
  if (session_track_ == Track::kNone) session_track_ = events_.AddTrack("tracing session");
  const std::string name = Printable(event.name);
  std::vector<Arg> args = {{"record", event.record}};
  if (event.change) args.push_back({"change", std::string_view(Name(*event.change))});
  if (!name.empty()) args.push_back({"name", std::string_view(name)});
  if (event.session) args.push_back({"session", *event.session});
  if (event.producer) args.push_back({"producer", uint64_t{Raw(*event.producer)}});
  if (event.instance) args.push_back({"instance", *event.instance});
  if (event.flush) args.push_back({"flush", *event.flush});
  if (event.clone) args.push_back({"clone", *event.clone});
  events_.Instant(session_track_, now_, OpKindName(static_cast<size_t>(event.kind)), args);
}

void LifeTrace::ShowGauges() {
  for (const BufferId id : changed_) {
    Buffer& buffer = buffers_[id];
    for (Gauge* gauge : {&buffer.fill, &buffer.unread}) {
      if (gauge->value != gauge->shown) events_.Counter(gauge->track, now_, gauge->value);
      gauge->shown = gauge->value;
    }
  }
  changed_.clear();
}

/// Takes the buffer's gauges; they are shown when the record is over.
void LifeTrace::Sample(BufferId id) {
  Buffer& buffer = buffers_[id];
  if (buffer.buffer == nullptr) return;
  buffer.fill.value = lives_.HeldBytes(id);
  buffer.unread.value = buffer.buffer->engine->stats().unread_bytes();
  changed_.insert(id);
}

// Buffers and reads.

void LifeTrace::OnBufferSetUp(SessionBuffer& setup) {
  Buffer& buffer = buffers_[setup.id];
  buffer = {.buffer = &setup};
  const std::string name = fmt::format("buffer {}", Raw(setup.id));
  buffer.track = events_.AddTrack(fmt::format("{}: {}, {}, {}", name, Printable(setup.info->name),
                                              HumanSize(setup.requested_size), Name(setup.policy)));
  buffer.reads_track = events_.AddTrack(name + " reads", buffer.track);
  buffer.fill.track = events_.AddCounter(name + " fill", Unit::kBytes, buffer.track);
  buffer.unread.track = events_.AddCounter(name + " unread", Unit::kBytes, buffer.track);
}

void LifeTrace::OnReadBegun(BufferId id) {
  Buffer& buffer = buffers_[id];
  buffer.read = {};
  const Arg args[] = {{"number", ++buffer.passes},
                      {"reason", std::string_view(Name(reason_))},
                      {"record", lives_.now().record.value_or(0)}};
  events_.Begin(buffer.reads_track, now_, "read pass", args);
}

Status LifeTrace::OnPacket(const SessionPacket& packet) {
  buffers_[packet.buffer].read += {1, packet.packet->size};
  RS_RETURN_IF_ERROR(status_);
  return events_.status();
}

void LifeTrace::OnReadDone(BufferId id, uint64_t) {
  const Buffer& buffer = buffers_[id];
  const Arg args[] = {{"packets", buffer.read.packets}, {"bytes", buffer.read.bytes}};
  events_.End(buffer.reads_track, now_, args);
  Sample(id);
}

void LifeTrace::OnBufferEvent(const BufferEvent& event) {
  lives_.OnBufferEvent(event);
  if (event.kind == BufferEvent::Kind::kWrap) {
    events_.Instant(buffers_[event.buffer].track, now_, "wrap");
  } else if (event.kind == BufferEvent::Kind::kPatchMissed) {
    const Arg args[] = {{"chunk", uint64_t{Raw(event.chunk.chunk)}},
                        {"patches", uint64_t{event.patches}},
                        {"cause", std::string_view(Name(event.miss))},
                        {"record", event.at.record.value_or(0)}};
    events_.Instant(SequenceOf(event.buffer, event.chunk.sequence).track, now_, "patch missed",
                    args);
  }
}

// Chunks.

void LifeTrace::OnChunkWritten(BufferId buffer, WrittenCommit& written) {
  if (!kinds_.wanted()) return;
  const ChunkName chunk{written.commit().sequence, written.commit().chunk};
  packets_once_.AddChunk(
      buffer, written, std::nullopt,
      [&](size_t fragment, const PacketFacts& facts, Bytes content, Bytes packet) {
        kinds_.Add(buffer, chunk, fragment, facts, content, packet);
      });
}

void LifeTrace::OnChunk(BufferId buffer, const ChunkCommit& commit,
                        std::optional<Refusal> refusal) {
  notes_.OnChunk(buffer, commit, refusal);
  lives_.OnChunk(buffer, commit, refusal);
}

void LifeTrace::OnChunkDone(BufferId buffer, const ChunkCommit& commit) {
  lives_.OnChunkDone(buffer, commit);
  Sample(buffer);
}

void LifeTrace::OnChunkEntered(const ChunkLife& life) {
  if (!life.entered()) return;
  Sequence& sequence = SequenceOf(life.buffer, life.chunk.sequence);
  if (!sequence.lanes.HasFree() && sequence.lanes.size() >= kMaxLanes) {
    ++counts_.chunks_left_out;
    return;
  }
  ++counts_.chunks;
  held_[life.number] = {sequence.lanes.Take(), now_};
}

void LifeTrace::OnChunkLeft(const ChunkLife& life) {
  Sequence& sequence = SequenceOf(life.buffer, life.chunk.sequence);
  const auto held = held_.find(life.number);
  const bool drawn = held != held_.end();
  const Track track =
      drawn ? LaneTrack({life.buffer, life.chunk.sequence}, sequence, held->second.lane)
            : sequence.track;
  if (drawn) BeginSlice(track, held->second.begin, life);
  const bool evicted = life.exit == ChunkLife::Exit::kEvicted;
  const std::string by = life.evicted_by ? ToString(*life.evicted_by) : std::string();
  if (evicted) {
    // The arrow starts before it ends, also for those who read the file in its order.
    ++counts_.evictions;
    const std::string name = ToString(life.chunk);
    const Arg out[] = {{"chunk", uint64_t{Raw(life.evicted_by->chunk)}},
                       {"evicted", Unique{name}},
                       {"unread_bytes", uint64_t{life.unread_bytes}}};
    const Arg in[] = {{"culprit", Unique{by}}, {"unread_bytes", uint64_t{life.unread_bytes}}};
    const uint64_t flow = ++flows_;
    events_.Instant(SequenceOf(life.buffer, life.evicted_by->sequence).track, now_, "evicts", out,
                    flow, 0);
    events_.Instant(track, now_, "evicted", in, 0, flow);
  }
  if (!drawn) return;
  std::vector<Arg> args = {{"left", std::string_view(Name(life.exit))}};
  if (evicted) args.push_back({"culprit", Unique{by}});
  events_.End(track, now_, args);
  sequence.lanes.Give(held->second.lane);
  held_.erase(held);
}

void LifeTrace::BeginSlice(Track track, uint64_t begin, const ChunkLife& life) {
  const std::string flags = FlagsText(life);
  const Arg args[] = {{"chunk", uint64_t{Raw(life.chunk.chunk)}},
                      {"record", life.committed.record.value_or(0)},
                      {"taken", std::string_view(Name(life.entry))},
                      {"origin", std::string_view(Name(life.origin))},
                      {"fragments", uint64_t{life.fragments}},
                      {"payload_bytes", uint64_t{life.payload_bytes}},
                      {"buffer_offset", life.offset},
                      {"buffer_bytes", uint64_t{life.outer_size}},
                      {"flags", std::string_view(flags)}};
  events_.Begin(track, begin, SliceName(life), args);
}

// Losses.

void LifeTrace::OnPacketFate(const PacketAccount& account) {
  const bool is_lost = IsLoss(account.fate);
  if (!is_lost && account.fate != Fate::kFolded) return;
  if (is_lost) ++counts_.lost_packets;
  Sequence& sequence = SequenceOf(account.buffer, account.sequence);
  const auto belongs = [&](const PacketAccount& group) {
    return group.fate == account.fate && group.cause == account.cause &&
           group.own_fault == account.own_fault && group.culprit == account.culprit &&
           group.loss_bits == account.loss_bits && group.decided == account.decided;
  };
  if (sequence.loss && !belongs(sequence.loss->account)) ShowLoss(sequence);
  if (!sequence.loss) sequence.loss = LossGroup{.account = account, .kind = kinds_.Of(account)};
  sequence.loss->last_chunk = std::max(sequence.loss->last_chunk, account.last_chunk);
  sequence.loss->count += {1, account.size};
}

void LifeTrace::ShowLoss(Sequence& sequence) {
  const PacketAccount& account = sequence.loss->account;
  const std::string content = kinds_.ContentText(account.facts.content, sequence.loss->kind);
  const std::string culprit = account.culprit ? ToString(*account.culprit) : std::string();
  const std::string bits = LossBitsToString(account.loss_bits);
  std::vector<Arg> args = {{"fate", std::string_view(Name(account.fate))},
                           {"cause", std::string_view(Name(account.cause))},
                           {"packets", sequence.loss->count.packets},
                           {"bytes", sequence.loss->count.bytes},
                           {"chunk", account.first_chunk},
                           {"last_chunk", sequence.loss->last_chunk},
                           {"first_content", std::string_view(content)},
                           {"own_fault", account.own_fault},
                           {"record", account.decided.record.value_or(0)}};
  if (account.culprit) args.push_back({"culprit", Unique{culprit}});
  if (account.loss_bits != 0) args.push_back({"loss_bits", std::string_view(bits)});
  events_.Instant(sequence.track, TraceTime(account.decided), Name(account.fate), args);
  sequence.loss.reset();
}

// Tracks, made when they are first needed.

auto LifeTrace::SequenceOf(BufferId buffer, SequenceKey key) -> Sequence& {
  Sequence& sequence = sequences_[{buffer, key}];
  if (sequence.track == Track::kNone)
    sequence.track =
        events_.AddTrack(fmt::format("{} in buffer {}", notes_.NameOf(key), Raw(buffer)),
                         ProducerTrack(key.producer));
  return sequence;
}

auto LifeTrace::ProducerTrack(ProducerId id) -> Track {
  Track& track = producer_tracks_[id];
  if (track != Track::kNone) return track;
  const auto producer = producers_.find(id);
  const std::string number = fmt::format("producer {}", Raw(id));
  if (producer == producers_.end())
    track = events_.AddTrack(number);
  else if (producer->second.pid > 0)
    track = events_.AddProcess({producer->second.pid, Printable(producer->second.name)});
  else
    track = events_.AddTrack(fmt::format("{} ({})", Printable(producer->second.name), number));
  return track;
}

/// Tracks of one name below one track are one for the UI.
auto LifeTrace::LaneTrack(SequenceId id, Sequence& sequence, uint32_t lane) -> Track {
  while (sequence.lane_tracks.size() <= lane)
    sequence.lane_tracks.push_back(events_.AddTrack(
        fmt::format("{} chunks", ToString(std::get<SequenceKey>(id))), sequence.track));
  return sequence.lane_tracks[lane];
}

Status LifeTrace::Finish(std::string_view remark) {
  for (const auto& [id, buffer] : buffers_) events_.Instant(buffer.reads_track, now_, remark);
  ShowGauges();
  lives_.Finish();
  for (auto& [id, sequence] : sequences_)
    if (sequence.loss) ShowLoss(sequence);
  RS_RETURN_IF_ERROR(status_);
  RS_RETURN_IF_ERROR(events_.status());
  return trace_.Finish();
}

}  // namespace ringscope
