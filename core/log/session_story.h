#ifndef RINGSCOPE_CORE_LOG_SESSION_STORY_H_
#define RINGSCOPE_CORE_LOG_SESSION_STORY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/log/flush_tracker.h"
#include "core/log/summary.h"

namespace ringscope {

/// A data source of a producer that took part in a session. Times are those of the records.
struct InstanceStory {
  ProducerId producer{};
  uint64_t instance = 0;
  std::string name;
  BufferId buffer{};
  std::optional<uint64_t> session;
  std::optional<uint64_t> set_up_ns;
  bool started = false;  // it was asked to
  std::optional<uint64_t> started_ns;
  std::optional<uint64_t> reported_start_ns;
  bool stopped = false;  // it was asked to
  std::optional<uint64_t> stopped_ns;
  std::optional<uint64_t> reported_stop_ns;
};

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

/// The answers of a producer to flushes.
struct ProducerFlushes {
  ProducerId producer{};
  std::string name;
  uint64_t asked = 0;
  uint64_t acknowledged = 0;
  uint64_t timed = 0;   // acknowledged, with a known latency
  uint64_t sum_ns = 0;  // of the latencies
  uint64_t max_ns = 0;
  uint64_t max_flush = 0;  // which had the longest

  uint64_t missed() const { return asked - acknowledged; }
  uint64_t mean_ns() const { return timed == 0 ? 0 : sum_ns / timed; }
};

/// The life of a log's sessions by its records, apart from the buffers.
struct SessionStory {
  std::vector<FlushAccount> flushes;       // by id
  std::vector<ProducerFlushes> producers;  // that were asked to flush, by id
  std::vector<InstanceStory> instances;    // in order of set-up
  std::vector<SourceFinding> findings;
};

/// Returns the story of a session. Finds nothing that the log cannot show: no unmatched data
/// sources without records of what producers registered, no silent ones if commits are missing.
SessionStory StoryOf(const SessionSummary& session);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_SESSION_STORY_H_
