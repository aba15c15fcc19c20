#include "formats/inputs/folder_names.h"

#include <algorithm>
#include <system_error>

namespace ringscope {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> ListFolder(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(folder.empty() ? "." : folder, error);
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error))
    names.push_back(entry->path().filename().string());
  std::ranges::sort(names);
  return names;
}

}  // namespace

std::vector<std::string> FolderNames::StartingWith(const fs::path& folder,
                                                   const std::string& start) {
  const std::lock_guard lock(mutex_);
  auto known = names_.find(folder);
  if (known == names_.end()) known = names_.emplace(folder, ListFolder(folder)).first;
  std::vector<std::string> found;
  for (auto name = std::ranges::lower_bound(known->second, start);
       name != known->second.end() && name->starts_with(start); ++name)
    found.push_back(*name);
  return found;
}

}  // namespace ringscope
