#include "commands/testing/producer_port.h"

#include <algorithm>
#include <utility>

#include "commands/testing/tracing_service.h"

namespace ringscope::testing {
namespace {

/// A chunk that is being written is scraped from this many fragments on: its last may grow.
constexpr uint16_t kMinScrapedFragments = 2;

}  // namespace

ProducerPort::ProducerPort(TracingService& service, EventLoop& loop, UniqueFd fd, ProducerId id)
    : service_(service),
      id_(id),
      connection_(loop, std::move(fd), ipc::kProducerPort, service.shuffle()),
      peer_(connection_.peer()) {
  if (service.keeps_journal()) connection_.KeepReceived();
}

void ProducerPort::OnRequest(ClientRequest& request) {
  using enum ipc::MethodName;
  if (request.method == kInitializeConnection) return Initialize(request);
  if (request.method == kGetAsyncCommand) {
    command_request_ = request.id;
    for (PendingCommand& command : std::exchange(pending_, {}))
      SendCommand(std::move(command.command), command.fd ? &*command.fd : nullptr);
    return;
  }
  if (request.method == kCommitData) {
    service_.OnCommit(*this, request.args);
  } else if (request.method == kRegisterDataSource || request.method == kUpdateDataSource) {
    Register(request);
  } else if (request.method == kUnregisterDataSource) {
    const auto gone = Decode<ipc::UnregisterDataSource>(request.args);
    std::erase_if(sources_, [&](const auto& source) { return source.name == gone.name; });
    service_.OnSourceGone(*this, gone.name);
  } else if (request.method == kRegisterTraceWriter) {
    const auto writer = Decode<ipc::RegisterTraceWriter>(request.args);
    const WriterId id{static_cast<uint16_t>(writer.writer)};
    const BufferId buffer{static_cast<uint16_t>(writer.target_buffer)};
    writers_[id] = buffer;
    service_.Announce(WriterRegistered{.producer = id_, .writer = id, .buffer = buffer});
  } else if (request.method == kUnregisterTraceWriter) {
    const auto writer = Decode<ipc::RegisterTraceWriter>(request.args);
    const WriterId id{static_cast<uint16_t>(writer.writer)};
    writers_.erase(id);
    service_.Announce(WriterUnregistered{.producer = id_, .writer = id});
  } else if (request.method == kNotifyDataSourceStarted) {
    service_.OnNotified(*this, Decode<ipc::NotifyDataSource>(request.args).instance, false);
  } else if (request.method == kNotifyDataSourceStopped) {
    service_.OnNotified(*this, Decode<ipc::NotifyDataSource>(request.args).instance, true);
  } else if (request.method == kActivateTriggers) {
    for (const std::string& name : Decode<ipc::ActivateTriggers>(request.args).names)
      service_.OnTrigger(*this, name);
  }
  if (!request.drop_reply) connection_.Reply(request.id, {});
}

void ProducerPort::OnDisconnect() { service_.OnProducerGone(*this); }

void ProducerPort::Initialize(ClientRequest& request) {
  const auto init = Decode<ipc::InitializeConnection>(request.args);
  ipc::InitializeConnectionReply reply;
  if (!std::exchange(initialized_, true)) {
    name_ = init.producer_name;
    scraping_mode_ = init.scraping_mode;
    memory_hint_ = {static_cast<size_t>(init.size_hint), static_cast<size_t>(init.page_size_hint)};
    service_.OnProducerInitialized(*this);
    if (init.provides_shared_memory && !request.fds.empty()) {
      auto memory = SmbMemory::Map(std::move(request.fds.front()), init.page_size_hint);
      if (memory && memory->size() % memory->page_bytes() == 0) {
        memory_.emplace(std::move(*memory));
        brought_memory_ = true;
        service_.OnMemory(*this);
      }
    }
    reply.uses_provided_shared_memory = brought_memory_;
  }
  connection_.Reply(request.id, Encode(reply));
}

void ProducerPort::Register(const ClientRequest& request) {
  const auto source = Decode<ipc::RegisterDataSource>(request.args).descriptor;
  const auto known =
      std::ranges::find_if(sources_, [&](const auto& other) { return other.name == source.name; });
  if (known != sources_.end()) {
    *known = source;
  } else {
    sources_.push_back(source);
    service_.OnSourceRegistered(*this, source);
  }
}

Status ProducerPort::SetUpMemory(MemorySizes sizes) {
  if (memory_ && !brought_memory_) return {};
  if (!memory_) {
    auto memory = SmbMemory::Create(sizes.bytes, sizes.page_bytes, service_.options().seal_memory);
    if (!memory) return tl::unexpected<Error>(std::move(memory).error());
    memory_.emplace(std::move(*memory));
    service_.OnMemory(*this);
    SendCommand({.setup_tracing = ipc::SetupTracing{sizes.page_bytes / 1024}}, &memory_->fd());
    return {};
  }
  if (std::exchange(brought_memory_, false)) SendCommand({.setup_tracing = ipc::SetupTracing{}});
  return {};
}

void ProducerPort::SendCommand(std::string command, const UniqueFd* fd) {
  if (command_request_)
    return connection_.Reply(*command_request_, command, /*has_more=*/true, /*success=*/true, fd);
  pending_.push_back(
      {std::move(command), fd == nullptr ? std::nullopt : std::optional(fd->Duplicate())});
}

CommitRequestParser& ProducerPort::TakeChunks(Bytes request, std::string& data) {
  static_cast<void>(parser_.Parse(request));  // as far as it can be parsed
  CommitRequestBuilder builder(data);
  std::string copy;
  for (const ChunkToMove& chunk : parser_.chunks()) {
    if (chunk.data) {
      builder.AddChunk(chunk);
      continue;
    }
    const smb::Pages pages(*memory_, memory_->page_bytes());
    const smb::ChunkPlace place{chunk.page.value_or(0), chunk.index.value_or(0)};
    copy.clear();
    if (!pages.AppendComplete(place, copy)) continue;
    ChunkToMove moved = chunk;
    moved.data = wire::AsBytes(copy);
    if (const auto& on_chunk = service_.options().on_chunk)
      on_chunk(*moved.data);
    else
      builder.AddChunk(moved);
    // Free; the last busy chunk of a page takes the page's layout with it.
    const auto bitmap = memory_->bitmap(static_cast<size_t>(place.page));
    const uint32_t busy = StateBits(smb::ChunkState::kComplete, static_cast<size_t>(place.chunk));
    uint32_t before = bitmap.load(), after = 0;
    do {
      const uint32_t rest = before & ~busy;
      after = (rest & kAllStates) == 0 ? 0 : rest;
    } while (!bitmap.compare_exchange_weak(before, after));
  }
  for (const ChunkToPatch& patch : parser_.patches()) builder.AddPatch(patch);
  return parser_;
}

void ProducerPort::Scrape(const std::function<bool(BufferId)>& wants, std::string& request) const {
  if (scraping_mode_ != ipc::kScrapingEnabled || !memory_) return;
  std::string data;
  std::vector<smb::FoundChunk> found;
  const auto take = [&](const smb::FoundChunk& chunk) {
    if (!chunk.complete && chunk.header.fragments < kMinScrapedFragments) return false;
    const auto writer = writers_.find(chunk.header.writer);
    return writer != writers_.end() && wants(writer->second);
  };
  static_cast<void>(smb::Pages(*memory_, memory_->page_bytes()).Scan(take, found, data));
  CommitRequestBuilder builder(request);
  for (const smb::FoundChunk& chunk : found)
    builder.AddChunk({.page = chunk.place.page,
                      .index = chunk.place.chunk,
                      .target_buffer = Raw(writers_.at(chunk.header.writer)),
                      .data = wire::AsBytes(data).subspan(chunk.offset, chunk.bytes),
                      .incomplete = !chunk.complete});
}

}  // namespace ringscope::testing
