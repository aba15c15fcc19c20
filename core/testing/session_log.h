#ifndef RINGSCOPE_CORE_TESTING_SESSION_LOG_H_
#define RINGSCOPE_CORE_TESTING_SESSION_LOG_H_

#include <string>
#include <vector>

#include "core/session/session.h"
#include "core/testing/chunk_dsl.h"

namespace ringscope::testing {

/// Writes down the calls of a session to its listener, a short line each.
class SessionLog : public ReplayListener {
 public:
  void OnPatch(BufferId, bool ok) override { lines.push_back(ok ? "patched" : "not patched"); }
  Status OnPacket(const SessionPacket& packet) override {
    std::string line = Describe(*packet.packet);
    if (!packet.valid) line += " invalid";
    lines.push_back(line);
    ids.push_back(packet.sequence_id);
    return {};
  }
  void OnReadDone(BufferId id, uint64_t packets) override {
    lines.push_back("read " + std::to_string(Raw(id)) + ": " + std::to_string(packets));
  }
  void OnClonePacket(const SessionPacket& packet) override {
    lines.push_back("clone " + Describe(*packet.packet));
  }
  void OnCloneDone(BufferId, uint64_t packets, const BufferStats&) override {
    lines.push_back("clone: " + std::to_string(packets));
  }
  void OnWarning(const std::string& text) override { warnings.push_back(text); }

  std::vector<std::string> lines;
  std::vector<uint32_t> ids;
  std::vector<std::string> warnings;
};

/// A request with these chunks, for one buffer; keeps the bytes that the op points to.
class Request {
 public:
  explicit Request(uint16_t producer) : producer_{producer} {}

  Request& Move(uint16_t buffer, const Chunk& chunk) {
    const ChunkCommit c = chunk.commit();
    CommitRequestBuilder(bytes_).AddChunk(
        BufferId{buffer},
        {.chunk = c.chunk, .writer = c.sequence.writer, .fragments = c.fragments, .flags = c.flags},
        c.payload, c.complete);
    return *this;
  }
  Request& Patch(uint16_t buffer, uint64_t writer, uint32_t chunk, uint64_t offset,
                 std::string_view data) {
    ChunkToPatch patch{.target_buffer = buffer, .writer = writer, .chunk = chunk, .patches = {}};
    patch.patches.push_back({.offset = offset, .data = wire::AsBytes(data)});
    CommitRequestBuilder(bytes_).AddPatch(patch);
    return *this;
  }
  Request& Raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  Request& Part(uint64_t number, uint32_t part, bool last) {
    number_ = number, part_ = part, last_ = last;
    return *this;
  }
  Op op() const {
    Commit commit;
    commit.producer = producer_;
    commit.request = wire::AsBytes(bytes_);
    commit.number = number_;
    commit.part = part_;
    commit.last = last_;
    return {.time_ns = {}, .body = commit};
  }

 private:
  ProducerId producer_;
  std::string bytes_;
  uint64_t number_ = 0;
  uint32_t part_ = 0;
  bool last_ = true;
};

inline Op BufferOp(uint16_t id, uint64_t size = 4096) {
  BufferSetUp setup;
  setup.id = BufferId{id};
  setup.size = size;
  return {.time_ns = {}, .body = setup};
}

}  // namespace ringscope::testing

#endif  // RINGSCOPE_CORE_TESTING_SESSION_LOG_H_
