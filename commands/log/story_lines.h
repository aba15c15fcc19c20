#ifndef RINGSCOPE_COMMANDS_LOG_STORY_LINES_H_
#define RINGSCOPE_COMMANDS_LOG_STORY_LINES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"

namespace ringscope {

/// Something that happened.
struct StoryLine {
  std::string seconds;  // since the start, "1.250"; "-": not known; empty: as the line before
  std::string text;
};

/// What happened, in lines, each with its time in seconds since a start. What is routine is summed
/// up in one line as long as nothing else happens; of many lines alike only the first ones are
/// shown.
class StoryLines {
 public:
  using NameOf = std::function<std::string(ProducerId)>;

  StoryLines(std::optional<uint64_t> start_ns, NameOf name_of)
      : start_ns_(start_ns), name_of_(std::move(name_of)) {}

  /// @param group lines of one group that follow each other are shortened; empty: never
  void Line(std::optional<uint64_t> time_ns, const std::string& text,
            const std::string& group = {});
  /// Something that happens again and again: "flush (periodic)", "request to clear ...".
  /// @param slowest_ns of a flush: the longest latency, and whose it is
  void AddRoutine(const std::string& what, std::optional<uint64_t> time_ns, uint64_t slowest_ns = 0,
                  std::optional<ProducerId> producer = {});
  /// All lines. Once.
  std::vector<StoryLine> Take();

 private:
  /// Events of one kind that are reported together.
  struct Routine {
    std::optional<uint64_t> first_ns;
    std::optional<uint64_t> last_ns;
    uint64_t count = 0;
    uint64_t slowest_ns = 0;
    std::optional<ProducerId> slowest;
  };

  void EndRoutine();
  void EndGroup();

  const std::optional<uint64_t> start_ns_;
  const NameOf name_of_;
  std::map<std::string, Routine> routine_;
  std::string group_;
  uint64_t in_group_ = 0;
  std::optional<uint64_t> group_last_ns_;
  std::vector<StoryLine> lines_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_LOG_STORY_LINES_H_
