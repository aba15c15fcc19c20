#include <fmt/format.h>

#include <algorithm>

#include "commands/advise/advise_report.h"
#include "commands/shell/text.h"
#include "core/perfetto/packet_facts.h"

namespace ringscope {
namespace {

/// "1:4 (demo-app, track_event)"
std::string SequenceText(const AdviceReport& report, SequenceKey key) {
  const AdviceProducer* producer = report.facts.Find(key.producer);
  std::string content;
  for (const AdviceSequence& sequence : report.facts.sequences)
    if (sequence.sequence == key) content = ContentName(sequence.content);
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

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : Printable(text)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace

std::string SomeOf(const std::vector<std::string>& names) {
  constexpr size_t kNamed = 6;
  std::vector<std::string> some(
      names.begin(), names.begin() + static_cast<ptrdiff_t>(std::min(names.size(), kNamed)));
  const std::string text = Printable(Joined(some));
  return names.size() > kNamed ? fmt::format("{} and {} more", text, names.size() - kNamed) : text;
}

std::string ConfigText(const AdviceReport& report) {
  std::string text;
  size_t index = 0;
  for (const PlannedBuffer& planned : report.findings.plan) {
    const AdviceBuffer* buffer = report.facts.Find(planned.made_from.value_or(planned.id));
    const bool is_v2 = buffer != nullptr && buffer->engine.starts_with("v2");
    text += BufferComment(report, planned, index++);
    text += WasComment(buffer, planned);
    text +=
        fmt::format("buffers {{ size_kb: {} fill_policy: {}{} }}\n", InKb(planned.size),
                    PolicyName(planned.policy), is_v2 ? " experimental_mode: TRACE_BUFFER_V2" : "");
  }
  for (const Advice& advice : report.advice) {
    if (!advice.to_do) continue;
    if (advice.kind == AdviceKind::kCommittedLate)
      text += fmt::format("flush_period_ms: {}\n", advice.As<LateNumbers>().limit_ns / 1'000'000);
    if (advice.kind == AdviceKind::kClearState) {
      const uint64_t period_ns = advice.As<StateNumbers>().period_ns;
      if (period_ns > 0)
        text += fmt::format("incremental_state_config {{ clear_period_ms: {} }}\n",
                            period_ns / 1'000'000);
    }
    if (advice.kind == AdviceKind::kSharedMemoryTooSmall) {
      const AdviceProducer* producer = report.facts.Find(*advice.producer);
      if (producer != nullptr && !producer->name.empty())
        text += fmt::format("producers {{ producer_name: {} shm_size_kb: {} }}\n",
                            Quoted(producer->name), advice.As<SharedMemoryNumbers>().wanted / 1024);
    }
  }
  if (report.facts.config.write_into_file)
    text += fmt::format("write_into_file: true\nfile_write_period_ms: {}\n",
                        report.findings.period_ns / 1'000'000);
  if (report.facts.has_config) text += "# all other fields: as in the session's trace config\n";
  return text;
}

}  // namespace ringscope
