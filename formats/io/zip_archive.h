#ifndef RINGSCOPE_FORMATS_IO_ZIP_ARCHIVE_H_
#define RINGSCOPE_FORMATS_IO_ZIP_ARCHIVE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "formats/io/byte_stream.h"

struct zip;

namespace ringscope {

/// Returns true if `start`, the first bytes of an input, begin a zip archive.
bool IsZip(Bytes start);

/// A file in a zip archive.
struct ZipMember {
  std::string name;
  uint64_t index = 0;  // in the archive's directory
};

/// A zip archive that is read. Memory: its directory, and a few tens of KiB for each open member.
class ZipArchive {
 public:
  /// @param file regular, to be opened; @param name of the archive in messages
  static Result<ZipArchive> Open(const std::string& file, const std::string& name);

  /// Returns the files, in the order of the archive's directory; folders are left out.
  const std::vector<ZipMember>& members() const { return members_; }
  /// Decompresses "ARCHIVE:MEMBER" as a stream; a wrong checksum is an error at its end. One thread
  /// only.
  Result<std::unique_ptr<ByteSource>> OpenMember(const ZipMember& member);

 private:
  ZipArchive(struct zip* archive, std::string name);

  std::string name_;
  std::shared_ptr<struct zip> archive_;  // and its open members'
  std::vector<ZipMember> members_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_IO_ZIP_ARCHIVE_H_
