#include "commands/testing/producer.h"

#include <algorithm>
#include <utility>

#include "commands/testing/client_connection.h"

namespace ringscope::testing {
namespace {

constexpr size_t kOwnPageBytes = 4096;
/// Bytes of a request after which it is sent, whatever it holds: its frame has a limit.
constexpr size_t kMaxRequestBytes = 64 * 1024;
constexpr size_t kOneChunk = 1;

}  // namespace

Producer::Producer(ServiceClient client, ProducerOptions options)
    : client_(std::move(client)), options_(std::move(options)) {}

Producer::~Producer() = default;

Result<std::unique_ptr<Producer>> Producer::Connect(const std::string& socket,
                                                    ProducerOptions options) {
  RS_ASSIGN_OR_RETURN(ServiceClient client, ServiceClient::Connect(socket, ipc::kProducerPort));
  std::unique_ptr<Producer> producer(new Producer(std::move(client), std::move(options)));
  RS_RETURN_IF_ERROR(producer->Initialize());
  return producer;
}

Status Producer::Initialize() {
  ipc::InitializeConnection init;
  init.producer_name = options_.name;
  init.scraping_mode = options_.scraped ? ipc::kScrapingEnabled : ipc::kScrapingDisabled;
  init.sdk_version = "fake producer";
  std::optional<SmbMemory> own;
  if (options_.own_memory > 0) {
    RS_ASSIGN_OR_RETURN(SmbMemory memory, SmbMemory::Create(options_.own_memory, kOwnPageBytes));
    own.emplace(std::move(memory));
    init.page_size_hint = kOwnPageBytes;
    init.provides_shared_memory = true;
  }
  RS_ASSIGN_OR_RETURN(const uint64_t request,
                      client_.Invoke("InitializeConnection", Encode(init), /*drop_reply=*/false,
                                     own ? &own->fd() : nullptr));
  RS_ASSIGN_OR_RETURN(command_request_, client_.Invoke("GetAsyncCommand", {}, false));
  RS_ASSIGN_OR_RETURN(ServiceReply reply, client_.Read());
  if (reply.request_id != request)
    return Fail(ErrorCode::kIo, "the tracing service does not answer InitializeConnection");
  ipc::InitializeConnectionReply answer;
  RS_RETURN_IF_ERROR(DecodeMessage(wire::AsBytes(reply.content), answer));
  if (own && answer.uses_provided_shared_memory) memory_.emplace(std::move(*own));
  for (const ipc::DataSourceDescriptor& source : options_.sources)
    RS_RETURN_IF_ERROR(Invoke("RegisterDataSource", Encode(ipc::RegisterDataSource{source})));
  return Sync();
}

Status Producer::Invoke(const std::string& method, const std::string& args, bool drop_reply) {
  RS_RETURN_IF_ERROR(client_.Invoke(method, args, drop_reply));
  return {};
}

Status Producer::OnReply(ServiceReply& reply) {
  if (awaited_ == reply.request_id) awaited_.reset();
  if (reply.request_id != command_request_) return {};
  ipc::AsyncCommand command;
  RS_RETURN_IF_ERROR(DecodeMessage(wire::AsBytes(reply.content), command));
  if (command.setup_tracing && !reply.fds.empty()) {
    RS_ASSIGN_OR_RETURN(
        SmbMemory memory,
        SmbMemory::Map(std::move(reply.fds.front()),
                       static_cast<size_t>(command.setup_tracing->page_size_kb) * 1024));
    memory_.emplace(std::move(memory));
  }
  if (const auto& start = command.start) {
    started_.push_back({.instance = start->instance,
                        .name = start->config.name,
                        .buffer = BufferId{static_cast<uint16_t>(start->config.target_buffer)},
                        .session = start->config.tracing_session_id});
    RS_RETURN_IF_ERROR(
        Invoke("NotifyDataSourceStarted", Encode(ipc::NotifyDataSource{start->instance})));
  }
  if (command.stop) RS_RETURN_IF_ERROR(OnStop(command.stop->instance));
  if (command.flush) flushes_.push_back(*command.flush);
  return {};
}

Status Producer::OnStop(uint64_t instance) {
  std::erase_if(started_, [&](const StartedSource& source) { return source.instance == instance; });
  return Invoke("NotifyDataSourceStopped", Encode(ipc::NotifyDataSource{instance}));
}

Result<bool> Producer::Poll() {
  RS_ASSIGN_OR_RETURN(auto reply, client_.Poll());
  if (!reply) return false;
  RS_RETURN_IF_ERROR(OnReply(*reply));
  return true;
}

Status Producer::Wait() {
  RS_ASSIGN_OR_RETURN(ServiceReply reply, client_.Read());
  return OnReply(reply);
}

Status Producer::Sync() {
  RS_ASSIGN_OR_RETURN(awaited_, client_.Invoke("Sync", {}, /*drop_reply=*/false));
  while (awaited_) RS_RETURN_IF_ERROR(Wait());
  return {};
}

Status Producer::WaitForSources(size_t count) {
  while (started_.size() < count) RS_RETURN_IF_ERROR(Wait());
  return {};
}

Status Producer::WaitForFlush() {
  while (flushes_.empty()) RS_RETURN_IF_ERROR(Wait());
  return {};
}

Result<SharedMemoryWriter*> Producer::AddWriter(BufferId buffer) {
  const WriterId id{++last_writer_};
  RS_RETURN_IF_ERROR(
      Invoke("RegisterTraceWriter", Encode(ipc::RegisterTraceWriter{Raw(id), Raw(buffer)})));
  return (writers_[id] = std::make_unique<SharedMemoryWriter>(*this, id, buffer)).get();
}

Status Producer::RemoveWriter(SharedMemoryWriter* writer) {
  RS_RETURN_IF_ERROR(writer->Finish());
  RS_RETURN_IF_ERROR(Commit());
  const WriterId id = writer->id();
  writers_.erase(id);
  return Invoke("UnregisterTraceWriter", Encode(ipc::RegisterTraceWriter{.writer = Raw(id)}));
}

std::optional<smb::ChunkPlace> Producer::FindFreeChunk() {
  if (!memory_) return std::nullopt;
  const size_t pages = memory_->page_count();
  for (size_t i = 0; i < pages; ++i) {
    const size_t page = (next_page_ + i) % pages;
    uint32_t free = 0;
    const uint32_t taken = OneChunk(smb::ChunkState::kBeingWritten);
    if (!memory_->bitmap(page).compare_exchange_strong(free, taken)) continue;
    next_page_ = page;
    return smb::ChunkPlace{page, 0};
  }
  return std::nullopt;
}

Result<std::optional<smb::ChunkPlace>> Producer::TakeChunk() {
  if (!memory_) return std::nullopt;
  if (const auto place = FindFreeChunk(); place || options_.drops_when_full) return place;
  // All that is committed is free once the service has handled it.
  RS_RETURN_IF_ERROR(Commit());
  RS_RETURN_IF_ERROR(Sync());
  if (const auto place = FindFreeChunk()) return place;
  return Fail(ErrorCode::kLimit,
              "the shared memory has fewer chunks than the producer has writers");
}

Status Producer::ReturnChunk(smb::ChunkPlace place, BufferId buffer) {
  memory_->bitmap(static_cast<size_t>(place.page)).store(OneChunk(smb::ChunkState::kComplete));
  CommitRequestBuilder(request_).AddChunk(
      {.page = place.page, .index = place.chunk, .target_buffer = Raw(buffer), .data = {}});
  pending_bytes_ += memory_->chunk(place, kOneChunk).size();
  return pending_bytes_ >= options_.batch_bytes ? Commit() : Status{};
}

Status Producer::AddPatch(const ChunkToPatch& patch) {
  CommitRequestBuilder(patches_).AddPatch(patch);
  return request_.size() + patches_.size() >= kMaxRequestBytes ? Commit() : Status{};
}

Status Producer::ActivateTrigger(const std::string& name) {
  return Invoke("ActivateTriggers", Encode(ipc::ActivateTriggers{{name}}));
}

Status Producer::Commit() {
  const std::string request = std::exchange(request_, {}) + std::exchange(patches_, {});
  pending_bytes_ = 0;
  return request.empty() ? Status{} : Invoke("CommitData", request);
}

Status Producer::AnswerFlushes() {
  for (const auto& [id, writer] : writers_) RS_RETURN_IF_ERROR(writer->Finish());
  return AcknowledgeFlushes();
}

Status Producer::AcknowledgeFlushes() {
  if (flushes_.empty()) return Commit();
  uint64_t newest = 0;
  for (const ipc::FlushCommand& flush : std::exchange(flushes_, {}))
    newest = std::max(newest, flush.request_id);
  std::string request = std::exchange(request_, {}) + std::exchange(patches_, {});
  pending_bytes_ = 0;
  CommitRequestBuilder(request).SetFlushRequestId(newest);
  return Invoke("CommitData", request);
}

}  // namespace ringscope::testing
