#ifndef RINGSCOPE_CORE_GAPS_COUNTER_TRACE_H_
#define RINGSCOPE_CORE_GAPS_COUNTER_TRACE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/base/enum_names.h"
#include "core/ledger/written_commit.h"
#include "core/perfetto/trace_stats.h"
#include "core/session/replay_outcome.h"
#include "core/session/session.h"

namespace ringscope {

/// The counters that trace processor calls a data loss and that a log determines. kLossFlags counts
/// what the loss bits show (data_loss_read_gap and so on).
enum class LossCounter : uint8_t {
  kPatchesFailed,
  kAbiViolations,
  kWriterPacketLoss,
  kLossFlags,
  kSequencesDropped,
  kFlushesFailed,
};
struct CounterRow {
  LossCounter value;
  const char* name;                       // in statistics, without "traced_buf_" or "traced_"
  uint64_t BufferStats::*in_buffer = {};  // nullptr: the buffer does not count it
};
template <>
inline constexpr auto kEnumRows<LossCounter> = EnumTable<CounterRow>({
    {LossCounter::kPatchesFailed, "patches_failed", &BufferStats::patches_failed},
    {LossCounter::kAbiViolations, "abi_violations", &BufferStats::abi_violations},
    {LossCounter::kWriterPacketLoss, "trace_writer_packet_loss",
     &BufferStats::trace_writer_packet_loss},
    {LossCounter::kLossFlags, "sequence_packet_loss"},
    {LossCounter::kSequencesDropped, "incremental_sequences_dropped"},
    {LossCounter::kFlushesFailed, "flushes_failed"},
});
inline constexpr size_t kLossCounters = kEnumRows<LossCounter>.size();

/// Why a counter went up.
enum class CountReason : uint8_t {
  kUnknown,
  kFewerFragments,
  kBrokenSize,
  kTooLarge,
  kBadRecommit,
  kRepeated,  // harmless
  kChunkGone,
  kOutOfBounds,
  kPatchNotNeeded,  // harmless
  kAborted,
  kFlagged,
  kStateMissing,
  kFlushTimedOut,
};
/// In the words {found} and {counted} are numbers of fragments, {bits} loss bits.
template <>
inline constexpr auto kEnumRows<CountReason> = EnumTable<EnumRow<CountReason>>({
    {CountReason::kUnknown, "unknown", "the buffer does not report why"},
    {CountReason::kFewerFragments, "fewer_fragments",
     "has {found}, but its header counts {counted}"},
    {CountReason::kBrokenSize, "broken_size", "a fragment has an impossible size"},
    {CountReason::kTooLarge, "too_large", "larger than the buffer allows"},
    {CountReason::kBadRecommit, "bad_recommit",
     "its re-commit has fewer fragments or flags than before, or does not fit in its place"},
    {CountReason::kRepeated, "repeated",
     "it was committed before, with the same packets: nothing is missing"},
    {CountReason::kChunkGone, "chunk_gone",
     "a patch arrived while the chunk was not in the buffer"},
    {CountReason::kOutOfBounds, "out_of_bounds", "a patch is for bytes outside it"},
    {CountReason::kPatchNotNeeded, "patch_not_needed",
     "a patch could not be applied, and no packet waited for it: nothing is missing"},
    {CountReason::kAborted, "aborted", "its writer aborted a packet"},
    {CountReason::kFlagged, "flagged", "a packet is flagged '{bits}'"},
    {CountReason::kStateMissing, "state_missing",
     "no packet that needs incremental state can be used"},
    {CountReason::kFlushTimedOut, "flush_timed_out",
     "a producer did not acknowledge the flush in time"},
});

/// What made a counter go up.
struct CounterRise {
  LossCounter counter{};
  CountReason reason{};
  uint64_t amount = 1;
  std::optional<BufferId> buffer;  // absent: a counter of the service
  std::optional<SequenceKey> sequence;
  std::optional<ChunkId> chunk;
  LogMoment at;            // of a read pass: the record with which it began
  uint32_t loss_bits = 0;  // kFlagged
  uint32_t fragments = 0;  // of the chunk, as its header counts them
  uint32_t found = 0;      // of these, those that are there

  bool is_harmless() const {
    return reason == CountReason::kRepeated || reason == CountReason::kPatchNotNeeded;
  }
};

/// Finds the record, the chunk and the reason of each count of a data-loss counter in a replay, as
/// GapAnalysis forwards its calls. Memory: O(sequences), and O(counts) up to a limit.
class CounterTrace {
 public:
  /// @param limit rises that are kept one by one, of each counter
  explicit CounterTrace(size_t limit) : limit_(limit) {}

  void OnRecord(const Op& op, const LogMoment& moment);
  void OnBufferSetUp(SessionBuffer& buffer) { buffers_[buffer.id] = {&buffer, {}}; }
  void OnBufferReplaced(SessionBuffer& buffer) { buffers_.erase(buffer.id); }
  /// A chunk is about to reach the buffer.
  void OnChunk(WrittenCommit& written);
  /// Before OnDone: the buffer refused the chunk, and every packet in it was known.
  void OnRepeatedCommit() { under_way_.reason = CountReason::kRepeated; }
  /// The buffer has taken the chunk, or a patch.
  void OnDone(BufferId buffer);
  /// A valid packet was read.
  void OnPacket(const SessionPacket& packet, const PacketFacts& facts);
  void OnReadDone(BufferId buffer) { Compare(buffer, {}); }
  void OnBufferEvent(const BufferEvent& event);
  /// The sequences that count as dropped are complete with the log. Once.
  void Finish();

  /// In order of the log, but for dropped sequences, which are last.
  const std::vector<CounterRise>& rises() const { return rises_; }
  /// Of all that may be losses, listed or not, by LossCounter.
  const std::array<uint64_t, kLossCounters>& counts() const { return counts_; }

 private:
  struct Watched {
    const SessionBuffer* buffer = nullptr;
    BufferStats seen;
  };

  /// Adds what the buffer has counted since it was looked at last.
  void Compare(BufferId buffer, const CounterRise& cause);
  void Add(CounterRise rise);

  const size_t limit_;
  LogMoment now_;
  std::map<BufferId, Watched> buffers_;
  CounterRise under_way_;  // the chunk or the patch
  LossAnalysis losses_;
  std::vector<CounterRise> rises_;
  std::array<uint64_t, kLossCounters> counts_{};
  std::array<uint64_t, kLossCounters> listed_{};
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAPS_COUNTER_TRACE_H_
