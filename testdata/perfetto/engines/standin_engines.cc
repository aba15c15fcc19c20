// ringscope's own engines behind the stand-in's buffers.

#include "core/engine/engine.h"
#include "core/engine/v2_engine.h"
#include "src/tracing/service/standin_store.h"

namespace standin {
namespace {

using namespace ringscope;

SequenceKey Key(uint16_t producer, uint16_t writer) {
  return {ProducerId{producer}, WriterId{writer}};
}

class EngineStore final : public Store {
 public:
  explicit EngineStore(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

  void Add(const Commit& commit) override {
    engine_->Commit({.sequence = Key(commit.producer, commit.writer),
                     .identity = {commit.uid, commit.pid},
                     .chunk = ChunkId{commit.chunk},
                     .fragments = commit.fragments,
                     .flags = commit.flags,
                     .complete = commit.complete,
                     .payload = {commit.bytes, commit.size}});
  }
  bool Patch(const Patches& given) override {
    std::vector<ringscope::Patch> patches;
    for (const auto& [offset, data] : given.patches) patches.push_back({offset, data});
    return engine_->ApplyPatches({.sequence = Key(given.producer, given.writer),
                                  .chunk = ChunkId{given.chunk},
                                  .patches = patches,
                                  .more = given.more});
  }
  void BeginRead() override { engine_->BeginRead(); }
  bool Next(Packet* out) override {
    const ringscope::Packet* const packet = engine_->NextPacket();
    if (packet == nullptr) return false;
    out->producer = Raw(packet->sequence.producer);
    out->writer = Raw(packet->sequence.writer);
    out->uid = packet->identity.uid;
    out->pid = packet->identity.pid;
    out->dropped = packet->dropped;
    for (const Bytes slice : packet->slices) out->slices.emplace_back(slice.data(), slice.size());
    return true;
  }
  std::unique_ptr<Store> Clone() override {
    return std::make_unique<EngineStore>(engine_->Clone().value());
  }
  void Count(perfetto::protos::gen::TraceStats_BufferStats* to) override {
    const BufferStats& stats = engine_->stats();
    to->set_buffer_size(stats.buffer_size);
    to->set_bytes_written(stats.bytes_written);
    to->set_bytes_overwritten(stats.bytes_overwritten);
    to->set_bytes_read(stats.bytes_read);
    to->set_padding_bytes_written(stats.padding_bytes_written);
    to->set_padding_bytes_cleared(stats.padding_bytes_cleared);
    to->set_chunks_written(stats.chunks_written);
    to->set_chunks_rewritten(stats.chunks_rewritten);
    to->set_chunks_overwritten(stats.chunks_overwritten);
    to->set_chunks_discarded(stats.chunks_discarded);
    to->set_chunks_read(stats.chunks_read);
    to->set_chunks_committed_out_of_order(stats.chunks_committed_out_of_order);
    to->set_write_wrap_count(stats.write_wrap_count);
    to->set_patches_succeeded(stats.patches_succeeded);
    to->set_patches_failed(stats.patches_failed);
    to->set_readaheads_succeeded(stats.readaheads_succeeded);
    to->set_readaheads_failed(stats.readaheads_failed);
    to->set_abi_violations(stats.abi_violations);
    to->set_trace_writer_packet_loss(stats.trace_writer_packet_loss);
    to->set_chunks_relocated(stats.chunks_relocated);
  }
  void VisitWriters(const std::function<void(const Writer&)>& visit) override {
    engine_->VisitWriterStats([&](const WriterStats& writer) {
      uint64_t sums[kHistogramBuckets], counts[kHistogramBuckets];
      for (size_t i = 0; i < kHistogramBuckets; ++i) {
        sums[i] = writer.histogram->sums[i];
        counts[i] = writer.histogram->counts[i];
      }
      visit({writer.sequence.Packed(), sums, counts});
    });
  }
  size_t VisitChunks(const std::function<void(const Chunk&)>& visit) override {
    const auto cursor = engine_->VisitChunks([&](const ObservedChunk& chunk) {
      // Its storage has 16 bytes before each payload, which it does not use.
      if (!chunk.is_padding())
        memory_ = const_cast<uint8_t*>(chunk.payload.data()) - 16 - chunk.offset;
      const auto incomplete = static_cast<uint8_t>(chunk.incomplete ? 0x80 : 0);
      visit({chunk.is_padding() ? 0 : chunk.sequence.Packed(), Raw(chunk.chunk), chunk.offset,
             chunk.outer_size, chunk.payload_size, chunk.payload_avail,
             static_cast<uint8_t>(chunk.flags | incomplete)});
    });
    return cursor.value();
  }
  uint8_t* memory() override {
    if (memory_ != nullptr) return memory_;
    headers_.resize(static_cast<size_t>(engine_->stats().buffer_size));  // of padding alone
    return headers_.data();
  }

 private:
  std::unique_ptr<Engine> engine_;
  uint8_t* memory_ = nullptr;
  std::vector<uint8_t> headers_;
};

}  // namespace

std::unique_ptr<Store> MakeStore(int release, size_t size, bool discards) {
  const EngineConfig config{.size = size,
                            .policy = discards ? FillPolicy::kDiscard : FillPolicy::kRingBuffer,
                            .observer = nullptr};
  auto engine = release == 0
                    ? CreateV1Engine(config)
                    : CreateV2Engine(RulesOf(static_cast<uint32_t>(release)), config);
  if (!engine) return nullptr;
  return std::make_unique<EngineStore>(std::move(*engine));
}

}  // namespace standin
