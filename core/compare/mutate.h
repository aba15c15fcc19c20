#ifndef RINGSCOPE_CORE_COMPARE_MUTATE_H_
#define RINGSCOPE_CORE_COMPARE_MUTATE_H_

#include "core/compare/plain_stream.h"
#include "core/compare/random_stream.h"

namespace ringscope {

/// A part of a stream of about `operations` operations, with random changes: operations are left
/// out, repeated, exchanged and scraped, bytes and flags change, reads and clones are added, and
/// the buffer is one that the part fills. The same dice give the same.
/// @param source must have operations
PlainStream Mutate(const PlainStream& source, const Dice& dice, uint32_t operations);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_MUTATE_H_
