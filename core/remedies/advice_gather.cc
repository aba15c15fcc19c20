#include "core/remedies/advice_gather.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/gaps/gap_analysis.h"
#include "core/perfetto/commit_fragments.h"
#include "core/session/buffer_event.h"

namespace ringscope {
namespace {

// What is counted of a sequence; further ones are not.
constexpr size_t kMaxContents = 64;
constexpr size_t kMaxKinds = 1024;
constexpr uint64_t kMillisecondNs = 1'000'000;

/// After what time a commit is late, in a session of that duration: a read at its end misses it.
uint64_t LateLimit(uint64_t duration_ns) {
  return std::clamp(duration_ns / 4 / (100 * kMillisecondNs) * (100 * kMillisecondNs),
                    500 * kMillisecondNs, 5000 * kMillisecondNs);
}

}  // namespace

class AdviceGatherer::Impl : public ReplayListener, public LedgerSink {
 public:
  Impl(AdviceFacts& facts, PacketKinds* kinds)
      : facts_(facts), kinds_(kinds), analysis_(LateLimit(facts.duration_ns), kinds) {
    facts_.late.limit_ns = LateLimit(facts.duration_ns);
  }
  GapAnalysis& analysis() { return analysis_; }

  void OnRecord(const Op& op, const LogMoment&) override {
    if (!op.time_ns) return;
    if (!first_ns_) first_ns_ = op.time_ns;
    now_ns_ = *op.time_ns;
  }

  void OnBufferSetUp(SessionBuffer& set_up) override {
    engines_[set_up.id] = set_up.info;
    if (AdviceBuffer* buffer = BufferOf(set_up.id)) buffer->engine = set_up.info->name;
  }
  void OnChunk(BufferId id, const ChunkCommit& commit, std::optional<Refusal> refusal) override {
    if (refusal) return;
    AdviceBuffer* buffer = BufferOf(id);
    if (buffer == nullptr) return;
    const uint32_t space = engines_.at(id)->SpaceOf(commit, written_);
    buffer->rate.Add(now_ns_, space);
    ProducerOf(commit.sequence.producer).rate.Add(now_ns_, commit.payload.size());
    const bool is_new = !sequences_.contains(KeyOf(id, commit.sequence));
    Sequence& sequence = SequenceOf(id, commit.sequence);
    sequence.facts.space_bytes += space;
    if (is_new) sequence.facts.first_ns = SinceStart(now_ns_);
    sequence.facts.last_ns = SinceStart(now_ns_);
  }

  void OnChunkWritten(BufferId buffer, WrittenCommit& commit) override {
    analysis_.OnChunkWritten(buffer, commit);
  }
  void OnPacketFate(const PacketAccount& account) override {
    analysis_.OnPacketFate(account);
    Sequence& sequence = SequenceOf(account.buffer, account.sequence);
    const PacketCount count{1, account.size};
    sequence.facts.written += count;
    sequence.facts.needs_state += account.facts.needs_state ? 1 : 0;
    if (sequence.contents.size() < kMaxContents ||
        sequence.contents.contains(account.facts.content))
      ++sequence.contents[account.facts.content];
    if (const uint32_t kind = analysis_.last_kind(); kind != 0) sequence.AddKind(kind);
    const bool is_full = account.cause == Cause::kSealed || account.cause == Cause::kFull;
    if (account.fate == Fate::kOverwritten || (account.fate == Fate::kDiscarded && is_full))
      sequence.facts.lost += count;
    else if (IsLoss(account.fate))
      sequence.facts.lost_otherwise += count;
    if (account.fate == Fate::kIncomplete || account.fate == Fate::kStalled) {
      const bool flushed = account.written.time_ns && facts_.last_flush_ns &&
                           *account.written.time_ns < *facts_.last_flush_ns;
      ++(flushed ? facts_.unfinished_before_flush : facts_.unfinished);
    }
    if (account.fate == Fate::kWriterDropped) ++ProducerOf(account.sequence.producer).aborted;
    if (!is_full) return;
    AdviceBuffer* buffer = BufferOf(account.buffer);
    if (buffer == nullptr || !account.decided.time_ns) return;
    const uint64_t at = SinceStart(*account.decided.time_ns);
    buffer->first_refused_ns = std::min(buffer->first_refused_ns.value_or(at), at);
  }
  void OnDuplicate(const PacketAccount& account) override { analysis_.OnDuplicate(account); }
  void OnChunkForgotten(BufferId buffer, SequenceKey sequence, uint64_t chunk) override {
    analysis_.OnChunkForgotten(buffer, sequence, chunk);
  }

  GapNeeds Finish(const std::map<BufferId, LedgerTotals>& totals) {
    const GapReport report = analysis_.Finish(totals);
    for (const BufferGaps& buffer : report.buffers)
      for (const SequenceGaps& gaps : buffer.sequences) AddGaps(buffer.id, gaps);
    for (auto& [key, sequence] : sequences_) {
      for (const auto& [content, packets] : sequence.contents) {
        if (packets <= sequence.facts.content_packets) continue;
        sequence.facts.content = content;
        sequence.facts.content_packets = packets;
      }
      for (const auto& [kind, packets] : sequence.kinds)
        if (packets > sequence.facts.written.packets / 2)
          sequence.facts.kind = kinds_->NameOf(kind);
      facts_.sequences.push_back(sequence.facts);
    }
    std::sort(facts_.sequences.begin(), facts_.sequences.end(),
              [](const AdviceSequence& a, const AdviceSequence& b) {
                if (a.buffer != b.buffer) return a.buffer < b.buffer;
                if (a.space_bytes != b.space_bytes) return a.space_bytes > b.space_bytes;
                return a.sequence < b.sequence;
              });
    for (const StaleSequence& stale : report.stale) {
      facts_.late.packets += stale.stale;
      if (stale.longest_ns <= facts_.late.longest_ns) continue;
      facts_.late.longest_ns = stale.longest_ns;
      facts_.late.sequence = stale.sequence;
    }
    return NeedsOf(report);
  }

 private:
  struct Sequence {
    AdviceSequence facts;
    std::map<uint32_t, uint64_t> contents;          // packets of each
    std::unordered_map<uint32_t, uint64_t> kinds;   // packets of each
    std::pair<uint32_t, uint64_t*> last_kind = {};  // packets of a kind come in runs

    void AddKind(uint32_t kind) {
      if (last_kind.first != kind) {
        if (kinds.size() == kMaxKinds && !kinds.contains(kind)) return;
        last_kind = {kind, &kinds[kind]};
      }
      ++*last_kind.second;
    }
  };

  static uint64_t KeyOf(BufferId buffer, SequenceKey sequence) {
    return uint64_t{Raw(buffer)} << 32 | sequence.Packed();
  }
  uint64_t SinceStart(uint64_t time_ns) const {
    return first_ns_ && time_ns > *first_ns_ ? time_ns - *first_ns_ : 0;
  }
  Sequence& SequenceOf(BufferId buffer, SequenceKey key) {
    const uint64_t packed = KeyOf(buffer, key);
    if (last_ != nullptr && last_key_ == packed) return *last_;
    last_key_ = packed;
    last_ = &sequences_[packed];
    last_->facts.buffer = buffer;
    last_->facts.sequence = key;
    return *last_;
  }
  AdviceBuffer* BufferOf(BufferId id) {
    for (AdviceBuffer& buffer : facts_.buffers)
      if (buffer.id == id) return &buffer;
    return nullptr;
  }
  AdviceProducer& ProducerOf(ProducerId id) {
    const auto known = producer_index_.find(Raw(id));
    if (known != producer_index_.end()) return facts_.producers[known->second];
    size_t at = 0;
    while (at < facts_.producers.size() && facts_.producers[at].id != id) ++at;
    if (at == facts_.producers.size()) facts_.producers.emplace_back().id = id;
    producer_index_[Raw(id)] = at;
    return facts_.producers[at];
  }

  void AddGaps(BufferId buffer, const SequenceGaps& gaps) {
    if (gaps.written().packets == 0) return;
    SequenceOf(buffer, gaps.sequence).facts.unusable += gaps.unusable.count.packets;
    ProducerOf(gaps.sequence.producer).flagged += gaps.producer_flags;
  }

  AdviceFacts& facts_;
  const PacketKinds* const kinds_;
  GapAnalysis analysis_;
  std::map<uint64_t, Sequence> sequences_;
  Sequence* last_ = nullptr;  // looked up last: packets come in runs of one sequence
  uint64_t last_key_ = 0;
  std::unordered_map<uint16_t, size_t> producer_index_;
  std::optional<uint64_t> first_ns_;
  uint64_t now_ns_ = 0;
  std::map<BufferId, const EngineInfo*> engines_;
  WrittenChunk written_;  // scratch
};

AdviceGatherer::AdviceGatherer(AdviceFacts& facts, PacketKinds* kinds)
    : impl_(std::make_unique<Impl>(facts, kinds)) {}
AdviceGatherer::~AdviceGatherer() = default;

std::vector<ReplayListener*> AdviceGatherer::listeners() {
  return {impl_.get(), &impl_->analysis()};
}
LedgerSink& AdviceGatherer::accounts() { return *impl_; }

GapNeeds AdviceGatherer::Finish(const std::map<BufferId, LedgerTotals>& totals) {
  return impl_->Finish(totals);
}

}  // namespace ringscope
