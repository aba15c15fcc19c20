#include "formats/testing/generate_log.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "core/engine/engine.h"
#include "core/perfetto/commit_request.h"
#include "formats/log/commit_log_writer.h"

namespace ringscope::testing {
namespace {

constexpr uint16_t kLogBuffer = 1;
constexpr uint32_t kWritersPerProducer = 20;
constexpr uint64_t kStartNs = 1'000'000'000'000;

class Generator {
 public:
  Generator(const GeneratedLog& log, CommitLogWriter& writer)
      : log_(log), writer_(writer), random_(log.seed), writers_(std::max(1u, log.writers)) {}

  Status Run() {
    LogHeader header;
    header.uuid = "00000000000000000000000000000001";
    header.source = Origin::kSynthetic;
    header.description = "generated for measurements";
    RS_RETURN_IF_ERROR(Append(header));
    BufferSetUp buffer;
    buffer.id = BufferId{kLogBuffer};
    buffer.size = log_.buffer_size;
    buffer.engine = "v2@58";
    RS_RETURN_IF_ERROR(Append(buffer));
    for (uint32_t w = 0; w < writers_.size(); ++w) {
      if (w % kWritersPerProducer == 0) {
        ProducerConnected producer;
        producer.producer = ProducerOf(w);
        producer.uid = 1000 + w;
        producer.pid = static_cast<int32_t>(100 + w);
        producer.name = "generated";
        RS_RETURN_IF_ERROR(Append(producer));
      }
    }
    while (bytes_ < log_.chunk_bytes) RS_RETURN_IF_ERROR(AppendCommit());
    return {};
  }

 private:
  struct Writer {
    uint32_t next_chunk = 0;
    bool in_packet = false;
    uint32_t to_patch = 0;  // chunk whose last four bytes wait for a patch, plus 1
    uint64_t patch_offset = 0;
  };

  static ProducerId ProducerOf(uint32_t writer) {
    return ProducerId{static_cast<uint16_t>(1 + writer / kWritersPerProducer)};
  }

  template <typename Body>
  Status Append(Body body) {
    return writer_.Append({.time_ns = now_ns_ += 1000 + random_() % 5000, .body = std::move(body)});
  }

  /// Fields like those of track events, whole ones: a few small values that change, and names that
  /// repeat. At least 6 bytes.
  void AppendPacketBytes(size_t size) {
    static constexpr const char* kNames[] = {"DrawFrame", "BinderTransaction", "Swap", "vsync"};
    constexpr size_t kMostPerEvent = 48;
    const size_t end = payload_.size() + size;
    while (end - payload_.size() > kMostPerEvent + 6) {
      payload_ += '\x40';
      wire::AppendVarint(payload_, now_ns_ + random_() % 4096);
      event_ = "\x48\x02\x58";
      wire::AppendVarint(event_, random_());
      event_ += kNames[random_() % 4];
      payload_ += '\x5A';
      wire::AppendVarint(payload_, event_.size());
      payload_ += event_;
    }
    const size_t rest = end - payload_.size() - 2;
    payload_ += '\x5A';
    wire::AppendVarint(payload_, rest);
    for (size_t i = 0; i < rest; ++i) payload_ += kNames[1][i % 17];
  }

  void AppendFragment(size_t size) {
    wire::AppendVarint(payload_, size);
    AppendPacketBytes(size);
  }

  Status AppendCommit() {
    const auto w = static_cast<uint32_t>(random_() % writers_.size());
    Writer& writer = writers_[w];
    constexpr size_t kSpace = 4080;
    payload_.clear();
    request_.clear();
    ChunkHeader header{.chunk = ChunkId{writer.next_chunk++},
                       .writer = WriterId{static_cast<uint16_t>(1 + w % kWritersPerProducer)}};
    if (writer.in_packet) header.flags |= kFirstContinues;
    const size_t full = random_() % 4 == 0 ? kSpace / 2 : kSpace - 300;
    do {
      AppendFragment(40 + random_() % 260);
      ++header.fragments;
    } while (payload_.size() < full);
    const uint32_t patched = std::exchange(writer.to_patch, 0);
    const uint64_t patch_offset = writer.patch_offset;
    writer.in_packet = random_() % 3 == 0;
    if (writer.in_packet) {
      header.flags |= kLastContinues;
      if (random_() % 2 == 0) {
        header.flags |= kNeedsPatching;
        writer.to_patch = Raw(header.chunk) + 1;
        writer.patch_offset = payload_.size() - kPatchSize;
      }
    }
    CommitRequestBuilder builder(request_);
    builder.AddChunk(BufferId{kLogBuffer}, header, wire::AsBytes(payload_), true);
    if (patched != 0) {
      ChunkToPatch patch{.target_buffer = kLogBuffer,
                         .writer = Raw(header.writer),
                         .chunk = patched - 1,
                         .patches = {}};
      patch.patches.push_back({.offset = patch_offset, .data = wire::AsBytes("Swap")});
      builder.AddPatch(patch);
    }
    bytes_ += kChunkHeaderSize + payload_.size();
    Commit commit;
    commit.producer = ProducerOf(w);
    commit.origin = Origin::kSynthetic;
    commit.request = wire::AsBytes(request_);
    return Append(commit);
  }

  const GeneratedLog& log_;
  CommitLogWriter& writer_;
  std::mt19937 random_;
  std::vector<Writer> writers_;
  uint64_t bytes_ = 0;
  uint64_t now_ns_ = kStartNs;
  std::string payload_;
  std::string event_;
  std::string request_;
};

}  // namespace

Status GenerateLog(const GeneratedLog& log, ByteSink& out) {
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<CommitLogWriter> writer, CommitLogWriter::Create(out));
  RS_RETURN_IF_ERROR(Generator(log, *writer).Run());
  return writer->Close();
}

}  // namespace ringscope::testing
