#include "commands/tap/connection_pair.h"

#include <fmt/format.h>
#include <sys/epoll.h>

namespace ringscope::record {
namespace {

/// Bytes kept for the service, or read from the client before its turn, until the client has to
/// wait. About what a socket's own buffer holds.
constexpr size_t kMaxFromClient = 256 * 1024;
/// How often one peer is received from in a row, so that the others do not wait.
constexpr int kReceivesInARow = 4;
/// How long the service may take to close its end after a disconnect.
constexpr std::chrono::seconds kCloseTimeout{1};

}  // namespace

ConnectionPair::ConnectionPair(EventLoop& loop, UniqueFd client, UniqueFd service,
                               std::unique_ptr<Tap> tap, Options options)
    : loop_(loop),
      client_(std::move(client)),
      service_(std::move(service)),
      tap_(std::move(tap)),
      options_(std::move(options)) {}

Result<std::unique_ptr<ConnectionPair>> ConnectionPair::Create(EventLoop& loop, UniqueFd client,
                                                               UniqueFd service,
                                                               std::unique_ptr<Tap> tap,
                                                               Options options) {
  std::unique_ptr<ConnectionPair> pair(new ConnectionPair(
      loop, std::move(client), std::move(service), std::move(tap), std::move(options)));
  RS_ASSIGN_OR_RETURN(pair->client_watch_, loop.Watch(pair->client_->fd(), EPOLLIN,
                                                      [self = pair.get()](uint32_t events) {
                                                        self->OnClientEvent(events);
                                                      }));
  RS_ASSIGN_OR_RETURN(pair->service_watch_, loop.Watch(pair->service_->fd(), EPOLLIN,
                                                       [self = pair.get()](uint32_t events) {
                                                         self->OnServiceEvent(events);
                                                       }));
  return pair;
}

ConnectionPair::~ConnectionPair() {
  if (options_.turns != nullptr) options_.turns->Leave(*this);
}

void ConnectionPair::OnClientEvent(uint32_t events) {
  if (state_ == State::kServiceGone) return Settle({}, "");  // sends what is queued for the client
  if (state_ != State::kOpen) return;
  Settle((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 ? ReadClient() : Status(), "client");
}

void ConnectionPair::OnServiceEvent(uint32_t events) {
  if (state_ == State::kServiceGone || state_ == State::kDone) return;
  Settle((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 ? ReadService() : Status(), "service");
}

Status ConnectionPair::ReadClient() {
  for (int i = 0; i < kReceivesInARow && WantsClient(); ++i) {
    RS_ASSIGN_OR_RETURN(const IoState state, client_->Receive());
    client_closed_ = state == IoState::kClosed;
    RS_RETURN_IF_ERROR(PassClientFrames());
    if (state == IoState::kWouldBlock) break;
  }
  return {};
}

Status ConnectionPair::ReadService() {
  for (int i = 0; i < kReceivesInARow; ++i) {
    RS_ASSIGN_OR_RETURN(const IoState state, service_->Receive());
    if (state_ == State::kOpen) {
      RS_RETURN_IF_ERROR(PassServiceFrames());
    } else {
      service_->DiscardUnread();  // there is no client any more
    }
    if (state == IoState::kClosed) EndService();
    if (state != IoState::kDone) break;
  }
  return {};
}

bool ConnectionPair::TakeTurn() {
  if (options_.turns == nullptr || !tap_->CanConfirm()) return true;
  return !awaiting_confirmation_ && options_.turns->Take(*this);
}

Status ConnectionPair::PassClientFrames() {
  if (state_ != State::kOpen || !TakeTurn()) return {};
  bool passed = false;
  const auto carries = [this](const ipc::Frame& frame) { return tap_->CarriesDescriptor(frame); };
  while (true) {
    RS_ASSIGN_OR_RETURN(std::optional<PassingFrame> frame, client_->NextFrame(carries));
    if (!frame) break;
    RS_RETURN_IF_ERROR(tap_->FromClient(std::move(*frame), *service_));
    passed = true;
  }
  if (client_closed_) {
    EndClient();  // its turn lasts until the service has closed its end
    // An incomplete frame is passed on as it is, last, as if the client were connected directly.
    service_->Queue(client_->unread());
  } else if (options_.turns != nullptr && options_.turns->IsHeldBy(*this)) {
    if (passed) {
      tap_->AskConfirmation(*service_);
      awaiting_confirmation_ = !tap_->TakeConfirmed();
    }
    if (!awaiting_confirmation_) options_.turns->Leave(*this);
  }
  return {};
}

Status ConnectionPair::PassServiceFrames() {
  const auto carries = [this](const ipc::Frame& frame) { return tap_->CarriesDescriptor(frame); };
  while (true) {
    RS_ASSIGN_OR_RETURN(std::optional<PassingFrame> frame, service_->NextFrame(carries));
    if (!frame) break;
    RS_RETURN_IF_ERROR(tap_->FromService(std::move(*frame), *client_));
  }
  if (tap_->TakeConfirmed() && awaiting_confirmation_ && state_ == State::kOpen) {
    awaiting_confirmation_ = false;
    options_.turns->Leave(*this);
    RS_RETURN_IF_ERROR(PassClientFrames());
  }
  return {};
}

void ConnectionPair::OnTurn() {  // within another pair's call
  turn_ = loop_.CallSoon([this] { Settle(PassClientFrames(), "client"); });
}

void ConnectionPair::Settle(Status status, const char* sender) {
  if (state_ == State::kDone) return;
  if (!status) {
    options_.on_warning(fmt::format("{}: the {} {}: this connection is closed", tap_->Describe(),
                                    sender, status.error().message));
    // What this peer may still send can be neither read nor passed on: both sides end.
    if (state_ == State::kOpen) EndClient();
  }
  service_->SendQueued();  // that a peer has closed its end shows when it is read
  if (state_ != State::kClientGone) client_->SendQueued();
  if (state_ == State::kOpen && client_->queued() > options_.max_for_client) {
    options_.on_warning(
        fmt::format("{}: does not read, and {} bytes wait for it: this "
                    "connection is closed",
                    tap_->Describe(), client_->queued()));
    EndClient();
  }
  if (state_ == State::kClientGone && service_->queued() == 0 && !shut_down_) {
    shut_down_ = true;
    service_->ShutDown();
    close_timeout_ = loop_.CallAfter(kCloseTimeout, [this] { Finish(); });
  }
  if (state_ == State::kServiceGone && client_->queued() == 0) return Finish();
  if (const Status updated = UpdateEvents(); !updated) {
    options_.on_warning(fmt::format("{}: {}: this connection is closed", tap_->Describe(),
                                    updated.error().message));
    Abandon();
  }
}

void ConnectionPair::End() {
  if (state_ != State::kOpen) return;
  EndClient();
  Settle({}, "");
}

void ConnectionPair::Abandon() {
  if (state_ == State::kOpen) EndClient();
  Finish();
}

void ConnectionPair::OnTimer() {
  if (state_ != State::kOpen || !tap_->WantsTimer()) return;
  tap_->OnTimer(*service_);
  Settle({}, "");
}

void ConnectionPair::EndClient() {
  state_ = State::kClientGone;
  tap_->OnDisconnect(&*service_);
  client_watch_.Reset();
}

void ConnectionPair::EndService() {
  if (state_ == State::kClientGone) return Finish();
  if (state_ != State::kOpen) return;
  state_ = State::kServiceGone;
  tap_->OnDisconnect(nullptr);
  client_->Queue(service_->unread());
  service_watch_.Reset();
  if (options_.turns != nullptr) options_.turns->Leave(*this);
}

void ConnectionPair::Finish() {
  if (state_ == State::kDone) return;
  state_ = State::kDone;
  client_watch_.Reset();
  service_watch_.Reset();
  if (options_.turns != nullptr) options_.turns->Leave(*this);
  options_.on_done();
}

bool ConnectionPair::WantsClient() const {
  return state_ == State::kOpen && !client_closed_ && service_->queued() < kMaxFromClient &&
         client_->unread().size() < kMaxFromClient;
}

Status ConnectionPair::UpdateEvents() {
  if (state_ == State::kOpen || state_ == State::kServiceGone) {
    RS_RETURN_IF_ERROR(client_watch_.SetEvents((WantsClient() ? EPOLLIN : 0u) |
                                               (client_->queued() > 0 ? EPOLLOUT : 0u)));
  }
  if (state_ == State::kOpen || state_ == State::kClientGone) {
    RS_RETURN_IF_ERROR(
        service_watch_.SetEvents(EPOLLIN | (service_->queued() > 0 ? EPOLLOUT : 0u)));
  }
  return {};
}

}  // namespace ringscope::record
