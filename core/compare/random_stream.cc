#include "core/compare/random_stream.h"

#include <algorithm>
#include <utility>

#include "core/base/wire.h"

namespace ringscope {
namespace {

/// Sequences of a stream that makes a buffer forget some: V2 remembers 1024 to 1152 empty ones.
constexpr uint32_t kForgettingWriters = 1500;

}  // namespace

RandomStream::RandomStream(Dice dice, Conduct conduct, StreamMode mode, uint64_t ample_size,
                           bool keeps_written)
    : dice_(std::move(dice)), keeps_written_(keeps_written) {
  traits_.conduct = conduct;
  traits_.fits = OneIn(4);
  traits_.size = traits_.fits ? ample_size : OneIn(8) ? 65536 : kPageBytes * (1 + Below(4));
  if (OneIn(6)) traits_.policy = FillPolicy::kDiscard;
  traits_.scrapes = OneIn(2);
  traits_.aborts = OneIn(3);
  traits_.losses = OneIn(3);
  traits_.swaps = OneIn(3);
  traits_.patches = OneIn(2);
  traits_.wraps_ids = OneIn(5);
  traits_.writers = OneIn(10) ? 50 + Below(1500) : 1 + Below(6);
  // A chunk that is scraped keeps its size.
  if (traits_.scrapes || OneIn(3))
    traits_.chunk_size = OneIn(4) ? 4000 : OneIn(3) ? kEvenChunk : 64 + Below(900);
  traits_.tiny_chunks = !traits_.scrapes && OneIn(6);
  if (traits_.tiny_chunks) {
    traits_.chunk_size = 0;
    traits_.writers = 1 + Below(2);
    if (!traits_.fits) traits_.size = 65536;
  }
  traits_.mixes_identities = conduct == Conduct::kHostile && OneIn(2);
  traits_.jumps_ids = conduct == Conduct::kHostile && OneIn(3);
  SetMode(mode);
  writers_.resize(traits_.writers);
  for (uint32_t i = 0; i < traits_.writers; ++i) {
    Writer& writer = writers_[i];
    writer.key = {ProducerId{static_cast<uint16_t>(1 + i / 4)},
                  WriterId{static_cast<uint16_t>(1 + i % 4)}};
    if (traits_.wraps_ids) writer.next_chunk = ChunkId{uint32_t{0} - Below(12)};
    writer.identity = {1000 + i / 4, static_cast<int32_t>(i / 4)};
    writer.first_chunk = writer.next_chunk;
    if (keeps_written_)
      written_[writer.key] = {
          .identity = writer.identity, .first_chunk = writer.first_chunk, .packets = {}};
  }
}

/// Takes the traits that the mode is about.
void RandomStream::SetMode(StreamMode mode) {
  traits_.mode = mode;
  if (mode == StreamMode::kWrapIds) traits_.wraps_ids = true;
  if (mode != StreamMode::kForgetting) return;
  // Many sequences with a chunk each, that reads and small buffers empty.
  traits_.writers = kForgettingWriters;
  traits_.tiny_chunks = true;
  traits_.scrapes = traits_.fits = false;
  traits_.chunk_size = 0;
  traits_.size = 65536;
  traits_.policy = FillPolicy::kRingBuffer;
}

RandomStream::Step RandomStream::Next() {
  Step step;
  const uint32_t dice = Below(100);
  const bool often_limits = traits_.mode == StreamMode::kReadLimits;
  if (dice < (often_limits ? 12u : 4u)) {
    step.kind = Kind::kRead;
    if (often_limits || OneIn(3)) step.max_packets = Below(often_limits ? 6 : 20);
    return step;
  }
  if (traits_.mode == StreamMode::kClones ? dice < 16 : dice < 5) {
    step.kind = Kind::kClone;
    return step;
  }
  const bool in_turn = traits_.mode == StreamMode::kForgetting && !OneIn(8);
  Writer& writer = writers_[in_turn ? turn_++ % traits_.writers : Below(traits_.writers)];
  const bool may_patch = traits_.conduct == Conduct::kHostile || HasDuePatch(writer);
  step = may_patch && dice < 25 ? PatchStep(writer) : CommitStep(writer);
  if (traits_.conduct == Conduct::kHostile && OneIn(4)) Spoil(writer, step);
  if (traits_.mixes_identities && step.kind == Kind::kCommit) step.commit.identity.uid += Below(3);
  return step;
}

std::optional<RandomStream::Step> RandomStream::NextToFinish() {
  for (; finishing_ < writers_.size(); ++finishing_) {
    Writer& writer = writers_[finishing_];
    // What is left of a packet, what is scraped, what is held back, then patches.
    if (writer.open || writer.in_packet || writer.held) {
      if (writer.open) {
        const BuiltChunk chunk = *std::exchange(writer.open, std::nullopt);
        return Complete(writer, chunk);
      }
      if (writer.held) {
        const BuiltChunk chunk = *std::exchange(writer.held, std::nullopt);
        return Complete(writer, chunk);
      }
      return Complete(writer, Build(writer, false));
    }
    if (!writer.due.empty()) return PatchStep(writer);
  }
  return std::nullopt;
}

RandomStream::Step RandomStream::CommitStep(Writer& writer) {
  if (writer.open) {
    if (OneIn(3)) return Scrape(writer, *writer.open);
    const BuiltChunk chunk = *std::exchange(writer.open, std::nullopt);
    return Complete(writer, chunk);
  }
  if (writer.held && OneIn(2)) {
    const BuiltChunk chunk = *std::exchange(writer.held, std::nullopt);
    return Complete(writer, chunk);
  }
  BuiltChunk chunk = Build(writer, true);
  if (traits_.losses && OneIn(20)) {
    Lose(writer, chunk);
    chunk = Build(writer, true);
  }
  if (traits_.swaps && !writer.held && OneIn(8)) {
    writer.held = std::move(chunk);
    chunk = Build(writer, true);
  }
  if (traits_.scrapes && OneIn(4)) return Scrape(writer, writer.open.emplace(std::move(chunk)));
  return Complete(writer, chunk);
}

RandomStream::Step RandomStream::Complete(Writer& writer, const BuiltChunk& chunk) {
  payload_ = chunk.payload;
  payload_.resize(std::max<size_t>(payload_.size(), traits_.chunk_size));
  Step step;
  step.commit = {.sequence = writer.key,
                 .identity = writer.identity,
                 .chunk = chunk.id,
                 .fragments = static_cast<uint16_t>(chunk.ends.size()),
                 .flags = chunk.flags,
                 .complete = true,
                 .payload = wire::AsBytes(payload_)};
  return step;
}

/// The chunk as the service finds it while its writer is at one of its fragments.
RandomStream::Step RandomStream::Scrape(Writer& writer, BuiltChunk& chunk) {
  const auto all = static_cast<uint32_t>(chunk.ends.size());
  chunk.scraped += Below(all - chunk.scraped + 1);
  Step step = Complete(writer, chunk);
  const bool at_end = chunk.scraped == all;
  const uint32_t whole_bytes = chunk.scraped == 0 ? 0 : chunk.ends[chunk.scraped - 1];
  // The fragment that is being written counts, though nothing of it can be relied on.
  step.commit.fragments = static_cast<uint16_t>(at_end ? all : chunk.scraped + 1);
  step.commit.complete = false;
  if (!at_end) {
    step.commit.flags &= kFirstContinues;
    std::fill(payload_.begin() + whole_bytes, payload_.end(), '\0');
  }
  return step;
}

/// Whether patches are due for a chunk that was handed over.
bool RandomStream::HasDuePatch(const Writer& writer) {
  if (writer.due.empty()) return false;
  const ChunkId chunk = writer.due.front().chunk;
  return !(writer.open && writer.open->id == chunk) && !(writer.held && writer.held->id == chunk);
}

RandomStream::Step RandomStream::PatchStep(Writer& writer) {
  Step step;
  step.kind = Kind::kPatch;
  step.patches.sequence = writer.key;
  patch_data_.clear();
  patches_.clear();
  const auto add = [this](uint64_t offset, std::string bytes) {
    const std::string& kept = patch_data_.emplace_back(std::move(bytes));
    patches_.push_back({.offset = offset, .data = reinterpret_cast<const uint8_t*>(kept.data())});
  };
  if (HasDuePatch(writer)) {
    DuePatch& due = writer.due.front();
    step.patches.chunk = due.chunk;
    if (due.patches.size() > 1 && OneIn(2)) {  // the first now, the rest later
      add(due.patches[0].first, due.patches[0].second);
      due.patches.erase(due.patches.begin());
      step.patches.more = true;
    } else {
      for (const auto& [offset, bytes] : due.patches) add(offset, bytes);
      writer.due.pop_front();
    }
  } else {  // for a chunk that is not there
    step.patches.chunk = Successor(writer.next_chunk);
    add(Below(100), "none");
  }
  step.patches.patches = patches_;
  return step;
}

}  // namespace ringscope
