#include "commands/record/connection_pair.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <iterator>

namespace ringscope {
namespace {

/// Bytes kept for the service, or read from the client before its turn, until the client has to
/// wait. About what a socket's own buffer holds.
constexpr size_t kMaxFromClient = 256 * 1024;
/// Bytes kept for a client that does not read. A consumer may get all that the buffers hold.
constexpr size_t kMaxForClient = size_t{1} << 30;
/// Time that the service may take, after a disconnect, to handle the rest and close its end.
constexpr std::chrono::seconds kCloseTimeout{1};
/// Reported once, in the order of arrival, and not again while it is readable.
constexpr uint32_t kServiceEvents = EPOLLIN | EPOLLRDHUP | EPOLLET;
constexpr std::string_view kClient = "client";
constexpr std::string_view kService = "service";

}  // namespace

bool Turns::Take(ConnectionPair& pair, bool next) {
  if (pair.has_turn_) return true;
  if (next) std::erase(waiting_, &pair);
  if (!Contains(waiting_, &pair)) waiting_.insert(next ? waiting_.begin() : waiting_.end(), &pair);
  Reconsider(&pair);
  return pair.has_turn_;
}

void Turns::Leave(ConnectionPair& pair) {
  if (std::exchange(pair.has_turn_, false) || std::erase(waiting_, &pair) > 0) Reconsider();
}

void Turns::Reconsider(const ConnectionPair* asking) {
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    ConnectionPair* const pair = *next;
    if (!MayBegin(*pair)) {
      ++next;
      continue;
    }
    next = waiting_.erase(next);
    pair->has_turn_ = true;
    if (pair != asking) pair->PassSoon();
  }
}

Turns::Turns(EventLoop& loop) : loop_(loop) {}
Turns::~Turns() = default;

void Turns::Add(std::unique_ptr<ConnectionPair> pair) { pairs_.push_back(std::move(pair)); }

void Turns::RemoveSoon() {
  remove_ = loop_.CallSoon(
      [this] { std::erase_if(pairs_, [](const auto& pair) { return pair->IsDone(); }); });
}

bool Turns::ScrapeUnasked() {
  bool waits = false;
  for (const auto& pair : pairs_) waits |= pair->Scrape();
  return waits;
}

void Turns::Resume() {
  for (const auto& pair : pairs_) pair->Resume();
}

void Turns::NoteUnordered(const ConnectionPair& pair) const {
  const std::set<BufferId> buffers = pair.tap().InOrder();
  for (const auto& other : pairs_)
    if (other.get() != &pair) other->NoteUnordered(buffers);
}

bool Turns::IsWanted(const ConnectionPair& holder) const {
  return std::ranges::any_of(
      waiting_, [&](const ConnectionPair* pair) { return pair->buffers_.Meets(holder.buffers_); });
}

bool Turns::MayBegin(const ConnectionPair& pair) const {
  bool may = true;
  for (const auto& other : pairs_) {
    if (!other->has_turn_ || !other->buffers_.Meets(pair.buffers_)) continue;
    may = false;
    other->PassSoon();
  }
  for (const ConnectionPair* const other : waiting_) {
    if (other == &pair) break;
    may &= !other->buffers_.Meets(pair.buffers_);
  }
  return may;
}

Result<std::unique_ptr<ConnectionPair>> ConnectionPair::Create(RecordingState& recording,
                                                               UniqueFd client, UniqueFd service,
                                                               std::unique_ptr<Tap> tap) {
  EventLoop& loop = recording.loop;
  std::unique_ptr<ConnectionPair> pair(
      new ConnectionPair(recording, std::move(client), std::move(service), std::move(tap)));
  ConnectionPair* const self = pair.get();
  RS_ASSIGN_OR_RETURN(self->client_watch_,
                      loop.Watch(self->client_.fd(), EPOLLIN,
                                 [self](uint32_t events) { self->OnClientEvent(events); }));
  RS_ASSIGN_OR_RETURN(self->service_watch_,
                      loop.Watch(self->service_.fd(), kServiceEvents,
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
  const bool is_ended = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  const bool is_readable = is_ended || (events & EPOLLIN) != 0;
  AfterEvent(is_readable ? ReadService((events & EPOLLOUT) == 0, is_ended) : Status(), kService);
}

Status ConnectionPair::ReadClient() {
  if (!WantsClient()) return {};
  RS_ASSIGN_OR_RETURN(const IoState state, client_.Receive());
  client_closed_ = state == IoState::kClosed;
  return PassClientFrames();
}

Status ConnectionPair::ReadService(bool in_order, bool may_have_ended) {
  for (bool is_first = true;; is_first = false) {
    RS_ASSIGN_OR_RETURN(IoState state, service_.Receive());
    // A second receive shows whether the service sends faster than its frames are passed on.
    const bool took_all = is_first && !may_have_ended && state == IoState::kDoneAll;
    if (!took_all && (state == IoState::kDone || state == IoState::kDoneAll)) {
      RS_ASSIGN_OR_RETURN(state, service_.Receive());
    }
    service_closed_ = state == IoState::kClosed;
    const bool is_empty = took_all || state == IoState::kWouldBlock;
    if (Status passed = PassServiceFrames(is_first && in_order); !passed) {
      if (state_ == State::kOpen) return passed;
      service_.DiscardUnread();  // nobody waits for it
    }
    if (service_closed_ || (is_first && is_empty && only_confirmed_)) break;
    // More may have arrived since the event, and a report of it may be due that would be early for
    // what arrives next. What has arrived until now would be reported late: it is taken at once,
    // unless the service sends more than one event should take.
    RS_RETURN_IF_ERROR(service_watch_->Rearm());
    if (!HasInput(service_.fd()) || (!is_first && !is_empty)) break;
  }
  if (service_closed_) EndService();
  return {};
}

Status ConnectionPair::PassClientFrames() {
  if (state_ != State::kOpen) return {};
  if (!tap_->is_awaited()) {
    RS_RETURN_IF_ERROR(ReadAhead());
    const bool has_work = next_ || wants_scrape_ || client_closed_;
    if (has_work && TakeTurn()) RS_RETURN_IF_ERROR(PassBatch());
    if (state_ != State::kOpen) return {};
  }
  if (tap_->is_awaited() || !has_turn_) {
    // Notes that frames of the client have arrived which cannot be passed on now.
    if (!waits_since_ && (next_ || !client_.unread().empty()))
      waits_since_ = EventLoop::Clock::now();
    return {};
  }
  if (next_ || client_closed_ || buffers_.collected || tap_->phase() == Phase::kFull ||
      recording_.turns.IsWanted(*this))
    Yield();
  return {};
}

bool ConnectionPair::TakeTurn(bool next) {
  if (!has_turn_) buffers_ = tap_->BuffersOf(next_ && !wants_scrape_ ? &next_->frame : nullptr);
  return recording_.turns.Take(*this, next);
}

Status ConnectionPair::ReadAhead() {
  if (next_) return {};
  RS_ASSIGN_OR_RETURN(next_, client_.NextFrame([this](const ipc::Frame& frame) {
    return tap_->CarriesDescriptor(frame);
  }));
  if (next_) is_prepared_ = false;
  return {};
}

Status ConnectionPair::PassBatch() {
  if (const auto since = std::exchange(waits_since_, std::nullopt))
    tap_->OnHeld(EventLoop::Clock::now() - *since);
  if (!buffers_.collected && std::exchange(wants_scrape_, false) && tap_->WantsScrape())
    tap_->Scrape(service_);
  while (tap_->phase() != Phase::kFull) {
    RS_RETURN_IF_ERROR(ReadAhead());
    if (!next_ && !client_closed_) break;
    if (!buffers_.Covers(tap_->BuffersOf(next_ ? &next_->frame : nullptr))) break;
    if (!buffers_.collected && !std::exchange(is_prepared_, true)) {
      RS_ASSIGN_OR_RETURN(const bool waits,
                          tap_->Prepare(next_ ? &next_->frame : nullptr, service_));
      if (waits) break;
    }
    if (!next_) {
      // An incomplete frame is passed on as it is, last, as if the client were connected directly.
      // Its turn lasts until the service has closed its end.
      EndClient();
      break;
    }
    if (buffers_.collected) {
      const PassingFrame commit = *std::exchange(next_, std::nullopt);
      RS_RETURN_IF_ERROR(tap_->Collect(std::get<ipc::InvokeMethod>(commit.frame.body)));
      continue;
    }
    RS_RETURN_IF_ERROR(tap_->FromClient(*std::exchange(next_, std::nullopt), service_));
  }
  return {};
}

void ConnectionPair::Yield() {
  if (tap_->has_passed()) tap_->AskConfirmation(service_, buffers_.all);
  if (tap_->is_awaited()) {
    if (!tap_->IsBeingServed() || longest_wait_) return;
    longest_wait_ = recording_.loop.CallAfter(recording_.longest_wait, [this] {
      tap_->StopWaiting();
      if (state_ != State::kOpen || tap_->is_awaited()) return;
      Yield();
      AfterEvent({}, kClient);
    });
    return;
  }
  longest_wait_ = nullptr;
  recording_.turns.Leave(*this);
  PassSoon();  // the next turn is about what comes next
}

Status ConnectionPair::PassServiceFrames(bool in_order) {
  const auto carries = [this](const ipc::Frame& frame) { return tap_->CarriesDescriptor(frame); };
  const bool was_awaited = tap_->is_awaited();
  size_t frames = 0;
  only_confirmed_ = false;
  while (service_closed_ || !tap_->HoldsServiceFrames()) {
    RS_ASSIGN_OR_RETURN(std::optional<PassingFrame> frame, service_.NextFrame(carries));
    if (!frame) break;
    in_order &= frames++ == 0;
    if (tap_->ShowsOrder(frame->frame)) {
      tap_->MarkUnordered(unordered_);
      if (!in_order) {
        recording_.turns.NoteUnordered(*this);
        recording_.files.NoteUnordered(tap_->InOrder());
      }
    }
    RS_RETURN_IF_ERROR(tap_->FromService(std::move(*frame), client_));
  }
  unordered_.clear();
  const bool confirmed = was_awaited && !tap_->is_awaited();
  only_confirmed_ = confirmed && frames == 1 && service_.unread().empty();
  if (confirmed && state_ == State::kOpen) Yield();
  return {};
}

void ConnectionPair::NoteUnordered(const std::set<BufferId>& buffers) {
  const std::set<BufferId> own = tap_->InOrder();
  std::set<BufferId> both;
  std::ranges::set_intersection(own, buffers, std::inserter(both, both.end()));
  if (!both.empty() && HasInput(service_.fd())) unordered_.merge(both);
}

void ConnectionPair::PassSoon() {
  turn_ = recording_.loop.CallSoon([this] { AfterEvent(PassClientFrames(), kClient); });
}

bool ConnectionPair::Scrape() {
  if (state_ != State::kOpen || !tap_->WantsScrape()) return false;
  wants_scrape_ = true;
  if (TakeTurn(/*next=*/true)) PassSoon();
  return true;
}

void ConnectionPair::ReadServiceNow() {
  while (state_ == State::kOpen && HasInput(service_.fd()))
    AfterEvent(ReadService(/*in_order=*/false, /*may_have_ended=*/true), kService);
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
    // Both sides end: nothing more of this peer can be read or passed on, and a service that is
    // the sender can confirm nothing more.
    if (state_ == State::kOpen) sender == kService ? EndClient() : EndSoon();
  }
  service_.SendQueued();  // that a peer has closed its end shows when it is read
  if (state_ != State::kClientGone) client_.SendQueued();
  if (state_ == State::kOpen && client_.queued() > kMaxForClient) {
    WarnOf(fmt::format("does not read, and {} bytes wait for it", client_.queued()));
    EndSoon();
  }
  if (state_ == State::kClientGone && service_.queued() == 0) {
    if (!close_timeout_)
      close_timeout_ = recording_.loop.CallAfter(kCloseTimeout, [this] { Finish(); });
    if (!tap_->AwaitsOwn()) ::shutdown(service_.fd(), SHUT_WR);
  }
  if (state_ == State::kServiceGone && client_.queued() == 0) return Finish();
  if (const Status updated = UpdateEvents(); !updated) {
    WarnOf(updated.error().message);
    Abandon();
  }
}

void ConnectionPair::WarnOf(const std::string& problem) {
  recording_.warn(fmt::format("{}: {}: this connection is closed", tap_->Describe(), problem),
                  tap_->peer().pid);
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
  tap_->Disconnect(&service_);
  service_.Queue(client_.unread());
  client_watch_.reset();
}

void ConnectionPair::EndService() {
  if (state_ == State::kClientGone) return Finish();
  if (state_ != State::kOpen) return;
  state_ = State::kServiceGone;
  tap_->Disconnect(nullptr);
  client_.Queue(service_.unread());
  service_watch_.reset();
  recording_.turns.Leave(*this);
  recording_.on_service_closed(*tap_);
}

void ConnectionPair::Finish() {
  if (state_ == State::kDone) return;
  state_ = State::kDone;
  client_watch_.reset();
  service_watch_.reset();
  recording_.turns.Leave(*this);
  recording_.turns.RemoveSoon();
}

bool ConnectionPair::WantsClient() const {
  return state_ == State::kOpen && !client_closed_ && !next_ &&
         service_.queued() < kMaxFromClient && client_.unread().size() < kMaxFromClient;
}

Status ConnectionPair::UpdateEvents() {
  if (state_ == State::kOpen || state_ == State::kServiceGone) {
    RS_RETURN_IF_ERROR(client_watch_->SetEvents((WantsClient() ? EPOLLIN : 0u) |
                                                (client_.queued() > 0 ? EPOLLOUT : 0u)));
  }
  if (state_ == State::kOpen || state_ == State::kClientGone) {
    RS_RETURN_IF_ERROR(
        service_watch_->SetEvents(kServiceEvents | (service_.queued() > 0 ? EPOLLOUT : 0u)));
  }
  return {};
}

}  // namespace ringscope
