// Faults of a buffer that its own accounts show: losses, and signs of losses, that no buffer should
// have.

#ifndef RINGSCOPE_CORE_TESTING_LOSS_FAULTS_H_
#define RINGSCOPE_CORE_TESTING_LOSS_FAULTS_H_

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/enum_names.h"
#include "core/compare/fuzz_run.h"
#include "core/gaps/gap_analysis.h"
#include "core/perfetto/data_loss.h"

namespace ringscope {

/// A fault that no buffer should have, whatever release it is of.
enum class LossFault : uint8_t {
  kLostWhole,   // a packet is lost though all of it was in the buffer
  kSilentLoss,  // something is lost, and no packet of the sequence shows that
  kFalseSign,   // a packet shows a loss where nothing is missing
};
template <>
inline constexpr std::array kEnumNames<LossFault> = {"lost_whole", "silent_loss", "false_sign"};

namespace testing {

/// A chunk as its writer handed it over last.
struct WrittenState {
  uint8_t flags = 0;
  size_t fragments = 0;
  bool complete = false;
};

/// A packet that was returned.
struct ReturnedPlace {
  uint64_t record = 0;
  GapPlace place;
  uint32_t loss_bits = 0;
};

/// Facts of a sequence that the accounts of gaps leave out: how its writer behaves, and the order
/// in which its packets were returned.
struct WrittenSequence {
  ChunkId first{};
  bool breaks_rules = false;
  std::map<int64_t, WrittenState> chunks;  // by steps from the first commit
  std::vector<ReturnedPlace> returned;

  int64_t StepsTo(ChunkId chunk) const { return SignedDistance(first, chunk); }
  /// Returns true if neighbouring chunks fit to each other: a packet that continues is continued.
  bool KeepsRules() const {
    if (breaks_rules) return false;
    for (const auto& [steps, chunk] : chunks) {
      const auto next = chunks.find(steps + 1);
      // The end of an incomplete chunk is not known.
      if (next == chunks.end() || !chunk.complete) continue;
      const bool continues = (chunk.flags & kLastContinues) != 0;
      const bool is_continued = (next->second.flags & kFirstContinues) != 0;
      if (continues != is_continued || (continues && chunk.fragments == 0)) return false;
    }
    return true;
  }
  /// Returns true if what was returned next shows the loss, wherever that is in the sequence, or if
  /// nothing was. Within the read that lost it, the order is not known.
  bool IsShownAfter(uint64_t record) const {
    bool is_shown = true;  // as long as nothing was returned that could show it
    for (const ReturnedPlace& packet : returned) {
      if (packet.record < record) continue;
      is_shown = packet.loss_bits != 0;
      if (is_shown || packet.record > record) break;
    }
    return is_shown;
  }
  /// Returns true if a flag proves a loss: a packet before it was returned earlier, and all chunks
  /// up to it were completed.
  bool ProvesLoss(const FlaggedPacket& flagged) const {
    const auto has_end = chunks.upper_bound(StepsTo(IdOf(flagged.place.chunk)));
    if (!std::all_of(chunks.begin(), has_end,
                     [](const auto& chunk) { return chunk.second.complete; }))
      return false;
    return std::ranges::any_of(returned, [&](const ReturnedPlace& packet) {
      return packet.record <= flagged.read.record && packet.place < flagged.place;
    });
  }
};

/// The accounts of a stream, whatever its packets contain, as if the buffer were read at its end;
/// and its sequences.
class StreamAccounts : public GapAnalysis {
 public:
  void OnChunkWritten(BufferId buffer, WrittenCommit& written) override {
    GapAnalysis::OnChunkWritten(buffer, written);
    const ChunkCommit& commit = written.commit();
    const WrittenChunk& chunk = written.chunk();
    const auto [found, is_new] = sequences.try_emplace(commit.sequence);
    WrittenSequence& sequence = found->second;
    if (is_new) sequence.first = commit.chunk;
    const auto [at, is_first] = sequence.chunks.try_emplace(sequence.StepsTo(commit.chunk));
    WrittenState& before = at->second;
    // A scraped chunk grows, and nothing else.
    sequence.breaks_rules |=
        chunk.end == ChunkEnd::kBroken ||
        (!is_first && (before.complete || chunk.fragments.size() < before.fragments ||
                       (before.flags & ~chunk.flags) != 0));
    before = {chunk.flags, chunk.fragments.size(), commit.complete};
  }
  void OnPacketFate(const PacketAccount& account) override {
    PacketAccount packet = account;
    if (packet.fate == Fate::kInvalid || packet.fate == Fate::kReadable) packet.fate = Fate::kRead;
    GapAnalysis::OnPacketFate(packet);
    WrittenSequence& sequence = sequences[packet.sequence];
    sequence.breaks_rules |= packet.fate == Fate::kCorrupted || packet.cause == Cause::kWrongPatch;
    if (packet.fate == Fate::kRead)
      sequence.returned.push_back({packet.decided.record.value_or(0),
                                   {packet.first_chunk, packet.fragment, packet.first_offset},
                                   packet.loss_bits});
  }

  std::map<SequenceKey, WrittenSequence> sequences;
};

/// An abort has a sign of its own; chunks that never came are looked at by themselves.
inline bool MustBeShown(const CauseCount& cause) {
  return cause.fate != Fate::kWriterDropped && cause.fate != Fate::kUnexplained &&
         cause.cause != Cause::kNeverCommitted && cause.cause != Cause::kNotInLog &&
         cause.cause != Cause::kNoBeginning && cause.cause != Cause::kBeforeLog;
}

/// Adds the faults of one sequence, but for those of which there is one of the same kind.
inline void AddFaults(const SequenceGaps& gaps, const WrittenSequence& sequence,
                      std::vector<std::string>& faults) {
  const auto add = [&](LossFault fault, const std::string& kind) {
    std::string text = fmt::format("{} {}", Name(fault), kind);
    if (std::ranges::find(faults, text) == faults.end()) faults.push_back(std::move(text));
  };
  for (const Gap& gap : gaps.gaps)
    for (const CauseCount& cause : gap.causes)
      if (cause.own_fault) add(LossFault::kLostWhole, Name(cause.cause));
  for (const Gap& gap : gaps.gaps) {
    const auto cause = std::ranges::find_if(gap.causes, MustBeShown);
    if (gap.sign == GapSign::kNotFlagged && cause != gap.causes.end() &&
        !sequence.IsShownAfter(gap.decided.last.record.value_or(0)))
      add(LossFault::kSilentLoss, Name(cause->cause));
  }
  for (const MissingChunks& missing : gaps.missing)
    if (missing.sign == GapSign::kNotFlagged)
      add(LossFault::kSilentLoss, Name(Cause::kNeverCommitted));
  for (const FalseFlag& flag : gaps.false_flags) {
    const bool is_of_v1 = flag.rule == FlagRule::kV1First || flag.rule == FlagRule::kV1Again;
    if (!is_of_v1 && flag.rule != FlagRule::kNotInLog && sequence.ProvesLoss(flag.packet))
      add(LossFault::kFalseSign, LossBitsToString(flag.packet.loss_bits));
  }
}

/// Replays a stream on one buffer, and checks what is lost and what shows it. A sequence whose
/// writer broke a rule is left out.
/// @param engine reports events
/// @return "silent_loss evicted": the fault, and a cause or loss bits; each once, by sequence
inline std::vector<std::string> FaultsOf(const EngineInfo& engine,
                                         const std::vector<StoredOp>& ops) {
  StreamAccounts stream;
  Ledger ledger(stream);
  Replay replay(OptionsOf(engine), {&ledger, &stream});
  for (size_t i = 0; i < ops.size(); ++i) EXPECT_TRUE(replay.Apply(ops[i].op(), i));
  EXPECT_TRUE(replay.Finish());
  EXPECT_TRUE(replay.Drain());
  EXPECT_EQ(ledger.Check(), "");
  std::vector<std::string> faults;
  const GapReport report = stream.Finish(ledger.totals());
  for (const BufferGaps& buffer : report.buffers)
    for (const SequenceGaps& gaps : buffer.sequences)
      if (const WrittenSequence& sequence = stream.sequences[gaps.sequence]; sequence.KeepsRules())
        AddFaults(gaps, sequence, faults);
  return faults;
}

}  // namespace testing
}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TESTING_LOSS_FAULTS_H_
