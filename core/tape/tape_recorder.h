#ifndef RINGSCOPE_CORE_TAPE_TAPE_RECORDER_H_
#define RINGSCOPE_CORE_TAPE_TAPE_RECORDER_H_

#include <map>
#include <memory>
#include <string>

#include "core/session/session.h"
#include "core/tape/tape_player.h"
#include "core/tape/tape_section.h"

namespace ringscope {

/// Where the sections of a tape are played, in order: perhaps by another thread.
class TapeRunner {
 public:
  virtual ~TapeRunner() = default;
  /// An empty section.
  virtual std::unique_ptr<TapeSection> Take() = 0;
  /// Plays the section, now or later.
  /// @return the first error of the listeners that is known by now
  virtual Status Put(std::unique_ptr<TapeSection> section) = 0;
  /// Waits until all sections are played. @return the first error of the listeners
  virtual Status Wait() = 0;
};

/// Listens to a replay for others, and hands on what it hears in sections, so that the replay can
/// continue before they have heard it. They hear the same calls in the same order. What is rare,
/// and what hands out the session or a buffer as it is now, they hear at once, after all that was
/// before it. Payloads of events are copied where BufferEvent is about bytes that were lost or
/// changed.
///
/// Of the buffers that they get when these are set up, only the counters may be asked later (see
/// PlayedEngine): listeners that ask for more must listen to the replay itself.
class TapeRecorder : public ReplayListener {
 public:
  /// Calls in a section, about: with their bytes, about what a processor's second cache holds.
  static constexpr size_t kSectionSteps = 8192;

  /// @param player of the listeners; `runner` plays through it. Both outlive this
  /// @param steps calls in a section, about
  TapeRecorder(TapePlayer& player, TapeRunner& runner, size_t steps = kSectionSteps)
      : steps_(steps), player_(player), runner_(runner), section_(runner.Take()) {}

  /// The replay is over, or cannot continue: everything is played.
  Status Finish();

  bool WantsBufferEvents() const override { return player_.all().WantBufferEvents(); }
  void OnRecord(const Op& op, const LogMoment& moment) override;
  void OnBufferSetUp(SessionBuffer& buffer) override;
  void OnProgramSetUp(const SessionBuffer& buffer) override;
  void OnBufferEmptied(SessionBuffer& buffer) override;
  void OnBufferReplaced(SessionBuffer& buffer) override;
  void OnChunk(BufferId id, const ChunkCommit& commit, std::optional<Refusal> refusal) override;
  void OnChunkDone(BufferId id, const ChunkCommit& commit) override;
  void OnPatch(BufferId id, bool ok) override;
  Status OnProtoVms(const ProtoVmsRead& read) override;
  void OnProtoVmStates(const SessionBuffer& buffer) override;
  void OnReadBegun(BufferId id) override;
  Status OnPacket(const SessionPacket& packet) override;
  void OnTakenPacket(const SessionPacket& packet) override;
  void OnReadLimited(BufferId id) override;
  void OnReadDone(BufferId id, uint64_t packets) override;
  void OnCloneBegun(const SessionBuffer& buffer) override;
  void OnClonePacket(const SessionPacket& packet) override;
  void OnCloneDone(BufferId id, uint64_t packets, const BufferStats& stats) override;
  void OnBufferEvent(const BufferEvent& event) override;
  Status OnLogEnd(Session& session) override;
  void OnDrainBegun(BufferId id) override;
  void OnDrainEvent(const BufferEvent& event) override;
  void OnDrainPacket(BufferId id, const Packet& packet) override;
  void OnDrained() override;
  void OnWarning(const std::string& text) override;

 private:
  using Kind = TapeSection::Kind;

  void AddStep(Kind kind, size_t index);
  void AddCount(Kind kind, BufferId id, uint64_t count = 0);
  void AddPacket(Kind kind, const SessionPacket& packet);
  void AddEvent(Kind kind, const BufferEvent& event);
  void AddStats(BufferId id);
  Bytes CopyOfRequestPart(Bytes bytes);
  void PutIfFull();
  void PutSection();
  /// All that was recorded is played before the next call of a listener.
  void CatchUp();

  const size_t steps_;
  TapePlayer& player_;
  TapeRunner& runner_;
  std::unique_ptr<TapeSection> section_;
  Status status_;  // of the listeners, as far as known
  std::map<BufferId, const SessionBuffer*> buffers_;
  // The request under way, and its copy in the section.
  Bytes request_;
  Bytes copied_request_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TAPE_TAPE_RECORDER_H_
