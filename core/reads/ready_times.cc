#include "core/reads/ready_times.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "core/base/sequence_map.h"
#include "core/perfetto/packet_facts.h"
#include "core/session/replay.h"

namespace ringscope {
Status InsertedReads::Change(Op op) {
  AddReads();  // before the first record
  ++records_;
  if (!std::holds_alternative<Commit>(op.body)) service_.Take(op, op.time_ns);
  const auto* read = std::get_if<ReadPass>(&op.body);
  if (read == nullptr || service_.AnswersNothing(*read)) Add(std::move(op));
  AddReads();
  return {};
}

void InsertedReads::AddReads() {
  for (; next_ < reads_.size() && reads_[next_].after <= records_; ++next_) {
    ReadPass read;
    read.max_bytes = ServiceReads::kFilePassBytes;
    read.reason = ReadReason::kFile;
    read.session = service_.session();  // whose statistics number its writers
    Add({.time_ns = reads_[next_].time_ns, .body = read});
  }
}

namespace {

/// Size that holds the packets which wait for a patch; all others are read at once.
constexpr uint64_t kLeastSize = uint64_t{64} << 20;

/// The session in ring buffers that are large and read all the time, so that they lose next to
/// nothing.
ReplayOptions Lossless(EngineLookup find_engine) {
  ReplayOptions options;
  options.reads.mode = ReadsMode::kNone;
  if (find_engine) options.session.find_engine = std::move(find_engine);
  options.session.all.policy = FillPolicy::kRingBuffer;
  options.session.make_engine = [](const EngineInfo& info, const EngineConfig& config, BufferId) {
    EngineConfig large = config;
    large.size = std::max(large.size, kLeastSize);
    return info.create(large);
  };
  return options;
}

}  // namespace

/// Writes down what is read, and after which record.
class ReadyTimes::Collector : public ReplayListener {
 public:
  Status OnPacket(const SessionPacket& packet) override {
    if (!packet.valid) return {};
    Sequence& sequence = sequences_[packet.packet->sequence];
    if (sequence.packets == 0) sequence.number = static_cast<uint32_t>(sequences_.size());
    const Bytes bytes = Joined(packet.packet->slices, joined_);
    written.push_back({HashOfPacket(bytes), sequence.number, sequence.packets++, record});
    return {};
  }

  std::vector<Written> written;
  uint64_t record = 0;

 private:
  struct Sequence {
    uint32_t number = 0;  // from 1
    uint32_t packets = 0;
  };
  SequenceMap<Sequence> sequences_;
  std::string joined_;
};

Result<ReadyTimes> ReadyTimes::Find(const OpenOps& open, EngineLookup find_engine,
                                    const WrittenFile& file) {
  ReadyTimes ready;
  Collector collector;
  Replay replay(Lossless(std::move(find_engine)), collector);
  ServiceReads service(/*all=*/true, file.config ? file.config->PeriodNs() : 0);
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OpSource> ops, open());
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, ops->Next());
    if (!op) break;
    const uint64_t before = ready.times_.empty() ? 0 : ready.times_.back();
    const uint64_t now = std::max(before, op->time_ns.value_or(0));
    if (op->time_ns) {
      if (before == 0) service.Begin(now);
      if (service.TakeDue(now)) ready.scheduled_.push_back(ready.times_.size());
    }
    const bool is_commit = std::holds_alternative<Commit>(op->body);
    if (!is_commit && service.Take(*op, now) != ServiceReads::Due::kNot)
      ready.scheduled_.push_back(ready.times_.size());
    ready.times_.push_back(now);
    ready.is_commit_.push_back(is_commit);
    collector.record = ready.times_.size();
    RS_RETURN_IF_ERROR(replay.Apply(*op));
    if (is_commit) RS_RETURN_IF_ERROR(replay.session().ReadAllBuffers(std::nullopt));
  }
  ready.Match(std::move(collector.written), file);
  return ready;
}

/// Finds each packet of the file among those written, in the order of its sequence: the first one
/// that it can be, and the last one. Of packets that are alike the file may have any.
void ReadyTimes::Match(std::vector<Written> written, const WrittenFile& file) {
  using Key = std::array<uint64_t, 3>;
  const auto key = [](const Written& one) { return Key{one.hash, one.sequence, one.index}; };
  std::ranges::sort(written, {}, key);
  const auto first_of = [&](uint64_t hash, uint64_t sequence, uint64_t index) {
    return std::ranges::lower_bound(written, Key{hash, sequence, index}, {}, key);
  };

  // Sequences are recognized by their first packet that only one of the log's has.
  std::unordered_map<uint32_t, uint32_t> sequences;
  for (const WrittenFile::Packet& packet : file.packets) {
    if (sequences.contains(packet.sequence_id)) continue;
    const auto found = first_of(packet.hash, 0, 0);
    if (found == written.end() || found->hash != packet.hash) continue;
    if (std::next(found) != written.end() && std::next(found)->hash == packet.hash) continue;
    sequences.emplace(packet.sequence_id, found->sequence);
  }

  const size_t count = file.packets.size();
  in_log_.assign(count, false);
  std::vector<uint64_t> ready(count, 0);
  std::unordered_map<uint32_t, uint64_t> next;  // index that a sequence's next packet has at least
  for (size_t i = 0; i < count; ++i) {
    const auto& [hash, id, dropped] = file.packets[i];
    const auto sequence = sequences.find(id);
    if (sequence == sequences.end()) continue;
    const auto found = first_of(hash, sequence->second, next[id]);
    if (found == written.end() || found->hash != hash || found->sequence != sequence->second)
      continue;
    in_log_[i] = true;
    ready[i] = found->ready;
    next[id] = uint64_t{found->index} + 1;
  }
  earliest_.assign(count + 1, 0);
  for (size_t i = 0; i < count; ++i) earliest_[i + 1] = std::max(earliest_[i], ready[i]);

  latest_.assign(count + 1, records());
  std::unordered_map<uint32_t, uint64_t> end;  // index that the packet before one has at most, + 1
  for (size_t i = count; i-- > 0;) {
    latest_[i] = latest_[i + 1];
    if (!in_log_[i]) continue;
    const auto& [hash, id, dropped] = file.packets[i];
    const uint32_t sequence = sequences.at(id);
    auto found = first_of(hash, sequence, end.try_emplace(id, UINT64_MAX).first->second);
    if (found == written.begin()) continue;
    --found;
    if (found->hash != hash || found->sequence != sequence) continue;
    end[id] = found->index;
    latest_[i] = std::min(latest_[i], found->ready - 1);
  }
}

ReadSpan ReadyTimes::SameAs(uint64_t record) const {
  ReadSpan same{record, record};
  while (same.earliest > 0 && !is_commit_[same.earliest - 1]) --same.earliest;
  while (same.latest < records() && !is_commit_[same.latest]) ++same.latest;
  return same;
}

std::set<uint64_t> ReadyTimes::AfterCommits(uint64_t record, uint64_t from, uint64_t most) const {
  std::set<uint64_t> after;
  for (uint64_t at = std::min(record, records()); at > from && after.size() < most; --at)
    if (is_commit_[at - 1]) after.insert(at);
  const size_t all = after.size() + most / 4;
  for (uint64_t at = std::max(record, from) + 1; at <= records() && after.size() < all; ++at)
    if (is_commit_[at - 1]) after.insert(at);
  return after;
}

uint64_t ReadyTimes::RecordAt(uint64_t time_ns) const {
  return static_cast<uint64_t>(std::upper_bound(times_.begin(), times_.end(), time_ns) -
                               times_.begin());
}

}  // namespace ringscope
