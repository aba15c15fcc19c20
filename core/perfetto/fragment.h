#ifndef RINGSCOPE_CORE_PERFETTO_FRAGMENT_H_
#define RINGSCOPE_CORE_PERFETTO_FRAGMENT_H_

#include <utility>

#include "core/base/lookup.h"
#include "core/perfetto/commit_request.h"

namespace ringscope {

/// Part of its packet that a fragment is.
enum class FragmentKind : uint8_t { kWhole, kBegin, kContinue, kEnd };
/// The words follow "a fragment".
template <>
inline constexpr auto kEnumRows<FragmentKind> = EnumTable<EnumRow<FragmentKind>>({
    {FragmentKind::kWhole, "whole", ", a whole packet"},
    {FragmentKind::kBegin, "begin", " of a packet that continues in the next chunk"},
    {FragmentKind::kContinue, "continue",
     " of a packet that began before and continues in the next chunk"},
    {FragmentKind::kEnd, "end", " of a packet that began in a chunk before"},
});

enum class FragmentStatus : uint8_t {
  kFragment,    // one was read
  kNone,        // the payload ends here
  kWriterDrop,  // the writer aborted a packet here; nothing follows
  kCorrupted,   // no size varint, or it reaches beyond the payload; nothing follows
};

/// A size varint and that many bytes.
struct Fragment {
  uint32_t offset = 0;  // of the size varint, from the payload's first byte
  uint32_t body = 0;    // of the bytes after it
  uint32_t end = 0;     // after the last byte

  uint32_t size() const { return end - body; }
  uint32_t size_with_header() const { return end - offset; }
};

/// The size that a writer leaves in place of a packet it aborted.
inline constexpr uint64_t kWriterDropSize = 0x0FFFFFFF;

/// The size of a fragment; size 0: there is none.
/// @param left bytes from there on, at least one
/// @param most bytes that it may take
[[gnu::always_inline]] inline wire::Varint ReadFragmentSize(const uint8_t* at, uint32_t left,
                                                            size_t most = wire::kMaxVarintBytes) {
  if (at[0] < 0x80) return {.value = at[0], .size = 1};  // one byte is the usual case; two the next
  if (left >= 2 && at[1] < 0x80)
    return {.value = (uint64_t{at[0]} & 0x7F) | uint64_t{at[1]} << 7, .size = 2};
  return wire::ReadVarint({at, left}, most);
}

/// Reads the fragment at `offset` of a payload of `payload_size` bytes.
/// Inlined in any case: reading a buffer is mostly this.
/// Source: Perfetto's trace buffer V2 (the newest release; no release differs here).
[[gnu::always_inline]] inline FragmentStatus ReadFragment(const uint8_t* payload,
                                                          uint32_t payload_size, uint32_t offset,
                                                          Fragment& fragment) {
  if (offset >= payload_size) return FragmentStatus::kNone;
  const uint32_t left = payload_size - offset;
  const wire::Varint size = ReadFragmentSize(payload + offset, left);
  if (size.size == 0) return FragmentStatus::kCorrupted;
  if (size.size > 2 && size.value == kWriterDropSize) return FragmentStatus::kWriterDrop;
  const auto header = static_cast<uint32_t>(size.size);
  if (size.value > left - header) return FragmentStatus::kCorrupted;
  fragment.offset = offset;
  fragment.body = offset + header;
  fragment.end = fragment.body + static_cast<uint32_t>(size.value);
  return FragmentStatus::kFragment;
}

/// The bytes of the fragment at `offset` of a payload, its size varint left out; nullopt if there
/// is none.
inline std::optional<Bytes> BodyAt(Bytes payload, uint32_t offset) {
  Fragment fragment;
  if (ReadFragment(payload.data(), static_cast<uint32_t>(payload.size()), offset, fragment) !=
      FragmentStatus::kFragment)
    return std::nullopt;
  return payload.subspan(fragment.body, fragment.size());
}

/// Visits the fragments at the start of a payload, in order, at most `count`.
/// @param visit called with each Fragment
/// @return what follows them; kFragment: there were `count`
template <typename Visit>
FragmentStatus VisitFragments(Bytes payload, uint32_t count, Visit visit) {
  const auto size = static_cast<uint32_t>(payload.size());
  Fragment fragment;
  for (uint32_t offset = 0; count > 0; --count) {
    const FragmentStatus status = ReadFragment(payload.data(), size, offset, fragment);
    if (status != FragmentStatus::kFragment) return status;
    offset = fragment.end;
    visit(fragment);
  }
  return FragmentStatus::kFragment;
}

/// The kind of a fragment of a chunk with these flags and this many payload bytes.
inline FragmentKind KindOf(const Fragment& fragment, uint32_t payload_size, uint8_t flags) {
  const bool continues = fragment.offset == 0 && (flags & kFirstContinues) != 0;
  if (fragment.end >= payload_size && (flags & kLastContinues) != 0)
    return continues ? FragmentKind::kContinue : FragmentKind::kBegin;
  return continues ? FragmentKind::kEnd : FragmentKind::kWhole;
}

/// Calls `visit(index)` for each fragment whose size varint a patch may have overwritten.
/// Time: O(log fragments), and at most about as many visits as a varint and a patch have bytes.
/// @param offset_of returns the offset of the size varint of fragment `index`; offsets ascend
template <typename OffsetOf, typename Visit>
void VisitPatchedSizes(const Patch& patch, size_t fragments, OffsetOf offset_of, Visit visit) {
  constexpr uint64_t kMaxVarint = wire::kMaxVarintBytes;
  const uint64_t first = patch.offset < kMaxVarint ? 0 : patch.offset - kMaxVarint + 1;
  size_t index =
      FirstNotBefore(size_t{0}, fragments, [&](size_t at) { return offset_of(at) < first; });
  for (; index < fragments; ++index) {
    const uint64_t offset = offset_of(index);
    if (offset >= patch.offset && offset - patch.offset >= kPatchSize) return;
    visit(index);
  }
}

/// A fragment as its writer meant it.
struct WrittenFragment {
  uint32_t offset = 0;  // of its size varint
  uint32_t size = 0;    // bytes after the varint
  FragmentKind kind = FragmentKind::kWhole;
};

/// How a chunk's fragments end.
enum class ChunkEnd : uint8_t {
  kClean,
  kAborted,  // with the marker of an aborted packet
  kBroken,   // with an impossible size; nothing after it can be read
};
template <>
inline constexpr std::array kEnumNames<ChunkEnd> = {"clean", "aborted", "broken"};

/// Content of a chunk as its writer put it there, as far as a commit shows it.
struct WrittenChunk {
  std::vector<WrittenFragment> fragments;
  uint8_t flags = 0;   // ABI flags that count for these fragments
  uint32_t bytes = 0;  // of these fragments, size varints included
  ChunkEnd end = ChunkEnd::kClean;
  uint32_t broken_bytes = 0;      // after the fragments, if kBroken
  uint32_t unfinished_bytes = 0;  // of a last fragment that a scrape has to leave out
};

/// Reads a commit's fragments into `out` (whose memory is used again).
/// Source: how trace writers fill chunks; a scraped chunk's last fragment may still grow.
inline void ReadWrittenChunk(const ChunkCommit& commit, WrittenChunk& out) {
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

#endif  // RINGSCOPE_CORE_PERFETTO_FRAGMENT_H_
