#include "commands/log/story_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/replays/story_words.h"
#include "commands/shell/text.h"
#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/trace_config_facts.h"

namespace ringscope {
namespace {

/// A start this long after the set-up has a line of its own.
constexpr uint64_t kStartsAtOnceNs = 100'000'000;
/// Data sources of a config that are named.
constexpr size_t kSourcesNamed = 8;
/// How long the service waits for a flush where the config does not say.
constexpr uint64_t kUsualTimeoutNs = 5'000'000'000;

std::string InQuotes(const std::string& name) { return fmt::format("'{}'", Printable(name)); }

std::optional<uint64_t> TimeBetween(std::optional<uint64_t> from, std::optional<uint64_t> to) {
  if (!from || !to || *to < *from) return std::nullopt;
  return *to - *from;
}

/// ", ... after 1.2 ms", or without the time where it is not known.
std::string AfterText(const char* what, std::optional<uint64_t> ns) {
  return ns ? fmt::format("{} after {}", what, LatencyText(*ns)) : std::string(what);
}

}  // namespace

StoryText::StoryText(const SessionSummary& session, const SessionStory& story)
    : session_(session), story_(story) {
  std::set<uint64_t> sessions;
  for (const LifeEvent& event : session.life) {
    if (event.Is<SessionStarted>()) sessions.insert(event.session.value_or(0));
    has_ends_ |= event.Is<SessionEnded>();
  }
  is_numbered_ = sessions.size() > 1;
  start_ns_ = session.first_time_ns;  // where all commands begin to count
  for (const FlushAccount& flush : story.flushes) flushes_[flush.flush] = &flush;
  lines_.emplace(start_ns_, [this](ProducerId producer) { return NameOf(producer); });
}

std::vector<StoryLine> StoryText::Tell() {
  const bool has_more = std::ranges::any_of(session_.life, [](const LifeEvent& event) {
    return !event.Is<BufferSetUp>() && !event.Is<BufferFreed>();
  });
  if (!has_more) return {};
  for (size_t at = 0; at < session_.life.size(); ++at)
    if (!reported_.contains(at)) TellEvent(at);
  return lines_->Take();
}

void StoryText::TellEvent(size_t at) {
  const LifeEvent& event = session_.life[at];
  const std::string buffer = fmt::format("buffer {}", event.buffer ? Raw(*event.buffer) : 0);
  if (event.Is<ProducerConnected>()) return TellProducer(at);
  if (event.Is<DataSourceSetUp>()) return TellSetUp(event);
  if (event.Is<DataSourceStarted>()) return TellStart(event);
  if (event.Is<DataSourceStopped>()) return TellStop(event);
  if (event.Is<FlushRequested>() || event.Is<FlushAcknowledged>() || event.Is<FlushTimedOut>())
    return TellFlush(event);
  if (event.Is<StateClearRequested>())
    return lines_->AddRoutine("request to clear incremental state", event.time_ns);
  if (event.Is<SessionStarted>() || event.Is<SessionEnded>() || event.Is<SessionChanged>())
    return TellSession(event);
  if (event.clone || event.Is<BufferCleared>()) return TellClone(event);
  if (event.Is<TraceConfigRecord>()) {
    const bool is_reported = std::ranges::any_of(session_.life, [&](const LifeEvent& other) {
      return other.Is<SessionStarted>() && other.session == event.session;
    });
    if (!is_reported) Line(event.time_ns, "trace config" + ConfigText(event.session));
  } else if (event.Is<BufferSetUp>()) {
    Line(event.time_ns,
         fmt::format("{} is set up: {}, {}", buffer, HumanSize(event.size), event.detail),
         "buffers");
  } else if (event.Is<BufferFreed>()) {
    if (!has_ends_) Line(event.time_ns, buffer + " is freed", "freed");
  } else if (event.Is<ProducerDisconnected>()) {
    Line(event.time_ns, Who(event) + " disconnects", "disconnects");
  } else if (event.Is<DataSourceRegistered>()) {
    Line(event.time_ns, fmt::format("{} registers {}", Who(event), InQuotes(event.name)),
         "registers");
  } else if (event.Is<DataSourceUnregistered>()) {
    Line(event.time_ns, fmt::format("{} unregisters {}", Who(event), InQuotes(event.name)),
         "unregisters");
  } else if (event.Is<TriggerActivated>()) {
    Line(event.time_ns, fmt::format("{} activates trigger {}", Who(event), InQuotes(event.name)),
         "triggers");
  } else if (event.Is<RecorderGap>()) {
    Line(event.time_ns, "the recording has a gap: " + Printable(event.detail), "gaps");
  } else if (event.Is<Inexact>()) {
    Line(event.time_ns,
         fmt::format("from here on the log may not be exact ({}): {}", Printable(event.name),
                     Printable(event.detail)),
         "inexact");
  } else if (event.Is<ServiceChanged>()) {
    Line(event.time_ns,
         event.flag ? "the tracing service is running" : "the tracing service has ended",
         "service");
  }
}

std::string StoryText::Who(const LifeEvent& event) const {
  return NameOf(event.producer.value_or(ProducerId{}));
}

std::string StoryText::NameOf(ProducerId producer) const {
  const auto name = names_.find(producer);
  return ProducerText(producer, name == names_.end() ? std::string() : name->second);
}

std::string StoryText::Which(const LifeEvent& event) const {
  return is_numbered_ && event.session ? fmt::format("tracing session {}", *event.session)
                                       : "the tracing session";
}

std::string StoryText::ConfigText(std::optional<uint64_t> session) const {
  const LifeEvent* config = nullptr;
  for (const LifeEvent& event : session_.life)
    if (event.Is<TraceConfigRecord>() && event.session == session) config = &event;
  if (config == nullptr) return {};
  const TraceConfigFacts facts = ReadTraceConfigFacts(wire::AsBytes(config->detail));
  std::string text = fmt::format(": {}", Count(facts.buffers.size(), "buffer"));
  std::vector<std::string> names;
  for (const ConfiguredSource& source : facts.sources) names.push_back(InQuotes(source.name));
  if (names.size() > kSourcesNamed) {
    const size_t more = names.size() - kSourcesNamed;
    names.resize(kSourcesNamed);
    names.push_back(fmt::format("{} more", more));
  }
  text += names.empty() ? ", no data sources" : ", data sources " + Joined(names);
  if (const uint64_t ms = facts.duration_ms.value_or(0); ms > 0)
    text += fmt::format("; for {}", LatencyText(ms * 1'000'000));
  if (facts.write_into_file) text += "; written into a file";
  return text;
}

void StoryText::TellSession(const LifeEvent& event) {
  if (event.Is<SessionStarted>()) {
    const std::string name = event.name.empty() ? "" : " " + InQuotes(event.name);
    return Line(event.time_ns,
                fmt::format("{}{} is enabled{}", Which(event), name, ConfigText(event.session)));
  }
  if (event.Is<SessionEnded>())
    return Line(event.time_ns, Which(event) + " ends: its buffers are freed");
  const std::string detail = Printable(event.detail);
  const auto with = [&](const char* format) {
    return detail.empty() ? std::string() : fmt::format(fmt::runtime(format), detail);
  };
  std::string text;
  switch (event.change.value_or(SessionChange::kRefused)) {
    case SessionChange::kRefused:
      text = fmt::format("the service refuses {}{}", Which(event), with(": {}"));
      break;
    case SessionChange::kStarted:
      text = Which(event) + " starts";
      break;
    case SessionChange::kDataSourcesStarted:
      text =
          fmt::format("the service reports that all data sources of {} have started", Which(event));
      break;
    case SessionChange::kStopRequested:
      text = fmt::format("the consumer asks to stop {}{}", Which(event), with(" ({})"));
      break;
    case SessionChange::kStopped:
      text = fmt::format("the service reports that {} has stopped{}", Which(event), with(": {}"));
      break;
    case SessionChange::kDetached:
      text = fmt::format("the consumer detaches from {}{}", Which(event), with(", key '{}'"));
      break;
    case SessionChange::kAttached:
      text = fmt::format("a consumer attaches to {}{}", Which(event), with(", key '{}'"));
      break;
    case SessionChange::kConsumerGone:
      text = fmt::format("the consumer of {} disconnects", Which(event));
      break;
    case SessionChange::kFlushCalled:
      text = fmt::format("the consumer asks for a flush{}", with(", {}"));
      break;
    case SessionChange::kFlushSucceeded:
      text = "the service reports to the consumer that the flush succeeded";
      break;
    case SessionChange::kFlushFailed:
      text = "the service reports to the consumer that the flush failed";
      break;
    case SessionChange::kFileNamed:
      text = fmt::format("the service writes {} into {}", Which(event), detail);
      break;
  }
  Line(event.time_ns, text);
}

void StoryText::TellProducer(size_t at) {
  const LifeEvent& event = session_.life[at];
  names_[event.producer.value_or(ProducerId{})] = event.name;
  std::vector<std::string> sources;
  for (size_t next = at + 1; next < session_.life.size(); ++next) {
    const LifeEvent& other = session_.life[next];
    if (!other.Is<DataSourceRegistered>() || other.producer != event.producer) break;
    reported_.insert(next);
    sources.push_back(InQuotes(other.name));
  }
  if (sources.size() > kSourcesNamed) {
    const size_t more = sources.size() - kSourcesNamed;
    sources.resize(kSourcesNamed);
    sources.push_back(fmt::format("{} more", more));
  }
  Line(event.time_ns,
       Who(event) + " connects" +
           (sources.empty() ? std::string() : ", with the data sources " + Joined(sources)),
       "connects");
}

const InstanceStory* StoryText::Latest(const LifeEvent& event) const {
  const auto found =
      latest_.find({event.producer.value_or(ProducerId{}), event.instance.value_or(0)});
  return found == latest_.end() ? nullptr : found->second;
}

void StoryText::TellSetUp(const LifeEvent& event) {
  if (set_ups_ >= story_.instances.size()) return;
  const InstanceStory& instance = story_.instances[set_ups_++];
  latest_[{instance.producer, instance.instance}] = &instance;
  std::string text = fmt::format("{} of {} is set up for buffer {}", InQuotes(event.name),
                                 Who(event), Raw(instance.buffer));
  const auto start = TimeBetween(instance.set_up_ns, instance.started_ns);
  if (instance.started && start.value_or(0) < kStartsAtOnceNs) {
    text += " and started";
    if (instance.reported_start)
      text += AfterText(", reports its start",
                        TimeBetween(instance.started_ns, instance.reported_start_ns));
  }
  Line(event.time_ns, text, "set up");
}

void StoryText::TellStart(const LifeEvent& event) {
  const InstanceStory* const instance = Latest(event);
  if (instance == nullptr) return;
  const auto start = TimeBetween(instance->set_up_ns, instance->started_ns);
  if (start.value_or(0) < kStartsAtOnceNs) return;  // reported at its set-up
  std::string text = fmt::format("{} of {} is started", InQuotes(instance->name), Who(event));
  if (instance->reported_start)
    text += AfterText(", reports its start",
                      TimeBetween(instance->started_ns, instance->reported_start_ns));
  Line(event.time_ns, text, "start");
}

void StoryText::TellStop(const LifeEvent& event) {
  const InstanceStory* const instance = Latest(event);
  if (instance == nullptr) return;
  std::string text = fmt::format("{} of {} is stopped", InQuotes(instance->name), Who(event));
  if (instance->reported_stop)
    text += AfterText(", reports its stop",
                      TimeBetween(instance->stopped_ns, instance->reported_stop_ns));
  Line(event.time_ns, text, "stop");
}

void StoryText::TellFlush(const LifeEvent& event) {
  const uint64_t id = event.flush.value_or(0);
  if (!reported_flushes_.insert(id).second) return;
  const auto found = flushes_.find(id);
  if (found == flushes_.end()) return;
  const FlushAccount& flush = *found->second;
  const std::string reason = FlushReasonText(flush.flags);
  const std::string in_brackets = reason.empty() ? "" : fmt::format(" ({})", reason);
  if (flush.outcome == FlushOutcome::kSucceeded) {
    uint64_t slowest = 0;
    std::optional<ProducerId> producer;
    for (const FlushAccount::Answer& answer : flush.answers) {
      if (answer.latency_ns().value_or(0) < slowest || !answer.latency_ns()) continue;
      slowest = *answer.latency_ns();
      producer = answer.producer;
    }
    return lines_->AddRoutine("flush" + in_brackets, flush.time_ns, slowest, producer);
  }
  std::vector<std::string> missing;
  std::vector<std::string> late;
  for (const FlushAccount::Answer& answer : flush.answers) {
    const std::string who = NameOf(answer.producer);
    if (!answer.acknowledged) {
      missing.push_back(who);
    } else if (flush.timed_out && answer.latency_ns().value_or(0) >= kUsualTimeoutNs) {
      late.push_back(fmt::format("{} after {}", who, LatencyText(*answer.latency_ns())));
    }
  }
  std::string why;
  if (!missing.empty()) why = "not acknowledged by " + Joined(missing);
  if (!late.empty())
    why += (why.empty() ? "acknowledged too late by " : "; too late by ") + Joined(late);
  Line(flush.time_ns,
       fmt::format("flush {}{} fails: {}", id, in_brackets, why.empty() ? "it timed out" : why));
}

void StoryText::TellClone(const LifeEvent& event) {
  const std::string clone = fmt::format("clone {}", event.clone.value_or(0));
  const unsigned buffer = event.buffer ? Raw(*event.buffer) : 0;
  std::string text;
  if (event.Is<CloneRequested>()) {
    text = fmt::format("a consumer asks for {} of {}", clone,
                       event.session ? Which(event) : std::string("a session that is not known"));
  } else if (event.Is<BufferCleared>()) {
    text = fmt::format("buffer {} is emptied before the clone", buffer);
  } else if (event.Is<BufferCloned>() && event.flag) {
    text = fmt::format("{} takes over buffer {}; an empty one replaces it", clone, buffer);
  } else if (event.Is<BufferCloned>()) {
    text = fmt::format("{} gets a copy of buffer {}", clone, buffer);
  } else {
    text = event.flag ? clone + " is complete"
                      : fmt::format("{} fails{}", clone,
                                    event.detail.empty() ? "" : ": " + Printable(event.detail));
  }
  Line(event.time_ns, text);
}

}  // namespace ringscope
