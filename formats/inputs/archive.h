#ifndef RINGSCOPE_FORMATS_INPUTS_ARCHIVE_H_
#define RINGSCOPE_FORMATS_INPUTS_ARCHIVE_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/inputs/input_kind.h"
#include "formats/io/byte_stream.h"

namespace ringscope {

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

#endif  // RINGSCOPE_FORMATS_INPUTS_ARCHIVE_H_
