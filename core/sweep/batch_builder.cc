#include "core/sweep/batch_builder.h"

#include <utility>
#include <variant>

#include "core/perfetto/packet_traits.h"
#include "core/perfetto/packet_validator.h"

namespace ringscope {
namespace {

/// Bytes of what an operation may hold much of, whatever its kind.
size_t LargeContentOf(const Op& op) {
  return std::visit(
      [](const auto& body) {
        size_t bytes = 0;
        if constexpr (requires { body.pages.size(); }) bytes += body.pages.size();
        if constexpr (requires { body.snapshot.size(); }) bytes += body.snapshot.size();
        if constexpr (requires { body.config.size(); }) bytes += body.config.size();
        if constexpr (requires { body.program.size(); }) bytes += body.program.size();
        if constexpr (requires { body.state.size(); }) bytes += body.state.size();
        if constexpr (requires { body.request.size(); }) bytes += body.request.size();
        if constexpr (requires { body.name.size(); }) bytes += body.name.size();
        if constexpr (requires { body.detail.size(); }) bytes += body.detail.size();
        if constexpr (requires { body.text.size(); }) bytes += body.text.size();
        return bytes;
      },
      op.body);
}

/// About as many chunks' shapes as fit into a processor's second cache.
constexpr size_t kBatchSteps = 2048;

}  // namespace

void BatchBuilder::AddRecord(const Op& op) {
  if (!IsDamage(op.body)) {
    ++records_;
    recorder_gaps_ += std::holds_alternative<RecorderGap>(op.body) ? 1 : 0;
  }
  if (op.time_ns) {
    if (!first_time_ns_) first_time_ns_ = op.time_ns;
    last_time_ns_ = op.time_ns;
  }
  SweepBatch& batch = *batch_;
  if (std::holds_alternative<Commit>(op.body)) {
    batch.steps.push_back({SweepBatch::Kind::kRecord, static_cast<uint32_t>(batch.times.size())});
    batch.times.push_back(op.time_ns);
    return;
  }
  verdicts_.Add(op.body);
  batch.steps.push_back({SweepBatch::Kind::kOp, static_cast<uint32_t>(batch.ops.size())});
  batch.ops.push_back(op);
  batch.op_bytes += LargeContentOf(op);
}

void BatchBuilder::AddWritten(BufferId buffer, WrittenCommit& written) {
  ReadShapeOf(written);
  shape_.committed_ns = last_time_ns_.value_or(0);
  if (problem_.empty()) ReadTraits(written);
  written_[buffer].Add(written.commit(), shape_);
}

/// Of most chunks, the fragments are known already.
void BatchBuilder::ReadShapeOf(const WrittenCommit& written) {
  const ChunkCommit& commit = written.commit();
  const WrittenChunk& chunk = written.chunk();
  if (chunk.end != ChunkEnd::kClean || chunk.fragments.size() != commit.fragments) {
    shape_ = ReadShape(commit, fragments_);
    return;
  }
  shape_ = {};
  shape_.payload_size = static_cast<uint32_t>(commit.payload.size());
  fragments_.resize(chunk.fragments.size());
  for (size_t i = 0; i < fragments_.size(); ++i) {
    const uint32_t end = written.EndOf(i);
    const auto header =
        static_cast<uint8_t>(end - chunk.fragments[i].size - chunk.fragments[i].offset);
    shape_.has_long_varint |= header > kMaxVarintV1;
    fragments_[i] = {.end = static_cast<uint16_t>(end), .header = header, .traits = 0};
  }
  shape_.fragments = fragments_;
  shape_.CountFragments();
}

/// What packets that begin in the chunk need of their state. Of one that continues in the next
/// chunk its first fragment shows that: writers put these fields in front.
void BatchBuilder::ReadTraits(WrittenCommit& written) {
  const ChunkCommit& commit = written.commit();
  uint32_t begin = 0;
  for (size_t i = 0; i < fragments_.size(); ++i) {
    ShapeFragment& fragment = fragments_[i];
    const Fragment place{.offset = begin, .body = begin + fragment.header, .end = fragment.end};
    begin = fragment.end;
    const FragmentKind kind = KindOf(place, fragments_.back().end, commit.flags);
    if (kind == FragmentKind::kContinue || kind == FragmentKind::kEnd || place.size() == 0)
      continue;
    // The last fragment of a scraped chunk was not written as far as the others.
    const bool is_written = i < written.chunk().fragments.size();
    const Bytes bytes = commit.payload.subspan(place.body, place.size());
    const std::optional<uint8_t> traits =
        TraitsOf(is_written ? written.PacketAt(i).facts : ReadPacketFacts(bytes));
    if (!traits) {
      problem_ = "packets report that earlier ones are lost";
      return;
    }
    fragment.traits = *traits;
    const bool is_last_of_scrape = !commit.complete && &fragment == &fragments_.back();
    if (kind != FragmentKind::kWhole || is_last_of_scrape) continue;
    if (!(is_written ? written.IsValidAt(i) : IsValidPacket({&bytes, 1}))) {
      problem_ = "the service refuses packets because of their content";
      return;
    }
  }
}

void BatchBuilder::AddChunk(BufferId buffer, const ChunkCommit& commit) {
  SweepBatch& batch = *batch_;
  batch.steps.push_back({SweepBatch::Kind::kChunk, static_cast<uint32_t>(batch.chunks.size())});
  SweepBatch::Chunk& chunk = batch.chunks.emplace_back();
  chunk.buffer = buffer;
  chunk.commit = commit;
  chunk.commit.payload = {};
  chunk.first_fragment = static_cast<uint32_t>(batch.fragments.size());
  chunk.fragments = static_cast<uint32_t>(fragments_.size());
  chunk.shape = shape_;
  chunk.shape.fragments = {};
  batch.fragments.insert(batch.fragments.end(), fragments_.begin(), fragments_.end());
}

void BatchBuilder::AddPatches(BufferId buffer, const ChunkPatches& patches) {
  SweepBatch& batch = *batch_;
  batch.steps.push_back({SweepBatch::Kind::kPatches, static_cast<uint32_t>(batch.patches.size())});
  SweepBatch::Patches& entry = batch.patches.emplace_back();
  entry.buffer = buffer;
  entry.patches = patches;
  entry.patches.patches = {};
  entry.first = static_cast<uint32_t>(batch.patch_places.size());
  entry.count = static_cast<uint32_t>(patches.patches.size());
  for (const Patch& patch : patches.patches) batch.patch_places.push_back({.offset = patch.offset});
}

void BatchBuilder::Finish() {
  for (auto& [id, tally] : written_) {
    tally.Finish();
    if (!tally.regular() && problem_.empty())
      problem_ = "chunks were re-committed long after their commit";
  }
}

bool BatchBuilder::is_full() const { return batch_->steps.size() >= kBatchSteps; }

std::shared_ptr<const SweepBatch> BatchBuilder::TakeBatch() {
  return std::exchange(batch_, std::make_shared<SweepBatch>());
}

}  // namespace ringscope
