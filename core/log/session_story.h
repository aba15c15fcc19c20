#ifndef RINGSCOPE_CORE_LOG_SESSION_STORY_H_
#define RINGSCOPE_CORE_LOG_SESSION_STORY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/log/flush_tracker.h"
#include "core/log/summary.h"

namespace ringscope {

/// A reason why a data source contributed nothing, or why a producer did not.
enum class SourceProblem : uint8_t {
  kNoProducer,      // the config names a data source that no producer of the log has
  kNotSetUp,        // a producer has it, but was not asked for it
  kUnusedProducer,  // a producer has data sources, and was asked for none of them
  kNeverWrote,      // it was started, and its producer committed nothing to its buffer
};
template <>
inline constexpr std::array kEnumNames<SourceProblem> = {"no_producer", "not_set_up",
                                                         "unused_producer", "never_wrote"};

struct SourceFinding {
  SourceProblem problem{};
  std::optional<uint64_t> session = {};  // of the config or the instance
  std::string source = {};               // the data source; of an unused producer: all that it has
  std::optional<ProducerId> producer = {};
  std::string producer_name = {};
  std::optional<BufferId> buffer = {};  // that it should have written to

  friend bool operator==(const SourceFinding&, const SourceFinding&) = default;
};

/// The flushes of a session, and its data sources without data.
struct SessionStory {
  std::vector<FlushAccount> flushes;  // by id
  std::vector<SourceFinding> findings;
};

/// Returns the story of a session. Finds nothing that the log cannot show: no unmatched data
/// sources without records of what producers registered, no silent ones if commits are missing.
SessionStory StoryOf(const SessionSummary& session);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_SESSION_STORY_H_
