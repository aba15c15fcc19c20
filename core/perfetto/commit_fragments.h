#ifndef RINGSCOPE_CORE_PERFETTO_COMMIT_FRAGMENTS_H_
#define RINGSCOPE_CORE_PERFETTO_COMMIT_FRAGMENTS_H_

#include <cstdint>
#include <vector>

#include "core/base/enum_names.h"
#include "core/perfetto/chunk.h"
#include "core/perfetto/fragment.h"

namespace ringscope {

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

/// What a writer put into a chunk, as far as a commit shows it.
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
void ReadWrittenChunk(const ChunkCommit& commit, WrittenChunk& out);

/// Bytes that a commit's chunk occupies in a buffer, header and alignment included.
/// @param whole_payload the buffer stores all of the payload; else, as V2, the fragments alone,
/// unless the chunk may still grow
/// @param scratch its memory is used
uint32_t OuterSizeOf(const ChunkCommit& commit, bool whole_payload, WrittenChunk& scratch);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_COMMIT_FRAGMENTS_H_
