// A plug-in, complete: it wraps a trace buffer written in C++ for ringscope's plug-in interface.
// The buffer here is ringscope's own v2@58, so that what it does is known to be right; put yours in
// its place. Only Buffer's members and the functions at the end know what they wrap; a plug-in that
// does not report what happens inside leaves out Reporter and RINGSCOPE_TELLS_EVENTS.

#include <ringscope/plugin_abi.h>

#include <memory>
#include <string>
#include <vector>

#include "core/engine/engine.h"
#include "core/engine/v2_engine.h"

namespace {

using namespace ringscope;

ringscope_sequence Sequence(SequenceKey key) { return {Raw(key.producer), Raw(key.writer)}; }

SequenceKey Key(ringscope_sequence sequence) {
  return {ProducerId{sequence.producer}, WriterId{sequence.writer}};
}

ringscope_place Place(const PacketPlace& place) {
  return {Raw(place.first_chunk), place.first_offset, Raw(place.last_chunk)};
}

ringscope_chunk Chunk(const ObservedChunk& chunk) {
  return {sizeof(ringscope_chunk),
          Sequence(chunk.sequence),
          Raw(chunk.chunk),
          chunk.outer_size,
          chunk.offset,
          chunk.payload_size,
          chunk.payload_avail,
          chunk.flags,
          chunk.incomplete,
          0,
          0,
          {chunk.payload.data(), chunk.payload.size()}};
}

/// Reports to ringscope what happens inside the buffer.
class Reporter : public EngineObserver {
 public:
  explicit Reporter(const ringscope_observer& to) : to_(to) {}

  void OnCommitted(const ObservedChunk& chunk) override { Report(to_.committed, chunk); }
  void OnRewritten(const ObservedChunk& chunk) override { Report(to_.rewritten, chunk); }
  void OnRelocated(const ObservedChunk& chunk) override { Report(to_.relocated, chunk); }
  void OnErased(const ObservedChunk& chunk) override { Report(to_.erased, chunk); }
  void OnDiscarded(const ChunkCommit& commit, DiscardReason reason) override {
    const ringscope_commit plain = Plain(commit);
    to_.discarded(to_.context, &plain, static_cast<uint32_t>(reason));
  }
  void OnEvicting(const ObservedChunk& chunk, const ChunkCommit& by) override {
    const ringscope_chunk plain = Chunk(chunk);
    const ringscope_commit plain_by = Plain(by);
    to_.evicting(to_.context, &plain, &plain_by);
  }
  void OnPatched(const ObservedChunk& chunk, const ChunkPatches& patches) override {
    const ringscope_chunk plain = Chunk(chunk);
    const ringscope_patches plain_patches = Plain(patches);
    to_.patched(to_.context, &plain, &plain_patches);
  }
  void OnPatchMissed(const ObservedChunk* chunk, const ChunkPatches& patches,
                     PatchMiss miss) override {
    const ringscope_chunk plain = chunk != nullptr ? Chunk(*chunk) : ringscope_chunk{};
    const ringscope_patches plain_patches = Plain(patches);
    to_.patch_missed(to_.context, chunk != nullptr ? &plain : nullptr, &plain_patches,
                     static_cast<uint32_t>(miss));
  }
  void OnPacketAbandoned(SequenceKey key, const PacketPlace& place, uint32_t cause) override {
    const ringscope_place plain = Place(place);
    to_.packet_given_up(to_.context, Sequence(key), &plain, cause);
  }
  void OnLossBit(SequenceKey key, ChunkId chunk, uint32_t bit) override {
    to_.loss_bit(to_.context, Sequence(key), Raw(chunk), bit);
  }
  void OnWrap() override { to_.wrap(to_.context); }
  void OnPadding(uint64_t offset, uint32_t size) override {
    to_.padding(to_.context, offset, size);
  }
  void OnStalled(SequenceKey key, ChunkId chunk, StallReason reason) override {
    to_.stalled(to_.context, Sequence(key), Raw(chunk), static_cast<uint32_t>(reason));
  }

 private:
  using ChunkReport = void (*)(void*, const ringscope_chunk*);

  void Report(ChunkReport report, const ObservedChunk& chunk) {
    const ringscope_chunk plain = Chunk(chunk);
    report(to_.context, &plain);
  }
  static ringscope_commit Plain(const ChunkCommit& commit) {
    return {sizeof(ringscope_commit),
            Sequence(commit.sequence),
            commit.identity.uid,
            commit.identity.pid,
            Raw(commit.chunk),
            commit.fragments,
            commit.flags,
            commit.complete,
            {commit.payload.data(), commit.payload.size()}};
  }
  ringscope_patches Plain(const ChunkPatches& patches) {
    plain_.clear();
    for (const Patch& patch : patches.patches)
      plain_.push_back(
          {patch.offset, {patch.data[0], patch.data[1], patch.data[2], patch.data[3]}});
    return {sizeof(ringscope_patches),
            Sequence(patches.sequence),
            Raw(patches.chunk),
            patches.more,
            plain_.data(),
            plain_.size()};
  }

  const ringscope_observer& to_;
  std::vector<ringscope_patch> plain_;
};

struct Buffer {
  std::unique_ptr<Reporter> reporter;  // if ringscope has an observer
  std::unique_ptr<Engine> engine;
  std::vector<Patch> patches;           // scratch
  std::vector<ringscope_slice> slices;  // of the packet returned last
  std::string complaint;
};

Buffer& Of(void* buffer) { return *static_cast<Buffer*>(buffer); }

/// Returns the buffer around `engine`, or reports why there is none.
void* Give(std::unique_ptr<Buffer> buffer, Result<std::unique_ptr<Engine>> engine,
           const ringscope_config& config) {
  if (!engine) {
    config.fail(config.host, engine.error().ToString().c_str());
    return nullptr;
  }
  buffer->engine = std::move(*engine);
  return buffer.release();
}

void* Create(const ringscope_config* config) {
  auto buffer = std::make_unique<Buffer>();
  if (config->observer != nullptr) buffer->reporter = std::make_unique<Reporter>(*config->observer);
  const bool discards = config->policy == RINGSCOPE_POLICY_DISCARD;
  auto engine = CreateV2Engine(RulesOf(58),
                               {.size = config->size,
                                .policy = discards ? FillPolicy::kDiscard : FillPolicy::kRingBuffer,
                                .observer = buffer->reporter.get()});
  return Give(std::move(buffer), std::move(engine), *config);
}

void* Clone(void* buffer, const ringscope_config* config) {
  return Give(std::make_unique<Buffer>(), Of(buffer).engine->Clone(), *config);
}

void Destroy(void* buffer) { delete &Of(buffer); }

void Commit(void* buffer, const ringscope_commit* commit) {
  Of(buffer).engine->Commit({.sequence = Key(commit->sequence),
                             .identity = {commit->uid, commit->pid},
                             .chunk = ChunkId{commit->chunk},
                             .fragments = commit->fragments,
                             .flags = commit->flags,
                             .complete = commit->complete != 0,
                             .payload = {commit->payload.data, commit->payload.size}});
}

int ApplyPatches(void* buffer, const ringscope_patches* patches) {
  std::vector<Patch>& list = Of(buffer).patches;
  list.clear();
  for (uint64_t i = 0; i < patches->count; ++i)
    list.push_back({.offset = patches->patches[i].offset, .data = patches->patches[i].data});
  return Of(buffer).engine->ApplyPatches({.sequence = Key(patches->sequence),
                                          .chunk = ChunkId{patches->chunk},
                                          .patches = list,
                                          .more = patches->more != 0});
}

void BeginRead(void* buffer) { Of(buffer).engine->BeginRead(); }

int NextPacket(void* buffer, ringscope_packet* out) {
  const Packet* const packet = Of(buffer).engine->NextPacket();
  if (packet == nullptr) return 0;
  std::vector<ringscope_slice>& slices = Of(buffer).slices;
  slices.clear();
  for (const Bytes slice : packet->slices) slices.push_back({slice.data(), slice.size()});
  out->sequence = Sequence(packet->sequence);
  out->uid = packet->identity.uid;
  out->pid = packet->identity.pid;
  out->dropped = packet->dropped;
  out->slices = slices.data();
  out->slice_count = slices.size();
  out->place = Place(packet->place);
  return 1;
}

void GetStats(void* buffer, ringscope_stats* out) {
  const BufferStats& stats = Of(buffer).engine->stats();
  out->buffer_size = stats.buffer_size;
  out->bytes_written = stats.bytes_written;
  out->bytes_overwritten = stats.bytes_overwritten;
  out->bytes_read = stats.bytes_read;
  out->padding_bytes_written = stats.padding_bytes_written;
  out->padding_bytes_cleared = stats.padding_bytes_cleared;
  out->chunks_written = stats.chunks_written;
  out->chunks_rewritten = stats.chunks_rewritten;
  out->chunks_relocated = stats.chunks_relocated;
  out->chunks_overwritten = stats.chunks_overwritten;
  out->chunks_discarded = stats.chunks_discarded;
  out->chunks_read = stats.chunks_read;
  out->chunks_committed_out_of_order = stats.chunks_committed_out_of_order;
  out->write_wrap_count = stats.write_wrap_count;
  out->patches_succeeded = stats.patches_succeeded;
  out->patches_failed = stats.patches_failed;
  out->readaheads_succeeded = stats.readaheads_succeeded;
  out->readaheads_failed = stats.readaheads_failed;
  out->abi_violations = stats.abi_violations;
  out->trace_writer_packet_loss = stats.trace_writer_packet_loss;
}

void VisitWriters(void* buffer, ringscope_writer_visitor visit, void* context) {
  Of(buffer).engine->VisitWriterStats([&](const WriterStats& stats) {
    ringscope_writer writer = {sizeof(ringscope_writer), Sequence(stats.sequence), {}, {}};
    for (size_t i = 0; i < kHistogramBuckets; ++i) {
      writer.sums[i] = stats.histogram->sums[i];
      writer.counts[i] = stats.histogram->counts[i];
    }
    visit(context, &writer);
  });
}

const char* Check(void* buffer) {
  Of(buffer).complaint = Of(buffer).engine->CheckInvariants();
  return Of(buffer).complaint.empty() ? nullptr : Of(buffer).complaint.c_str();
}

uint64_t VisitChunks(void* buffer, ringscope_chunk_visitor visit, void* context) {
  const auto visit_plain = [&](const ObservedChunk& chunk) {
    const ringscope_chunk plain = Chunk(chunk);
    visit(context, &plain);
  };
  return Of(buffer).engine->VisitChunks(visit_plain).value();
}

constexpr ringscope_plugin kPlugin = {
    .struct_size = sizeof(ringscope_plugin),
    .abi_version = RINGSCOPE_ABI_VERSION,
    .name = "v2-example",
    .version = "58",
    .description = "ringscope's own v2@58 through the plug-in interface: an example to start from.",
    .tells = RINGSCOPE_TELLS_EVENTS | RINGSCOPE_TELLS_PLACES,
    .create = Create,
    .destroy = Destroy,
    .commit = Commit,
    .patch = ApplyPatches,
    .begin_read = BeginRead,
    .next_packet = NextPacket,
    .stats = GetStats,
    .clone = Clone,
    .visit_writers = VisitWriters,
    .check = Check,
    .visit_chunks = VisitChunks,
};

}  // namespace

RINGSCOPE_EXPORT const ringscope_plugin* ringscope_get_plugin(uint32_t host_abi_version) {
  return host_abi_version >= RINGSCOPE_ABI_VERSION ? &kPlugin : nullptr;
}
