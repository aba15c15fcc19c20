#include "formats/io/run_files.h"

#include <fmt/format.h>
#include <unistd.h>

namespace ringscope {
namespace {

/// The run of this process that is under way: it has at most one.
std::weak_ptr<RunFiles> current_run;
std::mutex current_mutex;

std::pair<dev_t, ino_t> IdentityOf(const struct stat& info) { return {info.st_dev, info.st_ino}; }

}  // namespace

std::shared_ptr<RunFiles> RunFiles::Join() {
  const std::lock_guard lock(current_mutex);
  std::shared_ptr<RunFiles> run = current_run.lock();
  if (!run) current_run = run = std::make_shared<RunFiles>();
  return run;
}

template <typename Use>
Status RunFiles::WithRun(Use use) {
  const std::shared_ptr<RunFiles> run = [] {
    const std::lock_guard lock(current_mutex);
    return current_run.lock();
  }();
  if (!run) return {};
  const std::lock_guard lock(run->mutex_);
  RS_RETURN_IF_ERROR(run->collision_);
  return use(*run);
}

Status RunFiles::Collide(const std::string& output, const std::string& input) {
  const std::string what = output == input ? std::string("this file is")
                                           : fmt::format("this is the same file as {},",
                                                         input == "-" ? "standard input" : input);
  collision_ =
      Fail(ErrorCode::kUsage, what + " an input of the same command, and would be replaced",
           {output, {}, {}}, "give the output another name; nothing was written");
  return collision_;
}

Status RunFiles::AddInput(const struct stat& info, const std::string& path) {
  if (!S_ISREG(info.st_mode)) return {};
  return WithRun([&](RunFiles& run) -> Status {
    const Identity identity = IdentityOf(info);
    run.inputs_.try_emplace(identity, path);
    for (const auto& [target, output] : run.outputs_)
      if (output.existing == identity) return run.Collide(output.path, path);
    return {};
  });
}

Status RunFiles::AddInput(const std::string& path) {
  struct stat info {};
  const bool found =
      path == "-" ? ::fstat(STDIN_FILENO, &info) == 0 : ::stat(path.c_str(), &info) == 0;
  return found ? AddInput(info, path) : Status();
}

Status RunFiles::AddOutput(const struct stat* info, const std::string& target,
                           const std::string& path) {
  return WithRun([&](RunFiles& run) -> Status {
    std::optional<Identity> existing;
    if (info != nullptr) existing = IdentityOf(*info);
    if (const auto input = existing ? run.inputs_.find(*existing) : run.inputs_.end();
        input != run.inputs_.end())
      return run.Collide(path, input->second);
    for (const auto& [other_target, other] : run.outputs_) {
      if (other_target == target || (existing && other.existing == existing))
        return Fail(
            ErrorCode::kUsage,
            fmt::format("two outputs of the command are this file (the other one: {})", other.path),
            {path, {}, {}}, "give each a file of its own; nothing was written");
    }
    run.outputs_.emplace(target, Output{existing, path});
    return {};
  });
}

void RunFiles::DropOutput(const std::string& target) {
  static_cast<void>(WithRun([&](RunFiles& run) -> Status {
    run.outputs_.erase(target);
    return {};
  }));
}

Status RunFiles::CheckReplaced(const struct stat& info, const std::string& path) {
  return WithRun([&](RunFiles& run) {
    const auto input = run.inputs_.find(IdentityOf(info));
    return input == run.inputs_.end() ? Status() : run.Collide(path, input->second);
  });
}

Status RunFiles::Check() {
  return WithRun([](RunFiles&) { return Status(); });
}

}  // namespace ringscope
