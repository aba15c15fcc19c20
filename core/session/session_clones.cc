// Clones of the buffers of a session, and the buffers in the replay of a clone.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/session/session.h"
#include "core/session/session_errors.h"

namespace ringscope {

BufferStats SessionBuffer::stats() const {
  BufferStats stats = engine->stats();
  if (!cloned || cloned->transferred) return stats;
  for (uint64_t BufferStats::*counter :
       {&BufferStats::bytes_read, &BufferStats::chunks_read, &BufferStats::readaheads_succeeded,
        &BufferStats::readaheads_failed})
    stats.*counter -= cloned->stats.*counter;
  return stats;
}

std::vector<SequenceKey> SessionBuffer::Writers() const {
  std::vector<SequenceKey> writers;
  VisitWriterStats([&](const WriterStats& writer) { writers.push_back(writer.sequence); });
  return InTableOrder(writers);
}

void SessionBuffer::VisitWriterStats(const std::function<void(const WriterStats&)>& visit) const {
  if (!cloned || cloned->transferred) return engine->VisitWriterStats(visit);
  // V2 counts commits, so that nothing is left; V1 counts what is read.
  size_t next = 0;
  engine->VisitWriterStats([&](const WriterStats& writer) {
    WriterHistogram rest = *writer.histogram;
    if (next < cloned->writers.size() && cloned->writers[next].first == writer.sequence) {
      const WriterHistogram& before = cloned->writers[next++].second;
      for (size_t i = 0; i < kHistogramBuckets; ++i) {
        rest.counts[i] -= before.counts[i];
        rest.sums[i] -= before.sums[i];
      }
    }
    if (rest != WriterHistogram{}) visit({writer.sequence, &rest});
  });
}

/// Counts the live buffers, those of clones included. (The statistics of a trace are older than the
/// end of its own buffers.)
void Session::CountBuffers() {
  stats_.total_buffers = left_out_.size();
  for (const auto& [id, buffer] : buffers_) stats_.total_buffers += buffer.freed ? 0 : 1;
  for (const auto& [session, buffers] : clone_buffers_) stats_.total_buffers += buffers;
}

bool Session::IsOutOfView(BufferId id) const {
  const auto buffer = buffers_.find(id);
  return left_out_.contains(id) || (buffer != buffers_.end() && buffer->second.cloned);
}

Status Session::CloneBuffer(const BufferCloned& cloned) {
  SessionBuffer* buffer = FindOpenBuffer(cloned.buffer);
  if (buffer == nullptr) {
    if (!IsOutOfView(cloned.buffer))
      WarnOnce("clone", fmt::format("a clone of buffer {}, which is not set up: skipped",
                                    Raw(cloned.buffer)));
    return {};
  }
  if (!options_.clone || options_.clone->clone != cloned.clone)
    return cloned.transfer ? EmptyBuffer(*buffer, Erasure::kTransferred) : Status{};
  auto at = std::make_unique<SessionBuffer::Cloned>();
  at->transferred = cloned.transfer;
  at->stats = buffer->engine->stats();
  buffer->engine->VisitWriterStats([&](const WriterStats& writer) {
    at->writers.emplace_back(writer.sequence, *writer.histogram);
  });
  buffer->cloned = std::move(at);
  buffer->is_read = false;  // the clone is a session of its own
  return {};
}

/// Replaces the buffer's content, counters included, by nothing.
Status Session::EmptyBuffer(SessionBuffer& buffer, Erasure why) {
  // One that is to be cleared, and holds nothing, stays with its programs.
  if (buffer.vms && why == Erasure::kDropped && buffer.engine->stats().chunks_written == 0)
    return {};
  if (buffer.observer) {
    // Of an engine that does not report its chunks it is not known what leaves.
    static_cast<void>(buffer.engine->VisitChunks([&](const ObservedChunk& chunk) {
      if (!chunk.is_padding()) buffer.observer->LeaveForClone(chunk, why);
    }));
  }
  auto engine = MakeEngine(buffer);
  if (!engine) return InBuffer(buffer.id, std::move(engine).error());
  buffer.engine = std::move(*engine);
  // The programs leave with the buffer, and running data sources do not get others.
  if (buffer.observer) buffer.observer->FeedTo(nullptr);
  buffer.vm_feed.reset();
  if (buffer.vms != nullptr) {
    for (protovm::VmAccount& account : buffer.vms->Accounts()) {
      account.left = true;
      buffer.former_vms.push_back(std::move(account));
    }
  }
  buffer.vms.reset();
  return {};
}

}  // namespace ringscope
