#ifndef RINGSCOPE_FORMATS_DESCRIPTORS_PROTO_FILES_H_
#define RINGSCOPE_FORMATS_DESCRIPTORS_PROTO_FILES_H_

#include <string>
#include <vector>

#include "core/base/result.h"

namespace ringscope {

/// A .proto file.
struct ProtoFile {
  std::string path;
  std::string text;
};

/// The messages that .proto files define, as a FileDescriptorSet (see Descriptors::Extended).
/// Imports are found among the files, by the end of their paths; those of Perfetto's own files may
/// be missing, as their messages are built in. kCorrupt names file, line, and what is wrong.
Result<std::string> ParseProtoFiles(const std::vector<ProtoFile>& files);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_DESCRIPTORS_PROTO_FILES_H_
