#ifndef RINGSCOPE_FORMATS_INPUTS_INPUT_KIND_H_
#define RINGSCOPE_FORMATS_INPUTS_INPUT_KIND_H_

#include <vector>

#include "core/base/result.h"
#include "formats/io/byte_stream.h"

namespace ringscope {

/// The content of a file, by its first bytes.
enum class InputKind : uint8_t {
  kLog,     // a commit log or operations: what went into the buffers
  kEvents,  // `.events.jsonl`: the results of a replay
  kTrace,   // a Perfetto trace: the result of a session
  kConfig,  // a TraceConfig message in protobuf's binary form; one in text is kOther
  kOther,
};

/// Bytes from an input's start that are enough to find its kind: more than a block of zstd.
inline constexpr size_t kKindBytes = size_t{256} << 10;

/// Returns the kind of an input by its first bytes (kKindBytes, or all it has), decompressed if
/// need be.
InputKind KindOfStart(std::string start);

/// An input whose kind is known.
struct KnownInput {
  InputKind kind = InputKind::kOther;
  std::string start;                   // its first bytes, kKindBytes or all it has
  std::unique_ptr<ByteSource> source;  // from its first byte
};
/// Looks at an input's first bytes.
Result<KnownInput> FindInputKind(std::unique_ptr<ByteSource> source);

/// Returns "a PNG image", "a text file, compressed"; empty if the format is not known.
/// @param start of the file; up to kKindBytes
std::string ContentWords(std::string_view start);
/// Returns what opens a file of another tool, by its ContentWords: "ui.perfetto.dev opens it";
/// empty if that is not known.
std::string WhereOpened(std::string_view words);

/// Returns the error for a file of another format, which it names if it is known.
/// @param needed "a log"; @param expected which formats that has, for the hint
Error WrongContent(std::string_view start, const std::string& path, std::string_view needed,
                   std::string expected);

/// Reads a text to its end; what is no text is an error as above, more than `max_bytes` is, too.
Result<std::string> ReadText(ByteSource& source, size_t max_bytes, std::string_view needed,
                             std::string expected);

/// Returns true for .pftrace, .perfetto-trace and .perfetto, perhaps with .gz or .zst.
bool IsTraceName(std::string_view name);
/// Returns true for .tblog and .ops.jsonl, likewise.
bool IsLogName(std::string_view name);
/// Returns true for .zip, .tar and .tgz, likewise.
bool IsArchiveName(std::string_view name);

// Archives, and the files in them.

/// Returns true if the first bytes of an input begin a zip or tar archive, perhaps compressed.
bool IsArchive(std::string_view start);

/// A file in an archive, or in an archive that is in it.
struct ArchiveMember {
  std::string path;  // "ARCHIVE:MEMBER", as OpenPath takes it
  InputKind kind = InputKind::kOther;
  std::string words;  // what it is, by ContentWords
  /// Decompresses it as a stream. Members of one archive are read by one thread.
  std::function<Result<std::unique_ptr<ByteSource>>()> open;

  bool is_log() const { return kind == InputKind::kLog; }
  bool is_trace() const { return kind == InputKind::kTrace || (IsTraceName(path) && !is_log()); }
};
/// Returns the files of an archive and of archives in it, in their order; folders are left out.
/// Memory: their names; what is compressed around or in an archive takes a temporary file.
Result<std::vector<ArchiveMember>> MembersOf(std::unique_ptr<ByteSource> archive);
/// The error for an archive without a trace, a log or a trace config. It names other formats that
/// are in it.
Error NoTraceIn(const std::string& archive, const std::vector<ArchiveMember>& members);

/// Opens a file, or of an archive "ARCHIVE:MEMBER"; "-" is standard input.
Result<std::unique_ptr<ByteSource>> OpenPath(const std::string& path);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_INPUTS_INPUT_KIND_H_
