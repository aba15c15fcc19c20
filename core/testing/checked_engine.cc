#include "core/testing/checked_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/wire.h"

namespace ringscope::testing {
namespace {

using Kind = RandomStream::Kind;

Seen Keep(const Packet& packet) {
  Seen seen{packet.sequence, packet.identity, packet.dropped, packet.place, {}};
  for (const Bytes slice : packet.slices) seen.content += wire::AsText(slice);
  return seen;
}

std::vector<Seen> Read(Engine& engine, uint64_t max_packets = UINT64_MAX) {
  std::vector<Seen> packets;
  engine.BeginRead();
  while (packets.size() < max_packets) {
    const Packet* const packet = engine.NextPacket();
    if (packet == nullptr) break;
    packets.push_back(Keep(*packet));
  }
  return packets;
}

HeldChunk Keep(const ObservedChunk& chunk) {
  return {chunk.sequence,     chunk.chunk,         chunk.offset, chunk.outer_size,
          chunk.payload_size, chunk.payload_avail, chunk.flags,  chunk.incomplete};
}

std::vector<HeldChunk> ChunksOf(const Engine& engine) {
  std::vector<HeldChunk> chunks;
  const auto cursor =
      engine.VisitChunks([&](const ObservedChunk& chunk) { chunks.push_back(Keep(chunk)); });
  chunks.push_back({.offset = *cursor});
  return chunks;
}

const StatSet kTallied = {&BufferStats::chunks_written,        &BufferStats::bytes_written,
                          &BufferStats::chunks_relocated,      &BufferStats::patches_succeeded,
                          &BufferStats::patches_failed,        &BufferStats::write_wrap_count,
                          &BufferStats::padding_bytes_written, &BufferStats::chunks_discarded};

}  // namespace

std::string Describe(const Seen& seen) {
  return fmt::format("packet {}:{} chunk {}+{}..{}, {} bytes, dropped {}",
                     Raw(seen.sequence.producer), Raw(seen.sequence.writer),
                     Raw(seen.place.first_chunk), seen.place.first_offset,
                     Raw(seen.place.last_chunk), seen.content.size(), seen.dropped);
}

std::string Difference(const std::vector<Seen>& a, const std::vector<Seen>& b) {
  if (a == b) return "";
  const size_t common = std::min(a.size(), b.size());
  for (size_t i = 0; i < common; ++i)
    if (a[i] != b[i]) return fmt::format("{} against {}", Describe(a[i]), Describe(b[i]));
  return fmt::format("{} packets against {}; the next is {}", a.size(), b.size(),
                     Describe(a.size() > common ? a[common] : b[common]));
}

std::string Difference(BufferStats a, BufferStats b, const StatSet& apart) {
  for (uint64_t BufferStats::*const field : apart) a.*field = b.*field = 0;
  for (const StatField& field : kStatFields) {
    if (a.*field.value != b.*field.value)
      return fmt::format("{} {} against {}", field.name, a.*field.value, b.*field.value);
  }
  return "";
}

void StepObserver::OnCommitted(const ObservedChunk& chunk) {
  ++stats.chunks_written;
  stats.bytes_written += chunk.outer_size;
  held[chunk.offset] = Keep(chunk);
}

void StepObserver::OnRewritten(const ObservedChunk& chunk) {
  ++stats.chunks_rewritten;
  held[chunk.offset] = Keep(chunk);
}

void StepObserver::OnPatched(const ObservedChunk& chunk, const ChunkPatches& patches) {
  stats.patches_succeeded += patches.patches.size();
  held[chunk.offset] = Keep(chunk);
}

void StepObserver::OnDiscarded(const ChunkCommit&, DiscardReason reason) {
  const bool violates = reason == DiscardReason::kTooLarge || reason == DiscardReason::kBadRecommit;
  stats.chunks_discarded += !violates;
}

CheckedEngine::CheckedEngine(const EngineInfo& engine, const StreamTraits& traits)
    : name(engine.name),
      discards_(traits.policy == FillPolicy::kDiscard),
      plain_(engine.create({.size = traits.size, .policy = traits.policy}).value()),
      observed_(
          engine.create({.size = traits.size, .policy = traits.policy, .observer = &observer_})
              .value()) {}

std::string CheckedEngine::Apply(const RandomStream::Step& step) {
  packets.clear();
  patched.reset();
  switch (step.kind) {
    case Kind::kCommit:
      plain_->Commit(step.commit);
      observed_->Commit(step.commit);
      break;
    case Kind::kPatch:
      patched = plain_->ApplyPatches(step.patches);
      if (observed_->ApplyPatches(step.patches) != patched) return "an observer changes a patch";
      break;
    case Kind::kRead:
      if (std::string wrong = ReadBoth(step.max_packets); !wrong.empty()) return wrong;
      break;
    case Kind::kClone:
      if (std::string wrong = ReadClone(); !wrong.empty()) return wrong;
      break;
  }
  stats = plain_->stats();
  const std::string wrong = Check();
  return wrong.empty() ? CheckChunks() : wrong;
}

/// An engine's chunks are those that it reported, in order of offsets; with padding, back to back.
std::string CheckedEngine::CheckChunks() const {
  std::vector<HeldChunk> chunks = ChunksOf(*observed_);
  if (chunks != ChunksOf(*plain_)) return "an observer changes what is in the buffer";
  if (chunks.back().offset > stats.buffer_size) return "the write cursor is out of bounds";
  chunks.pop_back();
  uint64_t end = 0;
  auto reported = observer_.held.begin();
  for (const HeldChunk& chunk : chunks) {
    if (chunk.offset != end) return fmt::format("{} follows {} in the buffer", chunk.offset, end);
    end += chunk.outer_size;
    if (chunk.sequence == SequenceKey{}) continue;
    if (reported == observer_.held.end() || reported->second.payload_avail < chunk.payload_avail)
      return fmt::format("the chunk at {} was not reported", chunk.offset);
    // Reads since then may have consumed more of it.
    HeldChunk expected = (reported++)->second;
    expected.payload_avail = chunk.payload_avail;
    if (chunk != expected) return fmt::format("the chunk at {} was not reported", chunk.offset);
  }
  if (reported != observer_.held.end())
    return fmt::format("the chunk at {} is not in the buffer", reported->first);
  return end <= stats.buffer_size ? "" : "the chunks are larger than the buffer";
}

std::string CheckedEngine::ReadBoth(uint64_t max_packets) {
  packets = Read(*plain_, max_packets);
  read_ += packets.size();
  const std::string differs = Difference(packets, Read(*observed_, max_packets));
  return differs.empty() ? "" : "an observer changes a read: " + differs;
}

/// A clone reads what the original would, and does not touch it.
std::string CheckedEngine::ReadClone() {
  const auto clone = plain_->Clone().value();
  const BufferStats before = plain_->stats();
  if (const auto differs = Difference(before.WithoutReads(), clone->stats()); !differs.empty())
    return "a clone's counters: " + differs;
  if (ChunksOf(*clone) != ChunksOf(*plain_)) return "a clone has other chunks";
  const std::vector<Seen> cloned = Read(*clone);
  if (const auto differs = Difference(before, plain_->stats()); !differs.empty())
    return "a read of a clone changes the original: " + differs;
  if (const std::string wrong = clone->CheckInvariants(); !wrong.empty())
    return "a clone: " + wrong;
  if (std::string wrong = ReadBoth(UINT64_MAX); !wrong.empty()) return wrong;
  const std::string differs = Difference(cloned, packets);
  return differs.empty() ? "" : "a clone reads otherwise: " + differs;
}

std::string CheckedEngine::Check() {
  if (std::string wrong = plain_->CheckInvariants(); !wrong.empty()) return wrong;
  if (const auto differs = Difference(stats, observed_->stats()); !differs.empty())
    return "an observer changes counters: " + differs;
  for (uint64_t BufferStats::*const field : kTallied) {
    BufferStats counted, reported;
    counted.*field = stats.*field;
    reported.*field = observer_.stats.*field;
    if (const auto differs = Difference(counted, reported); !differs.empty())
      return "an observer is not notified of all: " + differs;
  }
  // A re-commit that adds nothing may complete a chunk: reported, not counted.
  if (observer_.stats.chunks_rewritten < stats.chunks_rewritten)
    return "an observer is not notified of each rewritten chunk";
  if (observer_.returned != read_) return "an observer is not notified of each packet";
  if (discards_ && name != "v1" && name != "v2@54" &&
      stats.bytes_overwritten + stats.write_wrap_count != 0)
    return "a discard buffer writes over what it has";
  // Up to v55, chunks that were read out and wait for their writer count as overwritten, too. V1
  // can count a chunk as read more than once.
  if (name == "v1" || name == "v2@54" || name == "v2@55") return "";
  // A chunk can be read again once more of it is committed.
  if (stats.chunks_read + stats.chunks_overwritten > stats.chunks_written + stats.chunks_rewritten)
    return "more chunks were read and overwritten than came";
  if (stats.chunks_rewritten == 0 &&
      stats.bytes_read + stats.bytes_overwritten > stats.bytes_written)
    return "more bytes were read and overwritten than written";
  return "";
}

}  // namespace ringscope::testing
