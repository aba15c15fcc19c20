#ifndef RINGSCOPE_FORMATS_INPUTS_INPUT_KIND_H_
#define RINGSCOPE_FORMATS_INPUTS_INPUT_KIND_H_

#include <memory>
#include <string>

#include "core/base/result.h"
#include "formats/io/byte_stream.h"

namespace ringscope {

/// What a file holds, by its first bytes.
enum class InputKind : uint8_t {
  kLog,     // a commit log or operations: what went into the buffers
  kEvents,  // `.events.jsonl`: the results of a replay
  kTrace,   // a Perfetto trace: the result of a session
  kOther,
};

/// Bytes from an input's start that are enough to find its kind: more than a block of zstd.
inline constexpr size_t kKindBytes = size_t{256} << 10;

/// What the first bytes of an input show.
struct InputStart {
  InputKind kind = InputKind::kOther;
  bool is_compressed = false;
  std::string content;  // its first bytes, decompressed
};
/// Looks at the first bytes of an input (kKindBytes, or all it has), decompressed if need be.
InputStart LookAtStart(std::string start);
InputKind KindOfStart(std::string start);

/// Up to `size` bytes from a source's start, fewer where it ends or is damaged before: whoever
/// reads it will report where.
std::string ReadableStart(ByteSource& source, size_t size);

/// An input whose kind is known.
struct KnownInput {
  InputKind kind = InputKind::kOther;
  std::string start;                   // its first bytes, kKindBytes or all it has
  std::unique_ptr<ByteSource> source;  // from its first byte
};
/// Looks at an input's first bytes.
Result<KnownInput> FindInputKind(std::unique_ptr<ByteSource> source);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_INPUTS_INPUT_KIND_H_
