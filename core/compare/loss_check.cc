#include "core/compare/loss_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/perfetto/data_loss.h"

namespace ringscope {
namespace {

/// A chunk as its writer handed it over last.
struct WrittenState {
  uint8_t flags = 0;
  size_t fragments = 0;
  bool aborts = false;
  bool complete = false;
};

/// Steps from the sequence's first commit, and the offset of the size varint.
using Place = std::pair<int64_t, uint32_t>;

struct PacketFate : PacketAccount {
  Place place;
  int64_t last_steps = 0;  // to its last chunk

  /// "the packet at chunk +3, offset 0 (20 bytes)"
  std::string Text() const {
    return fmt::format("the packet at chunk {:+}, offset {} ({} bytes)", place.first, place.second,
                       size);
  }
};

struct Sequence {
  ChunkId first{};
  bool breaks_rules = false;
  std::map<int64_t, WrittenState> chunks;
  std::vector<PacketFate> returned;  // in the order of time
  std::vector<PacketFate> lost;

  int64_t StepsTo(ChunkId chunk) const { return SignedDistance(first, chunk); }
};

/// Looks for faults of one sequence.
class FaultFinder {
 public:
  FaultFinder(const Sequence& sequence, std::vector<FoundFault>& faults)
      : sequence_(sequence), faults_(faults), by_place_(sequence.returned) {
    std::ranges::stable_sort(by_place_, {}, &PacketFate::place);
  }

  void Run(bool signs_prove_loss) {
    if (!KeepsRules()) return;
    for (const PacketFate& lost : sequence_.lost) {
      if (lost.own_fault)
        Add(LossFault::kLostWhole, Name(lost.cause),
            lost.Text() + " is lost, though all of it was in the buffer, complete and patched");
    }
    for (const PacketFate& lost : sequence_.lost) CheckLoss(lost);
    for (const auto& [steps, chunk] : sequence_.chunks) CheckGapAfter(steps);
    for (const PacketFate& packet : sequence_.returned)
      if (signs_prove_loss && packet.loss_bits != 0) CheckSign(packet);
  }

 private:
  /// Adds a fault, unless there is one of its sort and kind.
  void Add(LossFault fault, const std::string& kind, std::string text) {
    const bool known = std::ranges::any_of(faults_, [&](const FoundFault& other) {
      return other.fault == fault && other.kind == kind;
    });
    if (!known) faults_.push_back({fault, kind, std::move(text)});
  }

  /// Returns true if neighbouring chunks fit to each other: a packet that continues is continued.
  bool KeepsRules() const {
    if (sequence_.breaks_rules) return false;
    for (const auto& [steps, chunk] : sequence_.chunks) {
      const auto next = sequence_.chunks.find(steps + 1);
      // The end of an incomplete chunk is not known.
      if (next == sequence_.chunks.end() || !chunk.complete) continue;
      const bool continues = (chunk.flags & kLastContinues) != 0;
      const bool is_continued = (next->second.flags & kFirstContinues) != 0;
      if (continues != is_continued || (continues && chunk.fragments == 0)) return false;
    }
    return true;
  }

  /// The next packet after a place, if it shows no loss.
  const PacketFate* SilentAfter(const Place& place) const {
    const auto next = std::ranges::upper_bound(by_place_, place, {}, &PacketFate::place);
    return next == by_place_.end() || next->loss_bits != 0 ? nullptr : &*next;
  }

  void CheckLoss(const PacketFate& lost) {
    // An abort has a sign of its own; chunks that never came are checked as gaps.
    if (lost.fate == Fate::kWriterDropped || lost.fate == Fate::kUnexplained ||
        lost.cause == Cause::kNeverCommitted || lost.cause == Cause::kNotInLog ||
        lost.cause == Cause::kNoBeginning || lost.cause == Cause::kBeforeLog)
      return;
    const PacketFate* const next = SilentAfter(lost.place);
    if (next == nullptr) return;
    // The sign may be at what was returned next, wherever that is in the sequence. Within the read
    // that lost it, the order is not known.
    bool shown = true;  // as long as nothing was returned that could show it
    for (const PacketFate& later : sequence_.returned) {
      if (later.decided.record < lost.decided.record) continue;
      shown = later.loss_bits != 0;
      if (shown || later.decided.record > lost.decided.record) break;
    }
    if (shown) return;
    Add(LossFault::kSilentLoss, Name(lost.cause),
        fmt::format("{} is lost, and {}, the next one returned, shows no loss", lost.Text(),
                    next->Text()));
  }

  void CheckGapAfter(int64_t steps) {
    if (sequence_.chunks.contains(steps + 1) || steps == sequence_.chunks.rbegin()->first) return;
    if (const PacketFate* const next = SilentAfter({steps + 1, 0}))
      Add(LossFault::kSilentLoss, Name(Cause::kNeverCommitted),
          fmt::format("chunk {:+} was never committed, and {}, the next one returned, shows no "
                      "loss",
                      steps + 1, next->Text()));
  }

  void CheckSign(const PacketFate& packet) {
    // In the sequence, of those that were returned earlier.
    const PacketFate* previous = nullptr;
    for (const PacketFate& other : sequence_.returned) {
      if (&other == &packet) break;
      if (other.place < packet.place && (previous == nullptr || previous->place < other.place))
        previous = &other;
    }
    if (previous == nullptr) return;  // what precedes the first one is not known
    for (const PacketFate& lost : sequence_.lost)
      if (lost.place > previous->place && lost.place < packet.place) return;
    for (int64_t steps = previous->last_steps; steps <= packet.place.first; ++steps) {
      const auto at = sequence_.chunks.find(steps);
      if (at == sequence_.chunks.end() || at->second.aborts || !at->second.complete) return;
    }
    Add(LossFault::kFalseSign, LossBitsToString(packet.loss_bits),
        fmt::format("{} shows a loss ({}), though nothing is missing since {}", packet.Text(),
                    LossBitsToString(packet.loss_bits), previous->Text()));
  }

  const Sequence& sequence_;
  std::vector<FoundFault>& faults_;
  std::vector<PacketFate> by_place_;  // those that were returned
};

/// Gathers what was written, returned and lost.
class LossCheck : public LedgerSink {
 public:
  void OnChunkWritten(BufferId, WrittenCommit& written) override {
    const ChunkCommit& commit = written.commit();
    const WrittenChunk& chunk = written.chunk();
    const auto [found, is_new] = sequences.try_emplace(commit.sequence);
    Sequence& sequence = found->second;
    if (is_new) sequence.first = commit.chunk;
    const auto [at, is_first] = sequence.chunks.try_emplace(sequence.StepsTo(commit.chunk));
    WrittenState& before = at->second;
    // A scraped chunk grows, and nothing else.
    sequence.breaks_rules |=
        chunk.end == ChunkEnd::kBroken ||
        (!is_first && (before.complete || chunk.fragments.size() < before.fragments ||
                       (before.flags & ~chunk.flags) != 0));
    before = {.flags = chunk.flags,
              .fragments = chunk.fragments.size(),
              .aborts = chunk.end == ChunkEnd::kAborted,
              .complete = commit.complete};
  }
  void OnPacketFate(const PacketAccount& account) override {
    unexplained += account.fate == Fate::kUnexplained ? 1 : 0;
    const auto found = sequences.find(account.sequence);
    if (found == sequences.end()) return;
    Sequence& sequence = found->second;
    sequence.breaks_rules |=
        account.fate == Fate::kCorrupted || account.cause == Cause::kWrongPatch;
    const bool is_returned = account.fate == Fate::kRead || account.fate == Fate::kInvalid ||
                             account.fate == Fate::kReadable;
    if (!is_returned && !IsLoss(account.fate)) return;
    const auto steps = [&](uint64_t unwrapped) { return sequence.StepsTo(IdOf(unwrapped)); };
    (is_returned ? sequence.returned : sequence.lost)
        .push_back({account,
                    {steps(account.first_chunk), account.first_offset},
                    steps(account.last_chunk)});
  }

  std::map<SequenceKey, Sequence> sequences;
  uint64_t unexplained = 0;  // packets of which the events do not show what became of them
};

}  // namespace

Result<Accounts> CheckAccounts(const EngineInfo& engine, const ReplayOptions& options,
                               const std::vector<StoredOp>& ops) {
  LossCheck check;
  Ledger ledger(check);
  Replay replay(options, ledger);
  for (size_t i = 0; i < ops.size(); ++i) RS_RETURN_IF_ERROR(replay.Apply(ops[i].op(), i));
  RS_RETURN_IF_ERROR(replay.Finish());
  RS_RETURN_IF_ERROR(replay.Drain());
  Accounts accounts{.wrong = ledger.Check(), .faults = {}};
  // A buffer may flag the first packet of each sequence: its signs prove no loss.
  for (const auto& [key, sequence] : check.sequences)
    FaultFinder(sequence, accounts.faults).Run(!engine.flags_first_of_sequence);
  // An engine that does not report abandoned packets leaves their fates unknown.
  if (accounts.wrong.empty() && check.unexplained > 0 && engine.reports.abandoned)
    accounts.wrong =
        fmt::format("the events do not explain what became of {} packets", check.unexplained);
  return accounts;
}

}  // namespace ringscope
