#include "formats/io/run_files.h"

#include <fmt/format.h>
#include <unistd.h>

namespace ringscope {
namespace {

std::weak_ptr<RunFiles> current_run;
std::mutex current_mutex;

/// Returns the run of this process, which has at most one, or nullptr.
std::shared_ptr<RunFiles> CurrentRun() {
  const std::lock_guard lock(current_mutex);
  return current_run.lock();
}

}  // namespace

std::shared_ptr<RunFiles> RunFiles::Join() {
  const std::lock_guard lock(current_mutex);
  std::shared_ptr<RunFiles> run = current_run.lock();
  if (!run) current_run = run = std::make_shared<RunFiles>();
  return run;
}

void RunFiles::AddInput(const struct stat& info, const std::string& path) {
  const std::shared_ptr<RunFiles> run = CurrentRun();
  if (!run || !S_ISREG(info.st_mode)) return;
  const std::lock_guard lock(run->mutex_);
  run->inputs_.try_emplace({info.st_dev, info.st_ino}, path);
}

void RunFiles::AddInput(const std::string& path) {
  struct stat info {};
  if (path == "-" ? ::fstat(STDIN_FILENO, &info) == 0 : ::stat(path.c_str(), &info) == 0)
    AddInput(info, path);
}

Status RunFiles::CheckOutput(const struct stat& info, const std::string& path) {
  const std::shared_ptr<RunFiles> run = CurrentRun();
  if (!run) return {};
  const std::lock_guard lock(run->mutex_);
  const auto input = run->inputs_.find({info.st_dev, info.st_ino});
  if (input == run->inputs_.end()) return {};
  const std::string& read = input->second;
  const std::string what = path == read ? std::string("this file is")
                                        : fmt::format("this is the same file as {},",
                                                      read == "-" ? "standard input" : read);
  return Fail(ErrorCode::kUsage, what + " an input of the same command, and would be replaced",
              {path, {}, {}}, "give the output another name; nothing was written");
}

}  // namespace ringscope
