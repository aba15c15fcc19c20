#ifndef RINGSCOPE_FORMATS_IO_RUN_FILES_H_
#define RINGSCOPE_FORMATS_IO_RUN_FILES_H_

#include <sys/stat.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "core/base/result.h"

namespace ringscope {

/// The files that a run reads and those that it will replace: none may be both. Compares files by
/// device and inode, so that links are recognized. All that opens files reports here; without a run
/// nothing is kept. Safe from all threads. The first file that is both is kept as an error, which
/// every later call of the run returns.
class RunFiles {
 public:
  /// Returns the run of this process, or begins one. It ends with its last holder.
  static std::shared_ptr<RunFiles> Join();

  // Of the run, if there is one. Only regular files count.
  /// Adds a file that was opened to be read.
  static Status AddInput(const struct stat& info, const std::string& path);
  /// Adds a file that will be read, if it is there.
  static Status AddInput(const std::string& path);
  /// Adds a file that will be replaced, perhaps an existing one. @param target the path without
  /// links
  static Status AddOutput(const struct stat* info, const std::string& target,
                          const std::string& path);
  /// Removes a file that was replaced, or will not be.
  static void DropOutput(const std::string& target);
  /// Checks a file that is replaced at once, and may be read afterwards.
  static Status CheckReplaced(const struct stat& info, const std::string& path);
  /// Returns the first file that is both as an error.
  static Status Check();

 private:
  using Identity = std::pair<dev_t, ino_t>;
  struct Output {
    std::optional<Identity> existing;
    std::string path;
  };

  /// Calls `use` with the run under way, locked, unless it has a file that is both.
  template <typename Use>
  static Status WithRun(Use use);
  Status Collide(const std::string& output, const std::string& input);

  std::mutex mutex_;
  std::map<Identity, std::string> inputs_;  // with their paths as they were given
  std::map<std::string, Output> outputs_;   // by target
  Status collision_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_IO_RUN_FILES_H_
