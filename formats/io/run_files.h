#ifndef RINGSCOPE_FORMATS_IO_RUN_FILES_H_
#define RINGSCOPE_FORMATS_IO_RUN_FILES_H_

#include <sys/stat.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "core/base/result.h"

namespace ringscope {

/// The files that a run reads: it may replace none of them. Compares files by device and inode, so
/// that links are recognized. All that opens files reports here; without a run nothing is kept.
/// Safe from all threads.
class RunFiles {
 public:
  /// Returns the run of this process, or begins one. It ends with its last holder.
  static std::shared_ptr<RunFiles> Join();

  // Of the run, if there is one. Only regular files count.
  /// Adds a file that was opened to be read.
  static void AddInput(const struct stat& info, const std::string& path);
  /// Adds a file that will be read, if it is there.
  static void AddInput(const std::string& path);
  /// Returns an error if a file that will be replaced is an input so far.
  static Status CheckOutput(const struct stat& info, const std::string& path);

 private:
  std::mutex mutex_;
  std::map<std::pair<dev_t, ino_t>, std::string> inputs_;  // with their paths as they were given
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_IO_RUN_FILES_H_
