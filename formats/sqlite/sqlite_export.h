#ifndef RINGSCOPE_FORMATS_SQLITE_SQLITE_EXPORT_H_
#define RINGSCOPE_FORMATS_SQLITE_SQLITE_EXPORT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/gaps/gap_analysis.h"
#include "core/graph/chunk_lifetimes.h"
#include "core/ledger/ledger.h"
#include "core/perfetto/packet_facts.h"
#include "core/session/replay_outcome.h"
#include "core/session/session_notes.h"
#include "formats/io/output_file.h"
#include "formats/sqlite/sqlite_file.h"

namespace ringscope {

// The database that `ringscope export` writes. The comments inside the statements are a part of it:
// `.schema` of the sqlite3 shell shows them.

/// Version of the schema, as the database's user_version: counts changes that break queries.
inline constexpr int kSqliteSchemaVersion = 2;
/// The database's application_id: "rgsc".
inline constexpr int kSqliteApplicationId = 0x72677363;

/// Whether a file begins as such a database.
bool IsOwnDatabase(Bytes start);
inline constexpr OutputKind kDatabaseOutput = {"a database", false, IsOwnDatabase};

extern const char* const kSqliteTables;
/// Run when all rows are in.
extern const char* const kSqliteIndexes;
extern const char* const kSqliteViews;

/// The database of `ringscope export`: rows in one transaction, indexes at the end. An ExportSink
/// for each session fills it.
class SqliteExport {
 public:
  static Result<std::unique_ptr<SqliteExport>> Create(const std::string& path, Replace replace);
  ~SqliteExport();

  /// Packets written so far.
  uint64_t packets() const { return packets_; }
  /// Makes the indexes and views, and puts the file in its place. Call once, last.
  Status Commit();

 private:
  friend class ExportSink;
  struct Inserts;

  explicit SqliteExport(std::unique_ptr<SqliteFile> file);

  std::unique_ptr<SqliteFile> file_;
  std::unique_ptr<Inserts> inserts_;
  uint64_t packets_ = 0;
  uint64_t chunks_ = 0;  // rows of the sessions before
};

/// Turns the replay of one session into rows. Give it to the replay as a listener and to the
/// ledger; then Finish.
class ExportSink : public ReplayListener, public LedgerSink, public ChunkLifeListener {
 public:
  /// @param session its number in the input
  /// @param kinds of its packets, which must outlive this
  ExportSink(SqliteExport& database, uint64_t session, PacketKinds& kinds);

  /// A listener of the replay that comes after this one: it finds the gaps.
  ReplayListener& gaps() { return gaps_; }
  /// Adds the gaps, the rows that are sums, and the session's row.
  /// @param totals of the ledger
  Status Finish(const ReplayOutcome& outcome, const std::map<BufferId, LedgerTotals>& totals);

  uint64_t lost_packets() const { return lost_packets_; }

  bool WantsBufferEvents() const override { return true; }
  void OnRecord(const Op& op, const LogMoment& moment) override;
  void OnBufferReplaced(SessionBuffer& buffer) override;
  void OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal> refusal) override;
  void OnChunkDone(BufferId buffer, const ChunkCommit& commit) override {
    lives_.OnChunkDone(buffer, commit);
  }
  void OnReadBegun(BufferId buffer) override;
  Status OnPacket(const SessionPacket& packet) override;
  void OnReadDone(BufferId buffer, uint64_t packets) override;
  void OnBufferEvent(const BufferEvent& event) override { lives_.OnBufferEvent(event); }

  void OnChunkWritten(BufferId buffer, WrittenCommit& commit) override {
    gaps_.OnChunkWritten(buffer, commit);
  }
  void OnPacketFate(const PacketAccount& account) override;
  void OnDuplicate(const PacketAccount& account) override { gaps_.OnDuplicate(account); }
  void OnChunkForgotten(BufferId buffer, SequenceKey sequence, uint64_t chunk) override {
    gaps_.OnChunkForgotten(buffer, sequence, chunk);
  }

  void OnChunkEntered(const ChunkLife& life) override;
  void OnChunkLeft(const ChunkLife& life) override { AddChunk(life); }

 private:
  using SequenceId = std::tuple<BufferId, SequenceKey>;
  struct Producer {
    ProducerConnected connected;
    std::optional<LogMoment> connected_at;
    std::optional<LogMoment> disconnected_at;
  };
  /// Packets of a sequence with the same fate and cause.
  struct Sum {
    FateCount count;
    uint64_t own_fault = 0;
    uint64_t first_chunk = UINT64_MAX;
    uint64_t last_chunk = 0;
    std::optional<uint64_t> first_written_ns;
    std::optional<uint64_t> last_written_ns;
  };
  struct Sequence {
    uint64_t commits = 0;
    FateCounts by_fate;
    std::map<std::pair<Fate, Cause>, Sum> sums;
    std::map<std::optional<SequenceKey>, FateCount> evictors;
  };
  struct Read {
    uint32_t pass = 0;
    LogMoment at;
    ReadReason reason = ReadReason::kUnknown;
    FateCount count;
    uint64_t invalid = 0;
  };

  Sequence& SequenceOf(BufferId buffer, SequenceKey sequence);
  static void AddToSums(const PacketAccount& account, Sequence& sequence);
  void AddChunk(const ChunkLife& life);
  void AddPacket(const PacketAccount& account, const std::string& kind);
  void AddGap(const Gap& gap);
  void AddBuffers(const ReplayOutcome& outcome);
  void AddProducers();
  void AddSequence(BufferId buffer, SequenceKey key, const Sequence& sequence);

  SqliteExport& database_;
  SqliteExport::Inserts& rows_;
  const uint64_t session_;
  const uint64_t chunks_before_;  // rows of other sessions
  ChunkLifetimes lives_;
  LogHeader header_;
  std::string config_;
  SessionNotes notes_;
  PacketKinds& kinds_;
  GapAnalysis gaps_;
  std::map<ProducerId, Producer> producers_;
  std::map<SequenceId, Sequence> sequences_;
  std::map<std::pair<ProducerId, BufferId>, std::vector<std::string>> sources_;
  std::vector<std::string> contents_;  // names, by field of TracePacket
  Sequence* last_sequence_ = nullptr;  // packets come in runs of one sequence
  SequenceId last_id_;
  std::map<BufferId, uint32_t> passes_;
  Read read_;  // under way
  ReadReason reason_ = ReadReason::kUnknown;
  uint64_t lost_packets_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_SQLITE_SQLITE_EXPORT_H_
