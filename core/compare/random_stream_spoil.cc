// What hostile writers send.

#include <algorithm>

#include "core/base/wire.h"
#include "core/compare/random_stream.h"
#include "core/perfetto/commit_request.h"
#include "core/perfetto/fragment.h"

namespace ringscope {

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
