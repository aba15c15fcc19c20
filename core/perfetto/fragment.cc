#include "core/perfetto/fragment.h"

#include <utility>

namespace ringscope {

void ReadWrittenChunk(const ChunkCommit& commit, WrittenChunk& out) {
  const FinishedPart part =
      FinishedPartOf(commit.fragments, commit.flags & kAbiFlags, commit.complete);
  out = {.fragments = std::move(out.fragments), .flags = part.flags};
  out.fragments.clear();
  const FragmentStatus status =
      VisitFragments(commit.payload, part.fragments, [&](const Fragment& fragment) {
        out.bytes = fragment.end;
        out.fragments.push_back({fragment.offset, fragment.size(), FragmentKind::kWhole});
      });
  const auto size = static_cast<uint32_t>(commit.payload.size());
  Fragment unfinished;
  if (status == FragmentStatus::kWriterDrop) {
    out.end = ChunkEnd::kAborted;
  } else if (status != FragmentStatus::kFragment) {
    out.end = ChunkEnd::kBroken;
    out.broken_bytes = size - out.bytes;
  } else if (part.fragments < commit.fragments &&
             ReadFragment(commit.payload.data(), size, out.bytes, unfinished) ==
                 FragmentStatus::kFragment) {
    out.unfinished_bytes = unfinished.size();
  }

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
