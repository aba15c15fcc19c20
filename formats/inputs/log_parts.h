#ifndef RINGSCOPE_FORMATS_INPUTS_LOG_PARTS_H_
#define RINGSCOPE_FORMATS_INPUTS_LOG_PARTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/log/op.h"
#include "formats/io/byte_stream.h"

namespace ringscope {

// A recording may have several files, its parts: each header has the recording's uuid and its
// number. Names matter only to find parts that the user did not name.

/// Returns the path of a part, "cap.0001.tblog". @param path of part 0
std::string PartPath(const std::string& path, uint32_t part);
/// Returns the files beside part 0 that have names of its parts: "cap.0001.tblog". Sorted.
std::vector<std::string> FilesNamedAsParts(const std::string& path);

/// Returns the header of a commit log in a regular file, or nullopt if it has no intact one.
std::optional<LogHeader> ReadHeaderOf(const std::string& path);

/// Logs that a user named, with all parts of their recordings.
struct LogParts {
  std::vector<std::string> paths;  // in the order in which they are read
  std::vector<std::string> added;  // those of `paths` that were not named
  /// Parts that are missing, and files that have names of parts but are none.
  std::vector<std::string> problems;
  bool may_have_reads = false;  // false: by their indexes the logs have no read passes
};
/// Puts the parts of each recording in order, and adds those beside them. Other inputs stay in
/// place.
LogParts FindLogParts(const std::vector<std::string>& named);

/// Returns paths without the further parts of recordings, which are found by the first one listed.
std::vector<std::string> OnePathPerRecording(const std::vector<std::string>& paths);

/// Opens several files as one input. @param name that errors have
Result<std::unique_ptr<ByteSource>> OpenJoined(const std::vector<std::string>& paths,
                                               const std::string& name);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_INPUTS_LOG_PARTS_H_
