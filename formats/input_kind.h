#ifndef RINGSCOPE_FORMATS_INPUT_KIND_H_
#define RINGSCOPE_FORMATS_INPUT_KIND_H_

#include <string>

#include "core/result.h"

namespace ringscope {

/// What a file holds, as its first bytes tell.
enum class InputKind : uint8_t {
  kLog,     // a commit log or operations: what went into the buffers
  kEvents,  // `.events.jsonl`: what came out of a replay
  kTrace,   // a Perfetto trace: what came out of a session
  kOther,
};

/// Bytes from an input's start that tell its kind: enough for a block of zstd.
inline constexpr size_t kKindBytes = size_t{256} << 10;

/// Looks at the first bytes of an input (kKindBytes, or all it has), decompressed if need be.
InputKind KindOfStart(std::string start);
/// Looks at a file's first bytes.
Result<InputKind> FindInputKind(const std::string& path);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_INPUT_KIND_H_
