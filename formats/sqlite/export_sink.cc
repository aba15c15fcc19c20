#include "formats/sqlite/export_sink.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/base/text.h"
#include "core/session/replay_outcome.h"

namespace ringscope {
namespace {

using Kind = BufferEvent::Kind;

/// Text of the log as a database may hold it; nullopt: the log has none.
std::optional<std::string> TextOf(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return Printable(text);
}

LogHeader Printable(LogHeader header) {
  for (std::string* text :
       {&header.uuid, &header.tool, &header.host, &header.clock, &header.description})
    *text = ringscope::Printable(*text);
  return header;
}

}  // namespace

ExportSink::ExportSink(SqliteExport& database, uint64_t session, PacketKinds& kinds)
    : database_(database), lives_(*this), kinds_(kinds), gaps_(/*stale_ns=*/UINT64_MAX, &kinds) {
  database_.BeginSession(session);
}

void ExportSink::OnRecord(const Op& op, const LogMoment& moment) {
  lives_.OnRecord(op, moment);
  notes_.OnRecord(op, moment);
  if (const auto event = LifeEventOf(op, moment.record.value_or(0))) {
    database_.AddEvent(*event);
    story_.Add(*event);
    if (event->Is<RecorderGap>()) story_.SetCommitsIncomplete();
  }
  looks_.Add(op);
  if (const auto* look = std::get_if<SharedMemoryLook>(&op.body)) {
    const smb::MemoryFollower* const memory = looks_.Of(look->producer);
    if (memory != nullptr && memory->seen())
      database_.AddLook(look->producer, lives_.now(), *memory->seen());
  }
  reason_ = ReadReason::kUnknown;
  if (const auto* header = std::get_if<LogHeader>(&op.body)) {
    if (header->part == 0) header_ = *header;
  } else if (const auto* config = std::get_if<TraceConfigRecord>(&op.body)) {
    config_ = config->config;
  } else if (const auto* read = std::get_if<ReadPass>(&op.body)) {
    reason_ = read->reason;
  } else if (const auto* connected = std::get_if<ProducerConnected>(&op.body)) {
    producers_[connected->producer] = {.producer = connected->producer,
                                       .name = TextOf(connected->name),
                                       .uid = connected->uid,
                                       .pid = connected->pid,
                                       .sdk = TextOf(connected->sdk),
                                       .smb_size = connected->smb_size,
                                       .page_size = connected->page_size,
                                       .connected = lives_.now(),
                                       .disconnected = {}};
  } else if (const auto* memory = std::get_if<SharedMemorySetUp>(&op.body)) {
    ProducerRow& producer = producers_[memory->producer];
    producer.producer = memory->producer;
    producer.smb_size = memory->size;
    producer.page_size = memory->page_size;
  } else if (const auto* gone = std::get_if<ProducerDisconnected>(&op.body)) {
    ProducerRow& producer = producers_[gone->producer];
    producer.producer = gone->producer;
    producer.disconnected = lives_.now();
  }
}

void ExportSink::OnBufferReplaced(SessionBuffer& buffer) {
  lives_.OnBufferReplaced(buffer);
  passes_.erase(buffer.id);
}

void ExportSink::OnChunk(BufferId buffer, const ChunkCommit& commit,
                         std::optional<Refusal> refusal) {
  ++SequenceOf(buffer, commit.sequence).row.commits;
  notes_.OnChunk(buffer, commit, refusal);
  story_.AddChunk(commit.sequence.producer, buffer);
  ProducerRow& producer = producers_[commit.sequence.producer];
  producer.producer = commit.sequence.producer;
  if (!producer.uid && !refusal) {  // a log without producers: what its commits have
    producer.uid = commit.identity.uid;
    producer.pid = commit.identity.pid;
  }
  lives_.OnChunk(buffer, commit, refusal);
}

void ExportSink::OnChunkDone(BufferId buffer, const ChunkCommit& commit) {
  lives_.OnChunkDone(buffer, commit);
}

void ExportSink::OnReadBegun(BufferId buffer) {
  read_ = {.buffer = buffer, .pass = ++passes_[buffer], .at = lives_.now(), .reason = reason_};
}

Status ExportSink::OnPacket(const SessionPacket& packet) {
  ++read_.packets;
  read_.bytes += packet.packet->size;
  read_.invalid += packet.valid ? 0 : 1;
  return database_.status();
}

void ExportSink::OnReadDone(BufferId, uint64_t) { database_.AddRead(read_); }

void ExportSink::OnBufferEvent(const BufferEvent& event) {
  lives_.OnBufferEvent(event);
  switch (event.kind) {
    case Kind::kLossBit:
    case Kind::kGivenUp:
      return database_.AddLoss(event);
    case Kind::kPatched:
    case Kind::kPatchMissed:
      return database_.AddPatch(event);
    default:
      return;
  }
}

void ExportSink::OnPacketFate(const PacketAccount& account) {
  gaps_.OnPacketFate(account);
  Sequence& sequence = SequenceOf(account.buffer, account.sequence);
  AddToSums(account, sequence);
  if (IsLoss(account.fate)) ++lost_packets_;
  database_.AddPacket(account, KindName(gaps_.last_kind()));
}

std::string_view ExportSink::KindName(uint32_t kind) {
  if (kind == 0) return {};
  if (kind >= kind_names_.size()) kind_names_.resize(kind + 1);
  std::string_view& name = kind_names_[kind];
  if (name.empty()) name = database_.KeepText(kinds_.NameOf(kind));
  return name;
}

void ExportSink::AddToSums(const PacketAccount& account, Sequence& sequence) {
  const FateCount count{1, account.size};
  sequence.row.written += count;
  if (account.fate == Fate::kRead) sequence.row.read += count;
  if (IsLoss(account.fate)) sequence.row.lost += count;
  const auto is_of = [&](const SumRow& sum) {
    return sum.fate == account.fate && sum.cause == account.cause;
  };
  if (sequence.last_sum == nullptr || !is_of(*sequence.last_sum)) {
    const auto found = std::ranges::find_if(sequence.sums, is_of);
    sequence.last_sum = found != sequence.sums.end() ? &*found : &sequence.sums.emplace_back();
  }
  SumRow& sum = *sequence.last_sum;
  sum.fate = account.fate;
  sum.cause = account.cause;
  sum.count += count;
  sum.own_fault += account.own_fault ? 1 : 0;
  sum.first_chunk = std::min(sum.first_chunk, account.first_chunk);
  sum.last_chunk = std::max(sum.last_chunk, account.last_chunk);
  if (const std::optional<uint64_t>& at = account.written.time_ns) {
    sum.first_written_ns = std::min(sum.first_written_ns.value_or(*at), *at);
    sum.last_written_ns = std::max(sum.last_written_ns.value_or(*at), *at);
  }
  if (account.fate != Fate::kOverwritten) return;
  const std::optional<SequenceKey> culprit =
      account.culprit ? std::optional(account.culprit->sequence) : std::nullopt;
  if (sequence.last_evictor == nullptr || sequence.last_evictor->first != culprit)
    sequence.last_evictor = &*sequence.evictors.try_emplace(culprit).first;
  sequence.last_evictor->second += count;
}

void ExportSink::OnDuplicate(const PacketAccount& account) {
  gaps_.OnDuplicate(account);
  database_.AddDuplicate(account);
}

void ExportSink::OnChunkEntered(const ChunkLife& life) {
  if (!life.entered()) database_.AddChunk(life);
}

void ExportSink::OnChunkLeft(const ChunkLife& life) { database_.AddChunk(life); }

auto ExportSink::SequenceOf(BufferId buffer, SequenceKey sequence) -> Sequence& {
  if (last_sequence_ == nullptr || last_sequence_->row.buffer != buffer ||
      last_sequence_->row.sequence != sequence) {
    last_sequence_ = &sequences_[{buffer, sequence}];
    last_sequence_->row.buffer = buffer;
    last_sequence_->row.sequence = sequence;
  }
  return *last_sequence_;
}

void ExportSink::NameSequence(const SessionStory& story, SequenceRow& row) const {
  row.process = Printable(notes_.ProducerOf(row.sequence));
  row.thread = Printable(notes_.ThreadOf(row.sequence));
  std::set<std::string> sources;
  for (const InstanceStory& source : story.instances)
    if (source.producer == row.sequence.producer && source.buffer == row.buffer)
      sources.insert(Printable(source.name));
  row.data_sources = fmt::format("{}", fmt::join(sources, ", "));
}

Status ExportSink::Finish(const ReplayOutcome& outcome,
                          const std::map<BufferId, LedgerTotals>& totals) {
  lives_.Finish();
  std::map<BufferId, BufferRow> buffers;
  for (const BufferOutcome& buffer : outcome.buffers)
    buffers[buffer.id] = {.buffer = buffer.id,
                          .index = buffer.index,
                          .engine = Printable(buffer.engine),
                          .size = buffer.size,
                          .policy = buffer.policy,
                          .freed = buffer.freed};
  for (const auto& [id, sequence] : sequences_)
    buffers[sequence.row.buffer].buffer = sequence.row.buffer;
  for (const auto& [id, row] : buffers) database_.AddBuffer(row);
  for (const auto& [id, row] : producers_) database_.AddProducer(row);
  const SessionStory story = story_.Finish();
  for (auto& [id, sequence] : sequences_) {
    NameSequence(story, sequence.row);
    database_.AddSequence(sequence.row);
    for (const SumRow& sum : sequence.sums) database_.AddSum(sequence.row, sum);
    for (const auto& [culprit, count] : sequence.evictors)
      database_.AddEvictor(sequence.row, culprit, count);
  }
  for (const BufferGaps& buffer : gaps_.Finish(totals).buffers)
    for (const SequenceGaps& sequence : buffer.sequences)
      for (const Gap& gap : sequence.gaps) database_.AddGap(gap);
  for (const BufferOutcome& buffer : outcome.buffers)
    for (size_t i = 0; i < buffer.vms.size(); ++i)
      database_.AddProgram(buffer.id, i, buffer.vms[i]);
  database_.AddStory(story);
  for (const StatRow& row : TraceProcessorStats(outcome))
    database_.AddStat(row.name, row.index, Name(row.severity), row.value);
  database_.AddSession({.log = Printable(outcome.path),
                        .header = Printable(header_),
                        .records = outcome.records,
                        .read_passes = outcome.read_passes,
                        .reads = outcome.reads,
                        .recorder_gaps = outcome.recorder_gaps,
                        .first_ns = outcome.first_time_ns,
                        .last_ns = outcome.last_time_ns,
                        .wall_offset_ns = notes_.clock().wall_offset_ns(),
                        .config = config_});
  return database_.status();
}

}  // namespace ringscope
