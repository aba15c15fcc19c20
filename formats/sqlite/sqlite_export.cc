#include "formats/sqlite/sqlite_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/text.h"
#include "core/base/wire.h"
#include "core/perfetto/data_loss.h"
#include "formats/descriptors/descriptors.h"
#include "formats/sqlite/sqlite_schema.h"

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
}};

std::optional<std::string_view> NameOrNull(const char* name) {
  return *name == '\0' ? std::nullopt : std::optional<std::string_view>(name);
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
      : sessions(file, "sessions", 15),
        buffers(file, "buffers", 7),
        producers(file, "producers", 12),
        sequences(file, "sequences", 11),
        chunks(file, "chunks", 22),
        evictions(file, "evictions", 7),
        packets(file, "packets", 30),
        duplicates(file, "duplicates", 10),
        losses(file, "losses", 9),
        patches(file, "patches", 10),
        reads(file, "reads", 10),
        stats(file, "stats", 5),
        events(file, "events", 14),
        data_sources(file, "data_sources", 11),
        idle_sources(file, "idle_sources", 6),
        flushes(file, "flushes", 10),
        fates(file, "fates", 3) {}

  SqliteInsert sessions;
  SqliteInsert buffers;
  SqliteInsert producers;
  SqliteInsert sequences;
  SqliteInsert chunks;
  SqliteInsert evictions;
  SqliteInsert packets;
  SqliteInsert duplicates;
  SqliteInsert losses;
  SqliteInsert patches;
  SqliteInsert reads;
  SqliteInsert stats;
  SqliteInsert events;
  SqliteInsert data_sources;
  SqliteInsert idle_sources;
  SqliteInsert flushes;
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
  RS_RETURN_IF_ERROR(database->status());
  return database;
}

SqliteExport::SqliteExport(std::unique_ptr<SqliteFile> file)
    : file_(std::move(file)), inserts_(std::make_unique<Inserts>(*file_)) {
  for (const FateMeaning& entry : kFateMeanings)
    inserts_->fates.Row(Name(entry.fate), IsLoss(entry.fate), entry.text);
}

SqliteExport::~SqliteExport() = default;

Status SqliteExport::Commit() {
  inserts_.reset();
  file_->Execute(kSqliteIndexes);
  file_->Execute(kSqliteViews);
  return file_->Commit();
}

void SqliteExport::BeginSession(uint64_t number) {
  session_ = number;
  chunks_before_ += std::exchange(chunks_, 0);
}

void SqliteExport::AddSession(const SessionRow& row) {
  const LogHeader& header = row.header;
  inserts_->sessions.Row(session_, row.log, TextOrNull(header.uuid), TextOrNull(header.tool),
                         Name(header.source), TextOrNull(header.host), TextOrNull(header.clock),
                         TextOrNull(header.description), row.records, row.read_passes,
                         Name(row.reads.mode), row.reads.assumed, row.recorder_gaps, row.first_ns,
                         row.last_ns);
}

void SqliteExport::AddBuffer(const BufferRow& row) {
  inserts_->buffers.Row(session_, Raw(row.buffer), row.index, row.engine, row.size,
                        TextOrNull(row.policy ? Name(*row.policy) : ""), row.freed);
}

void SqliteExport::AddProducer(const ProducerRow& row) {
  inserts_->producers.Row(session_, Raw(row.producer), row.name, row.uid, row.pid, row.sdk,
                          row.smb_size, row.page_size, RecordOf(row.connected),
                          TimeOf(row.connected), RecordOf(row.disconnected),
                          TimeOf(row.disconnected));
}

void SqliteExport::AddSequence(const SequenceRow& row) {
  inserts_->sequences.Row(session_, Raw(row.buffer), Raw(row.sequence.producer),
                          Raw(row.sequence.writer), row.commits, row.written.packets,
                          row.written.bytes, row.read.packets, row.read.bytes, row.lost.packets,
                          row.lost.bytes);
}

void SqliteExport::AddRead(const ReadRow& row) {
  inserts_->reads.Row(nullptr, session_, Raw(row.buffer), row.pass, row.at.record, row.at.time_ns,
                      Name(row.reason), row.packets, row.bytes, row.invalid);
}

void SqliteExport::AddStat(const std::string& name, std::optional<uint32_t> index,
                           const char* severity, uint64_t value) {
  inserts_->stats.Row(session_, name, index, severity, value);
}

void SqliteExport::AddEvent(const LifeEvent& event) {
  const std::string detail =
      event.Is<TraceConfigRecord>()
          ? Descriptors::BuiltIn().Text("TraceConfig", wire::AsBytes(event.detail))
          : Printable(event.detail);
  const std::string name = Printable(event.name);
  inserts_->events.Row(
      session_, event.record, event.time_ns, OpKindName(static_cast<size_t>(event.kind)),
      event.change ? std::optional<std::string_view>(Name(*event.change)) : std::nullopt,
      event.session, RawOrNull(event.producer), event.instance, RawOrNull(event.buffer),
      event.flush, event.clone, event.HasFlag() ? std::optional(event.flag) : std::nullopt,
      TextOrNull(name), TextOrNull(detail));
}

void SqliteExport::AddStory(const SessionStory& story) {
  for (const InstanceStory& source : story.instances) {
    inserts_->data_sources.Row(session_, Raw(source.producer), source.instance,
                               Printable(source.name), Raw(source.buffer), source.session,
                               source.set_up_ns, source.started_ns, source.reported_start_ns,
                               source.stopped_ns, source.reported_stop_ns);
  }
  for (const SourceFinding& finding : story.findings) {
    inserts_->idle_sources.Row(session_, Name(finding.problem), finding.session,
                               Printable(finding.source), RawOrNull(finding.producer),
                               RawOrNull(finding.buffer));
  }
  const auto add = [&](const FlushAccount& flush, const FlushAccount::Answer* answer) {
    inserts_->flushes.Row(session_, flush.flush, flush.time_ns, Name(ReasonOf(flush.flags)),
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
  const uint64_t id = ChunkRowId(life.number);
  const SequenceKey sequence = life.chunk.sequence;
  const bool entered = life.exit != ChunkLife::Exit::kNone;
  const auto if_entered = [entered](auto value) {
    return entered ? std::optional<decltype(value)>(value) : std::nullopt;
  };
  inserts_->chunks.Row(id, session_, Raw(life.buffer), Raw(sequence.producer), Raw(sequence.writer),
                       Raw(life.chunk.chunk), life.committed.record, life.committed.time_ns,
                       Name(life.origin), life.fragments, (life.flags & kFirstContinues) != 0,
                       (life.flags & kLastContinues) != 0, (life.flags & kNeedsPatching) != 0,
                       life.complete, life.payload_bytes, Name(life.entry), NameOrNull(life.why),
                       if_entered(life.offset), if_entered(life.outer_size), Name(life.exit),
                       life.left.record, life.left.time_ns);
  chunks_ = std::max(chunks_, life.number);
  if (life.exit == ChunkLife::Exit::kEvicted)
    inserts_->evictions.Row(id, ChunkRowId(life.evicted_by_number), session_, Raw(life.buffer),
                            life.left.record, life.left.time_ns, life.unread_bytes);
}

void SqliteExport::AddPacket(const PacketAccount& account) {
  const PacketFacts& facts = account.facts;
  const bool came_out = account.fate == Fate::kRead || account.fate == Fate::kInvalid;
  std::optional<uint16_t> culprit_producer, culprit_writer;
  std::optional<uint32_t> culprit_chunk, waits_for;
  if (account.culprit) {
    culprit_producer = Raw(account.culprit->sequence.producer);
    culprit_writer = Raw(account.culprit->sequence.writer);
    culprit_chunk = Raw(account.culprit->chunk);
  }
  if (account.waits_for) waits_for = Raw(account.waits_for->chunk);
  inserts_->packets.Row(
      nullptr, session_, Raw(account.buffer), Raw(account.sequence.producer),
      Raw(account.sequence.writer), account.first_chunk, account.fragment, account.first_offset,
      account.last_chunk, account.size, ContentText(facts.content), facts.timestamp,
      facts.timestamp_clock, facts.clears_state, facts.needs_state, facts.has_interned_data,
      account.written.record, account.written.time_ns, Name(account.fate),
      TextOrNull(account.cause == Cause::kNone ? "" : Name(account.cause)), account.own_fault,
      account.decided.record, account.decided.time_ns,
      came_out ? std::optional(account.pass) : std::nullopt,
      came_out ? std::optional(account.position) : std::nullopt, account.loss_bits,
      culprit_producer, culprit_writer, culprit_chunk, waits_for);
  ++packets_;
}

void SqliteExport::AddDuplicate(const PacketAccount& account) {
  inserts_->duplicates.Row(session_, Raw(account.buffer), Raw(account.sequence.producer),
                           Raw(account.sequence.writer), account.first_chunk, account.fragment,
                           account.size, account.pass, account.decided.record,
                           account.decided.time_ns);
}

void SqliteExport::AddLoss(const BufferEvent& event) {
  const SequenceKey sequence = event.chunk.sequence;
  inserts_->losses.Row(session_, Raw(event.buffer), Raw(sequence.producer), Raw(sequence.writer),
                       Raw(event.chunk.chunk), event.at.record, event.at.time_ns,
                       event.kind == BufferEvent::Kind::kLossBit ? "flag" : "packet",
                       LossBitsToString(event.loss_bits));
}

void SqliteExport::AddPatch(const BufferEvent& event) {
  const SequenceKey sequence = event.chunk.sequence;
  const bool applied = event.kind == BufferEvent::Kind::kPatched;
  inserts_->patches.Row(session_, Raw(event.buffer), Raw(sequence.producer), Raw(sequence.writer),
                        Raw(event.chunk.chunk), event.at.record, event.at.time_ns, event.patches,
                        applied,
                        applied ? std::nullopt : std::optional<std::string_view>(Name(event.miss)));
}

const std::string& SqliteExport::ContentText(uint32_t content) {
  std::string& name = content_names_[content];
  if (name.empty()) name = ContentName(content);
  return name;
}

}  // namespace ringscope
