#ifndef RINGSCOPE_CORE_SESSION_SESSION_STORY_LISTENER_H_
#define RINGSCOPE_CORE_SESSION_SESSION_STORY_LISTENER_H_

#include <optional>

#include "core/log/session_story.h"
#include "core/session/replay_listener.h"

namespace ringscope {

/// Builds the story of the session that is replayed. What a producer commits counts as written,
/// even if the service refuses it.
class SessionStoryListener : public ReplayListener {
 public:
  /// @param keep_flushes whether the story is to have `flushes`
  explicit SessionStoryListener(bool keep_flushes = false) : builder_(keep_flushes) {}

  void OnRecord(const Op& op, const LogMoment& moment) override {
    if (std::holds_alternative<Commit>(op.body)) return;
    const std::optional<LifeEvent> event = LifeEventOf(op, moment.record.value_or(0));
    if (!event) return;
    builder_.Add(*event);
    if (event->Is<RecorderGap>()) builder_.SetCommitsIncomplete();
  }
  void OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal>) override {
    builder_.AddChunk(commit.sequence.producer, buffer);
  }

  /// Once, after the replay.
  SessionStory Finish() { return builder_.Finish(); }

 private:
  SessionStoryBuilder builder_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_SESSION_STORY_LISTENER_H_
