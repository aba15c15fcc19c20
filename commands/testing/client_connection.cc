#include "commands/testing/client_connection.h"

#include <sys/epoll.h>

#include <algorithm>
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

ClientConnection::ClientConnection(EventLoop& loop, UniqueFd fd, std::string_view port_name,
                                   FrameShuffle* shuffle)
    : loop_(loop), socket_(std::move(fd)), port_name_(port_name), shuffle_(shuffle) {}

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
    if (received_) *received_ += wire::AsText((*frame)->frame.whole);
    if (shuffle_ == nullptr)
      OnFrame(std::move(**frame));
    else
      waiting_.push_back(
          {std::string(wire::AsText((*frame)->frame.whole)), std::move((*frame)->fds)});
  }
  if (!waiting_.empty()) shuffle_->Add(*this);
  if (!state || *state == IoState::kClosed) closed_ = true;
  if (!closed_) return SendQueued();
  watch_.reset();
  if (waiting_.empty()) port_->OnDisconnect();
}

bool ClientConnection::HandleNext() {
  WaitingFrame next = std::move(waiting_.front());
  waiting_.pop_front();
  OnFrame({ipc::ParseFrame(wire::AsBytes(next.bytes)).value(), std::move(next.fds)});
  if (!waiting_.empty()) return true;
  if (closed_) port_->OnDisconnect();
  return false;
}

void FrameShuffle::Add(ClientConnection& connection) {
  if (std::ranges::find(waiting_, &connection) == waiting_.end()) waiting_.push_back(&connection);
  next_ = loop_.CallSoon([this] { HandleSome(); });
}

void FrameShuffle::HandleSome() {
  constexpr size_t kMostInARow = 3;
  if (waiting_.empty()) return;
  ClientConnection& connection = *waiting_[random_() % waiting_.size()];
  bool has_more = true;
  for (size_t left = 1 + random_() % kMostInARow; left > 0 && has_more; --left)
    has_more = connection.HandleNext();
  if (!has_more) Remove(connection);
  next_ = loop_.CallSoon([this] { HandleSome(); });
}

void ClientConnection::OnFrame(PassingFrame frame) {
  const uint64_t id = frame.frame.request_id;
  if (std::holds_alternative<ipc::BindService>(frame.frame.body)) {
    const ipc::BindServiceReply reply = ipc::BindReplyWith(kServiceId, port_name_);
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
  watch_.reset();
  waiting_.clear();
  if (shuffle_ != nullptr) shuffle_->Remove(*this);
  port_->OnDisconnect();
}

void ClientConnection::SendQueued() {
  socket_.SendQueued();
  if (!watch_ || watch_->SetEvents(EPOLLIN | (socket_.queued() > 0 ? EPOLLOUT : 0u))) return;
  // What is queued would never be sent. Not at once: the port may be at work.
  end_ = loop_.CallSoon([this] { Close(); });
}

}  // namespace ringscope::testing
