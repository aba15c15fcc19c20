#include "commands/record/port_tap.h"

#include <algorithm>

namespace ringscope {
namespace {

/// Ids of the recorder's own requests. A client counts up from 1 and does not reach them.
constexpr uint64_t kFirstOwnRequest = 0xF0000000;
constexpr uint32_t kOwnRequests = 0x0FFFFFFF;

}  // namespace

Status PortTap::FromClient(PassingFrame&& frame, FrameSocket& service) {
  const ipc::Frame view = frame.frame;
  if (const auto* const invoke = std::get_if<ipc::InvokeMethod>(&view.body)) {
    const ipc::MethodName method = methods_.Find(*invoke);
    NoteRequest(method, view, *invoke);
    return OnRequest(method, *invoke, std::move(frame), service);
  }
  if (std::holds_alternative<ipc::BindService>(view.body)) bind_request_ = view.request_id;
  service.Queue(std::move(frame));
  return {};
}

/// A Sync changes nothing, and the service replies to it once it has handled what came before.
void PortTap::NoteRequest(ipc::MethodName method, const ipc::Frame& frame,
                          const ipc::InvokeMethod& invoke) {
  // Only a new id: the reply to another request must not be taken for the one to this.
  const bool is_new = frame.request_id > highest_request_ && frame.request_id < kFirstOwnRequest;
  highest_request_ = std::max(highest_request_, frame.request_id);
  const bool confirms = method == ipc::MethodName::kSync && !invoke.drop_reply && is_new;
  if (!confirms || !OneReplyConfirms()) return SetUnconfirmed();
  if (unconfirmed_) sync_ = frame.request_id;
}

Status PortTap::FromService(PassingFrame&& frame, FrameSocket& client) {
  const ipc::Frame view = frame.frame;
  if (const auto* const bound = std::get_if<ipc::BindServiceReply>(&view.body);
      bound != nullptr && view.request_id == bind_request_)
    methods_.Learn(*bound);
  if (const auto* const reply = std::get_if<ipc::InvokeMethodReply>(&view.body)) {
    if (confirmation_ == view.request_id) {
      OnConfirmed(*reply);
      if (reply->has_more) return {};
      confirmation_.reset();
      answered_ = true;
      FinishRound();
      return {};
    }
    RS_RETURN_IF_ERROR(OnReply(view.request_id, *reply, frame));
    if (sync_ == view.request_id) OnSynced();
    FinishRound();
  }
  client.Queue(std::move(frame));
  return {};
}

uint64_t PortTap::NextOwnRequest() { return kFirstOwnRequest + own_requests_++ % kOwnRequests; }

void PortTap::OnSynced() {
  sync_.reset();
  if (confirmation_) return;  // asked for earlier: its reply follows
  if (OneReplyConfirms()) unconfirmed_ = must_confirm_ = false;
  confirmed_ = std::exchange(awaits_sync_, false);
}

void PortTap::FinishRound() {
  if (!answered_ || IsBeingServed()) return;
  answered_ = false;
  confirmed_ = true;
  if (--rounds_ > 0) return;
  unconfirmed_ = must_confirm_ = false;
  if (recording_.files.any()) recording_.files.OnConfirmed(reads_);
}

bool PortTap::AskConfirmation(FrameSocket& service) {
  const std::optional<ipc::MethodName> method = ConfirmingMethod();
  if (!method) {
    recording_.log.MarkInexact({.reason = InexactReason::kUnconfirmed, .detail = Describe()});
    unconfirmed_ = must_confirm_ = false;
    return false;
  }
  if (sync_ && OneReplyConfirms()) {
    awaits_sync_ = true;
    return true;
  }
  // What the service does in a task of its own, after a request, is done when it handles the second
  // request after it.
  if (rounds_ == 0)
    rounds_ = recording_.clones.AnyOpen() || recording_.files.cause_is_under_way() ? 2 : 1;
  reads_ = recording_.files.reads();
  confirmation_ = NextOwnRequest();
  const std::string args = ConfirmingArgs();
  std::string frame;
  ipc::AppendInvoke(frame, *confirmation_,
                    {.service = methods_.service(),
                     .method = *methods_.IdOf(*method),
                     .args = wire::AsBytes(args),
                     .drop_reply = false});
  service.Queue(wire::AsBytes(frame));
  return true;
}

}  // namespace ringscope
