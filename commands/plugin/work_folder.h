#ifndef RINGSCOPE_COMMANDS_PLUGIN_WORK_FOLDER_H_
#define RINGSCOPE_COMMANDS_PLUGIN_WORK_FOLDER_H_

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace ringscope::adapter {

/// A folder for a command's own files, removed with them.
class WorkFolder {
 public:
  static Result<WorkFolder> Create();
  ~WorkFolder();
  WorkFolder(WorkFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  WorkFolder& operator=(WorkFolder&&) = delete;

  const std::string& path() const { return path_; }
  std::string Path(std::string_view name) const { return path_ + "/" + std::string(name); }
  /// Writes a file, and the folders that its name has.
  Status Write(std::string_view name, std::string_view content) const;

 private:
  explicit WorkFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace ringscope::adapter

#endif  // RINGSCOPE_COMMANDS_PLUGIN_WORK_FOLDER_H_
