#include "core/sweep/exact_sweep.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "core/base/sequence_map.h"
#include "core/ledger/ledger.h"
#include "core/session/counted_replay.h"

namespace ringscope {
namespace {

/// Times are ns of the log; a record without one counts as of the time before it.
class Clock {
 public:
  void BeginRecord(const LogMoment& moment) { now_ = moment; }
  uint64_t now() const { return now_.time_ns.value_or(0); }
  /// Names the record under way, or the reads at the end.
  uint64_t record() const { return at_end_ ? UINT64_MAX : now_.record.value_or(0); }
  void SetAtEnd() { at_end_ = true; }

 private:
  LogMoment now_;
  bool at_end_ = false;
};

/// When the chunks in a buffer were first committed, and how much of the buffer was ever written.
class ChunkTimes {
 public:
  explicit ChunkTimes(const Clock& clock) : clock_(clock) {}

  void OnEvent(const BufferEvent& event) {
    if (event.kind == BufferEvent::Kind::kCommitted || event.kind == BufferEvent::Kind::kPadding)
      used_bytes_ = std::max(used_bytes_, event.offset + event.outer_size);
    if (event.kind == BufferEvent::Kind::kCommitted) Add(event.chunk);
    if (event.kind == BufferEvent::Kind::kErased || event.kind == BufferEvent::Kind::kEvicting)
      Leave(event.chunk);
  }

  /// For a buffer whose engine reports no events: the newest chunks that fit into it may be in it.
  void AddUnseen(const ChunkCommit& commit, uint64_t size) {
    const ChunkName chunk{commit.sequence, commit.chunk};
    Add(chunk);
    unseen_.emplace_back(chunk, commit.payload.size());
    unseen_bytes_ += commit.payload.size();
    for (; unseen_.size() > 1 && unseen_bytes_ > size; unseen_.pop_front()) {
      unseen_bytes_ -= unseen_.front().second;
      if (std::none_of(unseen_.begin() + 1, unseen_.end(),
                       [&](const auto& later) { return later.first == unseen_.front().first; }))
        times_.erase(unseen_.front().first);
    }
  }

  /// Forgets chunks that left the buffer. Not at once: a read reports a chunk as consumed before it
  /// returns the packet in it.
  void ForgetGone() {
    for (const ChunkName chunk : gone_) {
      const auto found = times_.find(chunk);
      if (found != times_.end() && found->second.gone) times_.erase(found);
    }
    gone_.clear();
  }
  /// nullopt: the chunk is not known.
  std::optional<uint64_t> TimeOf(ChunkName chunk) const {
    const auto found = times_.find(chunk);
    if (found == times_.end()) return std::nullopt;
    return found->second.ns;
  }
  uint64_t used_bytes() const { return used_bytes_; }
  void Clear() {
    times_.clear();
    gone_.clear();
    unseen_.clear();
    unseen_bytes_ = used_bytes_ = 0;
  }

 private:
  struct Time {
    uint64_t ns = 0;
    bool gone = false;
  };

  void Add(ChunkName chunk) {
    const auto [entry, is_new] = times_.try_emplace(chunk, Time{clock_.now()});
    if (!is_new && entry->second.gone) entry->second.ns = clock_.now();
    entry->second.gone = false;
  }
  void Leave(ChunkName chunk) {
    const auto found = times_.find(chunk);
    if (found == times_.end()) return;
    found->second.gone = true;
    gone_.push_back(chunk);
  }

  const Clock& clock_;
  std::unordered_map<ChunkName, Time> times_;
  std::vector<ChunkName> gone_;
  std::deque<std::pair<ChunkName, uint64_t>> unseen_;  // chunks and their bytes, oldest first
  uint64_t unseen_bytes_ = 0;
  uint64_t used_bytes_ = 0;
};

/// What is gathered on one buffer.
struct Gathered {
  explicit Gathered(const Clock& clock) : times(clock) {}

  struct Sequence {
    SweepSequence counts;
    bool lost = false;
    std::optional<uint64_t> oldest_ns;  // returned by the last read
    uint64_t newest_ns = 0;
  };

  /// A packet is returned by the last read that has begun: it begins the history again.
  void BeginHistory() {
    if (in_read == begun) return;
    in_read = begun;
    oldest_ns.reset();
    newest_ns = 0;
    for (size_t i = 0; i < sequences.size(); ++i) sequences.At(i).value.oldest_ns.reset();
  }

  ChunkTimes times;
  std::optional<uint64_t> silent_size;
  uint64_t begun = 0;    // the last read
  uint64_t in_read = 0;  // the last that returned anything
  std::optional<uint64_t> oldest_ns;
  uint64_t newest_ns = 0;
  PacketCount discarded;
  PacketCount folded;
  PacketCount taken;
  SequenceMap<Sequence> sequences;  // in order of first commit
};

void Lower(std::optional<uint64_t>& value, uint64_t other) {
  value = std::min(value.value_or(other), other);
}

class Gatherer : public ReplayListener, public LedgerSink {
 public:
  Gathered& Of(BufferId id) { return buffers_.try_emplace(id, clock_).first->second; }
  void SetAtEnd() { clock_.SetAtEnd(); }

  bool WantsBufferEvents() const override { return true; }
  void OnRecord(const Op&, const LogMoment& moment) override {
    clock_.BeginRecord(moment);
    for (ChunkTimes* times : touched_) times->ForgetGone();
    touched_.clear();
  }
  void OnBufferEvent(const BufferEvent& event) override {
    ChunkTimes& times = Of(event.buffer).times;
    times.OnEvent(event);
    if (touched_.empty() || touched_.back() != &times) touched_.push_back(&times);
  }
  void OnBufferSetUp(SessionBuffer& buffer) override {
    Gathered& gathered = Of(buffer.id);
    gathered.times.Clear();
    gathered.silent_size.reset();
    if (!buffer.info->reports.chunks) gathered.silent_size = buffer.requested_size;
  }
  void OnChunk(BufferId id, const ChunkCommit& commit, std::optional<Refusal>) override {
    Of(id).sequences[commit.sequence];
  }
  void OnChunkDone(BufferId id, const ChunkCommit& commit) override {
    Gathered& buffer = Of(id);
    if (buffer.silent_size) buffer.times.AddUnseen(commit, *buffer.silent_size);
  }
  void OnReadBegun(BufferId id) override { Of(id).begun = reads_.Begin(clock_.record()); }
  void OnReadLimited(BufferId) override { reads_.EndAtLimit(); }
  Status OnPacket(const SessionPacket& packet) override {
    Gathered& buffer = Of(packet.buffer);
    buffer.BeginHistory();
    Gathered::Sequence& sequence = buffer.sequences[packet.packet->sequence];
    sequence.counts.read += {1, packet.packet->size};
    if (const auto ns =
            buffer.times.TimeOf({packet.packet->sequence, packet.packet->place.first_chunk})) {
      if (!sequence.oldest_ns) sequence.newest_ns = 0;
      Lower(buffer.oldest_ns, *ns);
      Lower(sequence.oldest_ns, *ns);
      buffer.newest_ns = std::max(buffer.newest_ns, *ns);
      sequence.newest_ns = std::max(sequence.newest_ns, *ns);
    }
    return {};
  }
  void OnTakenPacket(const SessionPacket& packet) override {
    Of(packet.buffer).taken += {1, packet.packet->size};
  }
  void OnPacketFate(const PacketAccount& account) override {
    Gathered& buffer = Of(account.buffer);
    Gathered::Sequence& sequence = buffer.sequences[account.sequence];
    const PacketCount count{1, account.size};
    sequence.counts.written += count;
    if (account.fate == Fate::kOverwritten) {
      sequence.counts.overwritten += count;
      sequence.lost = true;
    } else if (account.fate == Fate::kFolded) {
      buffer.folded += count;
      sequence.lost = true;  // for its history: the packet itself is gone
    } else if (account.fate == Fate::kDiscarded && !IsByService(account.cause)) {
      buffer.discarded += count;
      sequence.lost = true;
    }
  }

 private:
  Clock clock_;
  ReadCount reads_;
  std::map<BufferId, Gathered> buffers_;
  std::vector<ChunkTimes*> touched_;  // by the record under way
};

/// Fills in how far back the buffer and its sequences reach.
void AddHistory(const Gathered& gathered, const ReplayOutcome& outcome, SweepRow& row) {
  const uint64_t first = outcome.first_time_ns.value_or(0);
  const uint64_t end = outcome.last_time_ns.value_or(first);
  const uint64_t duration = end > first ? end - first : 0;
  const auto since = [&](std::optional<uint64_t> oldest_ns, uint64_t newest_ns) {
    return oldest_ns ? HistoryOf(*oldest_ns, newest_ns, end, row.policy) : 0;
  };
  row.history_ns = since(gathered.oldest_ns, gathered.newest_ns);
  for (size_t i = 0; i < gathered.sequences.size(); ++i) {
    const auto& [key, sequence] = gathered.sequences.At(i);
    SweepSequence counts = sequence.counts;
    counts.sequence = key;
    counts.history_ns = sequence.lost ? since(sequence.oldest_ns, sequence.newest_ns) : duration;
    if (counts.written.packets == 0) continue;
    row.NoteHistory(counts);
    row.sequences.push_back(counts);
  }
  row.FinishHistory(duration);
}

}  // namespace

Result<std::vector<SweepRow>> ReplayConfiguration(const SweepInput& input,
                                                  const ReplayOptions& config) {
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OpSource> ops, input.open());
  Gatherer gatherer;
  Ledger ledger(gatherer);
  ReplayOptions options = config;
  options.session.find_engine = input.find_engine;
  options.session.clone = input.clone;
  options.ahead = input.ahead;
  CountedReplay replay(std::move(options), {&gatherer, &ledger});
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, ops->Next());
    if (!op) break;
    RS_RETURN_IF_ERROR(replay.Apply(*op));
  }
  gatherer.SetAtEnd();
  RS_ASSIGN_OR_RETURN(const ReplayOutcome outcome, replay.Finish());
  if (const std::string problems = ledger.Check(); !problems.empty()) input.warn(problems);

  std::vector<SweepRow> rows;
  for (const BufferOutcome& buffer : outcome.buffers) {
    const Gathered& gathered = gatherer.Of(buffer.id);
    SweepRow& row = rows.emplace_back(SweepRow{buffer});
    row.discarded = gathered.discarded;
    row.folded = gathered.folded;
    for (const protovm::VmAccount& vm : row.vms)
      row.state_bytes = row.state_bytes.value_or(0) + (vm.left ? 0 : vm.state_bytes);
    row.taken = gathered.taken;
    if (const auto totals = ledger.totals().find(row.id); totals != ledger.totals().end()) {
      row.written = totals->second.written;
      row.overwritten = totals->second[Fate::kOverwritten];
      row.lost = totals->second.lost().packets;
    }
    row.used_bytes = gathered.silent_size ? std::min(row.stats.bytes_written, *gathered.silent_size)
                                          : gathered.times.used_bytes();
    AddHistory(gathered, outcome, row);
  }
  return rows;
}

}  // namespace ringscope
