#include "commands/testing/fake_service.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <xxhash.h>

#include <deque>

namespace ringscope::testing {
namespace {

constexpr uint64_t kFakeServiceId = 1;

}  // namespace

struct FakeService::Connection {
  explicit Connection(UniqueFd fd) : socket(std::move(fd)) {}

  uint64_t id = 0;
  FrameSocket socket;
  EventLoop::WatchHandle watch;
  ipc::MethodTable methods;
  std::string name = "unnamed";
  std::deque<std::string> unhandled;  // frames, if they are shuffled
  bool closed = false;
  uint64_t command_request = 0;
  std::vector<std::string> data_sources;
  size_t set_up = 0;  // how many of them
  std::optional<TestMemory> memory;
  Traffic traffic;
};

std::string DescribeChunk(uint64_t target, Bytes data, bool complete) {
  const auto header = ParseChunkHeader(data).value_or(ChunkHeader());
  return fmt::format("chunk to {} w{} c{} n{} f{} {} {:016x}", target, Raw(header.writer),
                     Raw(header.chunk), header.fragments, header.flags,
                     complete ? "complete" : "incomplete", XXH3_64bits(data.data(), data.size()));
}

std::string DescribePatch(const ChunkToPatch& patch) {
  std::string text = fmt::format("patch in {} w{} c{} {}", patch.target_buffer.value_or(0),
                                 patch.writer.value_or(0), patch.chunk.value_or(0), patch.more);
  for (const PatchSpan& span : patch.patches)
    text +=
        fmt::format(" {}={:08x}", span.offset, wire::LoadLittleEndian<uint32_t>(span.data.data()));
  return text;
}

FakeService::FakeService(FakeServiceOptions options)
    : options_(std::move(options)),
      listener_(Listener::Create(options_.socket, 0600).value()),
      loop_(EventLoop::Create().value()),
      thread_([this] {
        const auto watch =
            loop_->Watch(listener_.fd(), EPOLLIN, [this](uint32_t) { Accept(); }).value();
        loop_->RunUntil([this] {
          std::vector<PendingCommand> pending;
          {
            const std::lock_guard lock(mutex_);
            pending.swap(pending_);
          }
          for (const PendingCommand& next : pending)
            for (const auto& [id, connection] : connections_)
              if (!next.producer || *next.producer == connection->name)
                SendCommand(*connection, next.command);
          return stop_.load();
        });
      }) {}

FakeService::~FakeService() {
  stop_ = true;
  loop_->Wake();
  thread_.join();
}

void FakeService::Flush(uint64_t id) {
  {
    const std::lock_guard lock(mutex_);
    pending_.push_back({.producer = {}, .command = {.flush = ipc::FlushCommand{id}}});
  }
  loop_->Wake();
}

void FakeService::Command(const std::string& producer, const ipc::AsyncCommand& command) {
  {
    const std::lock_guard lock(mutex_);
    pending_.push_back({.producer = producer, .command = command});
  }
  loop_->Wake();
}

void FakeService::Accept() {
  for (UniqueFd fd = listener_.Accept(); fd.valid(); fd = listener_.Accept()) {
    const uint64_t id = ++last_id_;
    Connection& connection = *(connections_[id] = std::make_unique<Connection>(std::move(fd)));
    connection.id = id;
    connection.watch = loop_
                           ->Watch(connection.socket.fd(), EPOLLIN,
                                   [this, &connection](uint32_t) { OnReadable(connection); })
                           .value();
  }
}

void FakeService::OnReadable(Connection& connection) {
  const auto state = connection.socket.Receive();
  const auto carries = [](const ipc::Frame&) { return false; };
  while (true) {
    auto frame = connection.socket.NextFrame(carries);
    if (!frame || !*frame) break;
    if (options_.shuffle) {
      connection.unhandled.emplace_back(wire::AsText((*frame)->frame.whole));
    } else {
      Handle(connection, (*frame)->frame);
    }
  }
  connection.socket.SendQueued();
  static_cast<void>(
      connection.watch.SetEvents(EPOLLIN | (connection.socket.queued() > 0 ? EPOLLOUT : 0u)));
  connection.closed = !state || *state == IoState::kClosed;
  if (connection.closed) connection.watch.Reset();
  if (!connection.unhandled.empty()) {
    handle_any_ = loop_->CallSoon([this] { HandleAny(); });
  } else if (connection.closed) {
    End(connection.id);
  }
}

void FakeService::HandleAny() {
  std::vector<Connection*> ready;
  for (const auto& [id, connection] : connections_)
    if (!connection->unhandled.empty()) ready.push_back(connection.get());
  if (ready.empty()) return;
  Connection& connection = *ready[random_() % ready.size()];
  for (size_t left = 1 + random_() % 3; left > 0 && !connection.unhandled.empty(); --left) {
    const std::string frame = std::move(connection.unhandled.front());
    connection.unhandled.pop_front();
    Handle(connection, ipc::ParseFrame(wire::AsBytes(frame)).value());
  }
  if (connection.closed && connection.unhandled.empty()) End(connection.id);
  handle_any_ = loop_->CallSoon([this] { HandleAny(); });
}

void FakeService::End(uint64_t id) {
  Connection& connection = *connections_.at(id);
  connection.watch.Reset();
  {
    const std::lock_guard lock(mutex_);
    if (options_.keep_effects)
      connection.traffic.received += wire::AsText(connection.socket.unread());
    traffic_[connection.name] = std::move(connection.traffic);
  }
  Note(connection, "disconnect");
  connections_.erase(id);
  ended_.notify_all();
}

void FakeService::Handle(Connection& connection, const ipc::Frame& frame) {
  if (options_.keep_effects) connection.traffic.received += wire::AsText(frame.whole);
  if (std::holds_alternative<ipc::BindService>(frame.body)) {
    const ipc::BindServiceReply reply = ipc::BindReplyWith(kFakeServiceId, ipc::kProducerMethods);
    connection.methods.Learn(reply);
    std::string bytes;
    ipc::AppendBindReply(bytes, frame.request_id, reply);
    Send(connection, bytes);
  } else if (std::holds_alternative<ipc::InvokeMethod>(frame.body)) {
    HandleRequest(connection, frame);
  }
}

void FakeService::HandleRequest(Connection& connection, const ipc::Frame& frame) {
  const auto& invoke = std::get<ipc::InvokeMethod>(frame.body);
  std::string reply;
  using enum ipc::MethodName;
  switch (connection.methods.Find(invoke)) {
    case kInitializeConnection: {
      const auto init = Decode<ipc::InitializeConnection>(invoke.args);
      connection.name = init.producer_name;
      const std::lock_guard lock(mutex_);
      scraping_modes_[init.producer_name] = init.scraping_mode;
      break;
    }
    case kRegisterDataSource:
      connection.data_sources.push_back(
          Decode<ipc::RegisterDataSource>(invoke.args).descriptor.name);
      SetUpSources(connection);
      break;
    case kGetAsyncCommand:
      connection.command_request = frame.request_id;
      return SetUpTracing(connection);
    case kCommitData:
      HandleCommit(connection, invoke.args);
      break;
    default:
      break;
  }
  if (!invoke.drop_reply) Reply(connection, frame.request_id, reply);
}

void FakeService::SetUpTracing(Connection& connection) {
  connection.memory.emplace(options_.smb_bytes, options_.seal_memory);
  SendCommand(connection, {.setup_tracing = ipc::SetupTracing{TestMemory::kPage / 1024}},
              connection.memory->fd());
  SetUpSources(connection);
}

/// Those that are not set up yet, once it waits for commands.
void FakeService::SetUpSources(Connection& connection) {
  if (connection.command_request == 0) return;
  while (connection.set_up < connection.data_sources.size()) {
    const std::string& name = connection.data_sources[connection.set_up++];
    const auto target = options_.targets.find(name);
    const ipc::DataSourceInstance set_up{
        connection.set_up,
        {.name = name,
         .target_buffer =
             target == options_.targets.end() ? options_.target_buffer : target->second,
         .tracing_session_id = options_.session,
         .target_buffer_name = {}}};
    SendCommand(connection, {.set_up = set_up});
    SendCommand(connection, {.start = set_up});
  }
}

void FakeService::HandleCommit(Connection& connection, Bytes request) {
  if (!parser_.Parse(request)) return;
  for (const ChunkToMove& chunk : parser_.chunks()) {
    const uint64_t target = chunk.target_buffer.value_or(0);
    if (chunk.data) {
      Note(connection, DescribeChunk(target, *chunk.data, !chunk.incomplete));
      continue;
    }
    const size_t page = static_cast<size_t>(chunk.page.value_or(0));
    if (!connection.memory || page * TestMemory::kPage >= connection.memory->size()) continue;
    uint32_t expected = OneChunk(smb::ChunkState::kComplete);
    auto bitmap = connection.memory->bitmap(page);
    if (!bitmap.compare_exchange_strong(expected, OneChunk(smb::ChunkState::kBeingRead))) continue;
    const Bytes data(connection.memory->chunk(page), TestMemory::kChunkBytes);
    if (options_.on_chunk) options_.on_chunk(data);
    if (options_.keep_effects) Note(connection, DescribeChunk(target, data, true));
    bitmap.store(0);
  }
  if (!options_.keep_effects) return;
  for (const ChunkToPatch& patch : parser_.patches()) Note(connection, DescribePatch(patch));
  if (const auto flush = parser_.flush_request_id())
    Note(connection, fmt::format("acknowledged {}", *flush));
}

void FakeService::SendCommand(Connection& connection, const ipc::AsyncCommand& command, int fd) {
  if (connection.command_request == 0) return;
  const std::string bytes = Encode(command);
  std::string frame;
  ipc::AppendInvokeReply(frame, connection.command_request,
                         {.success = true, .has_more = true, .reply = wire::AsBytes(bytes)});
  Send(connection, frame, fd);
}

void FakeService::Reply(Connection& connection, uint64_t request_id, const std::string& reply,
                        bool has_more) {
  std::string frame;
  ipc::AppendInvokeReply(frame, request_id,
                         {.success = true, .has_more = has_more, .reply = wire::AsBytes(reply)});
  Send(connection, frame);
}

void FakeService::Send(Connection& connection, const std::string& frame, int fd) {
  if (options_.keep_effects) connection.traffic.sent += frame;
  PassingFrame passing;
  passing.frame.whole = wire::AsBytes(frame);
  if (fd >= 0) passing.fds.emplace_back(::dup(fd));
  connection.socket.Queue(std::move(passing));
  connection.socket.SendQueued();
  static_cast<void>(
      connection.watch.SetEvents(EPOLLIN | (connection.socket.queued() > 0 ? EPOLLOUT : 0u)));
}

void FakeService::Note(const Connection& connection, const std::string& effect) {
  if (!options_.keep_effects) return;
  const std::lock_guard lock(mutex_);
  effects_.push_back(fmt::format("{}: {}", connection.name, effect));
}

std::vector<std::string> FakeService::effects() const {
  const std::lock_guard lock(mutex_);
  return effects_;
}

std::map<std::string, FakeService::Traffic> FakeService::WaitForEnds(size_t count) {
  std::unique_lock lock(mutex_);
  ended_.wait_for(lock, std::chrono::seconds(60), [&] { return traffic_.size() >= count; });
  return traffic_;
}

std::map<std::string, uint64_t> FakeService::scraping_modes() const {
  const std::lock_guard lock(mutex_);
  return scraping_modes_;
}

}  // namespace ringscope::testing
