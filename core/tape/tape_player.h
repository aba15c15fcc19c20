#ifndef RINGSCOPE_CORE_TAPE_TAPE_PLAYER_H_
#define RINGSCOPE_CORE_TAPE_TAPE_PLAYER_H_

#include <map>
#include <memory>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/session/session.h"
#include "core/tape/tape_section.h"

namespace ringscope {

/// Answers in place of a buffer's engine what that had counted at the moment that is played. It
/// holds nothing, and takes nothing.
class PlayedEngine : public Engine {
 public:
  void Commit(const ChunkCommit&) override {}
  bool ApplyPatches(const ChunkPatches&) override { return false; }
  void BeginRead() override {}
  const Packet* NextPacket() override { return nullptr; }
  Result<std::unique_ptr<Engine>> Clone() const override {
    return Fail(ErrorCode::kUnsupported, "only the counters of this buffer are known");
  }
  const BufferStats& stats() const override { return stats_; }
  void VisitWriterStats(const std::function<void(const WriterStats&)>&) const override {}
  std::string CheckInvariants() const override { return {}; }

  void SetStats(const BufferStats& stats) { stats_ = stats; }

 private:
  BufferStats stats_;
};

/// Plays sections of a tape to the listeners of a replay.
class TapePlayer {
 public:
  /// @param ledger that comes before the others; may be nullptr. Not owned, like the listeners
  TapePlayer(Ledger* ledger, std::vector<ReplayListener*> listeners);

  /// The ledger and the others, to listen to a replay themselves.
  const std::vector<ReplayListener*>& listeners() const { return listeners_; }
  /// @return the first error of a listener: nothing may be played after it
  Status Play(TapeSection& section);

  /// For what is not recorded, but called while nothing is played.
  const ReplayListeners& all() const { return all_; }
  /// The listeners get a buffer of their own in place of this one.
  void SetUp(const SessionBuffer& buffer);
  void Forget(BufferId id) { buffers_.erase(id); }

 private:
  struct PlayedBuffer {
    SessionBuffer buffer;
    PlayedEngine* engine = nullptr;  // of `buffer`
  };

  Ledger* const ledger_;
  const std::vector<ReplayListener*> listeners_;
  const ReplayListeners others_;
  const ReplayListeners all_;
  std::map<BufferId, PlayedBuffer> buffers_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TAPE_TAPE_PLAYER_H_
