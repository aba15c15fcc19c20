#include "commands/testing/chromium.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include "formats/testing/parsed_json.h"

namespace ringscope::testing {
namespace {

constexpr int kReplyPatienceMs = 60'000;  // for a reply
constexpr auto kPatienceAtEnd = std::chrono::seconds(10);

Error Failure(std::string what) { return Error{ErrorCode::kIo, std::move(what), {}}; }

/// @return its reading and its writing end
Result<std::array<UniqueFd, 2>> MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return tl::unexpected(Failure("cannot make a pipe"));
  return std::array{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace

Result<std::unique_ptr<Chromium>> Chromium::Start(const std::string& producer_socket,
                                                  const std::string& folder) {
  std::unique_ptr<Chromium> chromium(new Chromium());
  RS_ASSIGN_OR_RETURN(auto commands, MakePipe());
  RS_ASSIGN_OR_RETURN(auto replies, MakePipe());
  // It reads commands from descriptor 3 and writes replies to 4; it leads a group of its own.
  for (const int inherited : {commands[0].get(), replies[1].get()}) ::fcntl(inherited, F_SETFD, 0);
  const std::string command = fmt::format(
      "exec env PERFETTO_PRODUCER_SOCK_NAME='{4}' setsid {0} --headless --no-sandbox --disable-gpu "
      "--no-first-run "
      "--remote-debugging-pipe --enable-features=EnablePerfettoSystemTracing "
      "--user-data-dir='{1}/profile' about:blank </dev/null >'{1}/messages' 2>&1 "
      "3</proc/self/fd/{2} 4>/proc/self/fd/{3}",
      kProgram, folder, commands[0].get(), replies[1].get(), producer_socket);
  RS_ASSIGN_OR_RETURN(chromium->process_, ChildProcess::Start({"sh", "-c", command}));
  chromium->commands_ = std::move(commands[1]);
  chromium->replies_ = std::move(replies[0]);

  RS_ASSIGN_OR_RETURN(const std::string made,
                      chromium->Call("Target.createTarget", R"({"url": "about:blank"})"));
  const Json attach = {{"targetId", testing::ParsedJson(made).value("targetId", "")},
                       {"flatten", true}};
  RS_ASSIGN_OR_RETURN(const std::string attached,
                      chromium->Call("Target.attachToTarget", attach.dump()));
  chromium->session_ = testing::ParsedJson(attached).value("sessionId", "");
  return chromium;
}

Chromium::~Chromium() {
  session_.clear();
  if (commands_.valid()) static_cast<void>(Call("Browser.close"));
  const auto until = std::chrono::steady_clock::now() + kPatienceAtEnd;
  if (process_ == nullptr) return;
  siginfo_t ended = {};
  while (::waitid(P_PID, static_cast<id_t>(process_->pid()), &ended, WEXITED | WNOHANG | WNOWAIT) ==
             0 &&
         ended.si_pid == 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ::kill(-process_->pid(), SIGKILL);
  static_cast<void>(process_->TakeEnding());
}

Result<std::string> Chromium::Run(const std::string& script) {
  const Json params = {{"expression", script}, {"awaitPromise", true}, {"returnByValue", true}};
  RS_ASSIGN_OR_RETURN(const std::string reply, Call("Runtime.evaluate", params.dump()));
  const Json result = testing::ParsedJson(reply);
  if (result.contains("exceptionDetails"))
    return tl::unexpected(Failure("the script failed: " + reply));
  return result.value("result", Json::object()).value("value", Json()).dump();
}

Result<std::string> Chromium::Call(const std::string& method, const std::string& params) {
  Json call = {{"id", ++last_call_}, {"method", method}, {"params", testing::ParsedJson(params)}};
  if (!session_.empty()) call["sessionId"] = session_;
  const std::string text = call.dump();
  for (size_t sent = 0; sent <= text.size();) {  // with the zero byte that ends it
    const ssize_t written = ::write(commands_.get(), text.c_str() + sent, text.size() + 1 - sent);
    if (written <= 0) return tl::unexpected(Failure("Chromium has ended"));
    sent += static_cast<size_t>(written);
  }
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::string message, NextMessage());
    const Json reply = Json::parse(message, nullptr, /*allow_exceptions=*/false);
    if (!reply.is_object() || reply.value("id", int64_t{0}) != last_call_) continue;  // an event
    if (!reply.contains("result")) return tl::unexpected(Failure(method + ": " + message));
    return reply["result"].dump();
  }
}

Result<std::string> Chromium::NextMessage() {
  size_t end = 0;
  while ((end = received_.find('\0')) == std::string::npos) {
    pollfd wait = {.fd = replies_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&wait, 1, kReplyPatienceMs) <= 0)
      return tl::unexpected(Failure("Chromium does not reply"));
    std::array<char, 65536> bytes;
    const ssize_t size = ::read(replies_.get(), bytes.data(), bytes.size());
    if (size <= 0) return tl::unexpected(Failure("Chromium has ended"));
    received_.append(bytes.data(), static_cast<size_t>(size));
  }
  std::string message = received_.substr(0, end);
  received_.erase(0, end + 1);
  return message;
}

}  // namespace ringscope::testing
