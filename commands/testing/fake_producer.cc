#include "commands/testing/fake_producer.h"

#include <cstring>

namespace ringscope::testing {

FakeProducer::FakeProducer(const std::string& socket, std::string name, uint64_t scraping)
    : peer_(ConnectPeer(socket)), name_(std::move(name)), scraping_(scraping) {}

uint64_t FakeProducer::Invoke(const std::string& method, const std::string& args, bool drop_reply) {
  std::string frame;
  ipc::AppendInvoke(frame, ++last_request_,
                    {.service = 1,
                     .method = methods_.at(method),
                     .args = wire::AsBytes(args),
                     .drop_reply = drop_reply});
  peer_.Send(frame);
  return last_request_;
}

bool FakeProducer::Connect(bool no_flush) {
  std::string bind;
  ipc::AppendBind(bind, ++last_request_, ipc::kProducerPort);
  if (!peer_.Send(bind)) return false;
  const auto bound = peer_.Read();
  if (!bound) return false;
  const ipc::Frame frame = bound->Parse();
  for (const ipc::Method& method : std::get<ipc::BindServiceReply>(frame.body).methods)
    methods_[std::string(method.name)] = method.id;

  ipc::InitializeConnection init;
  init.producer_name = name_;
  init.scraping_mode = scraping_;
  init.sdk_version = "test";
  if (!ReadUntilReply(Invoke("InitializeConnection", Encode(init), false))) return false;
  ipc::RegisterDataSource source;
  source.descriptor = {"source." + name_, no_flush};
  Invoke("RegisterDataSource", Encode(source), true);
  command_request_ = Invoke("GetAsyncCommand", "", false);
  while (!memory_) {
    uint64_t replied = 0;
    if (!ReadOne(&replied)) return false;
  }
  return true;
}

void FakeProducer::RegisterWriter(WriterId writer, BufferId buffer) {
  Invoke("RegisterTraceWriter", Encode(ipc::RegisterTraceWriter{Raw(writer), Raw(buffer)}), true);
}

void FakeProducer::Write(const Chunk& chunk) {
  using smb::ChunkState;
  auto bitmap = memory_->bitmap(chunk.page);
  bitmap.store(OneChunk(ChunkState::kBeingWritten));
  std::string bytes;
  AppendChunkHeader(bytes, {chunk.id, chunk.writer, chunk.fragments, chunk.flags});
  bytes += chunk.payload;
  bytes.resize(TestMemory::kChunkBytes);
  std::memcpy(memory_->chunk(chunk.page), bytes.data(), bytes.size());
  if (chunk.complete) bitmap.store(OneChunk(ChunkState::kComplete));
}

void FakeProducer::WriteOpen(size_t page) {
  Write({.page = page,
         .writer = WriterId{1},
         .id = ChunkId{0},
         .fragments = 2,
         .payload = "open",
         .complete = false});
}

std::optional<size_t> FakeProducer::FreePage() {
  while (true) {
    for (size_t page = 0; page < memory_->size() / TestMemory::kPage; ++page)
      if (memory_->bitmap(page).load() == 0) return page;
    if (!Sync()) return std::nullopt;  // all that was committed is free then
  }
}

bool FakeProducer::Commit(const std::string& request, bool drop_reply) {
  const uint64_t id = Invoke("CommitData", request, drop_reply);
  return drop_reply || ReadUntilReply(id);
}

void FakeProducer::AddChunk(std::string& request, size_t page, BufferId buffer) {
  CommitRequestBuilder(request).AddChunk(
      {.page = page, .index = 0, .target_buffer = Raw(buffer), .data = {}, .incomplete = false});
}

bool FakeProducer::Sync() { return ReadUntilReply(Invoke("Sync", "", false)); }

std::optional<uint64_t> FakeProducer::WaitForFlush() {
  while (flushes_.empty()) {
    uint64_t replied = 0;
    if (!ReadOne(&replied)) return std::nullopt;
  }
  const uint64_t flush = flushes_.front();
  flushes_.erase(flushes_.begin());
  return flush;
}

bool FakeProducer::ReadUntilReply(uint64_t request_id) {
  uint64_t replied = 0;
  while (replied != request_id)
    if (!ReadOne(&replied)) return false;
  return true;
}

bool FakeProducer::ReadOne(uint64_t* replied) {
  auto received = peer_.Read();
  if (!received) return false;
  const ipc::Frame frame = received->Parse();
  *replied = frame.request_id;
  const auto* const reply = std::get_if<ipc::InvokeMethodReply>(&frame.body);
  if (reply == nullptr || frame.request_id != command_request_) return true;
  const auto command = Decode<ipc::AsyncCommand>(reply->reply);
  if (command.setup_tracing && !received->fds.empty())
    memory_.emplace(std::move(received->fds.front()));
  if (command.flush) flushes_.push_back(command.flush->request_id);
  return true;
}

}  // namespace ringscope::testing
