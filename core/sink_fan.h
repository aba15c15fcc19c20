#ifndef RINGSCOPE_CORE_SINK_FAN_H_
#define RINGSCOPE_CORE_SINK_FAN_H_

#include <string>
#include <utility>
#include <vector>

#include "core/session.h"

namespace ringscope {

/// Hands everything on to several sinks, in their order. They must outlive it.
class SinkFan : public SessionSink {
 public:
  explicit SinkFan(std::vector<SessionSink*> sinks) : sinks_(std::move(sinks)) {}

  void OnRecord(const Op& op, uint64_t number) override {
    for (SessionSink* sink : sinks_) sink->OnRecord(op, number);
  }
  void OnBufferSetUp(SessionBuffer& buffer) override {
    for (SessionSink* sink : sinks_) sink->OnBufferSetUp(buffer);
  }
  void OnBufferReplaced(SessionBuffer& buffer) override {
    for (SessionSink* sink : sinks_) sink->OnBufferReplaced(buffer);
  }
  void OnChunk(BufferId id, const ChunkCommit& commit, std::optional<Refusal> refusal) override {
    for (SessionSink* sink : sinks_) sink->OnChunk(id, commit, refusal);
  }
  void OnChunkDone(BufferId id, const ChunkCommit& commit) override {
    for (SessionSink* sink : sinks_) sink->OnChunkDone(id, commit);
  }
  void OnReadBegun(BufferId id) override {
    for (SessionSink* sink : sinks_) sink->OnReadBegun(id);
  }
  void OnPatch(BufferId id, bool ok) override {
    for (SessionSink* sink : sinks_) sink->OnPatch(id, ok);
  }
  Status OnPacket(const SessionPacket& packet) override {
    for (SessionSink* sink : sinks_) RS_RETURN_IF_ERROR(sink->OnPacket(packet));
    return {};
  }
  void OnReadDone(BufferId id, uint64_t packets) override {
    for (SessionSink* sink : sinks_) sink->OnReadDone(id, packets);
  }
  void OnClonePacket(const SessionPacket& packet) override {
    for (SessionSink* sink : sinks_) sink->OnClonePacket(packet);
  }
  void OnCloneDone(BufferId id, uint64_t packets, const BufferStats& stats) override {
    for (SessionSink* sink : sinks_) sink->OnCloneDone(id, packets, stats);
  }
  void OnWarning(const std::string& text) override {
    for (SessionSink* sink : sinks_) sink->OnWarning(text);
  }

 private:
  std::vector<SessionSink*> sinks_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SINK_FAN_H_
