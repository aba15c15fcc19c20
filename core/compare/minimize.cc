#include "core/compare/minimize.h"

#include <algorithm>

#include "core/compare/remove_blocks.h"
#include "core/compare/renumber.h"
#include "core/perfetto/page.h"

namespace ringscope {
namespace {

DivergenceSignature SignatureOf(const Divergence& first) {
  DivergenceSignature signature;
  signature.kind = first.kind;
  signature.buffer = first.buffer;
  signature.chunk = first.chunk;
  signature.patched = first.patched;
  if (first.packet) {
    for (const Side side : kSides) {
      const PacketView& view = first.packet->sides[side];
      if (view.why) signature.why[side] = view.why->kind;
      if (first.kind == DifferenceKind::kLossBits) signature.loss_bits[side] = view.loss_bits;
    }
  }
  if (!first.counters.empty()) {
    signature.counter = first.counters.front();
    const auto field = kStatFields[*signature.counter].value;
    signature.counter_less_in_a = first.stats.a.*field < first.stats.b.*field;
  }
  return signature;
}

/// In which ways the sides differ: a bit for each kind, and one for the order across sequences.
uint32_t KindsOf(const LogDiff& result) {
  uint32_t kinds = result.counts.across_order > 0 ? 1u << kDifferenceKinds : 0;
  for (size_t i = 0; i < kDifferenceKinds; ++i)
    if (result.counts.by_kind[i] > 0) kinds |= 1u << i;
  return kinds;
}

class Minimizer {
 public:
  Minimizer(std::vector<StoredOp> ops, const Both<ReplayOptions>& sides,
            const MinimizeProgress& progress, const std::function<bool()>& stop)
      : ops_(std::move(ops)), sides_(sides), progress_(progress), stop_(stop) {}

  Result<std::vector<StoredOp>> Run() {
    RS_ASSIGN_OR_RETURN(const LogDiff whole, DiffOps(ops_, sides_));
    const std::optional<DivergenceSignature> wanted = ringscope::SignatureOf(whole);
    if (!wanted)
      return Fail(ErrorCode::kUsage, "both sides are the same, so there is nothing to minimize");
    wanted_ = *wanted;
    kinds_ = KindsOf(whole);
    CutAfter(whole);
    TakePart();
    SplitRequests();
    do {
      RemoveBlocks(
          ops_, [&](std::vector<StoredOp> rest) { return TryAll(std::move(rest)); },
          [this] { return IsOver(); });
    } while (!IsOver() && MakeSmaller());
    return std::move(ops_);
  }

 private:
  bool IsOver() const { return stop_ && stop_(); }

  /// Continues with these if they show the same.
  /// @param kinds in which the sides may differ
  /// @param at_any_chunk whether it may show at another chunk, which is wanted from then on
  bool TryAll(std::vector<StoredOp> ops, uint32_t kinds = UINT32_MAX, bool at_any_chunk = false) {
    const auto result = DiffOps(ops, sides_);
    if (!result) return false;  // a side refuses such a stream
    const std::optional<DivergenceSignature> shown = ringscope::SignatureOf(*result);
    if (!shown || (KindsOf(*result) & ~kinds) != 0) return false;
    DivergenceSignature wanted = wanted_;
    if (at_any_chunk && wanted.chunk && shown->chunk) wanted.chunk = shown->chunk;
    if (*shown != wanted) return false;
    wanted_ = wanted;
    ops_ = std::move(ops);
    kinds_ = KindsOf(*result);
    if (progress_) progress_(ops_.size());
    return true;
  }

  /// What follows the divergence has no part in it, unless the end itself does.
  void CutAfter(const LogDiff& whole) {
    const auto& first = whole.first ? whole.first : whole.first_counter;
    LogMoment moment;
    if (first && !first->at_end)
      moment = first->moment;
    else
      return;
    const auto end = ops_.begin() + static_cast<std::ptrdiff_t>(moment.record.value_or(0)) + 1;
    TryAll(std::vector<StoredOp>(ops_.begin(), end));
  }

  /// Of a long log often a short end is enough, or a short start, in buffers that it fills, with
  /// all that is no commit and no read beside it.
  void TakePart() {
    uint64_t largest = kPageBytes;
    for (const StoredOp& op : ops_)
      if (const auto* setup = std::get_if<BufferSetUp>(&op.op().body))
        largest = std::max(largest, setup->size);
    for (size_t count = 16; count < ops_.size(); count *= 4) {
      for (uint64_t size = kPageBytes; !IsOver(); size = std::min(size * 2, largest)) {
        if (TryAll(PartOf(ops_.size() - count, ops_.size(), size), UINT32_MAX, true)) return;
        if (TryAll(PartOf(0, count, size), UINT32_MAX, true)) return;
        if (size >= largest) break;
      }
    }
  }
  /// Of the commits and reads those from `begin` to `end`; buffers that are no larger than `most`.
  std::vector<StoredOp> PartOf(size_t begin, size_t end, uint64_t most) const {
    std::vector<StoredOp> part;
    for (size_t i = 0; i < ops_.size(); ++i) {
      const auto& body = ops_[i].op().body;
      const bool fills =
          std::holds_alternative<Commit>(body) || std::holds_alternative<ReadPass>(body);
      if (fills && (i < begin || i >= end)) continue;
      if (const auto* setup = std::get_if<BufferSetUp>(&body); setup && setup->size > most) {
        Op smaller = ops_[i].op();
        std::get<BufferSetUp>(smaller.body).size = most;
        part.emplace_back(smaller);
      } else {
        part.push_back(ops_[i]);
      }
    }
    return part;
  }

  /// Takes requests of several chunks and patches apart, if that shows the same.
  void SplitRequests() {
    std::vector<StoredOp> split = SplitCommits(ops_);
    const auto result = DiffOps(split, sides_);
    if (!result) return;
    std::optional<DivergenceSignature> shown = ringscope::SignatureOf(*result);
    if (!shown) return;
    DivergenceSignature wanted = wanted_;
    // Which chunk of a request moved a counter is known only now.
    if (wanted.kind == DifferenceKind::kCounter) wanted.chunk = shown->chunk;
    if (*shown != wanted) return;
    wanted_ = wanted;
    kinds_ = KindsOf(*result);
    ops_ = std::move(split);
  }

  /// The same records with smaller numbers, if they show the same.
  bool NumberAll() {
    bool changed = false;
    for (size_t i = 0; i < kEnumNames<Numbering>.size() && !IsOver(); ++i)
      changed |= TryNumbered(static_cast<Numbering>(i));
    return changed;
  }
  bool TryNumbered(Numbering what) {
    auto numbered = Renumber(ops_, what);
    if (!numbered) return false;
    const DivergenceSignature before = wanted_;
    if (wanted_.chunk) wanted_.chunk = numbered->name(*wanted_.chunk);
    if (TryAll(std::move(numbered->ops), kinds_)) return true;
    wanted_ = before;
    return false;
  }

  /// Replaces records by smaller ones, the smallest that still shows the same and nothing else.
  bool MakeSmaller() {
    bool changed = NumberAll();
    for (size_t i = 0; i < ops_.size() && !IsOver(); ++i) {
      for (StoredOp& variant : SmallerVariants(ops_[i])) {
        std::vector<StoredOp> ops = ops_;
        ops[i] = std::move(variant);
        if (!TryAll(std::move(ops), kinds_)) continue;
        changed = true;
        break;
      }
    }
    return changed;
  }

  std::vector<StoredOp> ops_;
  const Both<ReplayOptions>& sides_;
  const MinimizeProgress& progress_;
  const std::function<bool()>& stop_;
  DivergenceSignature wanted_;
  uint32_t kinds_ = 0;  // in which the sides differ over ops_
};

}  // namespace

std::optional<DivergenceSignature> SignatureOf(const LogDiff& result) {
  if (result.first) return SignatureOf(*result.first);
  if (result.first_counter) {
    DivergenceSignature signature = SignatureOf(*result.first_counter);
    for (const BufferDiff& buffer : result.buffers)
      if (buffer.id == signature.buffer)
        signature.counter_stays = buffer.CounterDiffers(*signature.counter);
    return signature;
  }
  if (result.counts.across_order == 0) return std::nullopt;
  DivergenceSignature signature;
  signature.across_order = true;
  return signature;
}

Result<LogDiff> DiffOps(const std::vector<StoredOp>& ops, const Both<ReplayOptions>& sides) {
  DiffOptions options;
  options.sides = sides;
  options.listed = 0;
  LogDiffer diff(std::move(options));
  for (size_t i = 0; i < ops.size(); ++i) RS_RETURN_IF_ERROR(diff.Apply(ops[i].op(), i));
  return diff.Finish();
}

Result<std::vector<StoredOp>> Minimize(std::vector<StoredOp> ops, const Both<ReplayOptions>& sides,
                                       const MinimizeProgress& progress,
                                       const std::function<bool()>& stop) {
  return Minimizer(std::move(ops), sides, progress, stop).Run();
}

}  // namespace ringscope
