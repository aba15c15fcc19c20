#include "commands/each_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "commands/json_output.h"
#include "commands/text.h"
#include "core/wire.h"

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
  Json json;
  std::string messages;
};

Done RunOne(const std::string& path, const LogTask& task, unsigned threads) {
  TextStream out, err;
  Streams streams{out, err, {}, true};
  Json sessions = Json::array();
  Result<ExitCode> code = ExitCode::kFailed;
  {
    Console console(streams);
    Context context{console, threads};
    try {
      code = task(path, context, sessions);
    } catch (const std::exception& error) {  // out of memory, mostly
      code = Fail(ErrorCode::kLimit, fmt::format("cannot go on: {}", error.what()));
    }
  }
  // Limits and the like have no place of their own.
  if (!code && code.error().where.path.empty()) code.error().where.path = path;
  Done done;
  done.messages = std::move(err.text);
  done.json = {{"log", path},
               {"exit_status", static_cast<int>(code.value_or(ExitCode::kFailed))},
               {"error", code ? Json() : Json(code.error().ToString())},
               {"sessions", code ? std::move(sessions) : Json::array()}};
  return done;
}

uint64_t SizeOf(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<uint64_t>(size);
}

}  // namespace

Json RunEachLog(Context& context, const std::vector<std::string>& paths,
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
  std::vector<std::thread> threads;
  for (size_t i = 0; i < workers; ++i) {
    threads.emplace_back([&] {
      for (size_t at = next++; at < paths.size(); at = next++) {
        Done one =
            RunOne(paths[at], task,
                   static_cast<unsigned>(std::max<size_t>(1, workers == 0 ? 1 : cores / workers)));
        const std::lock_guard lock(mutex);
        done[at] = std::move(one);
        ++finished;
        finished_bytes += sizes[at];
        changed.notify_one();
      }
    });
  }
  {
    Progress progress(context.console, fmt::format("{} {}", activity, Count(paths.size(), "log")));
    std::unique_lock lock(mutex);
    while (finished < paths.size()) {
      changed.wait_for(lock, std::chrono::milliseconds(200));
      progress.Update(finished_bytes, total);
    }
  }
  for (std::thread& thread : threads) thread.join();

  Json logs = Json::array();
  for (Done& one : done) {
    if (!one.messages.empty()) {
      static_cast<void>(context.console.Flush());
      static_cast<void>(context.console.streams().err.Write(one.messages));
    }
    logs.push_back(std::move(one.json));
  }
  return logs;
}

ExitCode WorstOf(const Json& logs) {
  size_t failed = 0;
  bool notice = false;
  for (const Json& log : logs) {
    failed += log.at("error").is_null() ? 0 : 1;
    notice |= log.at("exit_status").get<int>() != 0;
  }
  if (failed > 0 && failed == logs.size()) return ExitCode::kFailed;
  return notice ? ExitCode::kNotice : ExitCode::kClean;
}

LogNames ShortNames(const Json& logs) {
  LogNames names;
  for (const Json& log : logs) names.names.push_back(log.at("log").get<std::string>());
  if (names.names.size() > 1) {
    const auto [least, greatest] = std::minmax_element(names.names.begin(), names.names.end());
    const std::string first = *least, last = *greatest;
    // Whole folders in front, and whole names of files and folders behind.
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

std::string FailuresText(const Json& logs) {
  std::string text;
  for (const Json& log : logs)
    if (!log.at("error").is_null())
      text += fmt::format("failed: {}\n", Printable(log.at("error").get<std::string>()));
  return text;
}

}  // namespace ringscope
