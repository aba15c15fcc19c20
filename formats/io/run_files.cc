#include "formats/io/run_files.h"

#include <fmt/format.h>
#include <unistd.h>

namespace ringscope {
namespace {

/// The run under way: this process has at most one.
struct RunUnderWay {
  std::mutex mutex;
  std::weak_ptr<RunFiles> run;
};

RunUnderWay& UnderWay() {
  static RunUnderWay under_way;
  return under_way;
}

std::shared_ptr<RunFiles> CurrentRun() {
  const std::lock_guard lock(UnderWay().mutex);
  return UnderWay().run.lock();
}

std::pair<dev_t, ino_t> IdentityOf(const struct stat& info) { return {info.st_dev, info.st_ino}; }

/// How messages call an input.
std::string InputName(const std::string& path) { return path == "-" ? "standard input" : path; }

}  // namespace

std::shared_ptr<RunFiles> RunFiles::Join() {
  const std::lock_guard lock(UnderWay().mutex);
  std::shared_ptr<RunFiles> run = UnderWay().run.lock();
  if (!run) {
    run = std::make_shared<RunFiles>();
    UnderWay().run = run;
  }
  return run;
}

Status RunFiles::Collide(const std::string& output, const std::string& input) {
  collision_ = Fail(
      ErrorCode::kUsage,
      output == input
          ? std::string("this file is an input of the same command, and would be replaced")
          : fmt::format("this is the same file as {}, an input of the same command, and would be "
                        "replaced",
                        InputName(input)),
      {output, {}, {}}, "give the output another name; nothing was written");
  return collision_;
}

Status RunFiles::AddInput(const struct stat& info, const std::string& path) {
  const std::shared_ptr<RunFiles> run = CurrentRun();
  if (!run || !S_ISREG(info.st_mode)) return {};
  const std::lock_guard lock(run->mutex_);
  RS_RETURN_IF_ERROR(run->collision_);
  const Identity identity = IdentityOf(info);
  run->inputs_.try_emplace(identity, path);
  for (const auto& [target, output] : run->outputs_)
    if (output.existing == identity) return run->Collide(output.path, path);
  return {};
}

Status RunFiles::AddInput(const std::string& path) {
  struct stat info {};
  const bool found =
      path == "-" ? ::fstat(STDIN_FILENO, &info) == 0 : ::stat(path.c_str(), &info) == 0;
  return found ? AddInput(info, path) : Status();
}

Status RunFiles::AddOutput(const struct stat* info, const std::string& target,
                           const std::string& path) {
  const std::shared_ptr<RunFiles> run = CurrentRun();
  if (!run) return {};
  const std::lock_guard lock(run->mutex_);
  RS_RETURN_IF_ERROR(run->collision_);
  std::optional<Identity> existing;
  if (info != nullptr) existing = IdentityOf(*info);
  if (const auto input = existing ? run->inputs_.find(*existing) : run->inputs_.end();
      input != run->inputs_.end())
    return run->Collide(path, input->second);
  for (const auto& [other_target, other] : run->outputs_) {
    if (other_target == target || (existing && other.existing == existing))
      return Fail(
          ErrorCode::kUsage,
          fmt::format("two outputs of the command are this file (the other one: {})", other.path),
          {path, {}, {}}, "give each a file of its own; nothing was written");
  }
  run->outputs_.emplace(target, Output{existing, path});
  return {};
}

void RunFiles::DropOutput(const std::string& target) {
  const std::shared_ptr<RunFiles> run = CurrentRun();
  if (!run) return;
  const std::lock_guard lock(run->mutex_);
  run->outputs_.erase(target);
}

Status RunFiles::CheckReplaced(const struct stat& info, const std::string& path) {
  const std::shared_ptr<RunFiles> run = CurrentRun();
  if (!run) return {};
  const std::lock_guard lock(run->mutex_);
  RS_RETURN_IF_ERROR(run->collision_);
  const auto input = run->inputs_.find(IdentityOf(info));
  return input == run->inputs_.end() ? Status() : run->Collide(path, input->second);
}

Status RunFiles::Check() {
  const std::shared_ptr<RunFiles> run = CurrentRun();
  if (!run) return {};
  const std::lock_guard lock(run->mutex_);
  return run->collision_;
}

}  // namespace ringscope
