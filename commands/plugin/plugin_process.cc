#include "commands/plugin/plugin_process.h"

#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "commands/plugin/host_process.h"
#include "commands/plugin/plugin_engine.h"
#include "commands/plugin/remote_buffer.h"
#include "commands/shell/text.h"

namespace ringscope {
namespace {

/// Idle processes that are kept for the next buffer.
constexpr size_t kMostIdle = 4;
constexpr size_t kMostPluginsOfAFile = 64;

/// An error that the process has reported.
bool TakeError(MessageReader& body, const std::string& path, std::optional<Error>& error) {
  const auto code = body.Take<uint32_t>();
  std::string message = Printable(body.TakeText());
  std::string hint = Printable(body.TakeText());
  if (!body.is_whole() || code > static_cast<uint32_t>(ErrorCode::kDied)) return false;
  error = Error{static_cast<ErrorCode>(code), std::move(message), {.path = path}, std::move(hint)};
  return true;
}

bool TakePlugin(MessageReader& body, std::vector<PluginFacts>& plugins) {
  const auto taken = body.Take<PluginBody>();
  PluginFacts facts{.abi_version = taken.abi_version,
                    .tells = taken.tells,
                    .clones = (taken.functions & 1) != 0,
                    .visits_writers = (taken.functions & 2) != 0,
                    .checks = (taken.functions & 4) != 0,
                    .visits_chunks = (taken.functions & 8) != 0,
                    .runs_programs = (taken.functions & 16) != 0};
  for (std::string* part : {&facts.name, &facts.version, &facts.description, &facts.path})
    *part = Printable(body.TakeText());
  if (!body.is_whole() || plugins.size() >= kMostPluginsOfAFile) return false;
  plugins.push_back(std::move(facts));
  return true;
}

/// The processes of one shared object.
class HostPool : public std::enable_shared_from_this<HostPool> {
 public:
  HostPool(std::string text, const PluginRun& run) : text_(std::move(text)), run_(run) {}

  /// A process that has the plug-ins loaded; it comes back here when nobody has it any more.
  /// @param plugins gets what is in the file, if the process is a new one
  Result<std::shared_ptr<HostProcess>> Take(std::vector<PluginFacts>* plugins = nullptr) {
    std::unique_ptr<HostProcess> host = TakeIdle();
    if (host == nullptr) {
      RS_ASSIGN_OR_RETURN(host, HostProcess::Start(run_));
      RS_RETURN_IF_ERROR(Load(*host, plugins));
    }
    return std::shared_ptr<HostProcess>(host.release(),
                                        [pool = shared_from_this()](HostProcess* done) {
                                          pool->PutBack(std::unique_ptr<HostProcess>(done));
                                        });
  }

 private:
  std::unique_ptr<HostProcess> TakeIdle() {
    const std::lock_guard lock(mutex_);
    while (!idle_.empty()) {
      std::unique_ptr<HostProcess> host = std::move(idle_.back());
      idle_.pop_back();
      if (host->IsAlive()) return host;
    }
    return nullptr;
  }
  void PutBack(std::unique_ptr<HostProcess> host) {
    const std::lock_guard lock(mutex_);
    if (host->death() == nullptr && idle_.size() < kMostIdle) idle_.push_back(std::move(host));
  }
  Status Load(HostProcess& host, std::vector<PluginFacts>* plugins) {
    std::vector<PluginFacts> found;
    std::optional<Error> error;
    const Bytes name(reinterpret_cast<const uint8_t*>(text_.data()), text_.size());
    host.Call({.call = HostCall::kLoad}, {name}, [&](HostAnswer answer, MessageReader& body) {
      if (answer == HostAnswer::kError) return TakeError(body, text_, error);
      return answer == HostAnswer::kPlugin && TakePlugin(body, found);
    });
    if (host.death() != nullptr) return tl::unexpected(PluginDeathError(text_, *host.death()));
    if (error) return tl::unexpected(*std::move(error));
    if (plugins != nullptr) *plugins = std::move(found);
    return {};
  }

  const std::string text_;
  const PluginRun run_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<HostProcess>> idle_;
};

}  // namespace

Result<std::vector<std::shared_ptr<const Plugin>>> LoadInProcess(const std::string& text,
                                                                 const PluginRun& run) {
  const auto pool = std::make_shared<HostPool>(text, run);
  std::vector<PluginFacts> found;
  {
    RS_ASSIGN_OR_RETURN(const std::shared_ptr<HostProcess> host, pool->Take(&found));
    if (found.empty()) {
      return tl::unexpected(
          PluginDeathError(text, {"answers nonsense: neither a plug-in nor an error", {}}));
    }
  }
  std::vector<std::shared_ptr<const Plugin>> plugins;
  for (size_t i = 0; i < found.size(); ++i) {
    const auto make = [pool, i, text](
                          const ringscope_config& config,
                          const LogMoment* now) -> Result<std::unique_ptr<PluginBuffer>> {
      RS_ASSIGN_OR_RETURN(const std::shared_ptr<HostProcess> host, pool->Take());
      std::unique_ptr<PluginBuffer> buffer = CreateRemoteBuffer(host, i, config, now);
      if (host->death() != nullptr) return tl::unexpected(PluginDeathError(text, *host->death()));
      return buffer;
    };
    plugins.push_back(std::make_shared<const Plugin>(std::move(found[i]), make));
  }
  return plugins;
}

}  // namespace ringscope
