#include "commands/testing/service_client.h"

#include <fmt/format.h>
#include <poll.h>

#include <utility>

#include "formats/ipc/ipc_messages.h"
#include "formats/testing/ipc_frames.h"

namespace ringscope::testing {
namespace {

constexpr int kClientPatienceMs = 30'000;

tl::unexpected<Error> GoneError() {
  return Fail(ErrorCode::kIo, "the tracing service has closed the connection");
}

}  // namespace

Result<ServiceClient> ServiceClient::Connect(const std::string& socket, std::string_view port) {
  RS_ASSIGN_OR_RETURN(UniqueFd fd, ringscope::Connect(socket));
  ServiceClient client(std::move(fd));
  RS_RETURN_IF_ERROR(client.Bind(port));
  return client;
}

Status ServiceClient::Bind(std::string_view port) {
  std::string frame;
  ipc::AppendBind(frame, ++last_request_, port);
  socket_->Queue(wire::AsBytes(frame));
  RS_RETURN_IF_ERROR(Flush());
  RS_ASSIGN_OR_RETURN(const auto bound, NextFrame(/*wait=*/true));
  const auto* const reply =
      bound ? std::get_if<ipc::BindServiceReply>(&bound->frame.body) : nullptr;
  if (reply == nullptr || !reply->success)
    return Fail(ErrorCode::kIo, fmt::format("the tracing service has no {}", port));
  service_ = reply->service;
  for (const ipc::Method& method : reply->methods) methods_[std::string(method.name)] = method.id;
  return {};
}

Result<uint64_t> ServiceClient::Invoke(const std::string& method, const std::string& args,
                                       bool drop_reply, const UniqueFd* fd) {
  if (!socket_) return GoneError();
  const auto id = methods_.find(method);
  if (id == methods_.end())
    return Fail(ErrorCode::kUnsupported, fmt::format("the tracing service has no {}", method));
  std::string bytes;
  ipc::AppendInvoke(bytes, ++last_request_,
                    {.service = service_,
                     .method = id->second,
                     .args = wire::AsBytes(args),
                     .drop_reply = drop_reply});
  if (method == "GetAsyncCommand") command_request_ = last_request_;
  PassingFrame frame;
  frame.frame.whole = wire::AsBytes(bytes);
  if (fd != nullptr) frame.fds.push_back(fd->Duplicate());
  socket_->Queue(std::move(frame));
  RS_RETURN_IF_ERROR(Flush());
  return last_request_;
}

Status ServiceClient::Wait(short events) const {
  pollfd entry = {socket_->fd(), events, 0};
  if (::poll(&entry, 1, kClientPatienceMs) == 1) return {};
  return Fail(ErrorCode::kIo, "the tracing service does not answer");
}

Status ServiceClient::Flush() {
  for (socket_->SendQueued(); socket_->queued() > 0; socket_->SendQueued())
    RS_RETURN_IF_ERROR(Wait(POLLOUT));
  return {};
}

Result<std::optional<PassingFrame>> ServiceClient::NextFrame(bool wait) {
  if (!socket_) return GoneError();
  const auto carries = [this](const ipc::Frame& frame) {
    const auto* const reply = std::get_if<ipc::InvokeMethodReply>(&frame.body);
    if (reply == nullptr || frame.request_id != command_request_) return false;
    ipc::AsyncCommand command;
    return DecodeMessage(reply->reply, command) && command.setup_tracing.has_value();
  };
  while (true) {
    RS_ASSIGN_OR_RETURN(auto frame, socket_->NextFrame(carries));
    if (frame) return frame;
    if (wait) RS_RETURN_IF_ERROR(Wait(POLLIN));
    pollfd entry = {socket_->fd(), POLLIN, 0};
    if (!wait && ::poll(&entry, 1, 0) != 1) return std::nullopt;
    RS_ASSIGN_OR_RETURN(const IoState state, socket_->Receive());
    if (state != IoState::kClosed) continue;
    RS_ASSIGN_OR_RETURN(frame, socket_->NextFrame(carries));
    if (frame) return frame;
    return GoneError();
  }
}

Result<std::optional<ServiceReply>> ServiceClient::Poll() {
  RS_ASSIGN_OR_RETURN(auto frame, NextFrame(/*wait=*/false));
  if (!frame) return std::nullopt;
  const auto* const reply = std::get_if<ipc::InvokeMethodReply>(&frame->frame.body);
  if (reply == nullptr) return ServiceReply();
  return ServiceReply{.request_id = frame->frame.request_id,
                      .success = reply->success,
                      .has_more = reply->has_more,
                      .content = std::string(wire::AsText(reply->reply)),
                      .fds = std::move(frame->fds)};
}

Result<ServiceReply> ServiceClient::Read() {
  while (true) {
    RS_ASSIGN_OR_RETURN(auto reply, Poll());
    if (reply) return std::move(*reply);
    RS_RETURN_IF_ERROR(Wait(POLLIN));
  }
}

}  // namespace ringscope::testing
