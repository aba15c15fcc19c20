#include "core/fuzz/random_stream.h"

#include <algorithm>
#include <array>

#include "core/base/wire.h"
#include "core/perfetto/commit_request.h"
#include "core/perfetto/fragment.h"

namespace ringscope {
namespace {

constexpr std::string_view kAbortMarker = "\xFF\xFF\xFF\x7F";

/// Fragments of these bytes need two bytes for their size; for space, all count as if.
constexpr uint32_t kSizeBytes = 2;

/// Sequences of a stream that makes a buffer forget some: V2 remembers 1024 to 1152 empty ones.
constexpr uint32_t kForgettingWriters = 1500;

/// Payloads of which a whole number fills a buffer to its last byte.
constexpr uint32_t kEvenChunk = 1008;

/// The Mersenne Twister MT19937: the same numbers everywhere for the same seed, and no source of
/// other ones.
class MersenneTwister {
 public:
  explicit MersenneTwister(uint32_t seed) {
    state_[0] = seed;
    for (uint32_t i = 1; i < kSize; ++i)
      state_[i] = 1812433253u * (state_[i - 1] ^ state_[i - 1] >> 30) + i;
  }
  uint32_t Next() {
    if (next_ == kSize) Twist();
    uint32_t number = state_[next_++];
    number ^= number >> 11;
    number ^= number << 7 & 0x9D2C5680u;
    number ^= number << 15 & 0xEFC60000u;
    return number ^ number >> 18;
  }

 private:
  static constexpr uint32_t kSize = 624, kShift = 397;

  void Twist() {
    for (uint32_t i = 0; i < kSize; ++i) {
      const uint32_t both = (state_[i] & 0x80000000u) | (state_[(i + 1) % kSize] & 0x7FFFFFFFu);
      state_[i] = state_[(i + kShift) % kSize] ^ both >> 1 ^ (both % 2 == 0 ? 0 : 0x9908B0DFu);
    }
    next_ = 0;
  }

  std::array<uint32_t, kSize> state_;
  uint32_t next_ = kSize;
};

}  // namespace

Dice SeededDice(uint32_t seed) {
  return [random = MersenneTwister(seed)]() mutable { return random.Next(); };
}

Dice InputDice(Bytes input) {
  return [input, at = size_t{0}]() mutable -> uint32_t {
    uint32_t number = 0;
    // Two bytes decide all that is drawn here.
    for (int i = 0; i < 2 && at < input.size(); ++i) number = number << 8 | input[at++];
    return number;
  };
}

RandomStream::RandomStream(Dice dice, Conduct conduct, StreamMode mode, uint64_t ample_size)
    : dice_(std::move(dice)) {
  traits_.conduct = conduct;
  traits_.fits = OneIn(4);
  traits_.size = traits_.fits ? ample_size : OneIn(8) ? 65536 : 4096 * (1 + Below(4));
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
    WrittenSequence& sequence = written_[writer.key];
    sequence.identity = {1000 + i / 4, static_cast<int32_t>(i / 4)};
    sequence.first_chunk = writer.next_chunk;
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

/// Bytes that differ from packet to packet.
std::string RandomStream::NewContent(uint32_t size) {
  const uint32_t number = ++packets_;
  std::string content(size, '\0');
  char* const to = content.data();
  for (uint32_t i = 0; i < size; ++i)
    to[i] = static_cast<char>(number >> (i % 4 * 8) ^ (i / 4 * 37));
  return content;
}

/// @param may_begin whether a packet may be begun that continues after this chunk
RandomStream::BuiltChunk RandomStream::Build(Writer& writer, bool may_begin) {
  BuiltChunk chunk;
  chunk.id = writer.next_chunk;
  writer.next_chunk = Successor(chunk.id);
  uint32_t space = traits_.chunk_size > 0 ? traits_.chunk_size
                   : traits_.tiny_chunks  ? 10 + Below(20)
                                          : 32 + Below(OneIn(10) ? 5000 : 600);
  const bool aborts = traits_.aborts && OneIn(12);
  const auto abort = [&chunk] {
    chunk.payload += kAbortMarker;
    chunk.ends.push_back(static_cast<uint32_t>(chunk.payload.size()));
  };
  if (writer.in_packet) {
    chunk.flags |= kFirstContinues;
    if (aborts && OneIn(2)) {  // in the middle of the packet
      writer.in_packet = false;
      abort();
      return chunk;
    }
    if (AddPart(writer, chunk, space)) return chunk;
    space -= std::min(space, static_cast<uint32_t>(chunk.payload.size()));
  }
  for (uint32_t n = Below(6); n > 0 && space > 8; --n)
    space -= AddWhole(writer, chunk, OneIn(8) ? 0 : std::min(Below(150), space - kSizeBytes));
  if (traits_.chunk_size == kEvenChunk && space > 8 && OneIn(2))  // to the last byte
    space -= AddWhole(writer, chunk, space - (space <= 128 ? 1 : kSizeBytes));
  if (aborts && space >= kAbortMarker.size()) {
    abort();
  } else if (may_begin && space > 8 && OneIn(3)) {
    const WrittenSequence& sequence = written_[writer.key];
    writer.in_packet = true;
    writer.is_broken = false;
    writer.place = {Distance(sequence.first_chunk, chunk.id),
                    static_cast<uint32_t>(chunk.payload.size())};
    writer.content = NewContent(1 + Below(OneIn(6) ? 9000 : 500));
    writer.written = 0;
    AddPart(writer, chunk, space);
  }
  return chunk;
}

/// Adds a packet of this size. @return bytes that it takes
uint32_t RandomStream::AddWhole(Writer& writer, BuiltChunk& chunk, uint32_t size) {
  const auto offset = static_cast<uint32_t>(chunk.payload.size());
  std::string content = NewContent(size);
  wire::AppendVarint(chunk.payload, size);
  chunk.payload += content;
  chunk.ends.push_back(static_cast<uint32_t>(chunk.payload.size()));
  WrittenSequence& sequence = written_[writer.key];
  if (size > 0) {
    sequence.packets[{Distance(sequence.first_chunk, chunk.id), offset}] = {chunk.id,
                                                                            std::move(content)};
  }
  return chunk.ends.back() - offset;
}

/// Adds the next fragment of the packet that the writer is in. @return whether it continues after
bool RandomStream::AddPart(Writer& writer, BuiltChunk& chunk, uint32_t space) {
  const size_t left = writer.content.size() - writer.written;
  const bool begins = writer.written == 0 && (chunk.flags & kFirstContinues) == 0;
  uint32_t size = space - kSizeBytes - 1;
  const bool fills = begins || left > size || OneIn(5);
  if (fills && OneIn(3)) size = Below(size + 1);  // a chunk that is handed over early
  size = static_cast<uint32_t>(std::min<size_t>(size, left));
  const bool continues = begins || size < left;
  const std::string_view part = std::string_view(writer.content).substr(writer.written, size);
  writer.written += size;
  wire::AppendVarint(chunk.payload, size);
  chunk.payload += part;
  chunk.ends.push_back(static_cast<uint32_t>(chunk.payload.size()));
  if (continues) {
    chunk.flags |= kLastContinues;
    if (traits_.patches && OneIn(2)) AddPatches(writer, chunk, size);
    return true;
  }
  writer.in_packet = false;
  if (!writer.is_broken)
    written_[writer.key].packets[writer.place] = {chunk.id, std::move(writer.content)};
  return false;
}

/// Takes up to two times four bytes out of the chunk's last fragment: they come as patches.
void RandomStream::AddPatches(Writer& writer, BuiltChunk& chunk, uint32_t part_size) {
  chunk.flags |= kNeedsPatching;
  DuePatch due;
  due.chunk = chunk.id;
  const size_t start = chunk.payload.size() - part_size;
  for (uint32_t n = 0; n < 1 + Below(2) && part_size >= 8; ++n) {
    const size_t offset = start + n * 4 + Below(part_size / 2 - 3) / 2;
    if (!due.patches.empty() && offset < due.patches.back().first + kPatchSize) break;
    due.patches.emplace_back(offset, chunk.payload.substr(offset, kPatchSize));
  }
  for (const auto& [offset, bytes] : due.patches)
    chunk.payload.replace(offset, kPatchSize, 4, '\0');
  writer.due.push_back(std::move(due));
}

/// The chunk is never committed, so no packet with a fragment in it is complete.
void RandomStream::Lose(Writer& writer, const BuiltChunk& chunk) {
  WrittenSequence& sequence = written_[writer.key];
  const uint32_t steps = Distance(sequence.first_chunk, chunk.id);
  std::erase_if(sequence.packets, [&](const auto& entry) {
    return entry.first.first <= steps &&
           steps <= Distance(sequence.first_chunk, entry.second.last_chunk);
  });
  if (writer.in_packet) writer.is_broken = true;
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
                 .identity = written_[writer.key].identity,
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

/// Makes of a step what no writer would send.
void RandomStream::Spoil(Writer& writer, Step& step) {
  if (step.kind == Kind::kPatch) {
    step.patches.chunk = ChunkId{Raw(step.patches.chunk) - 1 - Below(4)};
    // Often at the start of a chunk, where sizes of fragments are.
    for (Patch& patch : patches_)
      patch.offset = OneIn(8) ? UINT64_MAX - Below(8) : Below(OneIn(2) ? 8 : 600);
    step.patches.more = OneIn(4);
    return;
  }
  if (step.kind != Kind::kCommit) return;
  if (traits_.jumps_ids && OneIn(2)) {
    step.commit.chunk = Jumped(step.commit.chunk);
    if (OneIn(2)) writer.next_chunk = Successor(step.commit.chunk);  // continues there
    return;
  }
  // What begins here is often lost on the way to a chunk that is read nevertheless.
  const bool begins_packet = (step.commit.flags & kLastContinues) != 0;
  switch (begins_packet && traits_.mixes_identities && OneIn(2) ? 8 : Below(10)) {
    case 0:
      step.commit.chunk = ChunkId{dice_() << 16 ^ dice_()};
      break;
    case 1:
      step.commit.chunk = ChunkId{Raw(step.commit.chunk) - Below(20)};
      break;
    case 2:
      step.commit.flags = static_cast<uint8_t>(Below(64));
      break;
    case 3:
      step.commit.fragments = static_cast<uint16_t>(Below(1024));
      break;
    case 4:
      for (char& byte : payload_)
        if (OneIn(20)) byte = static_cast<char>(dice_());
      break;
    case 5:
      payload_.append(Below(OneIn(10) ? 40000 : 9000), static_cast<char>(Below(256)));
      break;
    case 6:
      step.commit.complete = !step.commit.complete;
      break;
    case 7:
      step.commit.sequence.writer = WriterId{static_cast<uint16_t>(1 + Below(5))};
      break;
    case 8:
      SpoilSize(step.commit.fragments);
      break;
    case 9:  // a hole in what it belongs to: a chunk without fragments, patched or not
      step.commit.fragments = 0;
      step.commit.flags = static_cast<uint8_t>(Below(8));
      break;
    default:
      break;
  }
  payload_.resize(std::min(payload_.size(), kMaxChunkPayload));
  step.commit.payload = wire::AsBytes(payload_);
}

/// An id far away, where the order of ids ends, or near to that.
ChunkId RandomStream::Jumped(ChunkId id) {
  const uint32_t steps = uint32_t{1} << (29 + Below(3));
  const uint32_t near = OneIn(2) ? 0 : Below(5) - 2;
  return ChunkId{Raw(id) + (OneIn(2) ? steps : 0 - steps) + near};
}

/// Writes a size in place of one of the first `count` of the payload's, with the bytes after it
/// left as they are.
void RandomStream::SpoilSize(uint32_t count) {
  std::vector<Fragment> fragments;
  VisitFragments(wire::AsBytes(payload_), count,
                 [&](const Fragment& fragment) { fragments.push_back(fragment); });
  if (fragments.empty()) return;
  // Often the last one: it is where packets begin that continue in other chunks.
  const Fragment fragment =
      OneIn(2) ? fragments.back() : fragments[Below(static_cast<uint32_t>(fragments.size()))];
  std::string size;
  wire::AppendVarint(size, fragment.size());
  const auto lengthen_to = [&size](size_t bytes) {
    for (char& byte : size) byte = static_cast<char>(byte | 0x80);
    size.resize(std::max(size.size(), bytes) - 1, '\x80');
    size += '\0';
  };
  switch (Below(7)) {
    case 0:  // more than there is
      size.clear();
      wire::AppendVarint(size, payload_.size() + Below(1000));
      break;
    case 1:  // more than there can be
      size.assign(OneIn(2) ? 9 : 4, '\xFF');
      size += '\x01';
      break;
    case 2:  // without an end
      size.assign(4 + Below(8), '\x80');
      break;
    case 3:  // right, in as many bytes as writers reserve
      lengthen_to(4);
      break;
    case 4:  // right, in more bytes than V1 reads
      lengthen_to(5);
      break;
    case 5:  // right, in more bytes than any varint has
      lengthen_to(11);
      break;
    default:
      size = kAbortMarker;
  }
  payload_.replace(fragment.offset, fragment.body - fragment.offset, size);
}

}  // namespace ringscope
