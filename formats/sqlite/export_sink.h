#ifndef RINGSCOPE_FORMATS_SQLITE_EXPORT_SINK_H_
#define RINGSCOPE_FORMATS_SQLITE_EXPORT_SINK_H_

#include <map>
#include <optional>
#include <tuple>

#include "core/graph/chunk_lifetimes.h"
#include "core/ledger/ledger.h"
#include "core/log/session_story.h"
#include "core/session/replay_outcome.h"
#include "formats/sqlite/sqlite_export.h"

namespace ringscope {

/// Turns the replay of one session into rows. Give it to the replay as a listener and as that of
/// the accounts; then Finish.
class ExportSink : public ReplayListener, public LedgerSink, public ChunkLifeListener {
 public:
  /// @param session its number in the input
  ExportSink(SqliteExport& database, uint64_t session);

  /// The rows that are sums; the session's last.
  Status Finish(const ReplayOutcome& outcome);

  uint64_t lost_packets() const { return lost_packets_; }

  bool WantsBufferEvents() const override { return true; }
  void OnRecord(const Op& op, const LogMoment& moment) override;
  void OnBufferReplaced(SessionBuffer& buffer) override;
  void OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal> refusal) override;
  void OnChunkDone(BufferId buffer, const ChunkCommit& commit) override;
  void OnReadBegun(BufferId buffer) override;
  Status OnPacket(const SessionPacket& packet) override;
  void OnReadDone(BufferId buffer, uint64_t packets) override;
  void OnBufferEvent(const BufferEvent& event) override;

  void OnPacketFate(const PacketAccount& account) override;
  void OnDuplicate(const PacketAccount& account) override;

  void OnChunkEntered(const ChunkLife& life) override;
  void OnChunkLeft(const ChunkLife& life) override;

 private:
  using SequenceId = std::tuple<BufferId, SequenceKey>;

  SequenceRow& SequenceOf(BufferId buffer, SequenceKey sequence);

  SqliteExport& database_;
  ChunkLives lives_;
  SessionStoryBuilder story_;
  LogHeader header_;
  std::map<ProducerId, ProducerRow> producers_;
  std::map<SequenceId, SequenceRow> sequences_;
  SequenceRow* last_sequence_ = nullptr;  // packets come in runs of one sequence
  std::map<BufferId, uint32_t> passes_;
  ReadRow read_;  // under way
  ReadReason reason_ = ReadReason::kUnknown;
  uint64_t lost_packets_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_SQLITE_EXPORT_SINK_H_
