#ifndef RINGSCOPE_FORMATS_SQLITE_SQLITE_EXPORT_H_
#define RINGSCOPE_FORMATS_SQLITE_SQLITE_EXPORT_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/gaps/gap_report.h"
#include "core/graph/chunk_lifetimes.h"
#include "core/ledger/ledger.h"
#include "core/log/session_story.h"
#include "core/session/buffer_event.h"
#include "core/session/reads_used.h"
#include "core/gaps/memory_looks.h"
#include "formats/sqlite/row_queue.h"
#include "formats/sqlite/sqlite_file.h"

namespace ringscope {

// Rows of the tables for which core has no type; see formats/sqlite/sqlite_schema.cc. Texts
// are UTF-8.

struct SessionRow {
  std::string log;
  LogHeader header;
  uint64_t records = 0;
  uint64_t read_passes = 0;
  ReadsUsed reads;
  uint64_t recorder_gaps = 0;
  std::optional<uint64_t> first_ns;
  std::optional<uint64_t> last_ns;
  std::optional<uint64_t> wall_offset_ns;  // time of day less the log's clock, modulo 2^64
  std::string config;                      // protobuf; empty: not known
};

struct BufferRow {
  BufferId buffer{};
  std::optional<uint32_t> index;
  std::optional<std::string> engine;
  std::optional<uint64_t> size;
  std::optional<FillPolicy> policy;
  std::optional<bool> freed;
};

struct ProducerRow {
  ProducerId producer{};
  std::optional<std::string> name;
  std::optional<uint32_t> uid;
  std::optional<int32_t> pid;
  std::optional<std::string> sdk;
  std::optional<uint64_t> smb_size;
  std::optional<uint64_t> page_size;
  std::optional<LogMoment> connected;
  std::optional<LogMoment> disconnected;
};

struct SequenceRow {
  BufferId buffer{};
  SequenceKey sequence;
  std::string process;  // names; empty: not known
  std::string thread;
  std::string data_sources;
  uint64_t commits = 0;
  FateCount written;
  FateCount read;
  FateCount lost;
};

/// Packets of a sequence with the same fate and cause.
struct SumRow {
  Fate fate = Fate::kRead;
  Cause cause = Cause::kNone;
  FateCount count;
  uint64_t own_fault = 0;
  uint64_t first_chunk = UINT64_MAX;
  uint64_t last_chunk = 0;
  std::optional<uint64_t> first_written_ns;
  std::optional<uint64_t> last_written_ns;
};

struct ReadRow {
  BufferId buffer{};
  uint32_t pass = 0;
  LogMoment at;
  ReadReason reason = ReadReason::kUnknown;
  uint64_t packets = 0;
  uint64_t bytes = 0;
  uint64_t invalid = 0;
};

/// Writes the database of `ringscope export`: row by row in one transaction, indexes at the end.
/// Rows of the large tables are written on a thread of its own.
/// Errors stay until status() or Commit() is asked.
class SqliteExport {
 public:
  static Result<std::unique_ptr<SqliteExport>> Create(const std::string& path, Replace replace);
  ~SqliteExport();

  /// Rows from now on are of this session. Its own row can come last.
  void BeginSession(uint64_t number);
  void AddSession(const SessionRow& row);
  void AddBuffer(const BufferRow& row);
  void AddProducer(const ProducerRow& row);
  void AddSequence(const SequenceRow& row);
  void AddSum(const SequenceRow& sequence, const SumRow& row);
  /// @param culprit whose commits needed the space; absent: not known
  void AddEvictor(const SequenceRow& sequence, const std::optional<SequenceKey>& culprit,
                  const FateCount& count);
  void AddGap(const Gap& gap);
  /// @param number among the buffer's
  void AddProgram(BufferId buffer, uint64_t number, const protovm::VmAccount& vm);
  void AddRead(const ReadRow& row);
  void AddLook(ProducerId producer, const LogMoment& at, const smb::SeenMemory& seen);
  void AddStat(const std::string& name, std::optional<uint32_t> index, const char* severity,
               uint64_t value);
  void AddEvent(const LifeEvent& event);
  void AddStory(const SessionStory& story);
  /// A life at its end, and its eviction if that was it.
  void AddChunk(const ChunkLife& life);
  /// @param kind what its content is about; one that KeepText returned, or empty
  void AddPacket(const PacketAccount& account, std::string_view kind);
  /// The same text, which stays where it is; empty: too many are kept.
  std::string_view KeepText(std::string_view text);
  void AddDuplicate(const PacketAccount& account);
  /// kLossBit or kGivenUp.
  void AddLoss(const BufferEvent& event);
  /// kPatched or kPatchMissed.
  void AddPatch(const BufferEvent& event);

  /// Rows of packets so far.
  uint64_t packets() const { return packets_; }
  const Status& status();
  /// Makes the indexes and views, and puts the file in its place. Call once, last.
  Status Commit();

 private:
  struct Inserts;

  explicit SqliteExport(std::unique_ptr<SqliteFile> file);
  RowBatch& Batch();
  void PutBatch();
  /// The statements, when no other thread uses them.
  Inserts& Idle();
  // On the thread of the queue.
  void Write(const RowBatch& batch);
  void WriteChunk(const RowBatch& batch, const ChunkLife& life);

  std::unique_ptr<SqliteFile> file_;
  std::unique_ptr<Inserts> inserts_;
  std::atomic<bool> failed_ = false;
  std::unique_ptr<RowBatch> batch_;           // in the making
  std::set<std::string, std::less<>> texts_;  // that batches refer to
  uint64_t session_ = 0;
  uint64_t packets_ = 0;
  uint64_t chunks_before_ = 0;  // rows of the sessions before
  uint64_t chunks_ = 0;
  std::unique_ptr<RowQueue> queue_;  // destroyed first: it uses all others
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_SQLITE_SQLITE_EXPORT_H_
