#ifndef RINGSCOPE_COMMANDS_LOG_STORY_TEXT_H_
#define RINGSCOPE_COMMANDS_LOG_STORY_TEXT_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "commands/log/story_lines.h"
#include "core/log/session_story.h"
#include "core/log/summary.h"

namespace ringscope {

/// Tells the events of a session in lines: the time since the session's start, and what happened.
/// Successful flushes and requests to clear incremental state are routine; see StoryLines.
class StoryText {
 public:
  StoryText(const SessionSummary& session, const SessionStory& story);

  /// All lines; empty: there is nothing to tell but the buffers.
  std::vector<StoryLine> Tell();
  /// What the times are relative to: the start of tracing, or else the first event.
  std::optional<uint64_t> start_ns() const { return start_ns_; }

 private:
  void TellEvent(size_t at);
  void TellSession(const LifeEvent& event);
  void TellProducer(size_t at);
  void TellSetUp(const LifeEvent& event);
  void TellStart(const LifeEvent& event);
  void TellStop(const LifeEvent& event);
  void TellFlush(const LifeEvent& event);
  void TellClone(const LifeEvent& event);
  void Line(std::optional<uint64_t> time_ns, const std::string& text,
            const std::string& group = {}) {
    lines_->Line(time_ns, text, group);
  }
  std::string Who(const LifeEvent& event) const;
  std::string NameOf(ProducerId producer) const;
  std::string Which(const LifeEvent& event) const;
  const InstanceStory* Latest(const LifeEvent& event) const;
  std::string ConfigText(std::optional<uint64_t> session) const;

  const SessionSummary& session_;
  const SessionStory& story_;
  std::optional<uint64_t> start_ns_;
  bool is_numbered_ = false;  // there are several tracing sessions
  bool has_ends_ = false;     // the end of a session is recorded: it frees the buffers
  std::map<ProducerId, std::string> names_;
  std::map<uint64_t, const FlushAccount*> flushes_;
  std::set<uint64_t> reported_flushes_;
  std::set<size_t> reported_;  // events that were reported with an earlier one
  std::map<std::pair<ProducerId, uint64_t>, const InstanceStory*> latest_;
  size_t set_ups_ = 0;
  std::optional<StoryLines> lines_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_LOG_STORY_TEXT_H_
