#include "commands/testing/tap_script.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands/record/tap.h"
#include "commands/testing/ipc_script.h"

namespace ringscope::testing {
namespace {

/// A tap between two sockets, whose other ends are read here.
class TapRun {
 public:
  explicit TapRun(std::string_view port)
      : client_(std::move(client_ends_.first)), service_(std::move(service_ends_.first)) {
    if (port == ipc::kProducerPort) {
      tap_ = NewProducerTap(recording_, {1, 2});
    } else {
      tap_ = NewConsumerTap(recording_, {1, 2});
    }
  }

  /// @return false: the connection ends
  bool FromClient(const std::string& bytes, int with_fd) {
    return Pass(bytes, with_fd, /*from_client=*/true);
  }
  bool FromService(const std::string& bytes, int with_fd) {
    return Pass(bytes, with_fd, /*from_client=*/false);
  }

  void Act(uint8_t act) {
    constexpr std::chrono::seconds kLongerThanAnyTimeout{1'000'000};
    const auto later = std::chrono::steady_clock::now() + kLongerThanAnyTimeout;
    switch (act % 5) {
      case 0:
        if (tap_->WantsScrape()) tap_->Scrape(service_);
        break;
      case 1:
        if (tap_->has_passed()) tap_->AskConfirmation(service_, true);
        break;
      case 2:
        tap_->StopWaiting();
        break;
      case 3:
        static_cast<void>(recording_.flushes.OnTime(later));
        break;
      default:
        static_cast<void>(tap_->Describe().size() + tap_->InOrder().size());
        break;
    }
    // Requests of the recorder's own, and nothing else.
    for (const std::string& frame : SplitFrames(Forwarded(service_, service_ends_.second)))
      if (!IsOfRecorder(ipc::ParseFrame(wire::AsBytes(frame)).value())) std::abort();
  }

  void End(bool service_has_gone) { tap_->Disconnect(service_has_gone ? nullptr : &service_); }

 private:
  bool Pass(const std::string& bytes, int with_fd, bool from_client) {
    auto frame = ipc::ParseFrame(wire::AsBytes(bytes));
    if (!frame) return true;
    PassingFrame passing{*frame, {}};
    if (with_fd >= 0 && tap_->CarriesDescriptor(*frame))
      passing.fds.push_back(UniqueFd(::dup(with_fd)));
    if (from_client && !tap_->Prepare(&*frame, service_)) return false;
    const Status status = from_client ? tap_->FromClient(std::move(passing), service_)
                                      : tap_->FromService(std::move(passing), client_);
    if (!status) return false;
    const std::vector<std::string> forwarded =
        SplitFrames(from_client ? Forwarded(service_, service_ends_.second)
                                : Forwarded(client_, client_ends_.second));
    Check(bytes, *frame, forwarded, from_client);
    return true;
  }

  void Check(const std::string& sent, const ipc::Frame& frame,
             const std::vector<std::string>& forwarded, bool from_client) const {
    if (!from_client) {
      if (forwarded.empty() && IsOfRecorder(frame)) return;
      if (forwarded.size() != 1 || forwarded[0] != sent) std::abort();
      return;
    }
    if (forwarded.empty() || !IsForwarded(sent, forwarded.back(), /*edited=*/true)) std::abort();
    for (size_t i = 0; i + 1 < forwarded.size(); ++i)
      if (!IsOfRecorder(ipc::ParseFrame(wire::AsBytes(forwarded[i])).value())) std::abort();
  }

  /// All that is queued, through the socket.
  std::string Forwarded(FrameSocket& socket, const UniqueFd& other) {
    std::string all;
    while (socket.queued() > 0) {
      socket.SendQueued();
      const Received received = Receive(other.get(), space_);
      all += wire::AsText(Bytes(space_).first(received.bytes));
    }
    return all;
  }

  CheckedLog log_;
  std::unique_ptr<EventLoop> loop_ = EventLoop::Create().value();
  RecordingState recording_{*loop_, log_, [](const std::string&, int32_t) {}};
  std::pair<UniqueFd, UniqueFd> client_ends_ = MakeSocketPair();
  std::pair<UniqueFd, UniqueFd> service_ends_ = MakeSocketPair();
  FrameSocket client_;
  FrameSocket service_;
  std::unique_ptr<Tap> tap_;
  std::array<uint8_t, 16384> space_;
};

}  // namespace

void RunTapScript(Bytes script, std::string_view port) {
  static const TestMemory memory(kScriptMemoryBytes, /*sealed=*/true);
  std::memset(memory.data(), 0, memory.size());
  ScriptInput input(script);
  const uint8_t options = input.Byte();
  TapRun run(port);
  if ((options & 4) == 0) {
    static const Binding kProducer = BindingOf(ipc::kProducerPort);
    static const Binding kConsumer = BindingOf(ipc::kConsumerPort);
    const Binding& binding = port == ipc::kProducerPort ? kProducer : kConsumer;
    if (!run.FromClient(binding.request, -1) || !run.FromService(binding.reply, -1)) std::abort();
  }
  bool open = true;
  while (open && !input.empty()) {
    const ScriptStep step = NextStep(input, memory);
    const int fd = step.with_descriptor ? memory.fd() : -1;
    switch (step.kind) {
      case StepKind::kClientFrame:
      case StepKind::kRequest:
        open = run.FromClient(step.bytes, fd);
        break;
      case StepKind::kServiceFrame:
      case StepKind::kReply:
        open = run.FromService(step.bytes, fd);
        break;
      case StepKind::kAct:
        run.Act(step.act);
        break;
      default:
        break;
    }
  }
  run.End((options & 8) != 0);
}

}  // namespace ringscope::testing
