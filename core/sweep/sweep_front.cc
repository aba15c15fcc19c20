#include "core/sweep/sweep_front.h"

#include "core/engine/catalogue.h"
#include "core/perfetto/packet_traits.h"
#include "core/perfetto/packet_validator.h"

namespace ringscope {

/// Takes the place of a buffer: what the service lets through goes into the batch.
class SweepFront::Gate final : public Engine {
 public:
  Gate(SweepFront& front, BufferId id) : front_(front), id_(id) {}

  void Commit(const ChunkCommit& commit) override {
    SweepBatch& batch = *front_.batch_;
    batch.steps.push_back({SweepBatch::Kind::kChunk, static_cast<uint32_t>(batch.chunks.size())});
    SweepBatch::Chunk& chunk = batch.chunks.emplace_back();
    chunk.buffer = id_;
    chunk.commit = commit;
    chunk.commit.payload = {};
    chunk.first_fragment = static_cast<uint32_t>(batch.fragments.size());
    chunk.fragments = static_cast<uint32_t>(front_.fragments_.size());
    chunk.shape = front_.shape_;
    chunk.shape.fragments = {};
    batch.fragments.insert(batch.fragments.end(), front_.fragments_.begin(),
                           front_.fragments_.end());
  }
  bool ApplyPatches(const ChunkPatches& patches) override {
    SweepBatch& batch = *front_.batch_;
    batch.steps.push_back(
        {SweepBatch::Kind::kPatches, static_cast<uint32_t>(batch.patches.size())});
    SweepBatch::Patches& entry = batch.patches.emplace_back();
    entry.buffer = id_;
    entry.patches = patches;
    entry.patches.patches = {};
    entry.first = static_cast<uint32_t>(batch.patch_places.size());
    entry.count = static_cast<uint32_t>(patches.patches.size());
    for (const Patch& patch : patches.patches)
      batch.patch_places.push_back({.offset = patch.offset});
    return true;
  }
  void BeginRead() override {}
  const Packet* NextPacket() override { return nullptr; }
  Result<std::unique_ptr<Engine>> Clone() const override {
    return Fail(ErrorCode::kUnsupported, "there is nothing to clone");
  }
  const BufferStats& stats() const override { return stats_; }
  void VisitWriterStats(const std::function<void(const WriterStats&)>&) const override {}
  std::string CheckInvariants() const override { return ""; }

 private:
  SweepFront& front_;
  const BufferId id_;
  BufferStats stats_;
};

SweepFront::SweepFront(std::function<void(const std::string&)> warn, std::optional<CloneView> clone)
    : warn_(std::move(warn)),
      session_(
          {
              // Which engine the log or the user asks for is decided by each configuration.
              .all = {.engine = kDefaultEngine},
              .make_engine = [this](const EngineInfo&, const EngineConfig&, BufferId id)
                  -> Result<std::unique_ptr<Engine>> { return std::make_unique<Gate>(*this, id); },
              .clone = std::move(clone),
              .programs = {.run = false, .memory_limit_kb = {}},
          },
          *this) {}

Status SweepFront::Apply(const Op& op, SweepBatch& batch) {
  if (op.time_ns) {
    if (!first_time_ns_) first_time_ns_ = op.time_ns;
    last_time_ns_ = op.time_ns;
  }
  batch_ = &batch;
  if (std::holds_alternative<Commit>(op.body)) {
    batch.steps.push_back({SweepBatch::Kind::kRecord, static_cast<uint32_t>(batch.times.size())});
    batch.times.push_back(op.time_ns);
  } else {
    batch.steps.push_back({SweepBatch::Kind::kOp, static_cast<uint32_t>(batch.ops.size())});
    batch.ops.push_back(op);
  }
  // Reads are each configuration's own.
  if (std::holds_alternative<ReadPass>(op.body) || std::holds_alternative<CloneRead>(op.body))
    return {};
  return session_.Apply(op);
}

void SweepFront::Finish() {
  for (auto& [id, tally] : written_) {
    tally.Finish();
    if (!tally.regular() && problem_.empty())
      problem_ = "chunks were re-committed long after their commit";
  }
}

void SweepFront::OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal>) {
  TakeApart(commit);
  written_[buffer].Add(commit, shape_);
}

void SweepFront::TakeApart(const ChunkCommit& commit) {
  shape_ = ReadShape(commit, fragments_);
  shape_.committed_ns = last_time_ns_.value_or(0);
  if (problem_.empty()) ReadTraits(commit);
}

/// What packets that begin in the chunk need of their state. Of one that continues in the next
/// chunk its first fragment shows that: writers put these fields in front.
void SweepFront::ReadTraits(const ChunkCommit& commit) {
  uint32_t begin = 0;
  for (ShapeFragment& fragment : fragments_) {
    const Fragment place{.offset = begin, .body = begin + fragment.header, .end = fragment.end};
    begin = fragment.end;
    const FragmentKind kind = KindOf(place, fragments_.back().end, commit.flags);
    if (kind == FragmentKind::kContinue || kind == FragmentKind::kEnd || place.size() == 0)
      continue;
    const Bytes bytes = commit.payload.subspan(place.body, place.size());
    const std::optional<uint8_t> traits = TraitsOf(ReadPacketFacts(bytes));
    if (!traits) {
      problem_ = "packets report that earlier ones are lost";
      return;
    }
    fragment.traits = *traits;
    const bool is_last_of_scrape = !commit.complete && &fragment == &fragments_.back();
    if (kind == FragmentKind::kWhole && !is_last_of_scrape && !IsValidPacket({&bytes, 1})) {
      problem_ = "the service refuses packets because of their content";
      return;
    }
  }
}

}  // namespace ringscope
