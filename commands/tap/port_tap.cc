#include "commands/tap/port_tap.h"

namespace ringscope::record {
namespace {

/// Ids of the recorder's own requests. A client counts up from 1 and does not reach them.
constexpr uint64_t kFirstOwnRequest = 0xF0000000;
constexpr uint32_t kOwnRequests = 0x0FFFFFFF;

}  // namespace

Status PortTap::FromClient(PassingFrame&& frame, FrameSocket& service) {
  const ipc::Frame view = frame.frame;
  if (const auto* const invoke = std::get_if<ipc::InvokeMethod>(&view.body))
    return OnRequest(methods_.Find(*invoke), *invoke, std::move(frame), service);
  if (std::holds_alternative<ipc::BindService>(view.body)) bind_request_ = view.request_id;
  service.Queue(std::move(frame));
  return {};
}

Status PortTap::FromService(PassingFrame&& frame, FrameSocket& client) {
  const ipc::Frame view = frame.frame;
  if (const auto* const bound = std::get_if<ipc::BindServiceReply>(&view.body);
      bound != nullptr && view.request_id == bind_request_)
    methods_.Learn(*bound);
  if (const auto* const reply = std::get_if<ipc::InvokeMethodReply>(&view.body)) {
    if (confirmation_ == view.request_id) {
      confirmation_.reset();
      confirmed_ = true;
      return {};
    }
    RS_RETURN_IF_ERROR(OnReply(view.request_id, *reply, frame));
  }
  client.Queue(std::move(frame));
  return {};
}

uint64_t PortTap::NextOwnRequest() { return kFirstOwnRequest + own_requests_++ % kOwnRequests; }

void PortTap::AskConfirmation(FrameSocket& service) {
  confirmation_ = NextOwnRequest();
  std::string frame;
  ipc::AppendInvoke(frame, *confirmation_,
                    {.service = methods_.service(),
                     .method = *methods_.IdOf(ipc::MethodName::kSync),
                     .args = {},
                     .drop_reply = false});
  service.Queue(wire::AsBytes(frame));
}

}  // namespace ringscope::record
