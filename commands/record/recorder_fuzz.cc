// A recorder between two producers, two consumers and a service, all played by one script in one
// thread: no crash, what passes is forwarded as it was sent or edited where that is due, requests
// of the recorder's own are its own, the log's records can be read, and the recording ends.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands/record/recorder.h"
#include "commands/testing/ipc_script.h"
#include "commands/testing/sockets_in_memory.h"

namespace {

using namespace ringscope;           // NOLINT: a fuzz target is a program of its own
using namespace ringscope::testing;  // NOLINT

constexpr size_t kConnections = 4;  // the first two are producers
constexpr int kRoundsToEnd = 64;

bool IsProducer(size_t connection) { return connection < kConnections / 2; }

/// Where the service accepts clients, in all runs.
struct ServiceListeners {
  std::string producer_name = UniqueSocketName("fuzz-service-producer");
  std::string consumer_name = UniqueSocketName("fuzz-service-consumer");
  Listener producer = Listener::Create(producer_name, 0600).value();
  Listener consumer = Listener::Create(consumer_name, 0600).value();
};

/// The other ends of a client's connection and of what the recorder joined it to.
struct Ends {
  UniqueFd client;
  UniqueFd service;
  std::string client_sent;
  std::string client_received;
  std::string service_sent;
  std::string service_received;
  size_t answered = 0;  // of service_received
  bool used = false;
};

class Run {
 public:
  Run(ServiceListeners& service, const TestMemory& memory, uint8_t flags)
      : service_(service), memory_(memory), answers_((flags & 4) == 0), binds_((flags & 8) == 0) {
    static const std::string kProducerName = UniqueSocketName("fuzz-producer");
    static const std::string kConsumerName = UniqueSocketName("fuzz-consumer");
    options_.producer = {kProducerName, service.producer_name};
    options_.consumer = {kConsumerName, service.consumer_name};
    if ((flags & 16) != 0) options_.looks = true;
    recorder_ = Recorder::Create(*loop_, options_, Recorder::Listen(options_).value(), log_,
                                 [](const std::string&, int32_t) {})
                    .value();
  }

  void Take(const ScriptStep& step) {
    const size_t connection = step.connection % kConnections;
    Ends& ends = ends_[connection];
    if (!ends.used) Connect(connection);
    const int fd = step.with_descriptor ? memory_.fd() : -1;
    switch (step.kind) {
      case StepKind::kClientFrame:
      case StepKind::kRequest:
      case StepKind::kClientBytes:
        Send(ends.client, step.bytes, fd, ends.client_sent);
        break;
      case StepKind::kServiceFrame:
      case StepKind::kReply:
      case StepKind::kServiceBytes:
        Send(ends.service, step.bytes, fd, ends.service_sent);
        break;
      case StepKind::kMemory:
        return;
      case StepKind::kAct:
        Act(ends, step.act);
        break;
    }
    if (!step.with_descriptor) Settle();  // else with what follows
  }

  void End() {
    answers_ = true;
    Settle();
    recorder_->Stop();
    Settle();
    for (Ends& ends : ends_) {
      ends.client.Reset();
      ends.service.Reset();
    }
    for (int i = 0; i < kRoundsToEnd && !recorder_->stopped(); ++i) Round();
    if (!recorder_->stopped()) std::abort();
    DropProbes();
    for (const Ends& ends : ends_) Check(ends);
  }

 private:
  void Connect(size_t connection) {
    Ends& ends = ends_[connection];
    ends.used = true;
    const bool producer = IsProducer(connection);
    auto client =
        ringscope::Connect(producer ? options_.producer.listen : options_.consumer->listen);
    if (!client) std::abort();
    ends.client = std::move(*client);
    Round();
    Round();
    ends.service = AcceptLast(producer ? service_.producer : service_.consumer);
    if (!ends.service.valid()) std::abort();
    if (!binds_) return;
    static const Binding kProducer = BindingOf(ipc::kProducerPort);
    static const Binding kConsumer = BindingOf(ipc::kConsumerPort);
    const Binding& binding = producer ? kProducer : kConsumer;
    Send(ends.client, binding.request, -1, ends.client_sent);
    Settle();
    Send(ends.service, binding.reply, -1, ends.service_sent);
    Settle();
  }

  /// The connection that is open; the recorder also connects to see whether the service runs.
  static UniqueFd AcceptLast(const Listener& listener) {
    UniqueFd last;
    while (true) {
      UniqueFd accepted = listener.Accept();
      if (!accepted.valid()) return last;
      if (!IsClosed(accepted.get())) last = std::move(accepted);
    }
  }

  /// What waits to be accepted would be in the way of others, also of those of the next run.
  void DropProbes() {
    static_cast<void>(AcceptLast(service_.producer));
    static_cast<void>(AcceptLast(service_.consumer));
  }

  /// As much as the peer takes; at least while it reads, that is all.
  void Send(const UniqueFd& from, std::string_view bytes, int with_fd, std::string& sent) {
    std::vector<UniqueFd> fds;
    if (with_fd >= 0) fds.emplace_back(::dup(with_fd));
    for (int i = 0; i < kRoundsToEnd && from.valid() && !bytes.empty(); ++i) {
      const Sent result = ringscope::Send(from.get(), wire::AsBytes(bytes), fds);
      if (result.state == IoState::kClosed) return;
      sent += bytes.substr(0, result.bytes);
      bytes.remove_prefix(result.bytes);
      if (result.bytes > 0) fds.clear();
      if (!bytes.empty()) Settle();
    }
  }

  void Act(Ends& ends, uint8_t act) {
    switch (act % 4) {
      case 0:
        ends.client.Reset();
        break;
      case 1:
        ends.service.Reset();
        break;
      case 2:
        answers_ = !answers_;
        break;
      default:
        recorder_->CheckService();
        DropProbes();
        break;
    }
  }

  /// Handles what is due now, and waits for nothing.
  void Round() {
    const EventLoop::Timer due = loop_->CallSoon([] {});
    bool done = false;
    loop_->RunUntil([&done] { return std::exchange(done, true); });
  }

  /// Until the recorder sends nothing more.
  void Settle() {
    bool any = true;
    for (int i = 0; i < kRoundsToEnd && any; ++i) {
      Round();
      any = false;
      for (Ends& ends : ends_) {
        if (!ends.used) continue;
        any |= Receive(ends.client, ends.client_received);
        any |= Receive(ends.service, ends.service_received);
        if (answers_) any |= Answer(ends);
      }
    }
  }

  /// @return whether there was something
  bool Receive(const UniqueFd& from, std::string& received) {
    bool any = false;
    while (from.valid()) {
      const Received got = ringscope::Receive(from.get(), space_);
      received += wire::AsText(Bytes(space_).first(got.bytes));
      any |= got.bytes > 0;
      if (got.bytes < space_.size()) break;
    }
    return any;
  }

  /// Replies to what the recorder asks. @return whether there was something
  bool Answer(Ends& ends) {
    bool any = false;
    for (const std::string& bytes :
         SplitFrames(std::string_view(ends.service_received).substr(ends.answered))) {
      ends.answered += bytes.size();
      const ipc::Frame frame = ipc::ParseFrame(wire::AsBytes(bytes)).value();
      const auto* const invoke = std::get_if<ipc::InvokeMethod>(&frame.body);
      if (invoke == nullptr || !IsOfRecorder(frame) || invoke->drop_reply) continue;
      std::string reply;
      ipc::AppendInvokeReply(reply, frame.request_id, {.success = true});
      if (!ends.service.valid()) continue;
      const Sent sent = ringscope::Send(ends.service.get(), wire::AsBytes(reply), {});
      ends.service_sent += reply.substr(0, sent.bytes);
      any = true;
    }
    return any;
  }

  void Check(const Ends& ends) const {
    CheckFrames(ends.client_sent, ends.service_received, /*edited=*/true);
    CheckFrames(ends.service_sent, ends.client_received, /*edited=*/false);
  }

  /// But for what may be the recorder's own, all that arrived was sent. Commits may be collected to
  /// requests of the recorder's own.
  static void CheckFrames(const std::string& sent, const std::string& received, bool edited) {
    const std::vector<std::string> before = OfOthers(sent);
    const std::vector<std::string> after = OfOthers(received);
    for (size_t i = 0; i < std::min(before.size(), after.size()); ++i)
      if (!IsForwarded(before[i], after[i], edited)) std::abort();
  }
  static const ipc::MethodTable& Methods() {
    static const ipc::MethodTable kMethods = [] {
      ipc::MethodTable methods;
      const Binding binding = BindingOf(ipc::kProducerPort);
      methods.Learn(
          std::get<ipc::BindServiceReply>(ipc::ParseFrame(wire::AsBytes(binding.reply))->body));
      return methods;
    }();
    return kMethods;
  }
  static std::vector<std::string> OfOthers(const std::string& stream) {
    std::vector<std::string> frames = SplitFrames(stream);
    std::erase_if(frames, [](const std::string& bytes) {
      const ipc::Frame frame = ipc::ParseFrame(wire::AsBytes(bytes)).value();
      const auto* const invoke = std::get_if<ipc::InvokeMethod>(&frame.body);
      return IsOfRecorder(frame) ||
             (invoke != nullptr && Methods().Find(*invoke) == ipc::MethodName::kCommitData);
    });
    return frames;
  }

  ServiceListeners& service_;
  const TestMemory& memory_;
  bool answers_;  // the service replies to the recorder's requests
  const bool binds_;
  RecorderOptions options_;
  CheckedLog log_;
  std::unique_ptr<EventLoop> loop_ = EventLoop::Create().value();
  std::unique_ptr<Recorder> recorder_;
  std::array<Ends, kConnections> ends_;
  std::array<uint8_t, 16384> space_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static ServiceListeners service;
  static const TestMemory memory(kScriptMemoryBytes, /*sealed=*/true);
  std::memset(memory.data(), 0, memory.size());
  ScriptInput input({data, size});
  Run run(service, memory, input.Byte());
  while (!input.empty()) run.Take(NextStep(input, memory));
  run.End();
  return 0;
}
