#ifndef RINGSCOPE_CORE_GAPS_GAP_REPORT_H_
#define RINGSCOPE_CORE_GAPS_GAP_REPORT_H_

#include <tuple>

#include "core/gaps/shared_memory_use.h"
#include "core/ledger/ledger.h"
#include "core/log/record_filter.h"
#include "core/session/replay_listener.h"
#include "core/session/session_notes.h"
#include "core/trace/stage_account.h"
#include "core/trace/trace_facts.h"

namespace ringscope {

// The loss report of a replay, as plain values.

/// How the wait at a chunk ended.
enum class StallEnd : uint8_t {
  kOpen,         // not at all: the log ends
  kPatched,      // its patch came
  kCompleted,    // the next chunk was committed, or the rest of it, or the buffer passed over it
  kOverwritten,  // it was evicted
  kCloned,       // its buffer was taken over, or cleared, for a clone
};
template <>
inline constexpr std::array kEnumNames<StallEnd> = {"open", "patched", "completed", "overwritten",
                                                    "cloned"};

/// A chunk at which reads of its sequence stopped, or which was evicted before it had its patches.
struct Stall {
  ChunkName chunk;
  StallReason reason{};
  uint64_t passes = 0;   // read passes that stopped at it
  uint64_t packets = 0;  // that waited: from that chunk on, written before it ended
  StallEnd end = StallEnd::kOpen;
  LogMoment ended;
  std::optional<LogMoment> patched;  // its patch came, too late
  std::optional<LogMoment> cloned;   // `patched` came after this clone, which was replayed
  SequenceKey newer_by;              // kOverwritten: wrote most of the newer data
  uint64_t newer_by_size = 0;        // bytes, in chunks
  uint64_t newer_size = 0;           // bytes of all newer data; 0: not known
  uint64_t held_size = 0;            // `patched`: bytes that were written from the chunk to then
};

/// Packets lost for the same cause.
struct CauseCount {
  Fate fate = Fate::kOverwritten;
  Cause cause = Cause::kNone;
  bool own_fault = false;
  uint32_t loss_bits = 0;  // why the buffer abandoned them
  FateCount count;

  auto key() const { return std::tuple(fate, cause, own_fault, loss_bits); }
};

/// Packets of a kind of content.
struct ContentCount {
  uint32_t content = 0;
  uint32_t kind = 0;  // see PacketKinds; 0: of all kinds
  FateCount count;

  auto key() const { return std::tuple(kind, content); }
  friend bool operator==(const ContentCount&, const ContentCount&) = default;
};

/// The first and the last moment of something.
struct MomentSpan {
  LogMoment first;
  LogMoment last;

  void Add(const LogMoment& moment) {
    if (!first.record || moment.record < first.record) first = moment;
    if (moment.record >= last.record) last = moment;
  }
};

/// Where a packet begins in its sequence.
struct GapPlace {
  uint64_t chunk = 0;  // id, unwrapped
  uint32_t fragment = 0;
  uint32_t offset = 0;  // bytes, in the chunk's payload

  static GapPlace Of(const PacketAccount& account) {
    return {account.first_chunk, account.fragment, account.first_offset};
  }
  friend auto operator<=>(const GapPlace&, const GapPlace&) = default;
};

/// Packets that were read but need incremental state that the trace does not have.
struct UnusablePackets {
  FateCount count;
  std::optional<uint64_t> from_ns;  // commits of the first and the last of them
  std::optional<uint64_t> to_ns;
  bool reset = false;  // state was cleared after them

  uint64_t duration_ns() const { return from_ns && to_ns ? *to_ns - *from_ns : 0; }
  void Add(uint64_t bytes, std::optional<uint64_t> time_ns) {
    count += {1, bytes};
    if (!time_ns) return;
    from_ns = std::min(from_ns.value_or(*time_ns), *time_ns);
    to_ns = std::max(to_ns.value_or(*time_ns), *time_ns);
  }
};

/// A packet that was read with a loss flag.
struct FlaggedPacket {
  GapPlace place;
  uint32_t loss_bits = 0;  // previous_packet_dropped as the buffer set it
  uint32_t pass = 0;       // read pass, from 1
  LogMoment read;
  bool first_of_sequence = false;  // trace processor ignores the flag there
  UnusablePackets unusable;        // from here on, up to the next flag
};

/// How the trace shows that packets are missing.
enum class GapSign : uint8_t {
  kFlagged,
  kFlaggedFirst,
  kFlaggedByWriter,
  kV1First,
  kNotFlagged,
  kFlagInvalid,
  kNothingFollows
};
/// The words have {in} for " in chunk #7" if the next packet was read, and {bits} for its loss
/// bits.
template <>
inline constexpr auto kEnumRows<GapSign> = EnumTable<EnumRow<GapSign>>({
    {GapSign::kFlagged, "flagged", "the next packet{in} is flagged '{bits}'"},
    {GapSign::kFlaggedFirst, "flagged_first",
     "the next packet{in} is flagged '{bits}'; it is the sequence's first, so trace processor "
     "counts no loss"},
    {GapSign::kFlaggedByWriter, "flagged_by_writer", "the next packet is flagged by its writer"},
    {GapSign::kV1First, "v1_first",
     "nothing: V1 flags the first packet of every sequence, whether packets were lost or not"},
    {GapSign::kNotFlagged, "not_flagged", "nothing: the next packet is not flagged"},
    {GapSign::kFlagInvalid, "flag_invalid",
     "nothing: the service refused the packet that is flagged '{bits}'"},
    {GapSign::kNothingFollows, "nothing_follows",
     "nothing: no later packet of the sequence was read"},
});

/// Changes that would have saved lost packets.
struct GapRemedies {
  /// Bytes with which the buffer would have held the packets until they were read.
  std::optional<uint64_t> buffer_size;
  /// Peak bytes that the ring must hold at one time: the lower bound of its size.
  uint64_t held_size = 0;
  /// Reads at least this often would have been in time.
  std::optional<uint64_t> read_period_ns;
  /// Another sequence that took at least a third of what the packets lacked: it could have a buffer
  /// of its own.
  std::optional<SequenceKey> separate;
  bool flush = false;  // the writer still had the data when it was read
  /// Some of the packets waited for a patch that is not in the log: in a larger buffer they wait.
  bool no_size_helps = false;
};

/// Causes of the loss of some packets of a gap, beside the sequences that needed space.
struct GapBlame {
  Cause cause = Cause::kNone;
  std::optional<ChunkName> chunk;  // that lacks the patch, or left the buffer before
  LogMoment at;                    // its commit; its read or eviction; the wrong patch
  FateCount count;
  std::optional<Stall> stall = {};  // at that chunk

  auto key() const { return std::tie(cause, chunk, at); }
};

/// Packets that were overwritten for the commits of one sequence.
struct EvictorCount {
  SequenceKey sequence;
  uint64_t packets = 0;

  friend bool operator==(const EvictorCount&, const EvictorCount&) = default;
};

/// Bytes of one sequence in a buffer.
struct SequenceShare {
  SequenceKey sequence;
  uint64_t bytes = 0;

  friend bool operator==(const SequenceShare&, const SequenceShare&) = default;
};

/// A run of lost packets: none between them was read.
struct Gap {
  BufferId buffer{};
  SequenceKey sequence;
  GapPlace first;
  GapPlace last;
  uint64_t last_chunk = 0;  // where the last packet ends
  FateCount lost;
  uint64_t places = 0;                 // at which its writer dropped an unknown number more
  FateCount own_fault;                 // of these, lost to a bug of the buffer
  std::vector<CauseCount> causes;      // bugs first, then the largest
  std::vector<ContentCount> contents;  // largest first
  std::vector<ContentCount> kinds;     // of these, as far as known; largest first
  MomentSpan written;                  // commits of the lost packets
  MomentSpan decided;                  // when they were lost
  uint64_t state_packets = 0;          // with interned data, or that clear state
  /// For whose commits the packets were overwritten: most packets first. Plug-ins may report none.
  std::vector<EvictorCount> evicted_by;
  uint64_t evicted_by_others = 0;  // packets, for sequences beyond kMaxEvictors
  GapSign sign = GapSign::kNothingFollows;
  std::optional<FlaggedPacket> next;  // the packet that carries the flag
  uint32_t lost_bits = 0;             // kFlagInvalid: what the refused packet carried
  bool forgotten = false;        // kNotFlagged: the buffer had forgotten the sequence, see kForgets
  std::vector<GapBlame> blamed;  // in order of what is to blame; at most kMaxBlamed
  std::optional<AbortFacts> abort;  // of the first packet that its writer aborted
  GapRemedies remedies;

  static constexpr size_t kMaxBlamed = 16;
  static constexpr size_t kMaxEvictors = 32;
  bool Has(Cause cause) const { return Contains(causes, cause, &CauseCount::cause); }
  /// Packets overwritten by any commit.
  uint64_t evicted() const {
    uint64_t packets = evicted_by_others;
    for (const EvictorCount& evictor : evicted_by) packets += evictor.packets;
    return packets;
  }
  /// Counts packets that were overwritten for a sequence.
  void AddEvicted(const EvictorCount& more) {
    if (EvictorCount* const same = FindBy(evicted_by, more.sequence, &EvictorCount::sequence))
      same->packets += more.packets;
    else if (evicted_by.size() < kMaxEvictors)
      evicted_by.push_back(more);
    else
      evicted_by_others += more.packets;
  }
};

/// Sequences without a chunk in the buffer whose last chunk V2 remembers, so that it flags a gap.
/// Source: Perfetto's trace buffer V2.
inline constexpr size_t kForgets = 1024;

/// Chunk ids of a sequence that no record of the log commits: their content is unknown.
struct MissingChunks {
  uint64_t first = 0;  // ids, unwrapped
  uint64_t last = 0;
  LogMoment before;                // commit of the chunk before them
  LogMoment after;                 // of the first chunk after them
  std::optional<size_t> reported;  // GapReport::reported: the log itself is not complete there
  GapSign sign = GapSign::kNothingFollows;  // how the trace shows it
  uint32_t loss_bits = 0;                   // of the next packet that was read
  bool forgotten = false;                   // as of a gap

  uint64_t count() const { return last - first + 1; }
};

/// A sequence that waits when the log ends.
struct OpenStall {
  FateCount count;  // packets that wait
  Cause cause = Cause::kAfterAbandoned;
  std::optional<ChunkName> at;  // the chunk at which it waits
  LogMoment since;              // its commit
  bool went_on = false;         // its writer committed later chunks, so it had finished that one
  std::optional<LogMoment> patched;  // its patch came after the clone that was replayed, at
  std::optional<LogMoment> cloned;   // that clone; absent: no patch came after it
};

/// A patch that changed a fragment which its writer had completed, or broke the chunk.
struct WrongPatchAt {
  BufferId buffer{};
  ChunkName chunk;
  LogMoment at;
};

/// Why a packet is flagged though nothing is missing before it.
enum class FlagRule : uint8_t {
  kV1First,
  kV1Again,
  kReadmitted,
  kCameAgain,
  kNoPackets,
  kNotInLog,
  kRecorderGap,
  kAbortAhead,
  kRememberedGap,
  kLeftIncomplete,
  kFolded
};
template <>
inline constexpr auto kEnumRows<FlagRule> = EnumTable<EnumRow<FlagRule>>({
    {FlagRule::kV1First, "v1_first", "V1 flags the first packet of every sequence"},
    {FlagRule::kV1Again, "v1_again",
     "V1 flags the first packet of the chunk with which a read of the sequence begins"},
    {FlagRule::kReadmitted, "readmitted",
     "v55 flags a chunk that is re-committed after it was read"},
    {FlagRule::kCameAgain, "came_again",
     "a scraped chunk was evicted, and then re-committed with all its packets"},
    {FlagRule::kNoPackets, "no_packets", "the missing chunks in between had no packets"},
    {FlagRule::kNotInLog, "not_in_log",
     "chunks in between are not in the log: whether they had packets is unknown"},
    {FlagRule::kRecorderGap, "recorder_gap",
     "the log itself reports that it is not complete there"},
    {FlagRule::kAbortAhead, "abort_ahead",
     "V2 flags the next packet that it returns after a writer aborts one; this packet was written "
     "before the aborted one"},
    {FlagRule::kRememberedGap, "remembered_gap",
     "the reader attributes an earlier gap in the chunk ids to them"},
    {FlagRule::kLeftIncomplete, "left_incomplete",
     "only an empty packet, or fragments that are part of no packet, were abandoned"},
    {FlagRule::kFolded, "folded",
     "what was overwritten before them is folded into a state (ProtoVM)"},
});

struct FalseFlag {
  FlaggedPacket packet;
  FlagRule rule = FlagRule::kLeftIncomplete;
};
/// Packets that are flagged for the same reason.
struct FlagCount {
  uint64_t packets = 0;
  ChunkName first;  // where the first of them begins
};

/// Losses of one sequence of a buffer, gap by gap.
struct SequenceGaps {
  BufferId buffer{};
  SequenceKey sequence;
  FateCounts by_fate;
  StageAccount stages;
  FateCount own_fault;
  UnusablePackets unusable;        // all of them
  uint64_t unusable_spans = 0;     // how often state was missing
  uint64_t producer_flags = 0;     // packets read in which the producer itself reports losses
  uint64_t hidden_flags = 0;       // of these, those whose flag the buffer's replaces
  uint64_t flags_after_abort = 0;  // of these, those after a gap with an aborted packet
  uint32_t producer_bits = 0;      // the bits of these flags
  uint64_t missing_chunks = 0;     // ids that no record commits
  uint64_t first_chunk = 0;        // lowest id in the log, unwrapped
  FateCount scraped;               // incomplete: not finished when their chunk was scraped
  FateCount scraped_before;        // of these, in chunks after which their writer committed others
  uint64_t dropped_ns = 0;         // longest time from an aborted packet's chunk to the next one

  std::vector<Gap> gaps;       // in order
  uint64_t unlisted_gaps = 0;  // there were too many; totals are exact
  std::vector<FalseFlag> false_flags;
  uint64_t unlisted_flags = 0;
  std::vector<MissingChunks> missing;
  uint64_t unlisted_missing = 0;
  std::optional<OpenStall> stall;

  FateCount written() const { return by_fate.all(); }
  FateCount lost() const { return by_fate.lost(); }
  /// Losses of which the log has nothing but the flag of the packet after them.
  uint64_t losses_by_flag() const { return producer_flags - flags_after_abort; }
};

/// One buffer; if its id was given to another one, both.
struct BufferGaps {
  BufferId id{};
  LedgerTotals totals;
  std::vector<SequenceGaps> sequences;  // by key
  /// Own time of the newest packet that was overwritten, or that of its commit; 0: none is known.
  uint64_t newest_overwritten_ns = 0;
  // Counters of lost data, as each buffer had them at its end.
  uint64_t patches_failed = 0;  // that packets waited for
  uint64_t abi_violations = 0;  // but re-commits whose packets the buffer had all taken before
  uint64_t writer_losses = 0;   // trace_writer_packet_loss
  /// If a full buffer discarded packets: what was written to it, the largest shares.
  std::vector<SequenceShare> filled_by;
  uint64_t filled_by_others = 0;  // bytes
};

/// A CPU of which the kernel's ftrace lost events before anything reached a trace buffer, as the
/// packets that were read report.
struct FtraceCpuLosses : FtraceCounters::Cpu {
  uint32_t cpu = 0;

  /// Returns true if the counter is known to have risen in the session.
  bool rose(FtraceCounter counter) const { return (*this)[counter].delta().value_or(0) > 0; }
  /// Returns true if it lost events of the session: an overrun alone may be of the time before.
  bool lost_in_session() const {
    return bundles_after_loss > 0 || rose(FtraceCounter::kCommitOverrun) ||
           rose(FtraceCounter::kDroppedEvents);
  }
};

/// The CPUs that lost something, ascending.
std::vector<FtraceCpuLosses> FtraceLossesOf(const FtraceCounters& counters);

/// The packets of a data source.
struct SourceLosses {
  std::string source;
  FateCount written, lost;
};
/// Returns the sums of the sequences whose data source is known, the largest loss first.
std::vector<SourceLosses> LossesBySource(const std::vector<const SequenceGaps*>& sequences,
                                         const SessionNotes& notes);

/// How much later than its timestamp a packet may be committed: the usual time between two flushes.
inline constexpr uint64_t kStaleNs = 5'000'000'000;

/// A packet that waited for its commit.
struct StaleEvent {
  uint64_t time_ns = 0;              // of the packet, or of its oldest event of ftrace
  uint64_t delay_ns = 0;             // from then to its commit
  uint64_t chunk = 0;                // id
  std::optional<uint32_t> cpu = {};  // of that event
};

/// Packets of one sequence that their writer committed long after it wrote them.
struct StaleSequence {
  static constexpr size_t kMostListed = 4096;

  BufferId buffer{};
  SequenceKey sequence;
  uint64_t packets = 0;  // with a time that is known
  uint64_t stale = 0;    // of these, committed later than the limit
  StaleEvent longest;
  std::vector<StaleEvent> events;  // the first kMostListed that are stale
};

/// Packets that were committed in an interval, and how many of these were lost.
struct TimelineInterval {
  uint64_t written = 0;
  uint64_t lost = 0;

  TimelineInterval& operator+=(const TimelineInterval& more) {
    written += more.written;
    lost += more.lost;
    return *this;
  }
};

/// Counts the packets of a session by the time at which they were committed, in intervals of the
/// same length, which become longer as the session does.
class LossTimeline {
 public:
  static constexpr size_t kIntervals = 48;

  /// Counts a packet. They may come in any order.
  void Add(uint64_t written_ns, bool is_lost) {
    if (intervals_.empty()) first_ns_ = written_ns;
    first_written_ns_ = std::min(first_written_ns_, written_ns);
    if (written_ns < first_ns_) BeginAt(written_ns);
    const uint64_t offset = written_ns - first_ns_;
    while (offset / interval_ns_ >= kIntervals) Widen();
    const auto place = static_cast<size_t>(offset / interval_ns_);
    if (intervals_.size() <= place) intervals_.resize(place + 1);
    intervals_[place] += {.written = 1, .lost = is_lost ? 1u : 0u};
  }

  bool empty() const { return intervals_.empty(); }
  /// Where the first interval begins: then, or later in it, the first packet was written.
  uint64_t first_ns() const { return first_ns_; }
  uint64_t first_written_ns() const { return first_written_ns_; }
  uint64_t interval_ns() const { return interval_ns_; }
  /// Up to the last packet: between half of kIntervals and all, unless the session is very short.
  const std::vector<TimelineInterval>& intervals() const { return intervals_; }

 private:
  /// Makes intervals twice as long.
  void Widen() {
    for (size_t i = 0; i < intervals_.size(); ++i)
      intervals_[i / 2] += std::exchange(intervals_[i], {});
    intervals_.resize((intervals_.size() + 1) / 2);
    interval_ns_ *= 2;
  }
  /// Has the first interval begin then, or before.
  void BeginAt(uint64_t written_ns) {
    const auto missing = [&] { return (first_ns_ - written_ns + interval_ns_ - 1) / interval_ns_; };
    while (missing() + intervals_.size() > kIntervals) Widen();
    const uint64_t added = missing();
    intervals_.insert(intervals_.begin(), static_cast<size_t>(added), TimelineInterval{});
    first_ns_ -= std::min(first_ns_, added * interval_ns_);
  }

  uint64_t first_ns_ = 0;
  uint64_t first_written_ns_ = UINT64_MAX;
  uint64_t interval_ns_ = 1'000;
  std::vector<TimelineInterval> intervals_;
};

struct ReplayOutcome;

struct GapReport {
  std::vector<BufferGaps> buffers;     // by id
  std::vector<EvictorCount> evictors;  // most packets first; plug-ins may report none
  LossTimeline over_time;              // by the commits of the packets that have times
  std::vector<StaleSequence> stale;
  std::vector<WrongPatchAt> wrong_patches;  // at most GapAnalysis::kMaxSigns
  std::vector<ReportedLoss> reported;
  uint64_t unlisted_reports = 0;
  uint64_t newest_ns = 0, events = 0;  // of the packets that have a time of their own

  uint64_t reports() const { return reported.size() + unlisted_reports; }
  /// Returns the buffer's gaps, or nullptr.
  const BufferGaps* Find(BufferId id) const { return FindBy(buffers, id, &BufferGaps::id); }
};

/// Returns how far back from the session's end the buffer reaches; nullopt if it overwrote nothing,
/// or if what is left is not the newest part of all that was written to it, as it was read before.
std::optional<Reach> ReachOf(const GapReport& report, const BufferGaps& buffer,
                             const TimeSpan& session);

/// A counter that trace processor calls a data loss.
struct LossCount {
  std::string name;  // "patches_failed": in statistics, without "traced_buf_" or "traced_"
  uint64_t count = 0;
};
/// Returns the loss counters of a session that are not zero; counts by which nothing is missing are
/// subtracted.
std::vector<LossCount> LossCountsOf(const ReplayOutcome& outcome, const GapReport& report);

/// The parts of a report that a filter keeps. The report must live longer.
struct GapSelection {
  /// @param start_ns of the session
  GapSelection(const GapReport& report, uint64_t start_ns, const LogSelection& filter);

  const GapReport& report;
  std::vector<const Gap*> own_fault;  // with packets that the buffer lost by a bug; in order
  std::vector<const Gap*> gaps;       // the others; in order
  uint64_t unlisted = 0;              // gaps that were too many to be kept
  std::vector<const SequenceGaps*> sequences;  // with packets
  std::map<FlagRule, FlagCount> false_flags;
  uint64_t unlisted_flags = 0;
  std::vector<std::pair<const SequenceGaps*, const MissingChunks*>> missing;
  uint64_t unlisted_missing = 0;
  std::vector<StaleSequence> stale;
  std::vector<ReportedLoss> reported;
  uint64_t unlisted_reports = 0;
  bool is_filtered = false;  // not all packets of the session are selected
  bool by_time = false;      // the filter selects the gaps that reach into a time
  bool any_loss = false;     // packets were lost that the filter keeps
  /// Something shows that more may be missing: chunks that are not in the log, losses that the log
  /// itself reports, sequences that wait. Counters of lost data are apart: see LossCountsOf.
  bool any_sign = false;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAPS_GAP_REPORT_H_
