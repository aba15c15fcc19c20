#include "commands/many_logs/each_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>

#include "commands/shell/text.h"
#include "core/base/wire.h"
#include "formats/inputs/input_kind.h"

namespace ringscope {
namespace {

class TextStream : public OutputStream {
 public:
  using ByteSink::Write;
  Status Write(Bytes bytes) override {
    text += wire::AsText(bytes);
    return {};
  }
  std::string text;
};

struct Done {
  LogStatus status;
  std::string messages;
};

/// @param threads that the task may use
/// @param all what the whole run has
Done RunOne(size_t index, const std::string& path, const LogTask& task, unsigned threads,
            const Context& all) {
  TextStream out, err;
  Streams streams{out, err, {}, true};
  Result<ExitCode> code = ExitCode::kFailed;
  {
    Console console(streams);
    console.Configure({.color = ColorMode::kNever, .quiet = all.console.options().quiet});
    Context context{console, threads};
    try {
      code = task(index, path, context);
    } catch (const std::exception& error) {  // out of memory, mostly
      code = Fail(ErrorCode::kLimit, fmt::format("cannot continue: {}", error.what()));
    }
  }
  // Errors such as limits do not name a file.
  if (!code && code.error().where.path.empty()) code.error().where.path = path;
  Done done{{path, code.value_or(ExitCode::kFailed), std::nullopt}, std::move(err.text)};
  if (!code) done.status.error = code.error().ToString();
  return done;
}

uint64_t SizeOf(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<uint64_t>(size);
}

}  // namespace

std::vector<LogStatus> RunEachLog(Context& context, const std::vector<std::string>& paths,
                                  const std::string& activity, const LogTask& task) {
  const size_t cores =
      context.threads > 0 ? context.threads : std::max(1U, std::thread::hardware_concurrency());
  const size_t workers = std::min(cores, paths.size());
  std::vector<Done> done(paths.size());
  std::vector<uint64_t> sizes;
  uint64_t total = 0;
  for (const std::string& path : paths) total += sizes.emplace_back(SizeOf(path));

  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::condition_variable changed;
  size_t finished = 0;
  uint64_t finished_bytes = 0;
  const auto work = [&] {
    for (size_t at = next++; at < paths.size(); at = next++) {
      Done one = RunOne(
          at, paths[at], task,
          static_cast<unsigned>(std::max<size_t>(1, workers == 0 ? 1 : cores / workers)), context);
      const std::lock_guard lock(mutex);
      done[at] = std::move(one);
      ++finished;
      finished_bytes += sizes[at];
      changed.notify_one();
    }
  };
  std::vector<std::thread> threads;
  try {
    for (size_t i = 0; i < workers; ++i) threads.emplace_back(work);
  } catch (const std::system_error&) {
    // The system has no more threads: those that were started do the work, or this one.
  }
  if (threads.empty()) work();
  {
    const bool traces = std::ranges::all_of(paths, IsTraceName);
    const bool logs_only = std::ranges::none_of(paths, IsTraceName);
    const char* const thing = traces ? "trace" : logs_only ? "log" : "input";
    Progress progress(context.console, fmt::format("{} {}", activity, Count(paths.size(), thing)));
    std::unique_lock lock(mutex);
    while (finished < paths.size()) {
      changed.wait_for(lock, std::chrono::milliseconds(200));
      progress.Update(finished_bytes, total);
    }
  }
  for (std::thread& thread : threads) thread.join();

  std::vector<LogStatus> logs;
  for (Done& one : done) {
    if (!one.messages.empty()) {
      static_cast<void>(context.console.Flush());
      static_cast<void>(context.console.streams().err.Write(one.messages));
    }
    logs.push_back(std::move(one.status));
  }
  return logs;
}

size_t CountFailed(const std::vector<LogStatus>& logs) {
  return static_cast<size_t>(
      std::count_if(logs.begin(), logs.end(), [](const LogStatus& log) { return log.error; }));
}

ExitCode WorstOf(const std::vector<LogStatus>& logs) {
  if (!logs.empty() && CountFailed(logs) == logs.size()) return ExitCode::kFailed;
  const bool all_clean = std::all_of(
      logs.begin(), logs.end(), [](const LogStatus& log) { return log.code == ExitCode::kClean; });
  return all_clean ? ExitCode::kClean : ExitCode::kNotice;
}

std::string LogNames::Title() const {
  const std::string logs = Count(names.size(), "log");
  return pattern.empty() ? logs : fmt::format("{} ({})", logs, pattern);
}

LogNames ShortNames(const std::vector<LogStatus>& logs) {
  LogNames names;
  for (const LogStatus& log : logs) names.names.push_back(log.log);
  if (names.names.size() > 1) {
    const auto [least, greatest] = std::minmax_element(names.names.begin(), names.names.end());
    const std::string first = *least, last = *greatest;
    // They share whole folders at the start, and whole names of files and folders at the end.
    const auto differ = std::mismatch(first.begin(), first.end(), last.begin(), last.end()).first;
    size_t front = static_cast<size_t>(differ - first.begin());
    while (front > 0 && first[front - 1] != '/') --front;
    size_t back = 0;
    for (size_t at = first.rfind('/'); at != std::string::npos && at > front;
         at = first.rfind('/', at - 1)) {
      const std::string_view tail = std::string_view(first).substr(at);
      const bool all = std::all_of(names.names.begin(), names.names.end(), [&](const auto& name) {
        return name.size() > front + tail.size() && name.ends_with(tail);
      });
      if (!all) break;
      back = tail.size();
    }
    if (front + back > 0) {
      names.pattern = first.substr(0, front) + "*" + first.substr(first.size() - back);
      for (std::string& name : names.names) name = name.substr(front, name.size() - front - back);
    }
  }
  names.pattern = Printable(names.pattern);
  for (std::string& name : names.names) name = Printable(name);
  return names;
}

std::string FailuresText(const std::vector<LogStatus>& logs) {
  std::string text;
  for (const LogStatus& log : logs)
    if (log.error) text += fmt::format("failed: {}\n", Printable(*log.error));
  return text;
}

}  // namespace ringscope
