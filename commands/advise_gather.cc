#include "commands/advise_gather.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "commands/replay_run.h"
#include "core/gaps.h"
#include "core/journal.h"
#include "core/sink_fan.h"
#include "core/written_chunk.h"

namespace ringscope {
namespace {

/// Reads that come closer to one another are passes of the same one.
constexpr uint64_t kReadsApartNs = 50'000'000;
constexpr uint64_t kFewestPeriodicReads = 3;
constexpr size_t kMaxContents = 64;  // kinds, of a sequence
constexpr size_t kMaxSources = 1024;

/// Collects what the records themselves say.
class Scan {
 public:
  void Add(const Op& op) {
    if (op.time_ns) {
      if (!first_ns_) first_ns_ = op.time_ns;
      now_ns_ = *op.time_ns;
    }
    if (const auto* config = std::get_if<TraceConfigRecord>(&op.body)) {
      facts_.config = ReadTraceConfigFacts(wire::AsBytes(config->config));
      facts_.has_config = true;
    } else if (const auto* setup = std::get_if<BufferSetUp>(&op.body)) {
      AdviceBuffer buffer;
      buffer.id = setup->id;
      buffer.index = setup->index.value_or(set_up_);
      buffer.size = setup->size;
      buffer.policy = setup->policy;
      buffer.engine = setup->engine;
      ++set_up_;
      buffers_.insert_or_assign(setup->id, std::move(buffer));
    } else if (const auto* connected = std::get_if<ProducerConnected>(&op.body)) {
      AdviceProducer& producer = ProducerOf(connected->producer);
      producer.name = connected->name;
      if (connected->smb_size) producer.smb_size = connected->smb_size;
    } else if (const auto* memory = std::get_if<SharedMemorySetUp>(&op.body)) {
      if (memory->size > 0) ProducerOf(memory->producer).smb_size = memory->size;
    } else if (const auto* source = std::get_if<DataSourceSetUp>(&op.body)) {
      if (sources_.size() < kMaxSources) sources_.emplace(source->target_buffer, source->name);
    } else if (const auto* read = std::get_if<ReadPass>(&op.body)) {
      AddRead(*read);
    } else if (std::holds_alternative<RecorderGap>(op.body)) {
      ++facts_.recorder_gaps;
    }
  }

  AdviceFacts Finish(AdviseReads& reads) {
    for (auto& [id, buffer] : buffers_) {
      for (const ConfiguredSource& source : facts_.config.sources)
        if (source.target_buffer == buffer.index) AddName(buffer.sources, source.name);
      for (const auto& [target, name] : sources_)
        if (target == id) AddName(buffer.sources, name);
      facts_.buffers.push_back(std::move(buffer));
    }
    for (auto& [id, producer] : producers_) facts_.producers.push_back(std::move(producer));
    facts_.duration_ns = first_ns_ && now_ns_ > *first_ns_ ? now_ns_ - *first_ns_ : 0;
    facts_.recorded_reads = reads_;
    ChooseReads(reads);
    return std::move(facts_);
  }

 private:
  AdviceProducer& ProducerOf(ProducerId id) {
    AdviceProducer& producer = producers_[id];
    producer.id = id;
    return producer;
  }

  static void AddName(std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }

  void AddRead(const ReadPass&) {
    has_reads_ = true;
    if (last_read_ns_ && now_ns_ < *last_read_ns_ + kReadsApartNs) {
      last_read_ns_ = now_ns_;
      return;
    }
    if (reads_ > 0) longest_pause_ns_ = std::max(longest_pause_ns_, now_ns_ - *last_read_ns_);
    last_read_ns_ = now_ns_;
    ++reads_;
  }

  void ChooseReads(AdviseReads& reads) const {
    const bool recorded = reads_ >= kFewestPeriodicReads;
    reads.reads.periodic = recorded || facts_.config.write_into_file;
    if (facts_.config.write_into_file)
      reads.reads.period_ns = facts_.config.PeriodNs();
    else if (recorded)
      reads.reads.period_ns = longest_pause_ns_;
    // Those into a file cannot be seen by everyone who records; the config tells of them.
    if (reads.reads.periodic && !recorded) {
      reads.config.reads = ReadsMode::kEvery;
      reads.config.every_ns = reads.reads.period_ns;
    } else {
      reads.config.reads = has_reads_ ? ReadsMode::kRecorded : ReadsMode::kEnd;
    }
  }

  AdviceFacts facts_;
  std::map<BufferId, AdviceBuffer> buffers_;
  std::map<ProducerId, AdviceProducer> producers_;
  std::set<std::pair<BufferId, std::string>> sources_;
  uint32_t set_up_ = 0;
  std::optional<uint64_t> first_ns_;
  uint64_t now_ns_ = 0;
  bool has_reads_ = false;
  uint64_t reads_ = 0;
  std::optional<uint64_t> last_read_ns_;
  uint64_t longest_pause_ns_ = 0;
};

/// Collects what a replay shows, beside the analysis of gaps.
class Gatherer : public SessionSink, public LedgerSink {
 public:
  Gatherer(AdviceFacts& facts, GapAnalysis& analysis) : facts_(facts), analysis_(analysis) {}

  void OnRecord(const Op& op, uint64_t) override {
    if (!op.time_ns) return;
    if (!first_ns_) first_ns_ = op.time_ns;
    now_ns_ = *op.time_ns;
  }

  void OnChunk(BufferId id, const ChunkCommit& commit, std::optional<Refusal> refusal) override {
    if (refusal) return;
    AdviceBuffer* buffer = BufferOf(id);
    if (buffer == nullptr) return;
    // Of a whole chunk V2 stores the fragments alone.
    size_t stored = commit.payload.size();
    if (commit.complete && !buffer->engine.starts_with("v1")) {
      ReadWrittenChunk(commit, written_);
      stored = written_.bytes;
    }
    const uint64_t room = (stored + 31) / 16 * 16;
    buffer->rate.Add(now_ns_, room);
    ProducerOf(commit.sequence.producer).rate.Add(now_ns_, commit.payload.size());
    const bool is_new = !sequences_.contains(KeyOf(id, commit.sequence));
    Sequence& sequence = SequenceOf(id, commit.sequence);
    sequence.facts.laid_bytes += room;
    if (is_new) sequence.facts.first_ns = SinceStart(now_ns_);
    sequence.facts.last_ns = SinceStart(now_ns_);
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
    const bool is_full = account.cause == Cause::kSealed || account.cause == Cause::kFull;
    if (account.fate == Fate::kOverwritten || (account.fate == Fate::kDiscarded && is_full))
      sequence.facts.lost += count;
    if (account.fate == Fate::kWriterDropped) ++ProducerOf(account.sequence.producer).aborted;
    if (!is_full) return;
    AdviceBuffer* buffer = BufferOf(account.buffer);
    if (buffer == nullptr || !account.decided.time_ns) return;
    const uint64_t at = SinceStart(*account.decided.time_ns);
    buffer->first_refused_ns = std::min(buffer->first_refused_ns.value_or(at), at);
  }
  void OnDuplicate(const PacketAccount& account) override { analysis_.OnDuplicate(account); }

  void Finish(const GapReport& report, uint64_t late_ns) {
    for (const BufferGaps& buffer : report.buffers)
      for (const SequenceGaps& gaps : buffer.sequences) AddGaps(buffer.id, gaps);
    for (auto& [key, sequence] : sequences_) {
      for (const auto& [content, packets] : sequence.contents) {
        if (packets <= sequence.facts.content_packets) continue;
        sequence.facts.content = content;
        sequence.facts.content_packets = packets;
      }
      facts_.sequences.push_back(sequence.facts);
    }
    std::sort(facts_.sequences.begin(), facts_.sequences.end(),
              [](const AdviceSequence& a, const AdviceSequence& b) {
                if (a.buffer != b.buffer) return a.buffer < b.buffer;
                if (a.laid_bytes != b.laid_bytes) return a.laid_bytes > b.laid_bytes;
                return a.sequence < b.sequence;
              });
    facts_.late.limit_ns = late_ns;
    for (const StaleSequence& stale : report.stale) {
      facts_.late.packets += stale.stale;
      if (stale.longest_ns <= facts_.late.longest_ns) continue;
      facts_.late.longest_ns = stale.longest_ns;
      facts_.late.sequence = stale.sequence;
    }
  }

 private:
  struct Sequence {
    AdviceSequence facts;
    std::map<uint32_t, uint64_t> contents;  // packets of each kind
  };

  static uint64_t KeyOf(BufferId buffer, SequenceKey sequence) {
    return uint64_t{Raw(buffer)} << 32 | sequence.Packed();
  }
  uint64_t SinceStart(uint64_t time_ns) const {
    return first_ns_ && time_ns > *first_ns_ ? time_ns - *first_ns_ : 0;
  }
  Sequence& SequenceOf(BufferId buffer, SequenceKey key) {
    Sequence& sequence = sequences_[KeyOf(buffer, key)];
    sequence.facts.buffer = buffer;
    sequence.facts.sequence = key;
    return sequence;
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
    const auto of = [&](Fate fate) { return gaps.by_fate[static_cast<size_t>(fate)].packets; };
    facts_.unfinished += of(Fate::kIncomplete) + of(Fate::kStalled);
    if (gaps.written().packets == 0) return;
    SequenceOf(buffer, gaps.sequence).facts.unusable += gaps.unusable.count.packets;
    ProducerOf(gaps.sequence.producer).flagged += gaps.producer_flags;
  }

  AdviceFacts& facts_;
  GapAnalysis& analysis_;
  std::map<uint64_t, Sequence> sequences_;
  std::unordered_map<uint16_t, size_t> producer_index_;
  std::optional<uint64_t> first_ns_;
  uint64_t now_ns_ = 0;
  WrittenChunk written_;  // scratch
};

}  // namespace

Result<AdviceFacts> ScanForAdvice(SessionReader& sessions, AdviseReads& reads) {
  Scan scan;
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, sessions.Next());
    if (!op) break;
    scan.Add(*op);
  }
  return scan.Finish(reads);
}

Status GatherFacts(Context& context, const OpenSession& open, const AdviseReads& reads,
                   uint64_t late_ns, AdviceFacts& facts) {
  RS_ASSIGN_OR_RETURN(OpenedSession opened, open());
  GapAnalysis analysis(late_ns);
  Gatherer gatherer(facts, analysis);
  Journal journal([&](const JournalEvent& event) { analysis.OnEvent(event); });
  SinkFan sink({&gatherer, &analysis});
  ReplayChoices choices;
  choices.reads = {reads.config.reads, reads.config.every_ns};
  RS_ASSIGN_OR_RETURN(const ReplayOutcome outcome,
                      ReplaySession(context, *opened.reader, choices,
                                    {.accounts = &gatherer, .journal = &journal, .sink = &sink}));
  for (const BufferOutcome& result : outcome.buffers)
    for (AdviceBuffer& buffer : facts.buffers)
      if (buffer.id == result.id) buffer.engine = result.engine;
  gatherer.Finish(analysis.Finish(outcome.ledger), late_ns);
  return {};
}

}  // namespace ringscope
