#include "core/tape/tape_player.h"

#include <utility>

namespace ringscope {
namespace {

std::vector<ReplayListener*> LedgerFirst(Ledger* ledger, std::vector<ReplayListener*> listeners) {
  if (ledger != nullptr) listeners.insert(listeners.begin(), ledger);
  return listeners;
}

}  // namespace

TapePlayer::TapePlayer(Ledger* ledger, std::vector<ReplayListener*> listeners)
    : ledger_(ledger),
      listeners_(LedgerFirst(ledger, listeners)),
      others_(std::move(listeners)),
      all_(listeners_) {}

void TapePlayer::SetUp(const SessionBuffer& buffer) {
  auto engine = std::make_unique<PlayedEngine>();
  engine->SetStats(buffer.engine->stats());
  PlayedBuffer& played = buffers_[buffer.id];
  played.engine = engine.get();
  played.buffer.id = buffer.id;
  played.buffer.index = buffer.index;
  played.buffer.requested_size = buffer.requested_size;
  played.buffer.policy = buffer.policy;
  played.buffer.info = buffer.info;
  played.buffer.session = buffer.session;
  played.buffer.engine = std::move(engine);
  all_.Call(&ReplayListener::OnBufferSetUp, played.buffer);
}

Status TapePlayer::Play(TapeSection& section) {
  using Kind = TapeSection::Kind;
  for (const TapeSection::Step step : section.steps) {
    const size_t i = step.index;
    switch (step.kind) {
      case Kind::kRecord: {
        const TapeSection::Record& record = section.records[i];
        all_.Call(&ReplayListener::OnRecord, record.op, record.moment);
        break;
      }
      case Kind::kChunk: {
        TapeSection::Chunk& chunk = section.chunks[i];
        if (ledger_ != nullptr) ledger_->OnWrittenChunk(chunk.buffer, chunk.written, chunk.refusal);
        others_.Call(&ReplayListener::OnChunk, chunk.buffer, chunk.commit, chunk.refusal);
        break;
      }
      case Kind::kChunkDone:
        all_.Call(&ReplayListener::OnChunkDone, section.chunks[i].buffer, section.chunks[i].commit);
        break;
      case Kind::kPatch:
        all_.Call(&ReplayListener::OnPatch, section.counts[i].buffer, section.counts[i].count != 0);
        break;
      case Kind::kReadBegun:
        all_.Call(&ReplayListener::OnReadBegun, section.counts[i].buffer);
        break;
      case Kind::kReadLimited:
        all_.Call(&ReplayListener::OnReadLimited, section.counts[i].buffer);
        break;
      case Kind::kReadDone:
        all_.Call(&ReplayListener::OnReadDone, section.counts[i].buffer, section.counts[i].count);
        break;
      case Kind::kPacket: {
        const TapeSection::ReadPacket& packet = section.packets[i];
        if (ledger_ != nullptr) ledger_->OnReadPacket(packet.of_session, packet.facts);
        RS_RETURN_IF_ERROR(others_.Call(&ReplayListener::OnPacket, packet.of_session));
        break;
      }
      case Kind::kTakenPacket:
        all_.Call(&ReplayListener::OnTakenPacket, section.packets[i].of_session);
        break;
      case Kind::kClonePacket:
        all_.Call(&ReplayListener::OnClonePacket, section.packets[i].of_session);
        break;
      case Kind::kDrainBegun:
        all_.Call(&ReplayListener::OnDrainBegun, section.counts[i].buffer);
        break;
      case Kind::kDrainPacket:
        all_.Call(&ReplayListener::OnDrainPacket, section.packets[i].of_session.buffer,
                  section.packets[i].packet);
        break;
      case Kind::kEvent:
        all_.Call(&ReplayListener::OnBufferEvent, section.events[i]);
        break;
      case Kind::kDrainEvent:
        all_.Call(&ReplayListener::OnDrainEvent, section.events[i]);
        break;
      case Kind::kStats:
        buffers_.at(section.stats[i].buffer).engine->SetStats(section.stats[i].stats);
        break;
    }
  }
  return {};
}

}  // namespace ringscope
