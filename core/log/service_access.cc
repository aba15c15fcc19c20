#include "core/log/service_access.h"

namespace ringscope {

void ServiceAccess::Apply(const Op& op) {
  VisitRecord(
      op.body,
      [&](const ProducerConnected& connected) {
        if (!knows_producers()) producers_.clear();
        ++producers_seen_;
        Producer& producer = producers_[connected.producer];
        producer = {.identity = {connected.uid, connected.pid}};
        machines_[connected.producer] = connected.machine.value_or(0);
        if (!connected.smb_size) return;
        knows_shared_memory_ = true;
        producer.has_shared_memory = true;
        if (connected.page_size.value_or(0) > 0)
          producer.smb_pages = *connected.smb_size / *connected.page_size;
      },
      [&](const ProducerDisconnected& gone) { producers_.erase(gone.producer); },
      [&](const SharedMemorySetUp& setup) {
        knows_shared_memory_ = true;
        Producer* producer = Known(setup.producer);
        if (producer == nullptr) return;
        producer->has_shared_memory = true;
        if (setup.page_size > 0) producer->smb_pages = setup.size / setup.page_size;
      },
      [&](const DataSourceSetUp& setup) {
        knows_data_sources_ = true;
        if (Producer* producer = Known(setup.producer))
          producer->may_write.insert(setup.target_buffer);
      },
      [&](const WriterRegistered& writer) {
        if (Producer* producer = Known(writer.producer))
          producer->writers.insert_or_assign(writer.writer, writer.buffer);
      },
      [&](const WriterUnregistered& writer) {
        if (Producer* producer = FindIn(producers_, writer.producer))
          producer->writers.erase(writer.writer);
      },
      [&](const BufferFreed& freed) {
        for (auto& [id, producer] : producers_) producer.may_write.erase(freed.id);
      });
}

std::optional<Refusal> ServiceAccess::Check(const Producer* producer, const Commit& commit,
                                            const ChunkToMove& chunk, WriterId writer, bool is_open,
                                            uint32_t release) const {
  if (IgnoresRequests(producer)) return Refusal::kNoSharedMemory;
  // Up to v56 the page counts even where the bytes are in the request.
  constexpr uint32_t kLastThatChecksInline = 56;
  const bool checks_page = commit.origin == Origin::kShm ||
                           (commit.origin == Origin::kInline && release <= kLastThatChecksInline);
  const bool page_exists = !chunk.page || producer == nullptr || !producer->smb_pages ||
                           !checks_page || *chunk.page < *producer->smb_pages;
  if (!page_exists) return Refusal::kNoSuchPage;
  if (!is_open) return Refusal::kNoSuchBuffer;
  if (SequenceKey{commit.producer, writer} == SequenceKey{}) return Refusal::kMayNotWrite;
  if (producer == nullptr)
    return knows_producers() ? std::optional(Refusal::kMayNotWrite) : std::nullopt;
  const BufferId buffer = TargetBufferOf(chunk.target_buffer);
  if (knows_data_sources_ && !producer->may_write.contains(buffer)) return Refusal::kMayNotWrite;
  const auto registered = producer->writers.find(writer);
  if (registered == producer->writers.end() || registered->second == buffer) return std::nullopt;
  return Refusal::kMayNotWrite;
}

}  // namespace ringscope
