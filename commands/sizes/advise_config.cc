#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "commands/shell/text.h"
#include "commands/sizes/advise_report.h"
#include "core/perfetto/packet_facts.h"
#include "core/remedies/advice_plan.h"
#include "formats/descriptors/changed_config.h"
#include "formats/descriptors/descriptors.h"

namespace ringscope {
namespace {

/// "1:4 (demo-app, track_event)"
std::string SequenceText(const AdviceReport& report, SequenceKey key) {
  const AdviceProducer* producer = report.facts.Find(key.producer);
  std::string content;
  for (const AdviceSequence& sequence : report.facts.sequences)
    if (sequence.sequence == key) content = ContentText(sequence.content, sequence.kind);
  const std::string name = producer == nullptr ? "" : producer->name;
  return fmt::format("{} ({}{}{})", ToString(key), name, name.empty() ? "" : ", ", content);
}

std::string BufferComment(const AdviceReport& report, const PlannedBuffer& planned, size_t index) {
  const BufferId origin = planned.made_from.value_or(planned.id);
  const AdviceBuffer* buffer = report.facts.Find(origin);
  std::vector<std::string> sequences;
  for (const PlannedSplit& split : report.findings.splits) {
    if (split.from != origin) continue;
    for (const SequenceKey key : planned.made_from ? split.chatty : split.rare)
      sequences.push_back(SequenceText(report, key));
  }
  std::string text = fmt::format("# target_buffer: {}", index);
  if (!sequences.empty()) {
    text += " for the data sources of these sequences:\n";
    for (const std::string& sequence : sequences) text += "#   " + Printable(sequence) + "\n";
    return text;
  }
  if (buffer != nullptr && !buffer->sources.empty())
    return text + ": " + SomeOf(buffer->sources) + "\n";
  return text + fmt::format(", for what is written to buffer {} now\n", Raw(origin));
}

uint64_t InKb(uint64_t size) { return std::max<uint64_t>(size / 1024, 1); }

const char* PolicyName(FillPolicy policy) {
  return policy == FillPolicy::kDiscard ? "DISCARD" : "RING_BUFFER";
}

/// Marks a change of the session's own buffer.
/// @param buffer nullptr: not known
std::string WasComment(const AdviceBuffer* buffer, const PlannedBuffer& planned) {
  if (buffer == nullptr) return "";
  if (planned.made_from) return "# changed: a new buffer\n";
  std::string was;
  if (InKb(buffer->size) != InKb(planned.size))
    was += fmt::format(" size_kb: {}", InKb(buffer->size));
  if (buffer->policy != planned.policy)
    was += fmt::format(" fill_policy: {}", PolicyName(buffer->policy));
  return was.empty() ? "" : fmt::format("# changed: was{}\n", was);
}

std::string Quoted(std::string_view text);

/// Which entry of one of the config's lists has this name, or would be the next.
struct NamedEntry {
  size_t index = 0;
  bool is_there = false;
};
/// @param name_path of the name in an entry
NamedEntry EntryOf(const std::string& config, const char* list,
                   const std::vector<TextStep>& name_path, const std::string& name) {
  for (NamedEntry entry;; ++entry.index) {
    std::vector<TextStep> path = {{list, entry.index}};
    path.insert(path.end(), name_path.begin(), name_path.end());
    const auto place = Descriptors::BuiltIn().FindInText("TraceConfig", config, path);
    if (!place || place->steps == 0) return entry;
    const std::string field = config.substr(place->begin, place->end - place->begin);
    entry.is_there = place->steps == path.size() && field.find(Quoted(name)) != std::string::npos;
    if (entry.is_there) return entry;
  }
}

/// Adds the memory of a data source's program.
void AddProgramMemory(const AdviceReport& report, const Advice& advice,
                      std::vector<ConfigChange>& changes) {
  const auto& numbers = advice.As<ProgramNumbers>();
  NamedEntry entry =
      EntryOf(report.config, "data_sources", {{"config"}, {"name"}}, advice.data_source);
  if (!entry.is_there)
    for (const ConfigChange& change : changes)
      entry.index += change.path.ends_with("].config.name") ? 1 : 0;
  const std::string path = fmt::format("data_sources[{}].config.", entry.index);
  const std::string why =
      numbers.limit == 0
          ? "its program saves packets that are overwritten"
          : fmt::format("the state of its program was full: {} and {} were dropped",
                        Count(numbers.dropped, "packet"), Count(numbers.elements, "element"));
  if (!entry.is_there) changes.push_back({path + "name", Quoted(advice.data_source), why, true});
  changes.push_back(
      {path + "protovm_config.memory_limit_kb", std::to_string(numbers.enough / 1024), why, true});
}

/// Why a buffer has another size.
std::string SizeReason(const AdviceReport& report, const PlannedBuffer& planned) {
  for (const PredictedBuffer& one : PredictionOf(report.facts, report.findings)) {
    if (one.id != planned.id) continue;
    return fmt::format("{} of {} were lost; so {}, by a replay", WithCommas(one.lost_now),
                       Count(one.written, "packet"),
                       one.lost_then == 0 ? "none" : WithCommas(one.lost_then));
  }
  return "";
}

/// What a new buffer is for.
std::string NewBufferReason(const AdviceReport& report, const PlannedBuffer& planned,
                            uint64_t index) {
  std::vector<std::string> sequences;
  for (const PlannedSplit& split : report.findings.splits)
    if (split.to == planned.id)
      for (const SequenceKey key : split.chatty) sequences.push_back(SequenceText(report, key));
  return fmt::format("target_buffer: {} for the data sources of {}", index, SomeOf(sequences));
}

/// The changes of buffers.
std::vector<ConfigChange> BufferChanges(const AdviceReport& report) {
  std::vector<ConfigChange> changes;
  uint64_t added = report.facts.buffers.size();
  for (const PlannedBuffer& planned : report.findings.plan) {
    const AdviceBuffer* buffer = report.facts.Find(planned.made_from.value_or(planned.id));
    if (buffer == nullptr) continue;
    const uint64_t index = planned.made_from ? added++ : buffer->index;
    const auto change = [&](const char* field, std::string value, std::string reason) {
      changes.push_back({fmt::format("buffers[{}].{}", index, field), std::move(value),
                         std::move(reason), false});
    };
    if (planned.made_from || InKb(buffer->size) != InKb(planned.size))
      change("size_kb", std::to_string(InKb(planned.size)),
             planned.made_from ? NewBufferReason(report, planned, index)
                               : SizeReason(report, planned));
    if (planned.made_from || buffer->policy != planned.policy)
      change("fill_policy", PolicyName(planned.policy),
             planned.made_from ? "as of the buffer that it is split from"
                               : "a buffer that discards accepts nothing more once it was full");
    if (planned.made_from && buffer->engine.starts_with("v2"))
      change("experimental_mode", "TRACE_BUFFER_V2", "as of the buffer that it is split from");
  }
  return changes;
}

/// The changes of all else.
std::vector<ConfigChange> OtherChanges(const AdviceReport& report) {
  std::vector<ConfigChange> changes;
  for (const Advice& advice : report.advice) {
    if (!advice.to_do) continue;
    if (advice.kind == AdviceKind::kCommittedLate)
      changes.push_back(
          {"flush_period_ms", std::to_string(advice.As<LateNumbers>().limit_ns / 1'000'000),
           fmt::format("{} {} stale", Count(advice.As<LateNumbers>().packets, "packet"),
                       advice.As<LateNumbers>().packets == 1 ? "is" : "are"),
           true});
    if (advice.kind == AdviceKind::kClearState && advice.As<StateNumbers>().period_ns > 0)
      changes.push_back({"incremental_state_config.clear_period_ms",
                         std::to_string(advice.As<StateNumbers>().period_ns / 1'000'000),
                         fmt::format("{} lack incremental state",
                                     Count(advice.As<StateNumbers>().packets, "packet")),
                         true});
    if (advice.topic == AdviceTopic::kPrograms) AddProgramMemory(report, advice, changes);
    if (advice.kind == AdviceKind::kSharedMemoryTooSmall &&
        advice.As<SharedMemoryNumbers>().wanted > 0) {
      const AdviceProducer* producer = report.facts.Find(*advice.producer);
      if (producer == nullptr || producer->name.empty()) continue;
      NamedEntry entry = EntryOf(report.config, "producers", {{"producer_name"}}, producer->name);
      if (!entry.is_there)
        for (const ConfigChange& change : changes)
          entry.index += change.path.ends_with("].producer_name") ? 1 : 0;
      const std::string path = fmt::format("producers[{}].", entry.index);
      const std::string why = "its shared memory was full";
      if (!entry.is_there)
        changes.push_back({path + "producer_name", Quoted(producer->name), why, true});
      changes.push_back({path + "shm_size_kb",
                         std::to_string(advice.As<SharedMemoryNumbers>().wanted / 1024), why,
                         true});
    }
  }
  const AdviceFindings& findings = report.findings;
  const bool streams = report.facts.config.write_into_file;
  const uint64_t period_ms = findings.period_ns / 1'000'000;
  if (findings.becomes_periodic && !streams)
    changes.push_back({"write_into_file", "true", "a replay that reads so loses less", false});
  if (findings.becomes_periodic || (streams && findings.period_ns != findings.reads.period_ns))
    changes.push_back({"file_write_period_ms", std::to_string(period_ms),
                       "a replay that reads so loses less", false});
  return changes;
}

/// "a { b: 1 c { d: 2 } }": the changes, each message of the config on a line of its own.
std::string LinesOf(const std::vector<ConfigChange>& changes) {
  std::string text;
  std::vector<std::string> open;  // the messages that the last field is in
  const auto close_to = [&](size_t depth) {
    for (; open.size() > depth; open.pop_back()) text += open.size() == 1 ? " }\n" : " }";
  };
  for (const ConfigChange& change : changes) {
    std::vector<std::string> path;
    std::istringstream steps(change.path);
    for (std::string step; std::getline(steps, step, '.');) path.push_back(step);
    const std::string field = path.back();
    path.pop_back();
    const auto differ = std::ranges::mismatch(path, open);
    close_to(static_cast<size_t>(differ.in2 - open.begin()));
    for (size_t i = open.size(); i < path.size(); ++i) {
      text += fmt::format("{}{} {{", i == 0 ? "" : " ", path[i].substr(0, path[i].find('[')));
      open.push_back(path[i]);
    }
    text += open.empty() ? fmt::format("{}: {}\n", field, change.value)
                         : fmt::format(" {}: {}", field, change.value);
  }
  close_to(0);
  return text;
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : Printable(text)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace

std::string SomeOf(const std::vector<std::string>& names) {
  constexpr size_t kMostNamed = 6;
  std::vector<std::string> some(
      names.begin(), names.begin() + static_cast<ptrdiff_t>(std::min(names.size(), kMostNamed)));
  const std::string text = Printable(Joined(some));
  return names.size() > kMostNamed ? fmt::format("{} and {} more", text, names.size() - kMostNamed) : text;
}

std::string ConfigText(const AdviceReport& report) {
  const std::vector<ConfigChange> changes = OtherChanges(report);
  if (!report.config.empty()) {
    std::vector<ConfigChange> all = BufferChanges(report);
    all.insert(all.end(), changes.begin(), changes.end());
    return ChangedConfig(report.config, all);
  }
  std::string text;
  size_t index = 0;
  for (const PlannedBuffer& planned : report.findings.plan) {
    const AdviceBuffer* buffer = report.facts.Find(planned.made_from.value_or(planned.id));
    const bool is_v2 = buffer != nullptr && buffer->engine.starts_with("v2");
    text += BufferComment(report, planned, index++);
    text += WasComment(buffer, planned);
    text += fmt::format("buffers {{\n  size_kb: {}\n  fill_policy: {}\n{}}}\n", InKb(planned.size),
                        PolicyName(planned.policy),
                        is_v2 ? "  experimental_mode: TRACE_BUFFER_V2\n" : "");
  }
  text += LinesOf(changes);
  if (report.facts.config.write_into_file &&
      report.findings.period_ns == report.findings.reads.period_ns)
    text += fmt::format("write_into_file: true\nfile_write_period_ms: {}\n",
                        report.findings.period_ns / 1'000'000);
  if (report.facts.has_config) text += "# all other fields: as in the session's trace config\n";
  return text;
}

}  // namespace ringscope
