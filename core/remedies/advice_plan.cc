#include "core/remedies/advice_plan.h"

#include <algorithm>
#include <numeric>

namespace ringscope {
namespace {

constexpr uint64_t kSmallest = 4 * kPageBytes;
constexpr uint64_t kLargest = uint64_t{2} << 30;
constexpr uint64_t kRareShare = 8;  // one in so many bytes

/// part * bytes / whole
uint64_t Portion(uint64_t bytes, uint64_t part, uint64_t whole) {
  return static_cast<uint64_t>(static_cast<double>(bytes) * static_cast<double>(part) /
                               static_cast<double>(whole));
}

bool Contains(const std::vector<SequenceKey>& keys, SequenceKey key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

}  // namespace

const AdviceBuffer* AdviceFacts::Find(BufferId id) const {
  for (const AdviceBuffer& buffer : buffers)
    if (buffer.id == id) return &buffer;
  return nullptr;
}

const AdviceProducer* AdviceFacts::Find(ProducerId id) const {
  for (const AdviceProducer& producer : producers)
    if (producer.id == id) return &producer;
  return nullptr;
}

uint64_t AdviceFacts::TotalSize() const {
  return std::accumulate(
      buffers.begin(), buffers.end(), uint64_t{0},
      [](uint64_t sum, const AdviceBuffer& buffer) { return sum + buffer.size; });
}

std::vector<uint64_t> AdviceSizes(uint64_t bytes, bool doublings) {
  std::vector<uint64_t> sizes;
  const uint64_t enough = std::min(kLargest, bytes > kLargest ? kLargest : 2 * bytes + kSmallest);
  for (uint64_t size = kSmallest; size < 2 * enough && size <= kLargest; size *= 2)
    for (uint64_t quarter = 4; quarter < (doublings ? 5 : 8); ++quarter)
      sizes.push_back(std::min(PagesUp(size / 4 * quarter), kLargest));
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

bool Satisfies(const SweepRow& row, std::optional<uint64_t> keep_ns, uint64_t unavoidable) {
  if (!keep_ns) return row.full_packets() <= unavoidable;
  return !row.shortest_sequence || row.shortest_history_ns >= *keep_ns;
}

std::optional<uint64_t> KeepOf(const AdviceFindings& findings, FillPolicy policy) {
  if (findings.extrapolated || findings.reads.periodic || policy == FillPolicy::kDiscard)
    return std::nullopt;
  return findings.wish.keep_ns;
}

std::optional<uint64_t> SmallestSize(const std::vector<SweepRow>& rows,
                                     std::optional<uint64_t> keep_ns) {
  std::optional<uint64_t> needed;
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    if (!Satisfies(*row, keep_ns, rows.back().full_packets())) break;
    needed = row->size;
  }
  return needed;
}

std::optional<PlannedSplit> FindSplit(const AdviceFacts& facts, BufferId buffer, BufferId to) {
  std::vector<const AdviceSequence*> sequences;
  PlannedSplit split{.from = buffer, .to = to, .chatty = {}, .rare = {}};
  for (const AdviceSequence& sequence : facts.sequences) {
    if (sequence.buffer != buffer) continue;
    sequences.push_back(&sequence);
    split.all_bytes += sequence.space_bytes;
  }
  std::sort(sequences.begin(), sequences.end(),
            [](const AdviceSequence* a, const AdviceSequence* b) {
              return a->space_bytes != b->space_bytes ? a->space_bytes < b->space_bytes
                                                      : a->sequence < b->sequence;
            });
  uint64_t rare_bytes = 0;
  bool lost = false;
  for (const AdviceSequence* sequence : sequences) {
    const bool is_rare = split.chatty.empty() &&
                         (rare_bytes + sequence->space_bytes) * kRareShare <= split.all_bytes;
    (is_rare ? split.rare : split.chatty).push_back(sequence->sequence);
    if (!is_rare) continue;
    rare_bytes += sequence->space_bytes;
    lost |= sequence->lost.packets > 0 || sequence->unusable > 0;
  }
  if (!lost || split.chatty.empty()) return std::nullopt;
  split.chatty_bytes = split.all_bytes - rare_bytes;
  std::reverse(split.chatty.begin(), split.chatty.end());
  return split;
}

std::vector<RetargetRule> RulesOf(const AdviceFacts& facts, const PlannedSplit& split) {
  std::vector<RetargetRule> rules;
  for (const SequenceKey key : split.chatty) {
    const bool whole = std::all_of(
        facts.sequences.begin(), facts.sequences.end(), [&](const AdviceSequence& sequence) {
          return sequence.sequence.producer != key.producer ||
                 (sequence.buffer == split.from && Contains(split.chatty, sequence.sequence));
        });
    RetargetRule rule{.producer = key.producer, .writer = key.writer, .buffer = split.to};
    if (whole) rule.writer.reset();
    if (std::find(rules.begin(), rules.end(), rule) == rules.end()) rules.push_back(rule);
  }
  return rules;
}

void ShareMemory(std::vector<PlannedBuffer>& plan, uint64_t memory) {
  std::vector<PlannedBuffer*> open;
  uint64_t needed = 0;
  for (PlannedBuffer& buffer : plan) {
    const uint64_t need = buffer.needed.value_or(buffer.size);
    open.push_back(&buffer);
    buffer.size = need;
    needed += need;
  }
  if (needed <= memory) return;
  // The smallest first: each gets its need, or its part of what is left.
  std::sort(open.begin(), open.end(), [](const PlannedBuffer* a, const PlannedBuffer* b) {
    if (a->first != b->first) return a->first;
    return a->size != b->size ? a->size < b->size : a->id < b->id;
  });
  uint64_t left = memory;
  for (PlannedBuffer* buffer : open) {
    const uint64_t need = buffer->size;
    const uint64_t share = PagesDown(Portion(left, need, needed));
    uint64_t part = std::min(need, share);
    if (need <= memory / kRareShare) part = need;
    if (buffer->first) part = std::min(need, std::max(share, PagesDown(left / 2)));
    buffer->size = std::max(part, std::min(need, kPageBytes));
    left -= std::min(left, buffer->size);
    needed -= need;
  }
  // Where the smallest buffers take more than their part, the largest take less.
  uint64_t all = 0;
  for (const PlannedBuffer* buffer : open) all += buffer->size;
  std::sort(open.begin(), open.end(), [](const PlannedBuffer* a, const PlannedBuffer* b) {
    return a->size != b->size ? a->size > b->size : a->id < b->id;
  });
  for (PlannedBuffer* buffer : open) {
    if (all <= memory) break;
    const uint64_t spare = buffer->size - std::min(buffer->size, kPageBytes);
    const uint64_t less = std::min(spare, PagesUp(all - memory));
    buffer->size -= less;
    all -= less;
  }
}

GroupOutcome OutcomeOf(const std::vector<SweepRow>& rows, const std::vector<SequenceKey>& group,
                       const std::vector<BufferId>& buffers) {
  GroupOutcome outcome;
  bool any = false;
  for (const SweepRow& row : rows) {
    if (std::find(buffers.begin(), buffers.end(), row.id) == buffers.end()) continue;
    for (const SweepSequence& sequence : row.sequences) {
      if (!Contains(group, sequence.sequence)) continue;
      outcome.written += sequence.written.packets;
      outcome.lost += sequence.overwritten.packets;
      outcome.history_ns =
          any ? std::min(outcome.history_ns, sequence.history_ns) : sequence.history_ns;
      any = true;
    }
  }
  return outcome;
}

std::vector<PredictedBuffer> PredictionOf(const AdviceFacts& facts,
                                          const AdviceFindings& findings) {
  std::vector<PredictedBuffer> predicted;
  for (const PlannedBuffer& planned : findings.plan) {
    PredictedBuffer& one = predicted.emplace_back();
    one.id = planned.id;
    one.made_from = planned.made_from;
    one.policy = planned.policy;
    one.size_then = planned.size;
    if (const AdviceBuffer* buffer = facts.Find(planned.id); buffer != nullptr)
      one.size_now = buffer->size;
    for (const SweepRow& row : findings.now) {
      if (row.id != planned.id) continue;
      one.lost_now = row.lost_packets();
      one.history_now_ns = row.shortest_history_ns;
    }
    for (const SweepRow& row : findings.then) {
      if (row.id != planned.id) continue;
      one.written = row.written.packets;
      one.lost_then = row.lost_packets();
      one.history_then_ns = row.shortest_history_ns;
    }
    // Of a split one: what became of the same sequences before.
    for (const PlannedSplit& split : findings.splits) {
      if (split.from != planned.id && split.to != planned.id) continue;
      const GroupOutcome before =
          OutcomeOf(findings.now, planned.made_from ? split.chatty : split.rare, {split.from});
      one.lost_now = before.lost;
      const std::vector<SequenceKey>& group = planned.made_from ? split.chatty : split.rare;
      for (const AdviceSequence& sequence : facts.sequences)
        if (sequence.buffer == split.from && Contains(group, sequence.sequence))
          one.lost_now += sequence.lost_otherwise.packets;
      one.history_now_ns = before.history_ns;
    }
  }
  return predicted;
}

}  // namespace ringscope
