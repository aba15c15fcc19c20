#include "core/log/session_story.h"

#include <algorithm>

#include "core/base/wire.h"
#include "core/perfetto/trace_config_facts.h"

namespace ringscope {

SessionStoryBuilder::SessionStoryBuilder(bool keep_flushes)
    : keep_flushes_(keep_flushes),
      flushes_([this](const FlushAccount& flush) { AddFlush(flush); }) {}

InstanceStory* SessionStoryBuilder::Find(const LifeEvent& event) {
  if (!event.producer || !event.instance) return nullptr;
  const auto found = instances_.find({*event.producer, *event.instance});
  return found == instances_.end() ? nullptr : &story_.instances[found->second];
}

void SessionStoryBuilder::Add(const LifeEvent& event) {
  const ProducerId producer = event.producer.value_or(ProducerId{});
  if (event.Is<FlushRequested>()) {
    flushes_.Request({.flush = event.flush.value_or(0),
                      .producer = event.producer,
                      .instances = event.instances,
                      .flags = event.flags},
                     event.time_ns);
  } else if (event.Is<FlushAcknowledged>()) {
    flushes_.Acknowledge({producer, event.flush.value_or(0)}, event.time_ns);
  } else if (event.Is<FlushTimedOut>()) {
    flushes_.TimeOut({event.flush.value_or(0)}, event.time_ns);
  } else if (event.Is<ProducerConnected>()) {
    flushes_.Connect(producer);
    producers_[producer].name = event.name;
  } else if (event.Is<ProducerDisconnected>()) {
    flushes_.Disconnect(producer);
  } else if (event.Is<DataSourceRegistered>()) {
    knows_sources_ = true;
    producers_[producer].sources.insert(event.name);
  } else if (event.Is<TraceConfigRecord>()) {
    AddConfig(event);
  } else if (event.Is<SessionChanged>()) {
    if (event.change == SessionChange::kRefused) refused_.insert(event.session.value_or(0));
  } else if (event.Is<DataSourceSetUp>()) {
    AddSetUp(event);
  } else if (InstanceStory* const instance = Find(event)) {
    if (event.Is<DataSourceStarted>()) {
      knows_starts_ = true;
      instance->started = true;
      instance->started_ns = event.time_ns;
    } else if (event.Is<DataSourceStopped>()) {
      instance->stopped = true;
      instance->stopped_ns = event.time_ns;
    } else if (event.Is<DataSourceNotified>() && event.flag) {
      instance->reported_stop = true;
      instance->reported_stop_ns = event.time_ns;
    } else if (event.Is<DataSourceNotified>()) {
      instance->reported_start = true;
      instance->reported_start_ns = event.time_ns;
    }
  }
}

void SessionStoryBuilder::AddConfig(const LifeEvent& event) {
  for (ConfiguredSource& source : ReadTraceConfigFacts(wire::AsBytes(event.detail)).sources)
    configured_.push_back({.session = event.session, .source = std::move(source.name)});
}

void SessionStoryBuilder::AddSetUp(const LifeEvent& event) {
  const ProducerId producer = event.producer.value_or(ProducerId{});
  instances_[{producer, event.instance.value_or(0)}] = story_.instances.size();
  InstanceStory& instance = story_.instances.emplace_back();
  instance.producer = producer;
  instance.instance = event.instance.value_or(0);
  instance.name = event.name;
  instance.buffer = event.buffer.value_or(BufferId{});
  instance.session = event.session;
  instance.set_up_ns = event.time_ns;
  producers_[producer].asked = true;
  for (Configured& source : configured_) {
    const bool same_session =
        !source.session || !event.session || *source.session == *event.session;
    if (same_session && source.source == event.name) source.set_up = true;
  }
}

void SessionStoryBuilder::AddFlush(const FlushAccount& flush) {
  for (const FlushAccount::Answer& answer : flush.answers) {
    ProducerFlushes& producer = answers_[answer.producer];
    producer.producer = answer.producer;
    ++producer.asked;
    producer.acknowledged += answer.acknowledged ? 1 : 0;
    const auto latency = answer.latency_ns();
    if (!latency) continue;
    ++producer.timed;
    producer.sum_ns += *latency;
    if (*latency < producer.max_ns) continue;
    producer.max_ns = *latency;
    producer.max_flush = flush.flush;
  }
  if (keep_flushes_) story_.flushes.push_back(flush);
}

void SessionStoryBuilder::FindUnmatched() {
  for (const Configured& source : configured_) {
    if (source.set_up || refused_.contains(source.session.value_or(0))) continue;
    SourceFinding finding{.problem = SourceProblem::kNoProducer,
                          .session = source.session,
                          .source = source.source,
                          .producer = {},
                          .producer_name = {},
                          .buffer = {}};
    for (const auto& [id, producer] : producers_) {
      if (!producer.sources.contains(source.source)) continue;
      finding.problem = SourceProblem::kNotSetUp;
      finding.producer = id;
      finding.producer_name = producer.name;
    }
    if (std::ranges::find(story_.findings, finding) == story_.findings.end())
      story_.findings.push_back(std::move(finding));
  }
  // Without a session nobody was to be asked.
  if (configured_.empty() && instances_.empty()) return;
  for (const auto& [id, producer] : producers_) {
    if (producer.asked || producer.sources.empty()) continue;
    SourceFinding& finding = story_.findings.emplace_back();
    finding.problem = SourceProblem::kUnusedProducer;
    finding.producer = id;
    finding.producer_name = producer.name;
    for (const std::string& source : producer.sources)
      finding.source += (finding.source.empty() ? "" : ", ") + source;
  }
}

void SessionStoryBuilder::FindSilent() {
  if (!knows_commits_) return;
  for (const InstanceStory& instance : story_.instances) {
    // A log without records of starts has those that were set up.
    const bool started = instance.started || !knows_starts_;
    // What another data source of the same producer wrote to the buffer cannot be distinguished.
    if (!started || wrote_.contains({instance.producer, instance.buffer})) continue;
    story_.findings.push_back({.problem = SourceProblem::kNeverWrote,
                               .session = instance.session,
                               .source = instance.name,
                               .producer = instance.producer,
                               .producer_name = producers_[instance.producer].name,
                               .buffer = instance.buffer});
  }
}

SessionStory SessionStoryBuilder::Finish() {
  flushes_.Finish();
  for (auto& [id, answers] : answers_) {
    answers.name = producers_[id].name;
    story_.producers.push_back(answers);
  }
  if (knows_sources_) FindUnmatched();
  FindSilent();
  return std::move(story_);
}

}  // namespace ringscope
