#include "commands/record/program_runs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "commands/record/child_process.h"
#include "formats/io/descriptor_io.h"

namespace ringscope {
namespace {

constexpr size_t kMostOutput = size_t{1} << 20;
constexpr size_t kLinesShown = 30;
/// After this, a program that was asked to end is ended.
constexpr std::chrono::seconds kEndGrace{2};

/// The first lines of what a program printed.
std::string FirstLines(const std::string& output) {
  size_t end = 0;
  for (size_t line = 0; line < kLinesShown && end < output.size(); ++line)
    end = std::min(output.find('\n', end), output.size() - 1) + 1;
  std::string text = output.substr(0, end);
  while (text.ends_with('\n')) text.pop_back();
  const auto more =
      std::count(output.begin() + static_cast<std::ptrdiff_t>(end), output.end(), '\n');
  return more > 0 ? fmt::format("{}\n... and {} more lines", text, more) : text;
}

}  // namespace

struct ProgramRuns::Running {
  std::string program;
  std::unique_ptr<ChildProcess> child;
  UniqueFd output_fd;
  EventLoop::WatchHandle watch;
  std::string output;
  std::optional<std::string> ending;

  /// Takes in what is there.
  void Read() {
    const bool ended = ReadWhatIsThere(output_fd.get(), [this](std::string_view part) {
      output.append(part.substr(0, kMostOutput - output.size()));
    });
    if (ended) watch.Reset();
  }
  Status Outcome() const {
    if (ending->empty()) return {};
    return Fail(ErrorCode::kIo, fmt::format("{} {}{}", program, *ending,
                                            output.empty() ? "" : ":\n" + FirstLines(output)));
  }
};

Result<std::unique_ptr<ProgramRuns>> ProgramRuns::Create() {
  RS_ASSIGN_OR_RETURN(std::unique_ptr<EventLoop> loop, EventLoop::Create());
  RS_ASSIGN_OR_RETURN(SignalWatch signals, SignalWatch::Create());
  return std::unique_ptr<ProgramRuns>(new ProgramRuns(std::move(loop), std::move(signals)));
}

void ProgramRuns::TakeSignal() {
  while (const int signal = signals_.Take())
    if (signal != SIGUSR1 && signal_ == 0) signal_ = signal;
}

Status ProgramRuns::Interruption() const {
  if (signal_ == 0) return {};
  return Fail(ErrorCode::kIo, fmt::format("ended by signal {}; nothing was written", signal_));
}

auto ProgramRuns::Start(const Command& command, const std::string& folder)
    -> Result<std::unique_ptr<Running>> {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return Fail(ErrorCode::kIo, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  auto running = std::make_unique<Running>();
  running->program = command.front();
  running->output_fd = UniqueFd(ends[0]);
  const UniqueFd theirs(ends[1]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  RS_ASSIGN_OR_RETURN(running->child,
                      ChildProcess::Start(command, {},
                                          {.folder = folder,
                                           .output = theirs.get(),
                                           .hint = "install it, or make PATH name its folder"}));
  Running* const self = running.get();
  RS_ASSIGN_OR_RETURN(running->watch,
                      loop_->Watch(ends[0], EPOLLIN, [self](uint32_t) { self->Read(); }));
  RS_RETURN_IF_ERROR(running->child->WatchEnd(*loop_, [self](std::string ending) {
    self->Read();
    self->ending = std::move(ending);
  }));
  return running;
}

void ProgramRuns::Wait(const std::vector<std::unique_ptr<Running>>& running) {
  const auto any_ended = [&] {
    return std::any_of(running.begin(), running.end(),
                       [](const auto& one) { return one->ending.has_value(); });
  };
  EventLoop::Timer deadline;
  const auto on_signal = [&](uint32_t) {
    TakeSignal();
    if (signal_ == 0) return;
    for (const auto& one : running) one->child->Terminate();
    deadline = loop_->CallAfter(kEndGrace, [&] {
      for (const auto& one : running) one->child->Kill();
    });
  };
  // Without the watch a signal would wait for the programs' own end.
  auto watch = signal_ == 0 ? loop_->Watch(signals_.fd(), EPOLLIN, on_signal)
                            : Result<EventLoop::WatchHandle>(EventLoop::WatchHandle());
  loop_->RunUntil(any_ended);
}

Result<std::string> ProgramRuns::Run(const Command& command, const std::string& folder) {
  TakeSignal();
  RS_RETURN_IF_ERROR(Interruption());
  std::vector<std::unique_ptr<Running>> running(1);
  RS_ASSIGN_OR_RETURN(running[0], Start(command, folder));
  Wait(running);
  RS_RETURN_IF_ERROR(Interruption());
  RS_RETURN_IF_ERROR(running[0]->Outcome());
  return std::move(running[0]->output);
}

void ProgramRuns::RunAnyway(const Command& command, const std::string& folder) {
  std::vector<std::unique_ptr<Running>> running(1);
  auto started = Start(command, folder);
  if (!started) return;
  running[0] = std::move(*started);
  Wait(running);
}

Status ProgramRuns::RunAll(const std::vector<Command>& commands, unsigned at_once) {
  std::vector<std::unique_ptr<Running>> running;
  Status first;
  size_t next = 0;
  while (true) {
    TakeSignal();
    if (first) first = Interruption();
    while (first && next < commands.size() && running.size() < std::max(at_once, 1u)) {
      auto started = Start(commands[next++], {});
      if (started)
        running.push_back(std::move(*started));
      else
        first = tl::unexpected(std::move(started).error());
    }
    if (running.empty()) return first;
    if (!first)
      for (const auto& one : running) one->child->Terminate();
    Wait(running);
    TakeSignal();
    if (first) first = Interruption();
    std::erase_if(running, [&](const auto& one) {
      if (!one->ending) return false;
      if (first) first = one->Outcome();
      return true;
    });
  }
}

}  // namespace ringscope
