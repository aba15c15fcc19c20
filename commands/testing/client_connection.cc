#include "commands/testing/client_connection.h"

#include <sys/epoll.h>

#include <utility>

namespace ringscope::testing {
namespace {

constexpr uint64_t kServiceId = 1;

/// The requests that a descriptor may come with.
bool CarriesDescriptor(ipc::MethodName method) {
  using enum ipc::MethodName;
  return method == kInitializeConnection || method == kEnableTracing || method == kCloneSession;
}

}  // namespace

ClientConnection::ClientConnection(EventLoop& loop, UniqueFd fd,
                                   std::span<const ipc::PortMethod> methods)
    : loop_(loop), socket_(std::move(fd)), methods_(methods) {}

Status ClientConnection::Serve(Port& port) {
  port_ = &port;
  RS_ASSIGN_OR_RETURN(
      watch_, loop_.Watch(socket_.fd(), EPOLLIN, [this](uint32_t events) { OnReadable(events); }));
  return {};
}

void ClientConnection::OnReadable(uint32_t) {
  const auto state = socket_.Receive();
  const auto carries = [this](const ipc::Frame& frame) {
    const auto* const invoke = std::get_if<ipc::InvokeMethod>(&frame.body);
    return invoke != nullptr && CarriesDescriptor(table_.Find(*invoke));
  };
  while (!closed_) {
    auto frame = socket_.NextFrame(carries);
    if (!frame || !*frame) {
      closed_ |= !frame;
      break;
    }
    OnFrame(std::move(**frame));
  }
  if (!state || *state == IoState::kClosed) closed_ = true;
  if (!closed_) return SendQueued();
  watch_.Reset();
  port_->OnDisconnect();
}

void ClientConnection::OnFrame(PassingFrame frame) {
  const uint64_t id = frame.frame.request_id;
  if (std::holds_alternative<ipc::BindService>(frame.frame.body)) {
    const ipc::BindServiceReply reply = ipc::BindReplyWith(kServiceId, methods_);
    table_.Learn(reply);
    std::string bytes;
    ipc::AppendBindReply(bytes, id, reply);
    socket_.Queue(wire::AsBytes(bytes));
    return SendQueued();
  }
  const auto* const invoke = std::get_if<ipc::InvokeMethod>(&frame.frame.body);
  if (invoke == nullptr || table_.Find(*invoke) == ipc::MethodName::kUnknown) return;
  ClientRequest request{.method = table_.Find(*invoke),
                        .id = id,
                        .args = invoke->args,
                        .drop_reply = invoke->drop_reply,
                        .fds = std::move(frame.fds)};
  port_->OnRequest(request);
}

void ClientConnection::Reply(uint64_t request_id, const std::string& reply, bool has_more,
                             bool success, const UniqueFd* fd) {
  if (closed_) return;
  std::string bytes;
  ipc::AppendInvokeReply(bytes, request_id,
                         {.success = success, .has_more = has_more, .reply = wire::AsBytes(reply)});
  PassingFrame frame;
  frame.frame.whole = wire::AsBytes(bytes);
  if (fd != nullptr) frame.fds.push_back(fd->Duplicate());
  socket_.Queue(std::move(frame));
  SendQueued();
}

void ClientConnection::Close() {
  if (std::exchange(closed_, true)) return;
  watch_.Reset();
  port_->OnDisconnect();
}

void ClientConnection::SendQueued() {
  socket_.SendQueued();
  if (watch_.SetEvents(EPOLLIN | (socket_.queued() > 0 ? EPOLLOUT : 0u))) return;
  // What is queued would never be sent. Not at once: the port may be at work.
  end_ = loop_.CallSoon([this] { Close(); });
}

}  // namespace ringscope::testing
