#ifndef RINGSCOPE_CORE_COMPARE_SHRINK_H_
#define RINGSCOPE_CORE_COMPARE_SHRINK_H_

#include <functional>
#include <string>

#include "core/compare/plain_stream.h"

namespace ringscope {

/// Whether a stream still shows what it is to show.
using Shows = std::function<bool(const PlainStream&)>;

/// Makes a stream as small as it can be and still show the same: takes operations away, then
/// fragments, bytes, flags, patches and limits; numbers producers, writers and chunks from the
/// start; takes a smaller buffer. Fragments get the bytes of FragmentBytes. Deterministic, unless
/// it is stopped.
/// @param stream shows it
/// @param stop asked between tries; true: what there is so far is returned. May be empty.
PlainStream Shrink(PlainStream stream, const Shows& shows, const std::function<bool()>& stop = {});

/// Bytes of a fragment that a person can tell apart: the letter, two digits that count, a dash, and
/// again.
std::string FragmentBytes(size_t size, char letter);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_SHRINK_H_
