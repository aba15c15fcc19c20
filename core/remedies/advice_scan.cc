#include "core/remedies/advice_scan.h"

#include <algorithm>
#include <set>

#include "core/base/wire.h"
#include "core/log/flush_tracker.h"
#include "core/protovm/buffer_vms.h"

namespace ringscope {
namespace {

/// Reads that follow each other sooner are passes of the same read.
constexpr uint64_t kReadsApartNs = 50'000'000;
constexpr uint64_t kFewestPeriodicReads = 3;
constexpr size_t kMaxSetUpSources = 1024;

/// Collects what the records contain.
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
      if (sources_.size() < kMaxSetUpSources) sources_.emplace(source->target_buffer, source->name);
      AddProgramOf(*source);
    } else if (const auto* registered = std::get_if<DataSourceRegistered>(&op.body)) {
      if (registered->protovm_program.empty())
        programs_.erase({registered->producer, registered->name});
      else if (programs_.size() < kMaxSetUpSources)
        programs_.insert({registered->producer, registered->name});
    } else if (const auto* read = std::get_if<ReadPass>(&op.body)) {
      if (!service_.AnswersNothing(*read)) AddRead();
    } else if (std::holds_alternative<RecorderGap>(op.body)) {
      ++facts_.recorder_gaps;
    }
    if (std::holds_alternative<Commit>(op.body)) return;
    service_.Take(op, op.time_ns);
    flushes_.Apply(op);
  }

  AdviceFacts Finish(AdviceReads& reads) {
    flushes_.Finish();
    for (auto& [id, buffer] : buffers_) {
      for (const ConfiguredSource& source : facts_.config.sources)
        if (source.target_buffer == buffer.index) AddName(buffer.sources, source.name);
      for (const auto& [target, name] : sources_)
        if (target == id) AddName(buffer.sources, name);
      facts_.buffers.push_back(std::move(buffer));
    }
    for (auto& [id, producer] : producers_) facts_.producers.push_back(std::move(producer));
    facts_.duration_ns = first_ns_ && now_ns_ > *first_ns_ ? now_ns_ - *first_ns_ : 0;
    ChooseReads(reads);
    return std::move(facts_);
  }

 private:
  AdviceProducer& ProducerOf(ProducerId id) {
    AdviceProducer& producer = producers_[id];
    producer.id = id;
    return producer;
  }

  void AddProgramOf(const DataSourceSetUp& source) {
    if (!programs_.contains({source.producer, source.name})) return;
    constexpr uint8_t kAnyProgram[] = {0};
    using Kind = protovm::VmSetUp::Kind;
    const Kind kind = protovm::VmSetUpOf(kAnyProgram, wire::AsBytes(source.config)).kind;
    facts_.has_idle_programs |= kind == Kind::kNoConfig || kind == Kind::kNoLimit;
  }

  static void AddName(std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }

  void AddRead() {
    if (last_read_ns_ && now_ns_ < *last_read_ns_ + kReadsApartNs) {
      last_read_ns_ = now_ns_;
      return;
    }
    if (reads_ > 0) longest_pause_ns_ = std::max(longest_pause_ns_, now_ns_ - *last_read_ns_);
    last_read_ns_ = now_ns_;
    ++reads_;
  }

  void ChooseReads(AdviceReads& reads) const {
    const bool recorded = reads_ >= kFewestPeriodicReads;
    reads.periodic = recorded || facts_.config.write_into_file;
    if (facts_.config.write_into_file)
      reads.period_ns = facts_.config.PeriodNs();
    else if (recorded)
      reads.period_ns = longest_pause_ns_;
    reads.assumed = !last_read_ns_;
    reads.replay.mode = last_read_ns_                   ? ReadsMode::kRecorded
                        : facts_.config.write_into_file ? ReadsMode::kStreamed
                                                        : ReadsMode::kEnd;
  }

  AdviceFacts facts_;
  std::map<BufferId, AdviceBuffer> buffers_;
  std::map<ProducerId, AdviceProducer> producers_;
  std::set<std::pair<BufferId, std::string>> sources_;
  std::set<std::pair<ProducerId, std::string>> programs_;  // data sources that have one
  uint32_t set_up_ = 0;
  std::optional<uint64_t> first_ns_;
  uint64_t now_ns_ = 0;
  uint64_t reads_ = 0;
  std::optional<uint64_t> last_read_ns_;
  uint64_t longest_pause_ns_ = 0;
  ServiceReads service_{/*all=*/false, /*period_ns=*/0};
  FlushTracker flushes_{[this](const FlushAccount& flush) {
    if (flush.outcome == FlushOutcome::kSucceeded && flush.time_ns)
      facts_.last_flush_ns = std::max(facts_.last_flush_ns.value_or(0), *flush.time_ns);
  }};
};

}  // namespace

Result<AdviceFacts> ScanForAdvice(OpSource& ops, AdviceReads& reads) {
  Scan scan;
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, ops.Next());
    if (!op) break;
    scan.Add(*op);
  }
  return scan.Finish(reads);
}

}  // namespace ringscope
