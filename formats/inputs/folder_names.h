#ifndef RINGSCOPE_FORMATS_INPUTS_FOLDER_NAMES_H_
#define RINGSCOPE_FORMATS_INPUTS_FOLDER_NAMES_H_

#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace ringscope {

/// The names of the files in folders. Each folder is listed once, when it is first asked for, so
/// that many logs in one folder cost one listing. Safe to use from several threads.
class FolderNames {
 public:
  /// @param folder empty: the current one. One that cannot be listed has no names.
  /// @return the names that begin with `start`, sorted
  std::vector<std::string> StartingWith(const std::filesystem::path& folder,
                                        const std::string& start);

 private:
  std::mutex mutex_;
  std::map<std::filesystem::path, std::vector<std::string>> names_;  // sorted
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_INPUTS_FOLDER_NAMES_H_
