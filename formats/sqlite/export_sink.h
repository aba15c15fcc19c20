#ifndef RINGSCOPE_FORMATS_SQLITE_EXPORT_SINK_H_
#define RINGSCOPE_FORMATS_SQLITE_EXPORT_SINK_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/gaps/gap_analysis.h"
#include "core/graph/chunk_lifetimes.h"
#include "core/ledger/ledger.h"
#include "core/log/session_story.h"
#include "core/perfetto/packet_kinds.h"
#include "core/session/replay_outcome.h"
#include "core/session/session_notes.h"
#include "formats/sqlite/sqlite_export.h"

namespace ringscope {

/// Turns the replay of one session into rows. Give it to the replay as a listener and as that of
/// the accounts; then Finish.
class ExportSink : public ReplayListener, public LedgerSink, public ChunkLifeListener {
 public:
  /// @param session its number in the input
  /// @param kinds of its packets, which must outlive this
  ExportSink(SqliteExport& database, uint64_t session, PacketKinds& kinds);

  /// A listener of the replay that comes after this one: it finds the gaps.
  ReplayListener& gaps() { return gaps_; }
  /// The gaps, and the rows that are sums; the session's last.
  /// @param totals of the ledger
  Status Finish(const ReplayOutcome& outcome, const std::map<BufferId, LedgerTotals>& totals);

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

  void OnChunkWritten(BufferId buffer, WrittenCommit& commit) override {
    gaps_.OnChunkWritten(buffer, commit);
  }
  void OnPacketFate(const PacketAccount& account) override;
  void OnDuplicate(const PacketAccount& account) override;
  void OnChunkForgotten(BufferId buffer, SequenceKey sequence, uint64_t chunk) override {
    gaps_.OnChunkForgotten(buffer, sequence, chunk);
  }

  void OnChunkEntered(const ChunkLife& life) override;
  void OnChunkLeft(const ChunkLife& life) override;

 private:
  using SequenceId = std::tuple<BufferId, SequenceKey>;

  struct Sequence {
    SequenceRow row;
    std::vector<SumRow> sums;  // few
    std::map<std::optional<SequenceKey>, FateCount> evictors;
    SumRow* last_sum = nullptr;  // packets of one fate come in runs
    std::pair<const std::optional<SequenceKey>, FateCount>* last_evictor = nullptr;
  };

  Sequence& SequenceOf(BufferId buffer, SequenceKey sequence);
  static void AddToSums(const PacketAccount& account, Sequence& sequence);
  void NameSequence(const SessionStory& story, SequenceRow& row) const;
  std::string_view KindName(uint32_t kind);

  SqliteExport& database_;
  ChunkLifetimes lives_;
  SessionStoryBuilder story_;
  smb::MemoryLooks looks_;
  LogHeader header_;
  std::string config_;
  SessionNotes notes_{TimeBase::kWall};
  PacketKinds& kinds_;
  std::vector<std::string_view> kind_names_;  // by number; empty: not asked for yet
  GapAnalysis gaps_;
  std::map<ProducerId, ProducerRow> producers_;
  std::map<SequenceId, Sequence> sequences_;
  Sequence* last_sequence_ = nullptr;  // packets come in runs of one sequence
  std::map<BufferId, uint32_t> passes_;
  ReadRow read_;  // under way
  ReadReason reason_ = ReadReason::kUnknown;
  uint64_t lost_packets_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_SQLITE_EXPORT_SINK_H_
