#ifndef RINGSCOPE_CORE_COMPARE_SIDE_REPLAY_H_
#define RINGSCOPE_CORE_COMPARE_SIDE_REPLAY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/compare/diff_section.h"
#include "core/compare/side_tape.h"
#include "core/session/replay.h"

namespace ringscope {

/// The replay of one side of a comparison. What it does goes onto tapes, with hashes in place of
/// packets, so that it can be compared later, and in another thread.
class SideReplay : public ReplayListener {
 public:
  SideReplay(Side side, ReplayOptions options) : side_(side), replay_(std::move(options), *this) {}

  /// Replays the section's records onto its tape. After an error nothing more is replayed.
  void Run(DiffSection& section);
  const Replay& replay() const { return replay_; }

  bool WantsBufferEvents() const override { return true; }
  void OnRecord(const Op&, const LogMoment& moment) override {
    tape_->Add(Kind::kMoment, tape_->moments, moment);
  }
  void OnBufferSetUp(SessionBuffer& buffer) override;
  void OnChunk(BufferId buffer, const ChunkCommit&, std::optional<Refusal>) override {
    Touch(buffer);
  }
  void OnReadBegun(BufferId buffer) override { Touch(buffer); }
  void OnBufferEvent(const BufferEvent& event) override;
  void OnPatch(BufferId buffer, bool ok) override;
  Status OnPacket(const SessionPacket& packet) override;
  void OnClonePacket(const SessionPacket& packet) override;
  void OnCloneDone(BufferId, uint64_t, const BufferStats&) override { ++clones_; }
  void OnWarning(const std::string& text) override {
    tape_->Add(Kind::kWarning, tape_->warnings, text);
  }

 private:
  using Kind = SideTape::Kind;

  void Touch(BufferId buffer);
  void EndRecord(Status status, std::optional<BufferId> cloned);
  void Count(const SessionBuffer& buffer, bool touched);
  void AddPacket(const SessionPacket& packet, uint32_t clone);

  const Side side_;
  Replay replay_;
  SideTape* tape_ = nullptr;       // of the section under way
  std::vector<BufferId> touched_;  // during the record under way
  std::string joined_;             // scratch
  uint32_t clones_ = 0;
  bool failed_ = false;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_SIDE_REPLAY_H_
