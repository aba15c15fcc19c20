#include "commands/plugin/work_folder.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "formats/io/temporary_file.h"

namespace ringscope::adapter {

namespace fs = std::filesystem;

Result<WorkFolder> WorkFolder::Create() {
  std::string name = TemporaryFolder("/tmp") + "/ringscope-build-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    return Fail(ErrorCode::kIo, fmt::format("cannot create a folder: {}", std::strerror(errno)),
                {.path = TemporaryFolder("/tmp")}, "set TMPDIR to a folder with space");
  }
  return WorkFolder(std::move(name));
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

Status WorkFolder::Write(std::string_view name, std::string_view content) const {
  const fs::path path = Path(name);
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  std::ofstream file(path, std::ios::binary);
  file << content;
  if (file.flush()) return {};
  return Fail(ErrorCode::kIo, "cannot write the file", {.path = path.string()},
              "set TMPDIR to a folder with space");
}

}  // namespace ringscope::adapter
