#ifndef RINGSCOPE_CORE_COMPARE_RENUMBER_H_
#define RINGSCOPE_CORE_COMPARE_RENUMBER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/base/enum_names.h"
#include "core/compare/stored_ops.h"

namespace ringscope {

/// What is numbered from the start, in the order of the records.
enum class Numbering : uint8_t {
  kProducers,        // from 1
  kWriters,          // from 1, for each producer
  kChunks,           // from 0, for each sequence, in order of the ids, without gaps
  kChunksWithGaps,   // the same, where ids were missing one is
  kChunksFromStart,  // from 0, as far apart as they were
  kIdentities,       // uids and pids from 0
};
template <>
inline constexpr std::array kEnumNames<Numbering> = {
    "producers", "writers", "chunks", "chunks_with_gaps", "chunks_from_start", "identities"};

struct Renumbered {
  std::vector<StoredOp> ops;
  /// The new name of a chunk of a commit or patch.
  std::function<ChunkName(ChunkName)> name;
};

/// The same records with other numbers. nullopt: they are numbered so already, or a request cannot
/// be read.
std::optional<Renumbered> Renumber(const std::vector<StoredOp>& ops, Numbering what);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_RENUMBER_H_
