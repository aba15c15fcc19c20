#ifndef RINGSCOPE_CORE_GAPS_COUNTER_TRACE_H_
#define RINGSCOPE_CORE_GAPS_COUNTER_TRACE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/enum_names.h"
#include "core/perfetto/fragment.h"
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
/// As statistics name them, without "traced_buf_" or "traced_".
template <>
inline constexpr std::array kEnumNames<LossCounter> = {"patches_failed",
                                                       "abi_violations",
                                                       "trace_writer_packet_loss",
                                                       "sequence_packet_loss",
                                                       "incremental_sequences_dropped",
                                                       "flushes_failed"};
inline constexpr size_t kLossCounters = kEnumNames<LossCounter>.size();

/// Why a counter went up.
enum class CountReason : uint8_t {
  kUnknown,         // the buffer does not report it
  kFewerFragments,  // a chunk has fewer fragments than its header counts
  kBrokenSize,      // a fragment's size is no number, or reaches beyond its chunk
  kTooLarge,        // a chunk is larger than the buffer allows
  kBadRecommit,     // a chunk was re-committed in a way that breaks the rules
  kRepeated,        // likewise, but with nothing that is not known: harmless
  kChunkGone,       // a patch is for a chunk that is not in the buffer (any more)
  kOutOfBounds,     // a patch is for bytes outside its chunk
  kAborted,         // a writer aborted a packet
  kFlagged,         // a packet that is not its sequence's first reports a loss before it
  kStateMissing,    // no packet of the sequence that needs incremental state could be used
  kFlushTimedOut,   // a producer did not acknowledge a flush in time
};
template <>
inline constexpr std::array kEnumNames<CountReason> = {
    "unknown",      "fewer_fragments", "broken_size",   "too_large",
    "bad_recommit", "repeated",        "chunk_gone",    "out_of_bounds",
    "aborted",      "flagged",         "state_missing", "flush_timed_out"};

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
  uint32_t fragments = 0;  // kFewerFragments: those that the header counts
  uint32_t found = 0;      // and those that are there

  bool is_harmless() const { return reason == CountReason::kRepeated; }
};

/// Finds the record, the chunk and the reason of each count of a data-loss counter in a replay.
/// Memory: O(sequences), and O(counts) up to a limit.
class CounterTrace : public ReplayListener {
 public:
  /// @param limit rises that are kept one by one, of each counter
  explicit CounterTrace(size_t limit) : limit_(limit) {}

  bool WantsBufferEvents() const override { return true; }
  void OnRecord(const Op& op, const LogMoment& moment) override;
  void OnBufferSetUp(SessionBuffer& buffer) override;
  void OnBufferReplaced(SessionBuffer& buffer) override { buffers_.erase(buffer.id); }
  void OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal> refusal) override;
  void OnChunkDone(BufferId buffer, const ChunkCommit& commit) override;
  void OnPatch(BufferId buffer, bool ok) override;
  Status OnPacket(const SessionPacket& packet) override;
  void OnReadDone(BufferId buffer, uint64_t packets) override;
  void OnBufferEvent(const BufferEvent& event) override;

  /// Before OnChunkDone: the buffer refused the chunk, and every packet in it was known.
  void OnRepeatedCommit() { under_way_.reason = CountReason::kRepeated; }
  /// In place of OnPacket, for a valid packet whose facts are known already.
  void AddPacket(const SessionPacket& packet, const PacketFacts& facts);
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
  WrittenChunk written_;   // scratch
  LossAnalysis losses_;
  std::vector<CounterRise> rises_;
  std::array<uint64_t, kLossCounters> counts_{};
  std::array<uint64_t, kLossCounters> listed_{};
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAPS_COUNTER_TRACE_H_
