#include "commands/record/connection_pair.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>

namespace ringscope {
namespace {

/// Bytes kept for the service, or read from the client before its turn, until the client has to
/// wait. About what a socket's own buffer holds.
constexpr size_t kMaxFromClient = 256 * 1024;
/// Receives from one peer in a row, so that the others do not wait.
constexpr int kReceivesInARow = 4;
/// Time that the service may take to close its end after a disconnect.
constexpr std::chrono::seconds kCloseTimeout{1};
constexpr std::string_view kClient = "client";
constexpr std::string_view kService = "service";

}  // namespace

bool Turns::Take(ConnectionPair& pair, bool next) {
  if (holder_ == &pair) return true;
  const bool may = pair.tap().MayPass();
  if (holder_ == nullptr && may) {
    std::erase(waiting_, &pair);
    holder_ = &pair;
    return true;
  }
  const bool waits = std::ranges::find(waiting_, &pair) != waiting_.end();
  if (waits && !next) return false;
  std::erase(waiting_, &pair);
  waiting_.insert(next ? waiting_.begin() : waiting_.end(), &pair);
  if (holder_ != nullptr && may) holder_->OnWanted();
  return false;
}

void Turns::Leave(ConnectionPair& pair) {
  std::erase(waiting_, &pair);
  if (holder_ != &pair) return;
  holder_ = nullptr;
  Reconsider();
}

void Turns::Reconsider() {
  const auto next = NextPair();
  if (next == waiting_.end()) return;
  if (holder_ != nullptr) return holder_->OnWanted();
  holder_ = *next;
  waiting_.erase(next);
  holder_->OnTurn();
}

void Turns::AskHolder() {
  if (holder_ != nullptr) holder_->OnWanted();
}

std::deque<ConnectionPair*>::const_iterator Turns::NextPair() const {
  return std::ranges::find_if(waiting_,
                              [](const ConnectionPair* pair) { return pair->tap().MayPass(); });
}

Result<std::unique_ptr<ConnectionPair>> ConnectionPair::Create(Recording& recording, Turns& turns,
                                                               UniqueFd client, UniqueFd service,
                                                               std::unique_ptr<Tap> tap,
                                                               Options options) {
  EventLoop& loop = recording.loop;
  std::unique_ptr<ConnectionPair> pair(new ConnectionPair(
      recording, turns, std::move(client), std::move(service), std::move(tap), std::move(options)));
  ConnectionPair* const self = pair.get();
  RS_ASSIGN_OR_RETURN(self->client_watch_,
                      loop.Watch(self->client_.fd(), EPOLLIN,
                                 [self](uint32_t events) { self->OnClientEvent(events); }));
  RS_ASSIGN_OR_RETURN(self->service_watch_,
                      loop.Watch(self->service_.fd(), EPOLLIN,
                                 [self](uint32_t events) { self->OnServiceEvent(events); }));
  return pair;
}

void ConnectionPair::OnClientEvent(uint32_t events) {
  if (state_ == State::kServiceGone)
    return AfterEvent({}, kClient);  // sends what is queued for the client
  if (state_ != State::kOpen) return;
  AfterEvent((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 ? ReadClient() : Status(), kClient);
}

void ConnectionPair::OnServiceEvent(uint32_t events) {
  if (state_ == State::kServiceGone || state_ == State::kDone) return;
  AfterEvent((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 ? ReadService() : Status(), kService);
}

Status ConnectionPair::ReadClient() {
  for (int i = 0; i < kReceivesInARow && WantsClient(); ++i) {
    RS_ASSIGN_OR_RETURN(const IoState state, client_.Receive());
    client_closed_ = state == IoState::kClosed;
    RS_RETURN_IF_ERROR(PassClientFrames());
    if (state == IoState::kWouldBlock) break;
  }
  return {};
}

Status ConnectionPair::ReadService() {
  for (int i = 0; i < kReceivesInARow; ++i) {
    RS_ASSIGN_OR_RETURN(const IoState state, service_.Receive());
    service_closed_ = state == IoState::kClosed;
    if (state_ == State::kOpen) {
      RS_RETURN_IF_ERROR(PassServiceFrames());
    } else {
      service_.DiscardUnread();  // there is no client any more
    }
    if (state == IoState::kClosed) EndService();
    if (state != IoState::kDone) break;
  }
  return {};
}

bool ConnectionPair::HasWork() const {
  return next_ || wants_scrape_ || client_closed_ || client_.HasFrame();
}

bool ConnectionPair::MustYield() const {
  return next_ || tap_->MustConfirm() || !tap_->MayPass() || turns_.IsWanted();
}

Status ConnectionPair::PassClientFrames() {
  if (state_ != State::kOpen || awaiting_confirmation_) return {};
  const bool held = turns_.IsHeldBy(*this) && !std::exchange(turn_is_new_, false);
  if (!held || !MustYield()) {
    if (!HasWork() || !turns_.Take(*this)) return {};
    turn_is_new_ = false;
    RS_RETURN_IF_ERROR(PassBatch());
  }
  if (state_ == State::kOpen && MustYield()) Yield();
  return {};
}

Status ConnectionPair::PassBatch() {
  if (std::exchange(wants_scrape_, false) && tap_->WantsScrape()) tap_->Scrape(service_);
  const auto carries = [this](const ipc::Frame& frame) { return tap_->CarriesDescriptor(frame); };
  while (tap_->MayPass() && !tap_->MustConfirm()) {
    if (!next_) {
      RS_ASSIGN_OR_RETURN(next_, client_.NextFrame(carries));
      others_are_scraped_ = false;
    }
    if (!next_) {
      // An incomplete frame is passed on as it is, last, as if the client were connected directly.
      // Its turn lasts until the service has closed its end.
      if (client_closed_) EndClient();
      break;
    }
    if (!others_are_scraped_ && tap_->CausesScrapes(next_->frame)) {
      others_are_scraped_ = true;
      if (recording_.scrape_unasked()) return {};
    }
    RS_RETURN_IF_ERROR(tap_->FromClient(*std::exchange(next_, std::nullopt), service_));
  }
  return {};
}

void ConnectionPair::Yield() {
  awaiting_confirmation_ = tap_->NeedsConfirmation() && tap_->AskConfirmation(service_);
  if (awaiting_confirmation_) return;
  turns_.Leave(*this);
  if (HasWork() && turns_.Take(*this)) OnTurn();
}

Status ConnectionPair::PassServiceFrames() {
  const auto carries = [this](const ipc::Frame& frame) { return tap_->CarriesDescriptor(frame); };
  while (service_closed_ || !tap_->HoldsServiceFrames()) {
    RS_ASSIGN_OR_RETURN(std::optional<PassingFrame> frame, service_.NextFrame(carries));
    if (!frame) break;
    RS_RETURN_IF_ERROR(tap_->FromService(std::move(*frame), client_));
  }
  if (tap_->TakeConfirmed() && awaiting_confirmation_ && state_ == State::kOpen) Yield();
  return {};
}

void ConnectionPair::OnTurn() {
  turn_is_new_ = true;
  PassSoon();
}

void ConnectionPair::PassSoon() {  // not within another pair's call
  turn_ = recording_.loop.CallSoon([this] { AfterEvent(PassClientFrames(), kClient); });
}

bool ConnectionPair::Scrape() {
  if (state_ != State::kOpen || !tap_->WantsScrape()) return false;
  wants_scrape_ = true;
  if (turns_.Take(*this, /*next=*/true)) OnTurn();
  return true;
}

void ConnectionPair::ReadServiceNow() {
  while (state_ == State::kOpen && HasInput(service_.fd())) OnServiceEvent(EPOLLIN);
}

void ConnectionPair::Resume() {
  resume_ = recording_.loop.CallSoon([this] {
    if (state_ == State::kOpen) AfterEvent(PassServiceFrames(), kService);
  });
}

void ConnectionPair::AfterEvent(Status status, std::string_view sender) {
  if (state_ == State::kDone) return;
  if (!status) {
    WarnOf(fmt::format("the {} {}", sender, status.error().message));
    // What this peer may still send can be neither read nor passed on: both sides end.
    if (state_ == State::kOpen) {
      if (sender == kService) {
        EndClient();  // nor can the service confirm anything more
      } else {
        EndSoon();
      }
    }
  }
  service_.SendQueued();  // that a peer has closed its end shows when it is read
  if (state_ != State::kClientGone) client_.SendQueued();
  if (state_ == State::kOpen && client_.queued() > options_.max_for_client) {
    WarnOf(fmt::format("does not read, and {} bytes wait for it", client_.queued()));
    EndSoon();
  }
  if (state_ == State::kClientGone && service_.queued() == 0 && !shut_down_) {
    shut_down_ = true;
    ::shutdown(service_.fd(), SHUT_WR);
    close_timeout_ = recording_.loop.CallAfter(kCloseTimeout, [this] { Finish(); });
  }
  if (state_ == State::kServiceGone && client_.queued() == 0) return Finish();
  if (const Status updated = UpdateEvents(); !updated) {
    WarnOf(updated.error().message);
    Abandon();
  }
}

void ConnectionPair::WarnOf(const std::string& problem) {
  options_.on_warning(fmt::format("{}: {}: this connection is closed", tap_->Describe(), problem));
}

void ConnectionPair::EndSoon() {
  next_.reset();
  client_.DiscardUnread();
  client_closed_ = true;
  PassSoon();
}

void ConnectionPair::End() {
  if (state_ != State::kOpen) return;
  client_closed_ = true;
  AfterEvent(PassClientFrames(), kClient);
}

void ConnectionPair::Abandon() {
  if (state_ == State::kOpen) EndClient();
  Finish();
}

void ConnectionPair::EndClient() {
  state_ = State::kClientGone;
  tap_->OnDisconnect(&service_);
  service_.Queue(client_.unread());
  client_watch_.Reset();
}

void ConnectionPair::EndService() {
  if (state_ == State::kClientGone) return Finish();
  if (state_ != State::kOpen) return;
  state_ = State::kServiceGone;
  tap_->OnDisconnect(nullptr);
  client_.Queue(service_.unread());
  service_watch_.Reset();
  turns_.Leave(*this);
  options_.on_service_closed();
}

void ConnectionPair::Finish() {
  if (state_ == State::kDone) return;
  state_ = State::kDone;
  client_watch_.Reset();
  service_watch_.Reset();
  turns_.Leave(*this);
  options_.on_done();
}

bool ConnectionPair::WantsClient() const {
  return state_ == State::kOpen && !client_closed_ && !next_ &&
         service_.queued() < kMaxFromClient && client_.unread().size() < kMaxFromClient;
}

Status ConnectionPair::UpdateEvents() {
  if (state_ == State::kOpen || state_ == State::kServiceGone) {
    RS_RETURN_IF_ERROR(client_watch_.SetEvents((WantsClient() ? EPOLLIN : 0u) |
                                               (client_.queued() > 0 ? EPOLLOUT : 0u)));
  }
  if (state_ == State::kOpen || state_ == State::kClientGone) {
    RS_RETURN_IF_ERROR(service_watch_.SetEvents(EPOLLIN | (service_.queued() > 0 ? EPOLLOUT : 0u)));
  }
  return {};
}

}  // namespace ringscope
