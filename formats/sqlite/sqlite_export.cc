#include "formats/sqlite/sqlite_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/text.h"
#include "core/base/wire.h"
#include "core/perfetto/data_loss.h"
#include "formats/descriptors/descriptors.h"
#include "formats/sqlite/packet_table.h"
#include "formats/sqlite/sqlite_schema.h"
#include "formats/sqlite/sqlite_views.h"

namespace ringscope {
namespace {

struct FateMeaning {
  Fate fate;
  const char* text;
};

constexpr std::array<FateMeaning, kFates> kFateMeanings = {{
    {Fate::kRead, "a read pass returned it"},
    {Fate::kReadable, "still in the buffer: a read at the end would return it"},
    {Fate::kStalled, "still in the buffer, and waits for something"},
    {Fate::kOverwritten, "evicted before it was read"},
    {Fate::kDiscarded, "refused by the buffer or by the service"},
    {Fate::kWriterDropped, "aborted by its writer"},
    {Fate::kCut, "a chunk of it was never committed, or the buffer abandoned it"},
    {Fate::kCorrupted, "its bytes, or its chunk's, break the rules of the shared-memory ABI"},
    {Fate::kIncomplete, "not finished by its writer when the log ends"},
    {Fate::kInvalid, "returned, and then refused by the service's validation"},
    {Fate::kUnexplained, "the engine does not report it"},
    {Fate::kReadBefore, "the session itself read it before the clone was made"},
    {Fate::kMoved, "in the buffer when a clone took that over"},
    {Fate::kCleared, "in the buffer when that was cleared for a clone"},
    {Fate::kFolded,
     "evicted before it was read, but folded into a state (ProtoVM) before that was "
     "written"},
}};

std::optional<std::string_view> NameOrNull(const char* name) {
  return *name == '\0' ? std::nullopt : std::optional<std::string_view>(name);
}

std::optional<std::string_view> CauseOrNull(Cause cause) {
  return cause == Cause::kNone ? std::nullopt : std::optional<std::string_view>(Name(cause));
}

std::string ConfigText(const std::string& config) {
  return Descriptors::BuiltIn().Text("TraceConfig", wire::AsBytes(config));
}

std::optional<std::string_view> TextOrNull(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}

template <typename Id>
std::optional<uint16_t> RawOrNull(const std::optional<Id>& id) {
  return id ? std::optional<uint16_t>(Raw(*id)) : std::nullopt;
}

std::optional<uint64_t> RecordOf(const std::optional<LogMoment>& moment) {
  return moment ? moment->record : std::nullopt;
}

std::optional<uint64_t> TimeOf(const std::optional<LogMoment>& moment) {
  return moment ? moment->time_ns : std::nullopt;
}

}  // namespace

/// A prepared statement for each table.
struct SqliteExport::Inserts {
  explicit Inserts(SqliteFile& file)
      : sessions(file, "sessions", 17),
        buffers(file, "buffers", 7),
        producers(file, "producers", 12),
        sequences(file, "sequences", 14),
        chunks(file, "chunks", 22),
        evictions(file, "evictions", 7),
        packets(file),
        duplicates(file, "duplicates", 10),
        losses(file, "losses", 9),
        patches(file, "patches", 10),
        reads(file, "reads", 10),
        smb_looks(file, "smb_looks", 10),
        stats(file, "stats", 5),
        events(file, "events", 14),
        data_sources(file, "data_sources", 11),
        idle_sources(file, "idle_sources", 6),
        flushes(file, "flushes", 10),
        sums(file, "sums", 13),
        evictors(file, "evictors", 8),
        gaps(file, "gaps", 18),
        programs(file, "programs", 20),
        program_failures(file, "program_failures", 10),
        fates(file, "fates", 3) {}

  SqliteInsert sessions;
  SqliteInsert buffers;
  SqliteInsert producers;
  SqliteInsert sequences;
  SqliteInsert chunks;
  SqliteInsert evictions;
  PacketTable packets;
  SqliteInsert duplicates;
  SqliteInsert losses;
  SqliteInsert patches;
  SqliteInsert reads;
  SqliteInsert smb_looks;
  SqliteInsert stats;
  SqliteInsert events;
  SqliteInsert data_sources;
  SqliteInsert idle_sources;
  SqliteInsert flushes;
  SqliteInsert sums;
  SqliteInsert evictors;
  SqliteInsert gaps;
  SqliteInsert programs;
  SqliteInsert program_failures;
  SqliteInsert fates;
};

Result<std::unique_ptr<SqliteExport>> SqliteExport::Create(const std::string& path,
                                                           Replace replace) {
  RS_ASSIGN_OR_RETURN(std::unique_ptr<SqliteFile> file,
                      SqliteFile::Create(path, kDatabaseOutput, replace));
  file->Execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};",
                            kSqliteApplicationId, kSqliteSchemaVersion));
  file->Execute(kSqliteTables);
  std::unique_ptr<SqliteExport> database(new SqliteExport(std::move(file)));
  RS_RETURN_IF_ERROR(database->file_->status());
  return database;
}

SqliteExport::SqliteExport(std::unique_ptr<SqliteFile> file)
    : file_(std::move(file)), inserts_(std::make_unique<Inserts>(*file_)) {
  for (const FateMeaning& entry : kFateMeanings)
    inserts_->fates.Row(Name(entry.fate), IsLoss(entry.fate), entry.text);
  queue_ = std::make_unique<RowQueue>([this](const RowBatch& batch) { Write(batch); });
}

SqliteExport::~SqliteExport() = default;

const Status& SqliteExport::status() {
  static const Status kFine;
  if (!failed_) return kFine;
  queue_->Finish();
  return file_->status();
}

RowBatch& SqliteExport::Batch() {
  constexpr size_t kBatchRows = 1024;
  if (batch_ && batch_->rows() >= kBatchRows) PutBatch();
  if (!batch_) {
    batch_ = std::make_unique<RowBatch>();
    batch_->session = session_;
    batch_->chunks_before = chunks_before_;
    batch_->packets.reserve(kBatchRows);
    batch_->kinds.reserve(kBatchRows);
  }
  return *batch_;
}

void SqliteExport::PutBatch() {
  if (batch_) queue_->Put(std::move(batch_));
}

auto SqliteExport::Idle() -> Inserts& {
  queue_->Finish();
  return *inserts_;
}

Status SqliteExport::Commit() {
  PutBatch();
  queue_.reset();
  inserts_.reset();
  file_->Execute(kSqliteIndexes);
  file_->Execute(kSqliteViews);
  return file_->Commit();
}

void SqliteExport::BeginSession(uint64_t number) {
  PutBatch();
  session_ = number;
  chunks_before_ += std::exchange(chunks_, 0);
}

void SqliteExport::AddSession(const SessionRow& row) {
  const LogHeader& header = row.header;
  const std::string config = row.config.empty() ? "" : ConfigText(row.config);
  Idle().sessions.Row(session_, row.log, TextOrNull(header.uuid), TextOrNull(header.tool),
                      Name(header.source), TextOrNull(header.host), TextOrNull(header.clock),
                      TextOrNull(header.description), row.records, row.read_passes,
                      Name(row.reads.mode), row.reads.assumed, row.recorder_gaps, row.first_ns,
                      row.last_ns, row.wall_offset_ns, TextOrNull(config));
}

void SqliteExport::AddBuffer(const BufferRow& row) {
  Idle().buffers.Row(session_, Raw(row.buffer), row.index, row.engine, row.size,
                     TextOrNull(row.policy ? Name(*row.policy) : ""), row.freed);
}

void SqliteExport::AddProducer(const ProducerRow& row) {
  Idle().producers.Row(session_, Raw(row.producer), row.name, row.uid, row.pid, row.sdk,
                       row.smb_size, row.page_size, RecordOf(row.connected), TimeOf(row.connected),
                       RecordOf(row.disconnected), TimeOf(row.disconnected));
}

void SqliteExport::AddSequence(const SequenceRow& row) {
  Idle().sequences.Row(session_, Raw(row.buffer), Raw(row.sequence.producer),
                       Raw(row.sequence.writer), TextOrNull(row.process), TextOrNull(row.thread),
                       TextOrNull(row.data_sources), row.commits, row.written.packets,
                       row.written.bytes, row.read.packets, row.read.bytes, row.lost.packets,
                       row.lost.bytes);
}

void SqliteExport::AddSum(const SequenceRow& sequence, const SumRow& row) {
  Idle().sums.Row(session_, Raw(sequence.buffer), Raw(sequence.sequence.producer),
                  Raw(sequence.sequence.writer), Name(row.fate), CauseOrNull(row.cause),
                  row.count.packets, row.count.bytes, row.own_fault, row.first_chunk,
                  row.last_chunk, row.first_written_ns, row.last_written_ns);
}

void SqliteExport::AddEvictor(const SequenceRow& sequence,
                              const std::optional<SequenceKey>& culprit, const FateCount& count) {
  std::optional<uint16_t> producer, writer;
  if (culprit) producer = Raw(culprit->producer), writer = Raw(culprit->writer);
  Idle().evictors.Row(session_, Raw(sequence.buffer), Raw(sequence.sequence.producer),
                      Raw(sequence.sequence.writer), producer, writer, count.packets, count.bytes);
}

void SqliteExport::AddGap(const Gap& gap) {
  const auto most = std::ranges::max_element(
      gap.causes, {}, [](const CauseCount& cause) { return cause.count.packets; });
  Idle().gaps.Row(session_, Raw(gap.buffer), Raw(gap.sequence.producer), Raw(gap.sequence.writer),
                  gap.first.chunk, gap.first.fragment, gap.last_chunk, gap.lost.packets,
                  gap.lost.bytes, gap.own_fault.packets,
                  Name(most == gap.causes.end() ? Cause::kNone : most->cause),
                  gap.written.first.time_ns, gap.written.last.time_ns, gap.decided.first.time_ns,
                  gap.decided.last.time_ns, Name(gap.sign), gap.remedies.buffer_size,
                  gap.remedies.read_period_ns);
}

void SqliteExport::AddProgram(BufferId buffer, uint64_t number, const protovm::VmAccount& vm) {
  std::string producers;
  for (const ProducerId producer : vm.producers)
    producers += fmt::format("{}{}", producers.empty() ? "" : ", ", Raw(producer));
  Idle().programs.Row(session_, Raw(buffer), number, Printable(vm.data_source), producers, vm.limit,
                      vm.memory, vm.peak_memory, vm.program_bytes, vm.state_bytes,
                      vm.folded.packets, vm.folded.bytes, vm.in_trace.packets, vm.errors,
                      vm.aborted, vm.at_limit.packets, vm.dropped_elements,
                      RecordOf(vm.limit_reached), TimeOf(vm.limit_reached), vm.left);
  for (const protovm::VmFailure& failure : vm.failures)
    Idle().program_failures.Row(session_, Raw(buffer), number, Name(failure.result),
                                Name(failure.reason), failure.place, failure.count.packets,
                                failure.count.bytes, failure.first.record, failure.first.time_ns);
}

void SqliteExport::AddRead(const ReadRow& row) {
  Idle().reads.Row(nullptr, session_, Raw(row.buffer), row.pass, row.at.record, row.at.time_ns,
                   Name(row.reason), row.packets, row.bytes, row.invalid);
}

void SqliteExport::AddLook(ProducerId producer, const LogMoment& at, const smb::SeenMemory& seen) {
  Idle().smb_looks.Row(session_, Raw(producer), at.record, at.time_ns, seen.counts.free,
                       seen.counts.being_written, seen.counts.being_read, seen.held_back(),
                       seen.committed, seen.writers);
}

void SqliteExport::AddStat(const std::string& name, std::optional<uint32_t> index,
                           const char* severity, uint64_t value) {
  Idle().stats.Row(session_, name, index, severity, value);
}

void SqliteExport::AddEvent(const LifeEvent& event) {
  const std::string detail =
      event.Is<TraceConfigRecord>() ? ConfigText(event.detail) : Printable(event.detail);
  const std::string name = Printable(event.name);
  Idle().events.Row(
      session_, event.record, event.time_ns, OpKindName(static_cast<size_t>(event.kind)),
      event.change ? std::optional<std::string_view>(Name(*event.change)) : std::nullopt,
      event.session, RawOrNull(event.producer), event.instance, RawOrNull(event.buffer),
      event.flush, event.clone, event.HasFlag() ? std::optional(event.flag) : std::nullopt,
      TextOrNull(name), TextOrNull(detail));
}

void SqliteExport::AddStory(const SessionStory& story) {
  for (const InstanceStory& source : story.instances) {
    Idle().data_sources.Row(session_, Raw(source.producer), source.instance, Printable(source.name),
                            Raw(source.buffer), source.session, source.set_up_ns, source.started_ns,
                            source.reported_start_ns, source.stopped_ns, source.reported_stop_ns);
  }
  for (const SourceFinding& finding : story.findings) {
    Idle().idle_sources.Row(session_, Name(finding.problem), finding.session,
                            Printable(finding.source), RawOrNull(finding.producer),
                            RawOrNull(finding.buffer));
  }
  const auto add = [&](const FlushAccount& flush, const FlushAccount::Answer* answer) {
    Idle().flushes.Row(session_, flush.flush, flush.time_ns, Name(ReasonOf(flush.flags)),
                       Name(InitiatorOf(flush.flags)), Name(flush.outcome), flush.timed_out,
                       answer == nullptr ? std::nullopt : std::optional(Raw(answer->producer)),
                       answer != nullptr && answer->acknowledged,
                       answer == nullptr ? std::nullopt : answer->latency_ns());
  };
  for (const FlushAccount& flush : story.flushes) {
    for (const FlushAccount::Answer& answer : flush.answers) add(flush, &answer);
    if (flush.answers.empty()) add(flush, nullptr);
  }
}

void SqliteExport::AddChunk(const ChunkLife& life) {
  Batch().chunks.push_back(life);
  chunks_ = std::max(chunks_, life.number);
}

std::string_view SqliteExport::KeepText(std::string_view text) {
  constexpr size_t kMaxTexts = size_t{1} << 20;
  const auto known = texts_.find(text);
  if (known != texts_.end()) return *known;
  return texts_.size() < kMaxTexts ? std::string_view(*texts_.emplace(text).first)
                                   : std::string_view();
}

void SqliteExport::AddPacket(const PacketAccount& account, std::string_view kind) {
  RowBatch& batch = Batch();
  batch.packets.push_back(account);
  batch.kinds.push_back(kind);
  ++packets_;
}

void SqliteExport::AddDuplicate(const PacketAccount& account) {
  Batch().duplicates.push_back(account);
}

void SqliteExport::AddLoss(const BufferEvent& event) {
  Batch().losses.push_back({.buffer = event.buffer,
                            .chunk = event.chunk,
                            .at = event.at,
                            .is_flag = event.kind == BufferEvent::Kind::kLossBit,
                            .loss_bits = event.loss_bits});
}

void SqliteExport::AddPatch(const BufferEvent& event) {
  const bool applied = event.kind == BufferEvent::Kind::kPatched;
  Batch().patches.push_back({.buffer = event.buffer,
                             .chunk = event.chunk,
                             .at = event.at,
                             .patches = event.patches,
                             .why = applied ? "" : Name(event.miss)});
}

void SqliteExport::Write(const RowBatch& batch) {
  const uint64_t session = batch.session;
  inserts_->packets.Insert(batch);
  for (const ChunkLife& life : batch.chunks) WriteChunk(batch, life);
  for (const PacketAccount& account : batch.duplicates)
    inserts_->duplicates.Row(session, Raw(account.buffer), Raw(account.sequence.producer),
                             Raw(account.sequence.writer), account.first_chunk, account.fragment,
                             account.size, account.pass, account.decided.record,
                             account.decided.time_ns);
  for (const RowBatch::LossRow& loss : batch.losses)
    inserts_->losses.Row(session, Raw(loss.buffer), Raw(loss.chunk.sequence.producer),
                         Raw(loss.chunk.sequence.writer), Raw(loss.chunk.chunk), loss.at.record,
                         loss.at.time_ns, loss.is_flag ? "flag" : "packet",
                         LossBitsToString(loss.loss_bits));
  for (const RowBatch::PatchRow& patch : batch.patches)
    inserts_->patches.Row(session, Raw(patch.buffer), Raw(patch.chunk.sequence.producer),
                          Raw(patch.chunk.sequence.writer), Raw(patch.chunk.chunk), patch.at.record,
                          patch.at.time_ns, patch.patches, *patch.why == '\0',
                          NameOrNull(patch.why));
  if (!file_->status()) failed_ = true;
}

void SqliteExport::WriteChunk(const RowBatch& batch, const ChunkLife& life) {
  const uint64_t id = batch.chunks_before + life.number;
  const SequenceKey sequence = life.chunk.sequence;
  const bool entered = life.exit != ChunkLife::Exit::kNone;
  const auto if_entered = [entered](auto value) {
    return entered ? std::optional<decltype(value)>(value) : std::nullopt;
  };
  inserts_->chunks.Row(
      id, batch.session, Raw(life.buffer), Raw(sequence.producer), Raw(sequence.writer),
      Raw(life.chunk.chunk), life.committed.record, life.committed.time_ns, Name(life.origin),
      life.fragments, (life.flags & kFirstContinues) != 0, (life.flags & kLastContinues) != 0,
      (life.flags & kNeedsPatching) != 0, life.complete, life.payload_bytes, Name(life.entry),
      NameOrNull(life.why), if_entered(life.offset), if_entered(life.outer_size), Name(life.exit),
      life.left.record, life.left.time_ns);
  if (life.exit == ChunkLife::Exit::kEvicted)
    inserts_->evictions.Row(id, batch.chunks_before + life.evicted_by_number, batch.session,
                            Raw(life.buffer), life.left.record, life.left.time_ns,
                            life.unread_bytes);
}

}  // namespace ringscope
