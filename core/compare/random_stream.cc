#include "core/compare/random_stream.h"

#include <random>

#include "core/perfetto/fragment.h"

namespace ringscope {
namespace {

/// Sequences of a stream that makes a buffer forget some: V2 remembers 1024 to 1152 empty ones.
constexpr uint32_t kForgettingWriters = 1500;
/// Payloads of which a whole number fills a buffer to its last byte.
constexpr uint32_t kEvenChunk = 1008;
/// Most fragments need two bytes for their size; for space, all count as if.
constexpr uint32_t kSizeBytes = 2;

}  // namespace

RandomNumbers NumbersOfSeed(uint32_t seed) {
  return [numbers = std::mt19937(seed)]() mutable { return static_cast<uint32_t>(numbers()); };
}

RandomStream::RandomStream(RandomNumbers numbers, Conduct conduct, StreamKind kind,
                           uint64_t ample_size)
    : numbers_(std::move(numbers)) {
  traits_.conduct = conduct;
  traits_.kind = kind;
  ChooseTraits(ample_size);
  writers_.resize(traits_.writers);
  for (uint32_t i = 0; i < traits_.writers; ++i) {
    Writer& writer = writers_[i];
    writer.key = {ProducerId{static_cast<uint16_t>(1 + i / 4)},
                  WriterId{static_cast<uint16_t>(1 + i % 4)}};
    if (traits_.wraps_ids) writer.next_chunk = ChunkId{uint32_t{0} - Below(12)};
    writer.identity = {1000 + i / 4, static_cast<int32_t>(i / 4)};
  }
}

void RandomStream::ChooseTraits(uint64_t ample_size) {
  const bool is_hostile = traits_.conduct == Conduct::kHostile;
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
  traits_.mixes_identities = is_hostile && OneIn(2);
  traits_.jumps_ids = is_hostile && OneIn(3);
  if (traits_.kind == StreamKind::kWrapIds) traits_.wraps_ids = true;
  if (traits_.kind != StreamKind::kForgetting) return;
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
  const uint32_t percent = Below(100);
  const bool often_limits = traits_.kind == StreamKind::kReadLimits;
  if (percent < (often_limits ? 12u : 4u)) {
    step.kind = Kind::kRead;
    if (often_limits || OneIn(3)) step.max_packets = Below(often_limits ? 6 : 20);
    return step;
  }
  if (percent < (traits_.kind == StreamKind::kClones ? 16u : 5u)) {
    step.kind = Kind::kClone;
    return step;
  }
  const bool in_turn = traits_.kind == StreamKind::kForgetting && !OneIn(8);
  Writer& writer = writers_[in_turn ? turn_++ % traits_.writers : Below(traits_.writers)];
  const bool may_patch = traits_.conduct == Conduct::kHostile || HasDuePatch(writer);
  step = may_patch && percent < 25 ? PatchStep(writer) : CommitStep(writer);
  if (traits_.conduct == Conduct::kHostile && OneIn(4)) Spoil(writer, step);
  if (traits_.mixes_identities && step.kind == Kind::kCommit) step.commit.identity.uid += Below(3);
  return step;
}

// Contents of the writers' chunks.

/// Adds bytes that differ from packet to packet: the packet's number, again and again, each time
/// with other bits changed.
void RandomStream::AppendContent(std::string& to, uint32_t size) {
  const uint32_t number = ++packets_;
  for (uint32_t i = 0; i < size; ++i)
    to += static_cast<char>(number >> i % 4 * 8 ^ (i / 4 * 37 & 0xFF));
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
    writer.in_packet = true;
    writer.content.clear();
    AppendContent(writer.content, 1 + Below(OneIn(6) ? 9000 : 500));
    writer.written = 0;
    AddPart(writer, chunk, space);
  }
  return chunk;
}

/// Adds a packet of this size. @return bytes that it takes
uint32_t RandomStream::AddWhole(Writer&, BuiltChunk& chunk, uint32_t size) {
  const auto offset = static_cast<uint32_t>(chunk.payload.size());
  wire::AppendVarint(chunk.payload, size);
  AppendContent(chunk.payload, size);
  chunk.ends.push_back(static_cast<uint32_t>(chunk.payload.size()));
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
  wire::AppendVarint(chunk.payload, size);
  chunk.payload.append(writer.content, writer.written, size);
  chunk.ends.push_back(static_cast<uint32_t>(chunk.payload.size()));
  writer.written += size;
  if (continues) {
    chunk.flags |= kLastContinues;
    if (traits_.patches && OneIn(2)) AddPatches(writer, chunk, size);
    return true;
  }
  writer.in_packet = false;
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

// Steps.

RandomStream::Step RandomStream::CommitStep(Writer& writer) {
  if (writer.open)
    return OneIn(3) ? Scrape(writer, *writer.open)
                    : Complete(writer, *std::exchange(writer.open, std::nullopt));
  if (writer.held && OneIn(2)) return Complete(writer, *std::exchange(writer.held, std::nullopt));
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

/// Returns true if patches are due for a chunk that was handed over.
bool RandomStream::HasDuePatch(const Writer& writer) {
  if (writer.due.empty()) return false;
  const ChunkId chunk = writer.due.front().chunk;
  return !(writer.open && writer.open->id == chunk) && !(writer.held && writer.held->id == chunk);
}

RandomStream::Step RandomStream::PatchStep(Writer& writer) {
  Step step;
  step.kind = Kind::kPatch;
  step.patches.sequence = writer.key;
  if (HasDuePatch(writer)) {
    sent_ = writer.due.front();
    step.patches.more = sent_.patches.size() > 1 && OneIn(2);
    if (step.patches.more) {  // the first now, the rest later
      writer.due.front().patches.erase(writer.due.front().patches.begin());
      sent_.patches.resize(1);
    } else {
      writer.due.pop_front();
    }
  } else {  // for a chunk that is not there
    sent_ = {Successor(writer.next_chunk), {{Below(100), "none"}}};
  }
  patches_.clear();
  for (const auto& [offset, bytes] : sent_.patches)
    patches_.push_back({.offset = offset, .data = wire::AsBytes(bytes).data()});
  step.patches.chunk = sent_.chunk;
  step.patches.patches = patches_;
  return step;
}

// Damage that no writer would send.

void RandomStream::Spoil(Writer& writer, Step& step) {
  if (step.kind == Kind::kPatch) {
    step.patches.chunk = ChunkId{Raw(step.patches.chunk) - 1 - Below(4)};
    // Often at the start of a chunk, where sizes of fragments are.
    for (Patch& patch : patches_)
      patch.offset = OneIn(8) ? UINT64_MAX - Below(8) : Below(OneIn(2) ? 8 : 600);
    step.patches.more = OneIn(4);
    return;
  }
  ChunkCommit& commit = step.commit;
  if (traits_.jumps_ids && OneIn(2)) {
    // To an id far away, where the order of ids ends, or near to that.
    const uint32_t steps = uint32_t{1} << (29 + Below(3));
    const uint32_t near = OneIn(2) ? 0 : Below(5) - 2;
    commit.chunk = ChunkId{Raw(commit.chunk) + (OneIn(2) ? steps : 0 - steps) + near};
    if (OneIn(2)) writer.next_chunk = Successor(commit.chunk);  // continues there
    return;
  }
  // The chunk is read and the packet that begins in it is often lost.
  const bool begins_packet = (commit.flags & kLastContinues) != 0;
  const uint32_t way = begins_packet && traits_.mixes_identities && OneIn(2) ? 8 : Below(10);
  if (way == 0) commit.chunk = ChunkId{numbers_() << 16 ^ numbers_()};
  if (way == 1) commit.chunk = ChunkId{Raw(commit.chunk) - Below(20)};
  if (way == 2) commit.flags = static_cast<uint8_t>(Below(64));
  if (way == 3) commit.fragments = static_cast<uint16_t>(Below(1024));
  for (char& byte : payload_)
    if (way == 4 && OneIn(20)) byte = static_cast<char>(numbers_());
  if (way == 5) payload_.append(Below(OneIn(10) ? 40000 : 9000), static_cast<char>(Below(256)));
  if (way == 6) commit.complete = !commit.complete;
  if (way == 7) commit.sequence.writer = WriterId{static_cast<uint16_t>(1 + Below(5))};
  if (way == 8) {  // a size, with the bytes after it left as they are
    std::vector<Fragment> fragments;
    VisitFragments(wire::AsBytes(payload_), commit.fragments,
                   [&](const Fragment& fragment) { fragments.push_back(fragment); });
    if (!fragments.empty()) {
      // Often the last one: it is where packets begin that continue in other chunks.
      const Fragment& fragment =
          OneIn(2) ? fragments.back() : fragments[Below(static_cast<uint32_t>(fragments.size()))];
      payload_.replace(fragment.offset, fragment.body - fragment.offset,
                       SpoiledSize(fragment.size()));
    }
  }
  if (way == 9) {  // a hole in what it belongs to: a chunk without fragments, patched or not
    commit.fragments = 0;
    commit.flags = static_cast<uint8_t>(Below(8));
  }
  payload_.resize(std::min(payload_.size(), kMaxChunkPayload));
  commit.payload = wire::AsBytes(payload_);
}

/// Bytes to be put in place of a size.
std::string RandomStream::SpoiledSize(uint32_t right) {
  std::string size;
  wire::AppendVarint(size, right);
  const auto lengthened_to = [&size](size_t bytes) {
    for (char& byte : size) byte = static_cast<char>(byte | 0x80);
    size.resize(std::max(size.size(), bytes) - 1, '\x80');
    return size + '\0';
  };
  switch (Below(7)) {
    case 0:  // more than there is
      size.clear();
      wire::AppendVarint(size, payload_.size() + Below(1000));
      return size;
    case 1:  // more than there can be
      return std::string(OneIn(2) ? 9 : 4, '\xFF') + '\x01';
    case 2:  // without an end
      return std::string(4 + Below(8), '\x80');
    case 3:  // right, in as many bytes as writers reserve
      return lengthened_to(4);
    case 4:  // right, in more bytes than V1 reads
      return lengthened_to(5);
    case 5:  // right, in more bytes than any varint has
      return lengthened_to(11);
    default:
      return std::string(kAbortMarker);
  }
}

}  // namespace ringscope
