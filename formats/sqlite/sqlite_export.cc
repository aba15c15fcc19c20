#include "formats/sqlite/sqlite_export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstring>

#include "core/base/text.h"
#include "core/base/wire.h"
#include "core/session/read_policy.h"
#include "core/trace/stat_rows.h"
#include "formats/descriptors/descriptors.h"

namespace ringscope {
namespace {

// A file that is discarded unless it is complete needs no journal, and need not reach the disk
// before more is written.
constexpr const char* kSetUp = R"(
PRAGMA page_size = 16384;
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA cache_size = -16384;
PRAGMA threads = 2;
BEGIN;
)";

/// Text of the log as a database may hold it; nullopt if there is none.
std::optional<std::string> TextOrNull(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return Printable(text);
}

template <typename T>
std::optional<T> If(bool known, T value) {
  return known ? std::optional<T>(value) : std::nullopt;
}

}  // namespace

bool IsOwnDatabase(Bytes start) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  constexpr size_t kApplicationId = 68;  // its place, of 4 bytes in big-endian order
  if (start.size() < kApplicationId + 4 || !wire::AsText(start).starts_with(kMagic)) return false;
  uint32_t id = 0;
  for (const uint8_t byte : start.subspan(kApplicationId, 4)) id = id << 8 | byte;
  return id == kSqliteApplicationId;
}

Result<std::unique_ptr<SqliteExport>> SqliteExport::Create(const std::string& path,
                                                           Replace replace) {
  RS_ASSIGN_OR_RETURN(PendingFile pending, PendingFile::At(path, kDatabaseOutput, replace));
  std::unique_ptr<SqliteExport> database(new SqliteExport(std::move(pending)));
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
  database->Check(sqlite3_open_v2(database->pending_.temporary().c_str(), &database->db_, kFlags,
                                  /*zVfs=*/nullptr));
  database->Execute(kSetUp);
  database->Execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};",
                                kSqliteApplicationId, kSqliteSchemaVersion));
  database->Execute(std::string(SqliteTables()));
  for (const FateRow& row : kEnumRows<Fate>)
    database->Insert("fates", row.name, IsLoss(row.value), row.text);
  RS_RETURN_IF_ERROR(database->status());
  return database;
}

SqliteExport::~SqliteExport() {
  DropInserts();
  sqlite3_close(db_);
}

sqlite3_stmt* SqliteExport::Prepare(const char* table, size_t columns) {
  const std::vector<const char*> places(columns, "?");
  const std::string sql = fmt::format("INSERT INTO {} VALUES({})", table, fmt::join(places, ","));
  sqlite3_stmt* insert = nullptr;
  if (status_)
    Check(sqlite3_prepare_v3(db_, sql.c_str(), static_cast<int>(sql.size()),
                             SQLITE_PREPARE_PERSISTENT, &insert, nullptr));
  return insert;
}

void SqliteExport::DropInserts() {
  for (const auto& [table, insert] : inserts_) sqlite3_finalize(insert);
  inserts_.clear();
}

void SqliteExport::Execute(const std::string& sql) {
  if (status_) Check(sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr));
}

void SqliteExport::Check(int code) {
  if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW || !status_) return;
  const int system_error = db_ == nullptr ? 0 : sqlite3_system_errno(db_);
  const bool is_full =
      (code & 0xFF) == SQLITE_FULL || system_error == ENOSPC || system_error == EDQUOT;
  const char* what = db_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(db_);
  status_ = Fail(ErrorCode::kIo,
                 fmt::format("cannot write the database: {}{}", what,
                             system_error == 0 ? std::string()
                                               : fmt::format(": {}", std::strerror(system_error))),
                 {pending_.path(), {}, {}},
                 is_full ? "free some space, or write to another file system" : "");
}

Status SqliteExport::Commit() {
  Execute(std::string(SqliteViews()));
  DropInserts();
  Execute("COMMIT;");
  RS_RETURN_IF_ERROR(status_);
  const int closed = sqlite3_close(db_);
  if (closed == SQLITE_OK) db_ = nullptr;
  Check(closed);
  RS_RETURN_IF_ERROR(status_);
  return pending_.Commit();
}

ExportSink::ExportSink(SqliteExport& database, uint64_t session, PacketKinds& kinds)
    : database_(database),
      session_(session),
      chunks_before_(database.chunks_),
      kinds_(kinds),
      gaps_(&kinds) {}

void ExportSink::OnRecord(const Op& op, const LogMoment& moment) {
  ChunkLifetimes::OnRecord(op, moment);
  notes_.OnRecord(op, moment);
  reason_ = ReadReason::kUnknown;
  if (const auto* header = std::get_if<LogHeader>(&op.body)) {
    if (header->part == 0) header_ = *header;
  } else if (const auto* config = std::get_if<TraceConfigRecord>(&op.body)) {
    config_ = config->config;
  } else if (const auto* read = std::get_if<ReadPass>(&op.body)) {
    reason_ = read->reason;
  } else if (const auto* connected = std::get_if<ProducerConnected>(&op.body)) {
    producers_[connected->producer] = {*connected, now(), {}};
  } else if (const auto* memory = std::get_if<SharedMemorySetUp>(&op.body)) {
    ProducerConnected& producer = producers_[memory->producer].connected;
    producer.smb_size = memory->size;
    producer.page_size = memory->page_size;
  } else if (const auto* gone = std::get_if<ProducerDisconnected>(&op.body)) {
    producers_[gone->producer].disconnected_at = now();
  }
}

void ExportSink::OnChunk(BufferId buffer, const ChunkCommit& commit,
                         std::optional<Refusal> refusal) {
  ChunkLifetimes::OnChunk(buffer, commit, refusal);
  ++sequences_[{buffer, commit.sequence}].commits;
  notes_.OnChunk(buffer, commit, refusal);
  Producer& producer = producers_[commit.sequence.producer];
  if (!producer.connected_at.record &&
      !refusal) {  // a log without producers: its commits have these
    producer.connected.uid = commit.identity.uid;
    producer.connected.pid = commit.identity.pid;
  }
}

void ExportSink::OnReadBegun(BufferId buffer) {
  read_ = {.pass = ++passes_[buffer], .at = now(), .reason = reason_, .count = {}};
}

Status ExportSink::OnPacket(const SessionPacket& packet) {
  read_.count += {1, packet.packet->size};
  read_.invalid += packet.valid ? 0 : 1;
  return database_.status();
}

void ExportSink::OnReadDone(BufferId buffer, uint64_t /*packets*/) {
  database_.Insert("reads", nullptr, session_, Raw(buffer), read_.pass, read_.at.record,
                   read_.at.time_ns, Name(read_.reason), read_.count.packets, read_.count.bytes,
                   read_.invalid);
}

void ExportSink::OnPacketFate(const PacketAccount& account) {
  sequences_[{account.buffer, account.sequence}].by_fate[account.fate] += {1, account.size};
  if (IsLoss(account.fate)) ++lost_packets_;
  ++database_.packets_;
  const PacketFacts& facts = account.facts;
  const uint32_t kind = gaps_.last_kind();
  const bool is_out = account.fate == Fate::kRead || account.fate == Fate::kInvalid;
  const bool is_overwritten = account.culprit.has_value();
  const ChunkName culprit = account.culprit.value_or(ChunkName());
  database_.Insert(
      "packets", nullptr, session_, Raw(account.buffer), Raw(account.sequence.producer),
      Raw(account.sequence.writer), account.first_chunk, account.fragment, account.first_offset,
      account.last_chunk, account.size, ContentName(facts.content),
      If(kind != 0, std::string_view(kinds_.NameOf(kind))), facts.timestamp, facts.timestamp_clock,
      facts.clears_state, facts.needs_state, facts.has_interned_data, account.written.record,
      account.written.time_ns, Name(account.fate),
      If(account.cause != Cause::kNone, Name(account.cause)), account.own_fault,
      account.decided.record, account.decided.time_ns, If(is_out, account.pass),
      If(is_out, account.position), account.loss_bits,
      If(is_overwritten, Raw(culprit.sequence.producer)),
      If(is_overwritten, Raw(culprit.sequence.writer)), If(is_overwritten, Raw(culprit.chunk)),
      account.waits_for ? std::optional(Raw(account.waits_for->chunk)) : std::nullopt);
}

void ExportSink::OnChunkEntered(const ChunkLife& life) {
  if (!life.entered()) AddChunk(life);
}

void ExportSink::AddChunk(const ChunkLife& life) {
  const uint64_t id = chunks_before_ + life.number;
  database_.chunks_ = std::max(database_.chunks_, id);
  const SequenceKey sequence = life.chunk.sequence;
  const bool entered = life.exit != ChunkLife::Exit::kNone;
  const bool evicted = life.exit == ChunkLife::Exit::kEvicted;
  database_.Insert(
      "chunks", id, session_, Raw(life.buffer), Raw(sequence.producer), Raw(sequence.writer),
      Raw(life.chunk.chunk), life.committed.record, life.committed.time_ns, Name(life.origin),
      life.fragments, (life.flags & kFirstContinues) != 0, (life.flags & kLastContinues) != 0,
      (life.flags & kNeedsPatching) != 0, life.complete, life.payload_bytes, Name(life.entry),
      TextOrNull(life.why), If(entered, life.offset), If(entered, life.outer_size), Name(life.exit),
      life.left.record, life.left.time_ns, If(evicted, chunks_before_ + life.evicted_by_number),
      If(evicted, life.unread_bytes));
}

void ExportSink::AddGap(const Gap& gap) {
  const auto most = std::ranges::max_element(
      gap.causes, {}, [](const CauseCount& cause) { return cause.count.packets; });
  database_.Insert("gaps", session_, Raw(gap.buffer), Raw(gap.sequence.producer),
                   Raw(gap.sequence.writer), gap.first.chunk, gap.first.fragment, gap.last_chunk,
                   gap.lost.packets, gap.lost.bytes, gap.own_fault.packets,
                   Name(most == gap.causes.end() ? Cause::kNone : most->cause),
                   gap.written.first.time_ns, gap.written.last.time_ns, gap.decided.first.time_ns,
                   gap.decided.last.time_ns, Name(gap.sign), gap.remedies.buffer_size,
                   gap.remedies.read_period_ns);
}

void ExportSink::AddBuffers(const ReplayOutcome& outcome) {
  std::map<BufferId, const BufferOutcome*> buffers;
  for (const auto& [id, sequence] : sequences_) buffers[std::get<BufferId>(id)] = nullptr;
  for (const BufferOutcome& buffer : outcome.buffers) buffers[buffer.id] = &buffer;
  for (const auto& [id, buffer] : buffers) {
    if (buffer == nullptr)  // it never was set up
      database_.Insert("buffers", session_, Raw(id), nullptr, nullptr, nullptr, nullptr, nullptr);
    else
      database_.Insert("buffers", session_, Raw(id), buffer->index, TextOrNull(buffer->engine),
                       buffer->size, Name(buffer->policy), buffer->freed);
  }
}

void ExportSink::AddProducers() {
  for (const auto& [id, producer] : producers_) {
    const ProducerConnected& known = producer.connected;
    database_.Insert("producers", session_, Raw(id), TextOrNull(known.name), known.uid, known.pid,
                     TextOrNull(known.sdk), known.smb_size, known.page_size,
                     producer.connected_at.record, producer.connected_at.time_ns,
                     producer.disconnected_at.record, producer.disconnected_at.time_ns);
  }
}

void ExportSink::AddSequence(BufferId buffer, SequenceKey key, const Sequence& sequence) {
  const uint16_t producer = Raw(key.producer), writer = Raw(key.writer);
  const FateCount written = sequence.by_fate.all(), lost = sequence.by_fate.lost();
  const FateCount read = sequence.by_fate[Fate::kRead];
  const std::set<std::string> sources = notes_.SourcesOf(key.producer, buffer);
  database_.Insert("sequences", session_, Raw(buffer), producer, writer,
                   TextOrNull(notes_.ProducerOf(key)), TextOrNull(notes_.ThreadOf(key)),
                   TextOrNull(fmt::format("{}", fmt::join(sources, ", "))), sequence.commits,
                   written.packets, written.bytes, read.packets, read.bytes, lost.packets,
                   lost.bytes);
}

Status ExportSink::Finish(const ReplayOutcome& outcome,
                          const std::map<BufferId, LedgerTotals>& totals) {
  ChunkLifetimes::Finish();
  AddBuffers(outcome);
  AddProducers();
  for (const auto& [id, sequence] : sequences_)
    AddSequence(std::get<BufferId>(id), std::get<SequenceKey>(id), sequence);
  for (const BufferGaps& buffer : gaps_.Finish(totals).buffers)
    for (const SequenceGaps& sequence : buffer.sequences)
      for (const Gap& gap : sequence.gaps) AddGap(gap);
  for (const StatRow& row : TraceProcessorStats(outcome))
    database_.Insert("stats", session_, row.name, row.index, Name(row.severity), row.value);
  std::optional<std::string> config;
  if (!config_.empty()) config = descriptors::Text("TraceConfig", wire::AsBytes(config_));
  database_.Insert("sessions", session_, Printable(outcome.path), TextOrNull(header_.uuid),
                   TextOrNull(header_.tool), Name(header_.source), TextOrNull(header_.host),
                   TextOrNull(header_.clock), TextOrNull(header_.description), outcome.records,
                   outcome.read_passes, Name(outcome.reads.mode), outcome.reads.assumed,
                   outcome.recorder_gaps, outcome.first_time_ns, outcome.last_time_ns,
                   notes_.clock().wall_offset_ns(), config);
  return database_.status();
}

}  // namespace ringscope
