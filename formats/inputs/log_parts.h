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

// A recording may have several files, its parts: each has a header with the recording's uuid and
// its number. The parts are known by these, whatever their names; only to find those that nobody
// named are names looked at.

/// The path of a recording's part: "cap.tblog", "cap.0001.tblog", "cap.0002.tblog"
/// @param path of part 0
std::string PartPath(const std::string& path, uint32_t part);
/// The files beside a recording's part 0, as far as there are any, that have names of its parts:
/// "cap.0001.tblog", "cap.1.tblog". Sorted.
std::vector<std::string> FilesNamedAsParts(const std::string& path);

/// The header that a commit log in a regular file begins with; nullopt: it is none, or is damaged.
std::optional<LogHeader> ReadHeaderOf(const std::string& path);

/// Logs that a user named, with all parts of their recordings.
struct LogParts {
  std::vector<std::string> paths;  // in the order in which they are read
  std::vector<std::string> added;  // those of `paths` that were not named
  /// What is wrong with the sets of parts: parts that are missing, and files that have names of
  /// parts but belong to other recordings. Each with the names of the files.
  std::vector<std::string> problems;
};
/// Puts the parts of each recording in order, and adds those that are in the same folder under the
/// names that a recorder gives. "-" and files that are not commit logs stay where they are.
LogParts FindLogParts(const std::vector<std::string>& named);

/// Of the parts of each recording only the first one that is listed, as the others are found.
std::vector<std::string> OnePathPerRecording(const std::vector<std::string>& paths);

/// Several files, one after the other, as one input.
/// @param name that errors have
Result<std::unique_ptr<ByteSource>> OpenJoined(const std::vector<std::string>& paths,
                                               const std::string& name);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_INPUTS_LOG_PARTS_H_
