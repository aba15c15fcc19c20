#include "core/written_chunk.h"

namespace ringscope {

void ReadWrittenChunk(const ChunkCommit& commit, WrittenChunk& out) {
  out.fragments.clear();
  out.flags = commit.flags & kAbiFlags;
  out.bytes = 0;
  out.end = ChunkEnd::kClean;
  out.broken_bytes = 0;
  out.unfinished_bytes = 0;

  uint32_t count = commit.fragments;
  const bool leaves_out = !commit.complete && count > 0;
  if (leaves_out) {
    --count;
    out.flags &= static_cast<uint8_t>(~(kLastContinues | kNeedsPatching));
  }
  const uint8_t* payload = commit.payload.data();
  const auto size = static_cast<uint32_t>(commit.payload.size());
  const auto read = [&](Fragment& fragment) {
    return ReadFragment(payload, size, out.bytes, fragment);
  };
  Fragment fragment;
  for (uint32_t i = 0; i < count; ++i) {
    const FragmentStatus status = read(fragment);
    if (status == FragmentStatus::kFragment) {
      out.bytes = fragment.end;
      out.fragments.push_back({fragment.offset, fragment.size(), FragmentKind::kWhole});
      continue;
    }
    out.end = status == FragmentStatus::kWriterDrop ? ChunkEnd::kAborted : ChunkEnd::kBroken;
    if (out.end == ChunkEnd::kBroken) out.broken_bytes = size - out.bytes;
    break;
  }
  if (leaves_out && out.end == ChunkEnd::kClean && read(fragment) == FragmentStatus::kFragment)
    out.unfinished_bytes = fragment.size();

  // The last fragment continues on the next chunk only if it really is the chunk's last one.
  const bool continues = (out.flags & kLastContinues) != 0 && out.end == ChunkEnd::kClean;
  for (size_t i = 0; i < out.fragments.size(); ++i) {
    const bool from_previous = i == 0 && (out.flags & kFirstContinues) != 0;
    const bool on_next = i + 1 == out.fragments.size() && continues;
    out.fragments[i].kind = from_previous ? (on_next ? FragmentKind::kContinue : FragmentKind::kEnd)
                                          : (on_next ? FragmentKind::kBegin : FragmentKind::kWhole);
  }
}

}  // namespace ringscope
