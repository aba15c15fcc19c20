#include "core/log/session_story.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/base/wire.h"
#include "core/perfetto/trace_config_facts.h"

namespace ringscope {
namespace {

struct ConfiguredInSession {
  std::optional<uint64_t> session;
  std::string source;
  bool set_up = false;
};

struct ProducerStory {
  std::string name;
  std::set<std::string> sources;  // ever registered
  bool asked = false;             // for one of them
};

/// A data source of a producer that took part in a session.
struct SourceInstance {
  const LifeEvent& set_up;
  bool started = false;  // it was asked to
};

/// Builds a story event by event. The events must outlive it.
class StoryBuilder {
 public:
  void Add(const LifeEvent& event) {
    flushes_.Apply(event);
    const ProducerId producer = event.producer.value_or(ProducerId{});
    if (event.Is<ProducerConnected>()) {
      producers_[producer].name = event.name;
    } else if (event.Is<DataSourceRegistered>()) {
      knows_sources_ = true;
      producers_[producer].sources.insert(event.name);
    } else if (event.Is<TraceConfigRecord>()) {
      for (ConfiguredSource& source : ReadTraceConfigFacts(wire::AsBytes(event.detail)).sources)
        configured_.push_back({event.session, std::move(source.name)});
    } else if (event.change == SessionChange::kRefused) {
      refused_.insert(event.session.value_or(0));
    } else if (event.Is<DataSourceSetUp>()) {
      AddSetUp(event, producer);
    } else if (event.Is<DataSourceStarted>()) {
      knows_starts_ = true;
      const auto latest = latest_.find({producer, event.instance.value_or(0)});
      if (latest != latest_.end()) instances_[latest->second].started = true;
    }
  }

  SessionStory Finish(const SessionSummary& session) {
    flushes_.Finish();
    if (knows_sources_) FindUnmatched();
    if (!session.truncated && session.recorder_gaps == 0) FindSilent(session);
    return std::move(story_);
  }

 private:
  void AddSetUp(const LifeEvent& event, ProducerId producer) {
    latest_[{producer, event.instance.value_or(0)}] = instances_.size();
    instances_.push_back({event});
    producers_[producer].asked = true;
    for (ConfiguredInSession& source : configured_) {
      const bool same_session =
          !source.session || !event.session || *source.session == *event.session;
      if (same_session && source.source == event.name) source.set_up = true;
    }
  }

  void FindUnmatched() {
    for (const ConfiguredInSession& source : configured_) {
      if (source.set_up || refused_.contains(source.session.value_or(0))) continue;
      SourceFinding finding{SourceProblem::kNoProducer, source.session, source.source};
      for (const auto& [id, producer] : producers_) {
        if (!producer.sources.contains(source.source)) continue;
        finding.problem = SourceProblem::kNotSetUp;
        finding.producer = id;
        finding.producer_name = producer.name;
      }
      if (std::ranges::find(story_.findings, finding) == story_.findings.end())
        story_.findings.push_back(std::move(finding));
    }
    // Without a session no producer was to be asked.
    if (configured_.empty() && instances_.empty()) return;
    for (const auto& [id, producer] : producers_) {
      if (producer.asked || producer.sources.empty()) continue;
      std::string sources;
      for (const std::string& source : producer.sources)
        sources += (sources.empty() ? "" : ", ") + source;
      story_.findings.push_back(
          {SourceProblem::kUnusedProducer, {}, std::move(sources), id, producer.name});
    }
  }

  void FindSilent(const SessionSummary& session) {
    std::set<std::pair<ProducerId, BufferId>> wrote;
    for (const SequenceSummary& sequence : session.sequences)
      if (sequence.commits > 0) wrote.emplace(sequence.sequence.producer, sequence.buffer);
    for (const SourceInstance& instance : instances_) {
      // A log without records of starts has those that were set up.
      const bool started = instance.started || !knows_starts_;
      // Chunks of other data sources of the producer in the buffer cannot be distinguished.
      const LifeEvent& set_up = instance.set_up;
      const ProducerId producer = set_up.producer.value_or(ProducerId{});
      const BufferId buffer = set_up.buffer.value_or(BufferId{});
      if (!started || wrote.contains({producer, buffer})) continue;
      story_.findings.push_back({SourceProblem::kNeverWrote, set_up.session, set_up.name, producer,
                                 producers_[producer].name, buffer});
    }
  }

  SessionStory story_;
  FlushTracker flushes_{[this](const FlushAccount& flush) { story_.flushes.push_back(flush); }};
  std::vector<ConfiguredInSession> configured_;
  std::set<uint64_t> refused_;  // sessions
  std::map<ProducerId, ProducerStory> producers_;
  std::vector<SourceInstance> instances_;                     // in order of set-up
  std::map<std::pair<ProducerId, uint64_t>, size_t> latest_;  // in instances_, of a number
  bool knows_sources_ = false;  // the log has what producers registered
  bool knows_starts_ = false;
};

}  // namespace

SessionStory StoryOf(const SessionSummary& session) {
  StoryBuilder builder;
  for (const LifeEvent& event : session.life) builder.Add(event);
  return builder.Finish(session);
}

}  // namespace ringscope
