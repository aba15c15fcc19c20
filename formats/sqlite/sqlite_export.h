#ifndef RINGSCOPE_FORMATS_SQLITE_SQLITE_EXPORT_H_
#define RINGSCOPE_FORMATS_SQLITE_SQLITE_EXPORT_H_

#include <sqlite3.h>

#include "core/base/result.h"
#include "core/gaps/gap_analysis.h"
#include "core/graph/chunk_lifetimes.h"
#include "core/ledger/ledger.h"
#include "core/perfetto/packet_facts.h"
#include "core/session/replay_outcome.h"
#include "core/session/session_notes.h"
#include "formats/io/output_file.h"

namespace ringscope {

// The database that `ringscope export` writes. The comments in the statements are a part of it.
std::string_view SqliteTables();
/// Run when all rows are in.
std::string_view SqliteViews();

/// Version of the schema, as the database's user_version: counts changes that break queries.
inline constexpr int kSqliteSchemaVersion = 2;
/// The database's application_id: "rgsc".
inline constexpr int kSqliteApplicationId = 0x72677363;

/// Returns true if a file begins as such a database.
bool IsOwnDatabase(Bytes start);
inline constexpr OutputKind kDatabaseOutput = {"a database", false, IsOwnDatabase};

/// The database of `ringscope export`: rows in one transaction, indexes at the end. It appears
/// under its name once it is whole. The first error stays: whatever follows it does nothing, and
/// Commit returns it. An ExportSink for each session fills it.
class SqliteExport {
 public:
  static Result<std::unique_ptr<SqliteExport>> Create(const std::string& path, Replace replace);
  ~SqliteExport();

  /// Packets written so far.
  uint64_t packets() const { return packets_; }
  /// The first error so far.
  const Status& status() const { return status_; }
  /// Makes the indexes and views, ends the transaction, and puts the file in its place. Call once,
  /// last.
  Status Commit();

 private:
  friend class ExportSink;

  explicit SqliteExport(PendingFile pending) : pending_(std::move(pending)) {}
  /// Inserts a row of values for all columns that are stored. Numbers go in modulo 2^64, as
  /// SQLite's are signed; text must be UTF-8; an absent optional and nullptr are NULL.
  /// @param table a literal, always with as many values
  template <typename... Values>
  void Insert(const char* table, const Values&... values) {
    sqlite3_stmt*& insert = inserts_[table];
    if (insert == nullptr) insert = Prepare(table, sizeof...(values));
    if (!status_) return;
    int column = 0;
    (Bind(insert, ++column, values), ...);
    Check(sqlite3_step(insert));
    sqlite3_reset(insert);
  }
  template <std::integral T>
  static void Bind(sqlite3_stmt* insert, int column, T value) {
    sqlite3_bind_int64(insert, column, static_cast<sqlite3_int64>(value));
  }
  /// The text must stay where it is until the row is in: it does, during the call.
  static void Bind(sqlite3_stmt* insert, int column, std::string_view text) {
    sqlite3_bind_text(insert, column, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  }
  static void Bind(sqlite3_stmt* insert, int column, std::nullptr_t) {
    sqlite3_bind_null(insert, column);
  }
  template <typename T>
  static void Bind(sqlite3_stmt* insert, int column, const std::optional<T>& value) {
    value ? Bind(insert, column, *value) : Bind(insert, column, nullptr);
  }
  sqlite3_stmt* Prepare(const char* table, size_t columns);
  void DropInserts();
  /// Runs statements that return nothing.
  void Execute(const std::string& sql);
  void Check(int code);

  PendingFile pending_;
  sqlite3* db_ = nullptr;
  Status status_;
  std::map<const char*, sqlite3_stmt*> inserts_;
  uint64_t packets_ = 0;
  uint64_t chunks_ = 0;  // rows of the sessions before
};

/// Turns the replay of one session into rows. Give it to the replay as a listener and to the
/// ledger; then Finish.
class ExportSink : public ChunkLifetimes, public LedgerSink {
 public:
  /// @param session its number in the input
  /// @param kinds of its packets, which must outlive this
  ExportSink(SqliteExport& database, uint64_t session, PacketKinds& kinds);

  /// A listener that comes after this one, and a sink of the ledger that comes before it: it finds
  /// the gaps.
  GapAnalysis& gaps() { return gaps_; }
  /// Adds the gaps, and the rows of what the whole session shows.
  /// @param totals of the ledger
  Status Finish(const ReplayOutcome& outcome, const std::map<BufferId, LedgerTotals>& totals);

  uint64_t lost_packets() const { return lost_packets_; }

  void OnRecord(const Op& op, const LogMoment& moment) override;
  void OnBufferReplaced(SessionBuffer& buffer) override {
    ChunkLifetimes::OnBufferReplaced(buffer);
    passes_.erase(buffer.id);
  }
  void OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal> refusal) override;
  void OnReadBegun(BufferId buffer) override;
  Status OnPacket(const SessionPacket& packet) override;
  void OnReadDone(BufferId buffer, uint64_t packets) override;

  void OnPacketFate(const PacketAccount& account) override;

  void OnChunkEntered(const ChunkLife& life) override;
  void OnChunkLeft(const ChunkLife& life) override { AddChunk(life); }

 private:
  using SequenceId = std::tuple<BufferId, SequenceKey>;
  struct Producer {
    ProducerConnected connected;
    LogMoment connected_at, disconnected_at;  // without a record: never
  };
  struct Sequence {
    uint64_t commits = 0;
    FateCounts by_fate;
  };
  struct Read {
    uint32_t pass = 0;
    LogMoment at;
    ReadReason reason = ReadReason::kUnknown;
    FateCount count;
    uint64_t invalid = 0;
  };

  void AddChunk(const ChunkLife& life);
  void AddGap(const Gap& gap);
  void AddBuffers(const ReplayOutcome& outcome);
  void AddProducers();
  void AddSequence(BufferId buffer, SequenceKey key, const Sequence& sequence);

  SqliteExport& database_;
  const uint64_t session_;
  const uint64_t chunks_before_;  // rows of other sessions
  LogHeader header_;
  std::string config_;
  SessionNotes notes_;
  PacketKinds& kinds_;
  GapAnalysis gaps_;
  std::map<ProducerId, Producer> producers_;
  std::map<SequenceId, Sequence> sequences_;
  std::map<BufferId, uint32_t> passes_;
  Read read_;  // under way
  ReadReason reason_ = ReadReason::kUnknown;
  uint64_t lost_packets_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_SQLITE_SQLITE_EXPORT_H_
