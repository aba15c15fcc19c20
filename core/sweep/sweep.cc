#include "core/sweep/sweep.h"

#include <deque>
#include <numeric>

#include "core/engine/payload_store.h"

namespace ringscope {
namespace {

PacketCount Less(const PacketCount& a, const PacketCount& b) {
  return {a.packets - std::min(a.packets, b.packets), a.bytes - std::min(a.bytes, b.bytes)};
}

using Section = std::vector<StoredOp>;

/// Reads the next records of a session. @return none at its end
Result<Section> ReadSection(OpSource& source) {
  constexpr size_t kMostRecords = 2048;
  constexpr size_t kMostBytes = size_t{1} << 20;
  Section section;
  size_t bytes = 0;
  while (section.size() < kMostRecords && bytes < kMostBytes) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, source.Next());
    if (!op) break;
    section.emplace_back(*op);
    if (const auto* commit = std::get_if<Commit>(&op->body)) bytes += commit->request.size();
  }
  return section;
}

/// Hands on one record at a time.
class OneRecord : public OpSource {
 public:
  void Set(const Op& op) { op_ = op; }
  Result<std::optional<Op>> Next() override { return std::exchange(op_, std::nullopt); }

 private:
  std::optional<Op> op_;
};

/// Commits of the oldest and the newest packet of a read.
struct ReadSpan {
  uint64_t oldest_ns = UINT64_MAX, newest_ns = 0;

  void Add(const ReadSpan& other) {
    oldest_ns = std::min(oldest_ns, other.oldest_ns);
    newest_ns = std::max(newest_ns, other.newest_ns);
  }
  /// How far back from the end of the log the packets reach. A buffer that discards may have been
  /// full long before the end: of it, the time that they cover.
  uint64_t History(uint64_t end_ns, FillPolicy policy) const {
    const uint64_t to = policy == FillPolicy::kDiscard ? newest_ns : end_ns;
    return to - std::min(to, oldest_ns);
  }
};

/// A configuration of a sweep on its way through a session: counts what the buffers return.
/// Memory: the buffers, and O(sequences + chunks that are unread at the end).
class SweepReplay : public ReplayListener {
 public:
  /// @param has_ledger else its rows follow from another replay's ledger
  SweepReplay(const SweepConfig& config, ReplayOptions options, bool has_ledger)
      : accounts(has_ledger ? std::make_shared<SessionAccounts>() : nullptr),
        keep_from_ns_(config.keep_from_ns),
        ledger_(has_ledger ? std::make_unique<Ledger>(*accounts) : nullptr),
        replay_(std::move(options),
                has_ledger ? std::vector<ReplayListener*>{this, accounts.get(), ledger_.get()}
                           : std::vector<ReplayListener*>{this}) {
    if (!config.session.empty()) configured_.emplace(record_, config.session);
  }

  /// Applies the records, up to the first error.
  void Apply(const Section& section) {
    for (size_t at = 0; at < section.size() && status; ++at) {
      // Fetches the record that is applied next: what the other replays did with their buffers has
      // put it out of the caches.
      if (at + 1 < section.size())
        if (const auto* next = std::get_if<Commit>(&section[at + 1].op().body))
          PrefetchPayload(next->request.data(), static_cast<uint32_t>(next->request.size()));
      status = configured_ ? ApplyConfigured(section[at].op()) : replay_.Apply(section[at].op());
    }
  }
  /// Makes the reads at the end, and the drain. Once.
  void Finish() {
    if (!status) return;
    record_number_ = UINT64_MAX;
    status = replay_.Finish().map([&](ReplayOutcome result) { outcome = std::move(result); });
    if (ledger_) accounts->totals = ledger_->totals();
  }
  /// Returns the sums of the ledger that do not add up, in words; empty if all do.
  std::string Check() const { return ledger_ ? ledger_->Check() : std::string(); }
  /// Returns the result, after Finish: by the replay's own ledger, else by these accounts.
  /// @param is_of_smaller they are of smaller buffers; else those of this one are as large at most
  std::vector<SweepRow> Rows(const SessionAccounts& of_other, bool is_of_smaller);

  const std::shared_ptr<SessionAccounts> accounts;  // nullptr without a ledger
  Status status;                                    // the first error of the above
  ReplayOutcome outcome;                            // after Finish
  std::vector<std::string> warnings;
  /// After Rows: false if this buffer may hold or discard what the other one did not.
  bool is_exact = true;

  void OnRecord(const Op&, const LogMoment& moment) override {
    record_number_ = moment.record.value_or(0);
    now_ns_ = moment.time_ns.value_or(0);
  }
  void OnBufferSetUp(SessionBuffer& buffer) override {
    Buffer& of = Of(buffer.id);
    of.buffer = &buffer;
    of.committed = {};
    of.commits.clear();
    if (keep_from_ns_) of.writes = std::make_shared<RingWrites>(*keep_from_ns_);
  }
  void OnChunk(BufferId id, const ChunkCommit& commit, std::optional<Refusal> refusal) override {
    Buffer& of = Of(id);
    if (refusal || of.buffer == nullptr) return;
    const uint64_t wraps = of.buffer->engine->stats().write_wrap_count;
    const ChunkName name{commit.sequence, commit.chunk};
    const auto [committed, is_new] = of.committed.Add(name);
    if (is_new) committed.ns = now_ns_;
    const bool has_packet = commit.fragments > ((commit.flags & kFirstContinues) != 0 ? 1 : 0);
    if (of.writes && is_new && has_packet)
      of.writes->AddPackets(commit.sequence, now_ns_, of.buffer->engine->stats().bytes_written);
    else if (of.writes)
      of.writes->SetBytes(of.buffer->engine->stats().bytes_written);
    committed.wraps = wraps;
    of.commits.emplace_back(name, wraps);
    // Two wraps after its commit a chunk is overwritten; the commit itself may have wrapped, too.
    for (; of.commits.front().second + 2 < wraps; of.commits.pop_front()) {
      const auto& [old, its_wraps] = of.commits.front();
      const Committed* const known = of.committed.Find(old);
      if (known != nullptr && known->wraps == its_wraps) of.committed.Erase(old);
    }
  }
  /// The passes of one record are the same read, and so is a pass that follows one at its limit.
  void OnReadBegun(BufferId id) override {
    if (record_number_ != read_record_ && !at_limit_) ++reads_;
    read_record_ = record_number_;
    at_limit_ = false;
    Buffer& of = Of(id);
    of.begun = reads_;
    if (of.writes) of.writes->AddRead(of.buffer->engine->stats().bytes_written);
  }
  void OnReadLimited(BufferId) override { at_limit_ = true; }
  Status OnPacket(const SessionPacket& packet) override {
    Buffer& buffer = Of(packet.buffer);
    buffer.in_read = buffer.begun;
    Sequence& sequence = buffer.sequences[packet.packet->sequence];
    const PacketCount count{1, packet.packet->size};
    sequence.read += count;
    if (sequence.in_read != buffer.begun) {
      sequence.in_read = buffer.begun;
      sequence.span = {};
      sequence.first_chunk.reset();
    }
    const ChunkId first = packet.packet->place.first_chunk;
    if (sequence.first_chunk == first) return {};
    sequence.first_chunk = first;
    if (const Committed* of = buffer.committed.Find({packet.packet->sequence, first}))
      sequence.span.Add({of->ns, of->ns});
    return {};
  }
  void OnTakenPacket(const SessionPacket& packet) override {
    Of(packet.buffer).taken += {1, packet.packet->size};
  }
  void OnDrainBegun(BufferId id) override {
    Buffer& of = Of(id);
    AddUnread(of, of.unread_chunks);
  }
  void OnDrainPacket(BufferId id, const Packet& packet) override {
    Of(id).sequences[packet.sequence].unread += {1, packet.size};
  }
  void OnBufferReplaced(SessionBuffer& buffer) override {
    NoteStuck(Of(buffer.id));
    Of(buffer.id).buffer = nullptr;
  }
  void OnDrained() override {
    for (auto& [id, of] : buffers_)
      if (of.buffer != nullptr) NoteStuck(of);
  }
  void OnWarning(const std::string& text) override { warnings.push_back(text); }

 private:
  struct Committed {
    uint64_t ns = 0;     // of the first commit
    uint64_t wraps = 0;  // of the buffer before the last commit
  };
  struct Sequence {
    PacketCount read;
    PacketCount unread;
    uint64_t in_read = 0;                // that returned the packets of `span`
    ReadSpan span;                       // of packets by their first chunks
    std::optional<ChunkId> first_chunk;  // of the last packet
  };
  struct Buffer {
    SessionBuffer* buffer = nullptr;
    uint64_t begun = 0;    // the last read
    uint64_t in_read = 0;  // the last that returned anything
    PacketCount taken;
    std::vector<ChunkName> unread_chunks;                // before drains
    std::vector<ChunkName> stuck_chunks;                 // and after them
    ChunkMap<Committed> committed;                       // chunks that may be in the buffer
    std::deque<std::pair<ChunkName, uint64_t>> commits;  // of these, with `wraps`
    SequenceMap<Sequence> sequences;
    std::shared_ptr<RingWrites> writes;
  };

  Status ApplyConfigured(const Op& op) {
    record_.Set(op);
    while (true) {
      RS_ASSIGN_OR_RETURN(const std::optional<Op> next, configured_->Next());
      if (!next) return {};
      RS_RETURN_IF_ERROR(replay_.Apply(*next));
    }
  }
  Buffer& Of(BufferId id) {
    if (last_ == nullptr || last_id_ != id) {
      last_ = &buffers_[id];
      last_id_ = id;
    }
    return *last_;
  }
  static void NoteStuck(Buffer& of) {
    if (!of.unread_chunks.empty()) AddUnread(of, of.stuck_chunks);
  }
  static void AddUnread(const Buffer& of, std::vector<ChunkName>& chunks) {
    static_cast<void>(of.buffer->engine->VisitChunks([&](const ObservedChunk& chunk) {
      if (!chunk.is_padding() && chunk.payload_avail > 0)
        chunks.push_back({chunk.sequence, chunk.chunk});
    }));
  }

  const std::optional<uint64_t> keep_from_ns_;
  std::map<BufferId, Buffer> buffers_;
  Buffer* last_ = nullptr;
  BufferId last_id_{};
  uint64_t reads_ = 0;
  std::optional<uint64_t> read_record_;  // with which the last one began
  bool at_limit_ = false;                // it ended so
  uint64_t record_number_ = 0;
  uint64_t now_ns_ = 0;
  const std::unique_ptr<Ledger> ledger_;
  CountedReplay replay_;
  OneRecord record_;
  std::optional<ConfiguredOps> configured_;  // of record_, if the session has another config
};

std::vector<SweepRow> SweepReplay::Rows(const SessionAccounts& of_other, bool is_of_smaller) {
  const SessionAccounts& all = accounts ? *accounts : of_other;
  const uint64_t end_ns = outcome.end_ns();
  const uint64_t duration_ns = end_ns - std::min(end_ns, outcome.first_time_ns.value_or(0));
  std::vector<SweepRow> rows;
  for (const BufferOutcome& buffer : outcome.buffers) {
    SweepRow& row = rows.emplace_back(SweepRow{buffer});
    Buffer& counted = Of(buffer.id);
    row.taken = counted.taken;
    if (counted.writes) counted.writes->SetBytes(row.stats.bytes_written);
    row.writes = counted.writes;
    for (const protovm::VmAccount& vm : row.vms)
      row.state_bytes = row.state_bytes.value_or(0) + (vm.left ? 0 : vm.state_bytes);
    const SessionAccounts::Buffer* const of = FindIn(all.buffers, buffer.id);
    if (of == nullptr) continue;
    const LedgerTotals* const totals = FindIn(all.totals, row.id);
    const bool discards = row.policy == FillPolicy::kDiscard;
    struct Waiting : PacketCount {
      bool is_known = true;
    };
    SequenceMap<Waiting> waiting;
    const bool loses_more = row.stats.chunks_overwritten + row.stats.chunks_discarded >
                            of->stats.chunks_overwritten + of->stats.chunks_discarded;
    if (!accounts) {
      std::ranges::sort(counted.unread_chunks, {}, &ChunkName::Packed);
      counted.unread_chunks.erase(
          std::unique(counted.unread_chunks.begin(), counted.unread_chunks.end()),
          counted.unread_chunks.end());
      std::ranges::sort(counted.stuck_chunks, {}, &ChunkName::Packed);
      for (const ChunkName chunk : counted.unread_chunks)
        if (const PacketCount* packets = of->waiting.Find(chunk)) {
          waiting[chunk.sequence] += *packets;
          // The packets of a chunk that a last read returned here do not wait.
          is_exact &= std::ranges::binary_search(counted.stuck_chunks, chunk.Packed(), {},
                                                 &ChunkName::Packed);
        }
      // A chunk that is stuck here alone holds packets that are not known to wait.
      for (const ChunkName chunk : counted.stuck_chunks)
        waiting[chunk.sequence].is_known &= of->waiting.Find(chunk) != nullptr;
      // Only a ledger knows the reasons if other chunks were taken in, refused or overwritten.
      is_exact &= totals == nullptr || totals->duplicates.packets == 0;
      is_exact &= discards ? row.stats.chunks_overwritten == 0
                           : row.stats.chunks_written == of->stats.chunks_written &&
                                 row.stats.chunks_discarded == of->stats.chunks_discarded &&
                                 row.stats.abi_violations == of->stats.abi_violations;
    }
    ReadSpan buffer_span;
    PacketCount otherwise;
    for (size_t i = 0; i < of->sequences.size(); ++i) {
      const auto& [key, account] = of->sequences.At(i);
      const Sequence& counts = counted.sequences[key];
      const ReadSpan span = counts.in_read == counted.in_read ? counts.span : ReadSpan();
      buffer_span.Add(span);
      if (account.written.packets == 0) continue;
      SweepSequence& sequence = row.sequences.emplace_back(
          SweepSequence{.sequence = key, .written = account.written, .read = counts.read});
      PacketCount discarded = account.discarded;
      if (accounts) {
        sequence.overwritten = account.overwritten;
      } else {
        PacketCount full = account.written;
        const Waiting& waits = waiting[key];
        uint64_t known = 0;
        for (const PacketCount& part : {counts.read, counts.unread, account.otherwise,
                                        account.incomplete, PacketCount(waits)}) {
          full = Less(full, part);
          known += part.packets;
        }
        is_exact &= !is_of_smaller || known == account.written.packets;
        // A ring discards only chunks that are late, whatever its size.
        is_exact &= waits.is_known || full.packets == 0;
        // Packets may have been read where the chunk that stalls them was overwritten or refused.
        is_exact &= account.waiting.packets == 0 ||
                    (!discards && (waits.packets == 0 || waits.packets == account.waiting.packets));
        is_exact &= account.is_order_free || !loses_more;
        discarded = discards ? full
                             : PacketCount{std::min(full.packets, discarded.packets),
                                           std::min(full.bytes, discarded.bytes)};
        sequence.overwritten = Less(full, discarded);
      }
      const bool is_whole =
          sequence.overwritten.packets + discarded.packets + account.folded.packets == 0;
      sequence.history_ns = is_whole ? duration_ns : span.History(end_ns, row.policy);
      row.written += sequence.written;
      row.overwritten += sequence.overwritten;
      row.discarded += discarded;
      row.late += std::min(account.late, discarded.packets);
      row.folded += account.folded;
      otherwise += account.otherwise;
      if (row.shortest_sequence && sequence.history_ns >= row.shortest_history_ns) continue;
      row.shortest_history_ns = sequence.history_ns;
      row.shortest_sequence = sequence.sequence;
    }
    row.lost = row.full_packets() + row.late + otherwise.packets + row.invalid;
    if (accounts && totals != nullptr) {
      row.written = totals->written;
      row.lost = totals->lost().packets;
      row.again = totals->duplicates.packets;
    }
    const bool is_whole = row.written.packets > 0 && row.full_packets() + row.folded.packets == 0;
    row.history_ns = is_whole ? duration_ns : buffer_span.History(end_ns, row.policy);
  }
  return rows;
}

/// Takes all replays through the session, section by section.
Status RunPass(const SweepInput& input, std::vector<std::unique_ptr<SweepReplay>>& replays) {
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OpSource> ops, input.open());
  RS_ASSIGN_OR_RETURN(Section section, ReadSection(*ops));
  while (!section.empty()) {
    Result<Section> next;
    input.run_tasks(replays.size() + 1, [&](size_t i) {
      if (i == 0)
        next = ReadSection(*ops);
      else
        replays[i - 1]->Apply(section);
    });
    if (!next) return tl::unexpected(std::move(next).error());
    section = *std::move(next);
  }
  input.run_tasks(replays.size(), [&](size_t i) { replays[i]->Finish(); });
  for (const auto& replay : replays) RS_RETURN_IF_ERROR(replay->status);
  return {};
}

}  // namespace

bool SessionAccounts::AreOfLargerToo() const {
  for (const auto& [id, buffer] : buffers)
    for (size_t i = 0; i < buffer.sequences.size(); ++i)
      if (!buffer.sequences.At(i).value.is_order_free) return false;
  return std::ranges::all_of(totals,
                             [](const auto& each) { return each.second.duplicates.packets == 0; });
}

void SessionAccounts::OnPacketFate(const PacketAccount& account) {
  if (RowOf(account.fate).group == FateGroup::kDropped) return;  // a place, and no packet
  Buffer& buffer = buffers[account.buffer];
  Sequence& sequence = buffer.sequences[account.sequence];
  const PacketCount count{1, account.size};
  sequence.written += count;
  switch (account.fate) {
    case Fate::kRead:
    case Fate::kReadable:
    case Fate::kInvalid:
    case Fate::kReadBefore:
    case Fate::kMoved:
    case Fate::kCleared:
      return;
    case Fate::kOverwritten:
      sequence.overwritten += count;
      return;
    case Fate::kDiscarded:
      (IsByService(account.cause) ? sequence.otherwise : sequence.discarded) += count;
      sequence.late +=
          account.cause == Cause::kAlreadyConsumed || account.cause == Cause::kBadRecommit;
      return;
    case Fate::kFolded:
      sequence.folded += count;
      return;
    case Fate::kIncomplete:
      if (!account.in_fragments) {
        sequence.incomplete += count;
        return;
      }
      [[fallthrough]];
    case Fate::kStalled:
      sequence.waiting += count;
      // A smaller ring may overwrite the end of a packet whose beginning it still has.
      sequence.is_order_free &= account.first_chunk == account.last_chunk;
      buffer.waiting.Add({account.sequence, IdOf(account.first_chunk)}).first += count;
      return;
    default:
      sequence.otherwise += count;
      sequence.is_order_free &= !account.in_fragments && account.fate != Fate::kCut;
  }
}

Status SessionAccounts::OnLogEnd(Session& session) {
  for (const auto& [id, buffer] : session.buffers()) buffers[id].stats = buffer.engine->stats();
  return {};
}

uint64_t Sweep::BytesOf(const ReplayOptions& config, uint64_t most) const {
  uint64_t bytes = 0;
  const SessionIndex& facts = input_.facts;
  if (facts.buffers.empty()) return config.session.all.size.value_or(0);
  for (const auto& [id, own] : facts.buffers)
    bytes += std::min(config.session.ChoiceFor(id, own.index).size.value_or(own.size), most);
  return bytes;
}

/// Returns the rows of a configuration that needs no replay, as its buffers wrap as little as those
/// of the setting's largest one, which never did.
std::optional<std::vector<SweepRow>> Sweep::RowsOfSame(const SweepConfig& config) const {
  const Largest* const largest = FindIn(largest_, config.setting);
  if (largest == nullptr || largest->rows.empty() || config.keep_from_ns) return std::nullopt;
  std::vector<SweepRow> rows = largest->rows;
  for (SweepRow& row : rows) {
    const std::optional<uint64_t> size = config.options.session.ChoiceFor(row.id, row.index).size;
    const bool is_same = size && *size % kPageBytes == 0 && row.stats.write_wrap_count == 0 &&
                         row.full_packets() == 0 &&
                         *size >= PagesUp(row.stats.bytes_written) + kPageBytes;
    if (!is_same) return std::nullopt;
    row.size = row.stats.buffer_size = *size;
  }
  return rows;
}

Result<std::vector<std::vector<SweepRow>>> Sweep::Run(const std::vector<SweepConfig>& configs) {
  std::vector<std::vector<SweepRow>> rows(configs.size());
  std::vector<size_t> left(configs.size()), inexact;
  std::iota(left.begin(), left.end(), size_t{0});
  // The losses of clones and of programs (ProtoVM) depend on what is in the buffers at that time.
  bool only_ledgers = input_.clone.has_value() || input_.facts.has_programs;
  const bool has_accounts = input_.accounts != nullptr && !only_ledgers && configs.size() == 1 &&
                            configs.front().setting == SweepConfig::kSizesOnly;
  const auto needs_ledger = [&](const SweepConfig& config) {
    if (has_accounts) return only_ledgers;
    const auto [largest, is_new] = largest_.try_emplace(config.setting);
    const uint64_t bytes = BytesOf(config.options);
    const bool is_largest = is_new || bytes > largest->second.bytes;
    if (is_largest) largest->second = {.bytes = bytes, .accounts = nullptr, .rows = {}};
    return is_largest || only_ledgers;
  };
  while (!left.empty()) {
    std::ranges::stable_sort(left, std::ranges::greater(),
                             [&](size_t i) { return BytesOf(configs[i].options); });
    // As many as memory holds. Of a setting none goes before its largest, which has the ledger.
    std::vector<size_t> pass;
    std::vector<std::unique_ptr<SweepReplay>> replays;
    std::set<size_t> waiting;  // settings
    uint64_t held = 0;
    std::erase_if(left, [&](size_t i) {
      const SweepConfig& config = configs[i];
      const uint64_t bytes = BytesOf(config.options, input_.facts.commit_bytes);
      const bool fits = pass.empty() || held + bytes <= input_.memory_limit;
      if (!fits && !largest_.contains(config.setting)) waiting.insert(config.setting);
      if (!fits || waiting.contains(config.setting)) return false;
      held += bytes;
      ReplayOptions options = config.options;
      options.session.find_engine = input_.find_engine;
      options.session.clone = input_.clone;
      if (input_.has_reads) options.has_reads = [has = *input_.has_reads] { return has; };
      options.is_reconfigured |= input_.is_reconfigured || !config.session.empty();
      replays.push_back(
          std::make_unique<SweepReplay>(config, std::move(options), needs_ledger(config)));
      pass.push_back(i);
      return true;
    });
    RS_RETURN_IF_ERROR(RunPass(input_, replays));
    for (size_t n = 0; n < pass.size(); ++n) {
      const size_t i = pass[n];
      SweepReplay& replay = *replays[n];
      for (const std::string& text : replay.warnings) input_.warn(text);
      if (const std::string problems = replay.Check(); !problems.empty()) input_.warn(problems);
      if (has_accounts) {
        rows[i] = replay.Rows(*input_.accounts, /*is_of_smaller=*/true);
      } else {
        Largest& largest = largest_[configs[i].setting];
        if (largest.accounts == nullptr) largest.accounts = replay.accounts;
        rows[i] = replay.Rows(*largest.accounts, /*is_of_smaller=*/false);
        if (replay.accounts == largest.accounts) largest.rows = rows[i];
      }
      if (!replay.is_exact) inexact.push_back(i);
      outcome_ = replay.outcome;
    }
    std::erase_if(left, [&](size_t i) {
      auto same = RowsOfSame(configs[i]);
      if (!same) return false;
      rows[i] = *std::move(same);
      return true;
    });
    if (!left.empty()) continue;
    left = std::exchange(inexact, {});
    only_ledgers = true;
  }
  return rows;
}

uint64_t RingWrites::SizeToKeep() const {
  size_t first = chunks_.size();
  for (size_t i = 0; i < kept_from_.size(); ++i)
    first = std::min(first, kept_from_.At(i).value.value_or(first));
  return SizeFrom(first, {});
}

uint64_t RingWrites::SizeFrom(size_t first, const std::vector<size_t>& reads) const {
  uint64_t size = std::max(PagesUp(HeldBy(UINT64_MAX, first, reads)), kPageBytes);
  // Where a ring wraps, it may leave nearly as much as its largest chunk unused.
  while (HeldBy(size, first, reads) > size) size += kPageBytes;
  return size;
}

/// The most bytes of a ring of this size that unread chunks occupy at once, with the space between
/// them that is left unused. @param first earlier chunks do not count
uint64_t RingWrites::HeldBy(uint64_t size, size_t first, const std::vector<size_t>& reads) const {
  uint64_t at = 0, held = 0, most = 0;
  auto read = reads.begin();
  for (size_t i = 0; i < chunks_.size(); ++i) {
    if (i <= first) held = 0;
    for (; read != reads.end() && *read <= i; ++read) held = 0;
    const bool wraps = chunks_[i] > size - at;
    held += chunks_[i] + (wraps && held > 0 ? size - at : 0);
    at = (wraps ? 0 : at) + chunks_[i];
    most = std::max(most, held);
  }
  return most;
}

}  // namespace ringscope
