#include "core/sweep/sweep_replay.h"

#include <algorithm>
#include <utility>

#include "core/perfetto/packet_traits.h"

namespace ringscope {
namespace {

ReplayOptions With(ReplayOptions options, EngineLookup find_engine, EngineMaker maker) {
  options.session.find_engine = std::move(find_engine);
  options.session.make_engine = std::move(maker);
  return options;
}

}  // namespace

SweepReplay::SweepReplay(const ReplayOptions& config, EngineLookup find_engine)
    : replay_(With(config, std::move(find_engine),
                   [this](const EngineInfo& info, const EngineConfig& engine, BufferId id) {
                     return MakeEngine(info, engine, id);
                   }),
              *this),
      // Bytes of a trace depend on the sequences' ids, which clones give out, too.
      counts_trace_bytes_(config.pass_bytes.has_value()) {}

Result<std::unique_ptr<Engine>> SweepReplay::MakeEngine(const EngineInfo& info,
                                                        const EngineConfig& config, BufferId id) {
  if (!info.create_shapes) {
    // Noted here: the session takes it for a mistake in the size, if one was chosen.
    Fail({ErrorCode::kUnsupported, info.name + " keeps payloads", {}, {}});
    return ringscope::Fail(ErrorCode::kUnsupported, info.name + " keeps payloads");
  }
  std::unique_ptr<Buffer>& buffer = buffers_[id];
  buffer = std::make_unique<Buffer>();
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ShapeEngine> engine,
                      info.create_shapes(config, buffer->tally));
  buffer->engine = engine.get();
  return engine;
}

void SweepReplay::OnBufferReplaced(SessionBuffer& buffer) {
  // What it returned would have to be taken out of the losses.
  Fail({ErrorCode::kUnsupported, "a buffer is set up again", {}, {}});
  static_cast<void>(buffer);
}

void SweepReplay::OnBufferEmptied(SessionBuffer& buffer) {
  // What left with the buffer is neither overwritten nor read.
  Fail({ErrorCode::kUnsupported, "a clone takes a buffer over, or clears it", {}, {}});
  static_cast<void>(buffer);
}

void SweepReplay::OnProgramSetUp(const SessionBuffer& buffer) {
  Fail({ErrorCode::kUnsupported, "a program (ProtoVM) runs on what is overwritten", {}, {}});
  static_cast<void>(buffer);
}

void SweepReplay::Fail(Error error) {
  if (!failure_) failure_ = std::move(error);
}

void SweepReplay::CheckFailure(const Engine& engine) {
  if (engine.failure() != nullptr) [[unlikely]]
    Fail(*engine.failure());
}

/// Changes the engine of a buffer, if it has one.
template <typename Change>
void SweepReplay::WithEngine(BufferId id, Change change) {
  if (engine_ == nullptr || engine_id_ != id) [[unlikely]] {
    const auto found = buffers_.find(id);
    if (found == buffers_.end()) return;
    engine_id_ = id;
    engine_ = found->second->engine;
  }
  change(*engine_);
  CheckFailure(*engine_);
}

Status SweepReplay::ApplyOp(const Op& op) {
  ++event_;
  engine_ = nullptr;
  if (std::holds_alternative<CloneRead>(op.body)) {
    has_clones_ = true;
    return replay_.Advance(op.time_ns);
  }
  if (const auto* read = std::get_if<ReadPass>(&op.body))
    counts_trace_bytes_ |=
        !read->buffer && (read->max_bytes.has_value() || read->reason == ReadReason::kFile);
  Status status = replay_.Apply(op);
  counts_trace_bytes_ |= replay_.reads_for_file();
  return status;
}

void SweepReplay::Apply(const SweepBatch& batch) {
  for (const SweepBatch::Step& step : batch.steps) {
    if (failure_) return;
    switch (step.kind) {
      case SweepBatch::Kind::kRecord: {
        ++event_;
        if (Status status = replay_.Advance(batch.times[step.index]); !status)
          Fail(std::move(status).error());
        break;
      }
      case SweepBatch::Kind::kOp:
        if (Status status = ApplyOp(batch.ops[step.index]); !status)
          Fail(std::move(status).error());
        if (has_clones_ && counts_trace_bytes_)
          Fail({ErrorCode::kUnsupported, "the log has clones and reads of so many bytes", {}, {}});
        break;
      case SweepBatch::Kind::kChunk: {
        const SweepBatch::Chunk& chunk = batch.chunks[step.index];
        WithEngine(chunk.buffer, [&](ShapeEngine& engine) {
          ChunkShape shape = chunk.shape;
          shape.fragments = {batch.fragments.data() + chunk.first_fragment, chunk.fragments};
          engine.CommitShape(chunk.commit, shape);
        });
        break;
      }
      case SweepBatch::Kind::kPatches: {
        const SweepBatch::Patches& entry = batch.patches[step.index];
        WithEngine(entry.buffer, [&](ShapeEngine& engine) {
          ChunkPatches patches = entry.patches;
          patches.patches = {batch.patch_places.data() + entry.first, entry.count};
          engine.ApplyPatches(patches);
        });
        break;
      }
    }
  }
}

void SweepReplay::OnReadBegun(BufferId id) { buffers_.at(id)->begun = reads_.Begin(event_); }

/// Packets follow that the engine returned as one with this one.
void SweepReplay::AddFollowing(const SessionPacket& first, const PacketFacts& facts,
                               uint32_t count) {
  Packet packet = *first.packet;
  packet.dropped = 0;
  SessionPacket following = first;
  following.packet = &packet;
  for (uint32_t i = 0; i < count; ++i) losses_.AddPacket(following, facts);
}

void SweepReplay::OnTakenPacket(const SessionPacket& packet) {
  Buffer& buffer = *buffers_.at(packet.buffer);
  buffer.taken += {buffer.engine->packet_shape().packets, packet.packet->size};
}

Status SweepReplay::OnPacket(const SessionPacket& packet) {
  Buffer& buffer = *buffers_.at(packet.buffer);
  const PacketShape& shape = buffer.engine->packet_shape();
  // Packets that come as one have the same facts, so that all but the first change nothing in the
  // state of their sequence; but each counts what it reports itself.
  const PacketFacts facts = FactsOf(shape.traits);
  losses_.AddPacket(packet, facts);
  if (facts.dropped != 0) [[unlikely]]
    AddFollowing(packet, facts, shape.packets - 1);
  const PacketCount count{shape.packets, packet.packet->size};
  buffer.read += count;
  if (buffer.in_read != buffer.begun) buffer.oldest_ns = buffer.newest_ns = shape.committed_ns;
  buffer.in_read = buffer.begun;
  buffer.oldest_ns = std::min(buffer.oldest_ns, shape.committed_ns);
  buffer.newest_ns = std::max(buffer.newest_ns, shape.committed_ns);

  while (buffer.sequences.size() <= shape.slot) buffer.sequences.emplace_back();
  SequenceReads& sequence = buffer.sequences[shape.slot];
  sequence.read += count;
  if (sequence.in_read != buffer.in_read)
    sequence.oldest_ns = sequence.newest_ns = shape.committed_ns;
  sequence.oldest_ns = std::min(sequence.oldest_ns, shape.committed_ns);
  sequence.newest_ns = std::max(sequence.newest_ns, shape.committed_ns);
  sequence.in_read = buffer.in_read;
  return {};
}

void SweepReplay::FillRow(const SessionBuffer& session_buffer, const WrittenTally* written,
                          uint64_t end_ns, uint64_t duration_ns, SweepRow& row) {
  const Buffer& buffer = *buffers_.at(session_buffer.id);
  row.read = buffer.read;
  row.taken = buffer.taken;
  row.used_bytes = buffer.tally.used_bytes();
  const FillPolicy policy = session_buffer.policy;
  if (buffer.in_read != 0)
    row.history_ns = HistoryOf(buffer.oldest_ns, buffer.newest_ns, end_ns, policy);
  if (written == nullptr) return;

  row.written = written->written();
  written->VisitSequences([&](SequenceKey key, const PacketCount& count) {
    if (count.packets == 0) return;
    SweepSequence& sequence = row.sequences.emplace_back();
    sequence.sequence = key;
    sequence.written = count;
    const PacketCount discarded = buffer.tally.discarded(key);
    const uint32_t slot = buffer.engine->SlotOf(key);
    const SequenceReads* reads = nullptr;
    if (slot != KeyIndex::kNone) {
      sequence.overwritten = buffer.tally.overwritten(slot);
      if (slot < buffer.sequences.size()) reads = &buffer.sequences[slot];
    }
    if (reads != nullptr) sequence.read = reads->read;
    row.overwritten += sequence.overwritten;
    row.discarded += discarded;
    if (sequence.overwritten.packets + discarded.packets == 0)
      sequence.history_ns = duration_ns;
    else if (reads != nullptr && reads->read.packets > 0 && reads->in_read == buffer.in_read)
      sequence.history_ns = HistoryOf(reads->oldest_ns, reads->newest_ns, end_ns, policy);
    row.NoteHistory(sequence);
  });
  row.FinishHistory(duration_ns);
}

void SweepReplay::Finish(const std::map<BufferId, WrittenTally>& written, uint64_t end_ns,
                         uint64_t duration_ns) {
  std::vector<SweepRow> rows;
  ++event_;
  if (Status status = replay_.Finish(); !status) Fail(std::move(status).error());
  const std::map<BufferId, BufferLosses> losses = losses_.Result();
  for (const auto& [id, buffer] : replay_.session().buffers()) {
    if (failure_) return;
    const auto tally = written.find(id);
    SweepRow& row = rows.emplace_back(SweepRow{OutcomeOf(buffer)});
    FillRow(buffer, tally == written.end() ? nullptr : &tally->second, end_ns, duration_ns, row);
    if (const auto loss = losses.find(id); loss != losses.end()) row.losses = loss->second;
    CheckFailure(*buffer.engine);
    // What one more read would return; the engine is of no further use then.
    ShapeEngine& engine = *buffers_.at(id)->engine;
    engine.ExpectWholePass();
    engine.BeginRead();
    while (const Packet* packet = engine.NextPacket())
      row.unread += {engine.packet_shape().packets, packet->size};
    row.stuck = engine.TakeStuckPackets();
    CheckFailure(*buffer.engine);
  }
  if (!failure_) rows_ = std::move(rows);
}

}  // namespace ringscope
