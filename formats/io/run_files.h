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

/// The files that a run reads and those that it will replace: none may be both. Files are compared
/// by device and inode, so that other paths, symbolic links and hard links are recognized. All
/// that opens files reports here; without a run nothing is kept. Safe from all threads.
///
/// The first file that is both is kept as an error: every later call of the run returns it, also
/// where the first one went to code that tries another file after a failure.
class RunFiles {
 public:
  /// The run of this process that is under way, or else a new one. It ends with its last holder.
  static std::shared_ptr<RunFiles> Join();

  // Of the run under way, if there is one. Only regular files count.
  /// A file that was opened to be read.
  static Status AddInput(const struct stat& info, const std::string& path);
  /// A file that will be read: the same, before it is opened. Nothing where there is none.
  static Status AddInput(const std::string& path);
  /// A file that a whole new one will replace.
  /// @param info of the file that is there; nullptr: none yet
  /// @param target the path with links resolved
  static Status AddOutput(const struct stat* info, const std::string& target,
                          const std::string& path);
  /// It is not to be replaced any more, or has been.
  static void DropOutput(const std::string& target);
  /// A file that is replaced at once, and may be read afterwards.
  static Status CheckReplaced(const struct stat& info, const std::string& path);
  /// The first file that is both, as an error.
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
