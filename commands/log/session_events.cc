#include "commands/log/logs.h"
#include "commands/session/session_view.h"
#include "core/log/flush_tracker.h"
#include "formats/descriptors/descriptors.h"
#include "formats/io/hex.h"

namespace ringscope {

void ListFields(JsonFieldWriter& io, const LifeEvent& event) {
  io("record", event.record);
  io.UnlessEmpty("time_ns", event.time_ns);
  io("event", event.kind < kOpKinds ? OpKindName(event.kind) : "unknown");
  io.UnlessEmpty("change", event.change, "session", event.session, "producer", event.producer,
                 "instance", event.instance, "instances", event.instances, "buffer", event.buffer,
                 "flush", event.flush);
  if (event.flags != 0)
    io("flags", event.flags, "reason", ReasonOf(event.flags), "initiator",
       InitiatorOf(event.flags));
  io.UnlessEmpty("clone", event.clone);
  if (event.Is<DataSourceRegistered>()) io("no_flush", event.flag);
  if (event.Is<DataSourceNotified>()) io("stopped", event.flag);
  if (event.Is<BufferCloned>()) io("transfer", event.flag);
  if (event.Is<CloneEnded>()) io("success", event.flag);
  if (event.size > 0) io("size", event.size);
  io.UnlessEmpty("name", Printable(event.name));
  if (!event.Is<TraceConfigRecord>()) io.UnlessEmpty("detail", Printable(event.detail));
}

void ListFields(JsonFieldWriter& io, const FlushAccount::Answer& answer) {
  io("producer", answer.producer, "acknowledged", answer.acknowledged);
  io.UnlessEmpty("latency_ns", answer.latency_ns());
}

void ListFields(JsonFieldWriter& io, const FlushAccount& flush) {
  io("flush", flush.flush, "outcome", flush.outcome, "timed_out", flush.timed_out, "reason",
     ReasonOf(flush.flags), "initiator", InitiatorOf(flush.flags), "answers", flush.answers);
  io.UnlessEmpty("time_ns", flush.time_ns);
}

namespace {

/// Events alike that have a line each; the others are counted.
constexpr uint64_t kShownAlike = 6;
/// Data sources of a config or a producer that are named.
constexpr size_t kSourcesNamed = 8;
/// The text for the events of a kind. In braces: what the event has.
struct EventText {
  size_t kind;
  const char* text;
  bool is_frequent = true;  // counted, if there are many
};
constexpr EventText kEventTexts[] = {
    {OpKindOf<SessionStarted>(), "{which}{named} is enabled{config}", false},
    {OpKindOf<SessionEnded>(), "{which} ends: its buffers are freed", false},
    {OpKindOf<TraceConfigRecord>(), "trace config{config}", false},
    {OpKindOf<BufferSetUp>(), "{buffer} is set up: {size}, {detail}"},
    {OpKindOf<BufferFreed>(), "{buffer} is freed"},
    {OpKindOf<ProducerConnected>(), "{who} connects{sources}"},
    {OpKindOf<SharedMemorySetUp>(), "{who} sets up {size} of shared memory"},
    {OpKindOf<ReadPass>(), "{read}"},
    {OpKindOf<ProducerDisconnected>(), "{who} disconnects"},
    {OpKindOf<DataSourceRegistered>(), "{who} registers{named}"},
    {OpKindOf<DataSourceUnregistered>(), "{who} unregisters{named}"},
    {OpKindOf<DataSourceSetUp>(), "data source{named} of {who} is set up for {buffer}"},
    {OpKindOf<DataSourceStarted>(), "data source{named} of {who} is started"},
    {OpKindOf<DataSourceStopped>(), "data source{named} of {who} is stopped"},
    {OpKindOf<DataSourceNotified>(), "data source{named} of {who} reports that it has {done}"},
    {OpKindOf<StateClearRequested>(), "{who} is asked to clear incremental state"},
    {OpKindOf<TriggerActivated>(), "{who} activates trigger{named}"},
    {OpKindOf<CloneRequested>(), "a consumer asks for clone {clone} of {which}", false},
    {OpKindOf<BufferCleared>(), "{buffer} is emptied before a clone", false},
    {OpKindOf<BufferCloned>(), "clone {clone} gets {copy}", false},
    {OpKindOf<CloneEnded>(), "clone {clone} {ends}", false},
    {OpKindOf<RecorderGap>(), "the recording has a gap: {detail}"},
    {OpKindOf<Inexact>(), "from here on the log may not be exact ({name}): {detail}"},
    {OpKindOf<ServiceChanged>(), "the tracing service {runs}"},
};

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
    text += fmt::format("; for {}", HumanDuration(ms * 1'000'000));
  if (facts.write_into_file) text += "; written into a file";
  return text;
}

/// Prints a session's events in order.
class EventLines {
 public:
  /// @param flushes must outlive this
  EventLines(Report& report, const SessionSummary& session,
             const std::vector<FlushAccount>& flushes)
      : report_(report), session_(session), start_ns_(StartOf(session)) {
    for (const FlushAccount& flush : flushes) flushes_[flush.flush] = &flush;
    for (const LifeEvent& event : session.life) {
      if (event.Is<SessionStarted>()) started_.insert(event.session);
      if (event.Is<TraceConfigRecord>()) configs_[event.session] = &event;
      ends_ |= event.Is<SessionEnded>();
    }
  }

  void Print() {
    // Buffers alone are listed elsewhere.
    if (std::ranges::all_of(session_.life, [](const LifeEvent& event) {
          return event.Is<BufferSetUp>() || event.Is<BufferFreed>();
        }))
      return;
    report_.Print(fmt::format("\n  {}\n", report_.Bold("   seconds  what happened")));
    for (at_ = 0; at_ < session_.life.size(); ++at_) AddEvent(session_.life[at_]);
    EndGroups();
  }

 private:
  /// Events alike.
  struct Group {
    uint64_t shown = 0, left_out = 0;
    std::string last_shown;
    std::string last, seconds;  // of the last one, and its time
  };

  /// Since the session's start: "1.250"; "-": not known.
  std::string SecondsText(std::optional<uint64_t> time_ns) const {
    if (!time_ns || !start_ns_) return "-";
    const uint64_t start = *start_ns_;
    const bool before = *time_ns < start;
    const uint64_t ms = ((before ? start - *time_ns : *time_ns - start) + 500'000) / 1'000'000;
    return fmt::format("{}{}.{:03}", before && ms > 0 ? "-" : "", ms / 1000, ms % 1000);
  }
  void PrintLine(const std::string& seconds, const std::string& text) {
    report_.Paragraph(text, fmt::format("  {:>10}  ", seconds));
  }
  void Add(std::optional<uint64_t> time_ns, const std::string& text) {
    EndGroups();
    PrintLine(SecondsText(time_ns), text);
  }
  void AddAlike(std::optional<uint64_t> time_ns, const std::string& text, const std::string& group,
                uint64_t shown) {
    Group& alike = groups_[group];
    alike.seconds = SecondsText(time_ns);
    alike.last = text;
    if (alike.shown == shown) {
      ++alike.left_out;
      return;
    }
    ++alike.shown;
    alike.last_shown = text;
    PrintLine(alike.seconds, text);
  }
  void EndGroups() {
    for (const auto& [name, group] : groups_) {
      if (group.left_out == 0) continue;
      // The last of them has a line of its own.
      if (const uint64_t between = group.left_out - 1; between > 0)
        PrintLine("", fmt::format("{} more like \"{}\"", WithCommas(between), group.last_shown));
      PrintLine(group.seconds, group.last);
    }
    groups_.clear();
  }

  std::string Who(ProducerId producer) { return ProducerText(producer, names_[producer]); }
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
    if (event.Is<BufferFreed>() && ends_) return;  // with the session
    if (event.Is<TraceConfigRecord>() && started_.contains(event.session)) return;
    const EventText* const known = FindBy(kEventTexts, event.kind, &EventText::kind);
    if (known == nullptr && !event.change) return;
    const char* const text = known != nullptr ? known->text : RowOf(*event.change).text;
    const std::string sources = event.Is<ProducerConnected>() ? TakeSources(event) : "";
    const ProducerId producer = event.producer.value_or(ProducerId{});
    std::string& source = sources_[{producer, event.instance.value_or(0)}];
    if (event.Is<DataSourceSetUp>()) source = event.name;
    const std::string& name = event.instance ? source : event.name;
    const auto config = configs_.find(event.session);
    const std::string detail = event.Is<TraceConfigRecord>() ? "" : Printable(event.detail);
    const std::string more = detail.empty() ? "" : ": " + detail;
    std::string buffer;
    if (event.buffer) {
      std::optional<uint64_t>& set_up = set_ups_[*event.buffer];
      if (event.Is<BufferSetUp>()) set_up = buffers_seen_++;
      buffer = BufferNameIn(session_, *event.buffer, set_up);
    }
    const std::string line = fmt::format(
        fmt::runtime(text), fmt::arg("who", Who(producer)),
        fmt::arg("which", started_.size() > 1 && event.session
                              ? fmt::format("tracing session {}", *event.session)
                              : "the tracing session"),
        fmt::arg("named", name.empty() ? "" : " " + InQuotes(name)),
        fmt::arg("name", Printable(event.name)), fmt::arg("sources", sources),
        fmt::arg("config", config == configs_.end() ? "" : ConfigText(*config->second)),
        fmt::arg("buffer", buffer), fmt::arg("size", HumanSize(event.size)),
        fmt::arg("detail", detail), fmt::arg("more", more),
        fmt::arg("read", event.buffer ? buffer + " is read" : "the session's buffers are read"),
        fmt::arg("clone", event.clone.value_or(0)),
        fmt::arg("done", event.flag ? "stopped" : "started"),
        fmt::arg("copy",
                 event.flag ? buffer + "; an empty one replaces it" : "a copy of " + buffer),
        fmt::arg("runs", event.flag ? "is running" : "has ended"),
        fmt::arg("ends", event.flag ? "is complete" : "fails" + more));
    if (known != nullptr && known->is_frequent)
      AddAlike(event.time_ns, line, text,
               event.Is<StateClearRequested>() || event.Is<ReadPass>() ? 1 : kShownAlike);
    else
      Add(event.time_ns, line);
  }

  void AddFlush(uint64_t id) {
    const auto found = flushes_.find(id);
    if (found == flushes_.end()) return;
    const FlushAccount& flush = *found->second;
    flushes_.erase(found);
    const std::string reason = FlushReasonText(flush.flags);
    const std::string in_brackets = reason.empty() ? "" : fmt::format(" ({})", reason);
    const FlushAccount::Answer* slowest = nullptr;
    std::vector<std::string> missing;
    for (const FlushAccount::Answer& answer : flush.answers) {
      if (!answer.acknowledged) missing.push_back(Who(answer.producer));
      if (answer.latency_ns() &&
          (slowest == nullptr || *answer.latency_ns() >= *slowest->latency_ns()))
        slowest = &answer;
    }
    const std::string last = slowest == nullptr ? ""
                                                : fmt::format(", the last after {} by {}",
                                                              HumanDuration(*slowest->latency_ns()),
                                                              Who(slowest->producer));
    if (flush.outcome == FlushOutcome::kSucceeded)
      return AddAlike(flush.time_ns, "flush" + in_brackets + ": acknowledged" + last,
                      "flush" + in_brackets, 1);
    Add(flush.time_ns, fmt::format("flush {}{} fails: {}", id, in_brackets,
                                   !missing.empty()     ? "not acknowledged by " + Joined(missing)
                                   : slowest != nullptr ? "acknowledged too late" + last
                                                        : "it timed out"));
  }

  Report& report_;
  const SessionSummary& session_;
  std::map<BufferId, std::optional<uint64_t>> set_ups_;  // the last so far, as the session has them
  uint64_t buffers_seen_ = 0;
  const std::optional<uint64_t> start_ns_;
  std::map<uint64_t, const FlushAccount*> flushes_;              // that have no line yet
  std::map<std::optional<uint64_t>, const LifeEvent*> configs_;  // the last of each session
  std::set<std::optional<uint64_t>> started_;                    // tracing sessions
  std::map<ProducerId, std::string> names_;
  std::map<std::pair<ProducerId, uint64_t>, std::string> sources_;  // by instance
  bool ends_ = false;  // the end of a session is recorded: it frees the buffers
  size_t at_ = 0;
  std::map<std::string, Group> groups_;
};

}  // namespace

std::optional<uint64_t> StartOf(const SessionSummary& session) {
  if (session.start_ns) return session.start_ns;
  const auto start = std::ranges::find(session.life, SessionChange::kStarted, &LifeEvent::change);
  return start == session.life.end() || !start->time_ns ? session.first_time_ns : start->time_ns;
}

std::string BufferNameIn(const SessionSummary& session, BufferId id,
                         std::optional<uint64_t> set_up) {
  const std::vector<BufferSetUp>& buffers = session.buffers;
  if (!set_up || *set_up >= buffers.size() || buffers[*set_up].id != id) {
    const auto last = std::ranges::find(buffers.rbegin(), buffers.rend(), id, &BufferSetUp::id);
    if (last == buffers.rend()) return fmt::format("buffer {}", Raw(id));
    set_up = static_cast<uint64_t>(buffers.rend() - last) - 1;
  }
  const auto index_of = [&](uint64_t place) { return buffers[place].index.value_or(place); };
  const std::string name = fmt::format("buffers[{}]", index_of(*set_up));
  bool is_only = true;
  for (uint64_t place = 0; place < buffers.size(); ++place)
    is_only &= place == *set_up || index_of(place) != index_of(*set_up);
  const std::optional<uint64_t> tracing_session = buffers[*set_up].session;
  return is_only || !tracing_session ? name
                                     : fmt::format("{} of session {}", name, *tracing_session);
}

std::string FlushReasonText(uint64_t flags) {
  std::vector<std::string> texts;
  for (const char* const text : {RowOf(ReasonOf(flags)).text, RowOf(InitiatorOf(flags)).text})
    if (*text != '\0') texts.emplace_back(text);
  return Joined(texts);
}

void ReportEvents(Report& report, const SessionSummary& session) {
  std::vector<FlushAccount> flushes;  // by id
  FlushTracker tracker([&flushes](const FlushAccount& flush) { flushes.push_back(flush); });
  for (const LifeEvent& event : session.life) tracker.Apply(event);
  tracker.Finish();
  report.Data("start_ns", FieldsToJson(StartOf(session)));
  Json configs = Json::array();
  for (const LifeEvent& event : session.life) {
    if (!event.Is<TraceConfigRecord>()) continue;
    const Bytes bytes = wire::AsBytes(event.detail);
    std::string hex;
    AppendHex(hex, bytes);
    configs.push_back(JsonOf("bytes", hex, "text", descriptors::Text("TraceConfig", bytes)));
    if (event.session) configs.back()["session"] = *event.session;
  }
  report.Data("configs", std::move(configs));
  report.Data("events", FieldsToJson(session.life));
  if (report.is_text()) EventLines(report, session, flushes).Print();
  report.Data("flushes", FieldsToJson(flushes));
}

}  // namespace ringscope
