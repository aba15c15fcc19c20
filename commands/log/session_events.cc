#include "commands/log/session_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "commands/log/story_words.h"
#include "commands/replays/loss_words.h"
#include "commands/shell/text.h"
#include "commands/view/json_fields.h"
#include "core/base/wire.h"
#include "core/perfetto/trace_config_facts.h"
#include "formats/descriptors/descriptors.h"
#include "formats/io/hex.h"

namespace ringscope {

template <typename Io>
void ListFields(Io& io, LifeEvent& event) {
  io("record", event.record);
  io.UnlessEmpty("time_ns", event.time_ns);
  io.Derived("event", std::string(event.kind < kOpKinds ? OpKindName(event.kind) : "unknown"));
  io.UnlessEmpty("change", event.change);
  io.UnlessEmpty("session", event.session);
  io.UnlessEmpty("producer", event.producer);
  io.UnlessEmpty("instance", event.instance);
  io.UnlessEmpty("instances", event.instances);
  io.UnlessEmpty("buffer", event.buffer);
  io.UnlessEmpty("flush", event.flush);
  if (event.flags != 0) {
    io("flags", event.flags);
    io.Derived("reason", ReasonOf(event.flags), "initiator", InitiatorOf(event.flags));
  }
  io.UnlessEmpty("clone", event.clone);
  if (event.Is<DataSourceRegistered>()) io("no_flush", event.flag);
  if (event.Is<DataSourceNotified>()) io("stopped", event.flag);
  if (event.Is<BufferCloned>()) io("transfer", event.flag);
  if (event.Is<CloneEnded>()) io("success", event.flag);
  if (event.size > 0) io("size", event.size);
  if (!event.name.empty()) io.Derived("name", Printable(event.name));
  if (!event.detail.empty() && !event.Is<TraceConfigRecord>())
    io.Derived("detail", Printable(event.detail));
}

template <typename Io>
void ListFields(Io& io, InstanceStory& source) {
  io("producer", source.producer, "instance", source.instance);
  io.Derived("name", Printable(source.name));
  io("buffer", source.buffer);
  io.UnlessEmpty("session", source.session);
  io.UnlessEmpty("set_up_ns", source.set_up_ns);
  io.UnlessEmpty("started_ns", source.started_ns);
  io.UnlessEmpty("reported_start_ns", source.reported_start_ns);
  io.UnlessEmpty("stopped_ns", source.stopped_ns);
  io.UnlessEmpty("reported_stop_ns", source.reported_stop_ns);
  io("started", source.started, "stopped", source.stopped);
}

template <typename Io>
void ListFields(Io& io, FlushAccount::Answer& answer) {
  io("producer", answer.producer, "acknowledged", answer.acknowledged);
  io.UnlessEmpty("latency_ns", answer.latency_ns());
}

template <typename Io>
void ListFields(Io& io, FlushAccount& flush) {
  io("flush", flush.flush, "outcome", flush.outcome, "timed_out", flush.timed_out);
  io.Derived("reason", ReasonOf(flush.flags), "initiator", InitiatorOf(flush.flags));
  io("answers", flush.answers);
  io.UnlessEmpty("time_ns", flush.time_ns);
}

namespace {

constexpr size_t kEventsIndent = 2;
/// Events alike that have a line each; the others are counted.
constexpr uint64_t kShownAlike = 6;
/// Data sources of a config or a producer that are named.
constexpr size_t kSourcesNamed = 8;

/// The words for the events of a kind. In braces: what the event has.
struct EventWords {
  size_t kind;
  const char* text;
  bool is_frequent = true;  // counted, if there are many
};
constexpr EventWords kEventWords[] = {
    {OpKindOf<SessionStarted>(), "{which}{named} is enabled{config}", false},
    {OpKindOf<SessionEnded>(), "{which} ends: its buffers are freed", false},
    {OpKindOf<TraceConfigRecord>(), "trace config{config}", false},
    {OpKindOf<BufferSetUp>(), "buffer {buffer} is set up: {size}, {detail}"},
    {OpKindOf<BufferFreed>(), "buffer {buffer} is freed"},
    {OpKindOf<ProducerConnected>(), "{who} connects{sources}"},
    {OpKindOf<ProducerDisconnected>(), "{who} disconnects"},
    {OpKindOf<DataSourceRegistered>(), "{who} registers{named}"},
    {OpKindOf<DataSourceUnregistered>(), "{who} unregisters{named}"},
    {OpKindOf<DataSourceSetUp>(), "data source{named} of {who} is set up for buffer {buffer}"},
    {OpKindOf<DataSourceStarted>(), "data source{named} of {who} is started"},
    {OpKindOf<DataSourceStopped>(), "data source{named} of {who} is stopped"},
    {OpKindOf<DataSourceNotified>(), "data source{named} of {who} reports that it has {done}"},
    {OpKindOf<StateClearRequested>(), "{who} is asked to clear incremental state"},
    {OpKindOf<TriggerActivated>(), "{who} activates trigger{named}"},
    {OpKindOf<CloneRequested>(), "a consumer asks for clone {clone} of {which}", false},
    {OpKindOf<BufferCleared>(), "buffer {buffer} is emptied before a clone", false},
    {OpKindOf<BufferCloned>(), "clone {clone} gets {copy}", false},
    {OpKindOf<CloneEnded>(), "clone {clone} {ends}", false},
    {OpKindOf<RecorderGap>(), "the recording has a gap: {detail}"},
    {OpKindOf<Inexact>(), "from here on the log may not be exact ({name}): {detail}"},
    {OpKindOf<ServiceChanged>(), "the tracing service {runs}"},
};

/// The words for a change of a session, by SessionChange.
constexpr std::array kChangeWords = {
    "the service refuses {which}{more}",
    "{which} starts",
    "the service reports that all data sources of {which} have started",
    "the consumer asks to stop {which}{more}",
    "the service reports that {which} has stopped{more}",
    "the consumer detaches from {which}{more}",
    "a consumer attaches to {which}{more}",
    "the consumer of {which} disconnects",
    "the consumer asks for a flush{more}",
    "the service reports to the consumer that the flush succeeded",
    "the service reports to the consumer that the flush failed",
    "the service writes {which} into a file{more}",
};
static_assert(kChangeWords.size() == kEnumNames<SessionChange>.size());

std::string InQuotes(const std::string& name) { return fmt::format("'{}'", Printable(name)); }

std::string JoinSome(std::vector<std::string> names) {
  if (names.size() > kSourcesNamed) {
    const size_t more = names.size() - kSourcesNamed;
    names.resize(kSourcesNamed);
    names.push_back(fmt::format("{} more", more));
  }
  return Joined(names);
}

/// ": 2 buffers, data sources 'a', 'b'; for 10.0 s; written into a file"
std::string ConfigText(const LifeEvent& config) {
  const TraceConfigFacts facts = ReadTraceConfigFacts(wire::AsBytes(config.detail));
  std::string text = fmt::format(": {}", Count(facts.buffers.size(), "buffer"));
  std::vector<std::string> names;
  for (const ConfiguredSource& source : facts.sources) names.push_back(InQuotes(source.name));
  text += names.empty() ? ", no data sources" : ", data sources " + JoinSome(std::move(names));
  if (const uint64_t ms = facts.duration_ms.value_or(0); ms > 0)
    text += fmt::format("; for {}", LatencyText(ms * 1'000'000));
  if (facts.write_into_file) text += "; written into a file";
  return text;
}

class EventLines {
 public:
  EventLines(const SessionSummary& session, const SessionStory& story) : session_(session) {
    for (const FlushAccount& flush : story.flushes) flushes_[flush.flush] = &flush;
    std::set<uint64_t> sessions;
    for (const LifeEvent& event : session.life) {
      if (event.Is<SessionStarted>()) sessions.insert(event.session.value_or(0));
      if (event.Is<TraceConfigRecord>()) configs_[event.session] = &event;
      ends_ |= event.Is<SessionEnded>();
      has_more_ |= !event.Is<BufferSetUp>() && !event.Is<BufferFreed>();
    }
    is_numbered_ = sessions.size() > 1;
  }

  std::vector<EventLine> Describe() {
    if (!has_more_) return {};
    for (at_ = 0; at_ < session_.life.size(); ++at_) AddEvent(session_.life[at_]);
    EndGroups();
    return std::move(lines_);
  }

 private:
  /// Events alike.
  struct Group {
    uint64_t shown = kShownAlike;
    uint64_t count = 0;
    std::string last_shown;
    std::optional<uint64_t> last_ns;
  };

  std::string SecondsText(std::optional<uint64_t> time_ns) const {
    if (!time_ns || !session_.first_time_ns) return "-";
    const uint64_t start = *session_.first_time_ns;
    const bool before = *time_ns < start;
    const uint64_t ms = ((before ? start - *time_ns : *time_ns - start) + 500'000) / 1'000'000;
    return fmt::format("{}{}.{:03}", before && ms > 0 ? "-" : "", ms / 1000, ms % 1000);
  }

  void Add(std::optional<uint64_t> time_ns, const std::string& text) {
    EndGroups();
    lines_.push_back({SecondsText(time_ns), text});
  }
  void AddAlike(std::optional<uint64_t> time_ns, const std::string& text, const std::string& group,
                uint64_t shown) {
    Group& alike = groups_[group];
    alike.shown = shown;
    alike.last_ns = time_ns;
    if (++alike.count > shown) return;
    alike.last_shown = text;
    lines_.push_back({SecondsText(time_ns), text});
  }
  void EndGroups() {
    for (const auto& [name, group] : groups_)
      if (group.count > group.shown)
        lines_.push_back({"", fmt::format("and {} more like \"{}\", until {}",
                                          WithCommas(group.count - group.shown), group.last_shown,
                                          SecondsText(group.last_ns))});
    groups_.clear();
  }

  std::string NameOf(ProducerId producer) const {
    const auto name = names_.find(producer);
    return ProducerText(producer, name == names_.end() ? std::string() : name->second);
  }

  /// Takes the registrations that directly follow a producer's connection.
  std::string TakeSources(const LifeEvent& connected) {
    names_[connected.producer.value_or(ProducerId{})] = connected.name;
    std::vector<std::string> sources;
    for (; at_ + 1 < session_.life.size(); ++at_) {
      const LifeEvent& next = session_.life[at_ + 1];
      if (!next.Is<DataSourceRegistered>() || next.producer != connected.producer) break;
      sources.push_back(InQuotes(next.name));
    }
    return sources.empty() ? "" : ", with the data sources " + JoinSome(std::move(sources));
  }

  void AddEvent(const LifeEvent& event) {
    if (event.flush) return AddFlush(*event.flush);
    if (event.Is<BufferFreed>() && ends_) return;
    const char* text = nullptr;
    bool is_frequent = false;
    if (event.change) text = kChangeWords[static_cast<size_t>(*event.change)];
    for (const EventWords& words : kEventWords) {
      if (words.kind != event.kind) continue;
      text = words.text;
      is_frequent = words.is_frequent;
    }
    if (text == nullptr) return;
    const std::string sources = event.Is<ProducerConnected>() ? TakeSources(event) : "";
    const ProducerId producer = event.producer.value_or(ProducerId{});
    std::string& source = sources_[{producer, event.instance.value_or(0)}];
    if (event.Is<DataSourceSetUp>()) source = event.name;
    const std::string& name = event.instance ? source : event.name;
    const auto config = configs_.find(event.session);
    // The config is stated with its session.
    if (event.Is<TraceConfigRecord>()) {
      if (std::ranges::any_of(session_.life, [&](const LifeEvent& other) {
            return other.Is<SessionStarted>() && other.session == event.session;
          }))
        return;
    }
    const std::string detail = Printable(event.detail);
    const std::string line = fmt::format(
        fmt::runtime(text), fmt::arg("who", NameOf(producer)),
        fmt::arg("which", is_numbered_ && event.session
                              ? fmt::format("tracing session {}", *event.session)
                              : "the tracing session"),
        fmt::arg("named", name.empty() ? "" : " " + InQuotes(name)),
        fmt::arg("name", Printable(event.name)), fmt::arg("sources", sources),
        fmt::arg("config", config == configs_.end() ? "" : ConfigText(*config->second)),
        fmt::arg("buffer", event.buffer ? Raw(*event.buffer) : 0),
        fmt::arg("size", HumanSize(event.size)),
        fmt::arg("detail", event.Is<TraceConfigRecord>() ? "" : detail),
        fmt::arg("more", detail.empty() ? "" : ": " + detail),
        fmt::arg("clone", event.clone.value_or(0)),
        fmt::arg("done", event.flag ? "stopped" : "started"),
        fmt::arg("copy", fmt::format(fmt::runtime(event.flag ? "buffer {}; an empty one replaces it"
                                                             : "a copy of buffer {}"),
                                     event.buffer ? Raw(*event.buffer) : 0)),
        fmt::arg("runs", event.flag ? "is running" : "has ended"),
        fmt::arg("ends",
                 event.flag ? "is complete" : "fails" + (detail.empty() ? "" : ": " + detail)));
    if (is_frequent)
      AddAlike(event.time_ns, line, text, event.Is<StateClearRequested>() ? 1 : kShownAlike);
    else
      Add(event.time_ns, line);
  }

  void AddFlush(uint64_t id) {
    const auto found = flushes_.find(id);
    if (found == flushes_.end()) return;
    const FlushAccount& flush = *found->second;
    flushes_.erase(found);
    const std::string reason = FlushReasonText(flush.flags);
    const std::string what = reason.empty() ? "flush" : fmt::format("flush ({})", reason);
    const FlushAccount::Answer* slowest = nullptr;
    std::vector<std::string> missing;
    for (const FlushAccount::Answer& answer : flush.answers) {
      if (!answer.acknowledged) missing.push_back(NameOf(answer.producer));
      if (answer.latency_ns() &&
          (slowest == nullptr || *answer.latency_ns() >= *slowest->latency_ns()))
        slowest = &answer;
    }
    const std::string last = slowest == nullptr ? ""
                                                : fmt::format(", the last after {} by {}",
                                                              LatencyText(*slowest->latency_ns()),
                                                              NameOf(slowest->producer));
    if (flush.outcome == FlushOutcome::kSucceeded)
      return AddAlike(flush.time_ns, what + ": acknowledged" + last, what, 1);
    Add(flush.time_ns,
        fmt::format("flush {}{} fails: {}", id, reason.empty() ? "" : fmt::format(" ({})", reason),
                    !missing.empty()     ? "not acknowledged by " + Joined(missing)
                    : slowest != nullptr ? "acknowledged too late" + last
                                         : "it timed out"));
  }

  const SessionSummary& session_;
  std::map<uint64_t, const FlushAccount*> flushes_;              // that have no line yet
  std::map<std::optional<uint64_t>, const LifeEvent*> configs_;  // the last of each session
  std::map<ProducerId, std::string> names_;
  std::map<std::pair<ProducerId, uint64_t>, std::string> sources_;  // by instance
  bool is_numbered_ = false;  // there are several tracing sessions
  bool ends_ = false;         // the end of a session is recorded: it frees the buffers
  bool has_more_ = false;     // than buffers
  size_t at_ = 0;
  std::map<std::string, Group> groups_;
  std::vector<EventLine> lines_;
};

void ReportConfigs(Report& report, const SessionSummary& session) {
  Json configs = Json::array();
  for (const LifeEvent& event : session.life) {
    if (!event.Is<TraceConfigRecord>()) continue;
    std::string hex;
    AppendHex(hex, wire::AsBytes(event.detail));
    Json config = {
        {"bytes", hex},
        {"text", Descriptors::BuiltIn().Text("TraceConfig", wire::AsBytes(event.detail))}};
    if (event.session) config["session"] = *event.session;
    configs.push_back(std::move(config));
  }
  report.Data("configs", std::move(configs));
}

void ReportFlushLatency(Report& report, const SessionStory& story) {
  Table table({{"flushes of", Align::kLeft},
               DataColumn("producer"),
               DataColumn("name"),
               {"asked", Align::kRight, "asked"},
               {"answered", Align::kRight, "acknowledged"},
               {"missed", Align::kRight, "missed"},
               {"mean", Align::kRight, "mean_ns"},
               {"slowest", Align::kRight, "max_ns"},
               {"flush", Align::kRight, "max_flush"}});
  for (const ProducerFlushes& producer : story.producers) {
    const auto latency = [&](uint64_t ns) {
      return producer.timed == 0 ? Cell("-", Json()) : Cell(LatencyText(ns), ns);
    };
    table.AddRow({ProducerText(producer.producer, producer.name), DataCell(Raw(producer.producer)),
                  DataCell(Printable(producer.name)), CountCell(producer.asked),
                  CountCell(producer.acknowledged), CountCell(producer.missed()),
                  latency(producer.mean_ns()), latency(producer.max_ns),
                  producer.timed == 0 ? Cell("-", Json()) : NumberCell(producer.max_flush)});
  }
  report.Add("flush_latency", table, kEventsIndent);
}

}  // namespace

std::vector<EventLine> DescribeEvents(const SessionSummary& session, const SessionStory& story) {
  return EventLines(session, story).Describe();
}

void ReportEvents(Report& report, const SessionSummary& session) {
  const SessionStory story = StoryOf(session);
  report.Data("start_ns", FieldsToJson(session.first_time_ns));
  ReportConfigs(report, session);
  report.Data("events", FieldsToJson(session.life));
  report.Data("data_sources", FieldsToJson(story.instances));
  ReportFindings(report, story.findings, kEventsIndent);
  const std::vector<EventLine> lines = DescribeEvents(session, story);
  if (!lines.empty()) {
    report.Print(fmt::format("\n  {}\n", report.Bold("   seconds  what happened")));
    for (const EventLine& line : lines)
      report.Print(Wrap(line.text, fmt::format("  {:>10}  ", line.seconds)) + "\n");
  }
  report.Data("flushes", FieldsToJson(story.flushes));
  ReportFlushLatency(report, story);
}

}  // namespace ringscope
