#ifndef RINGSCOPE_COMMANDS_LOG_CHUNK_LINES_H_
#define RINGSCOPE_COMMANDS_LOG_CHUNK_LINES_H_

#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/perfetto/commit_fragments.h"
#include "formats/descriptors/descriptors.h"

namespace ringscope {

/// What a fragment is part of, where that is not a whole packet: "of a packet that continues in the
/// next chunk".
std::string_view FragmentNote(FragmentKind kind);

/// Bytes as offset, hex and characters, sixteen to a line.
std::vector<std::string> HexLines(Bytes bytes);

/// The fragments of a chunk, one to a line: offset (as patches count it, from the payload's first
/// byte), size, what it is of its packet, and the top-level fields that begin in it. The fields of
/// a fragment that continues a packet cannot be found without the chunks before. After them, what
/// the chunk has after its last fragment.
/// @param written of the commit
std::vector<std::string> FragmentLines(const ChunkCommit& commit, const WrittenChunk& written,
                                       const Descriptors& descriptors);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_LOG_CHUNK_LINES_H_
