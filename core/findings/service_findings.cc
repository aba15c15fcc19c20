// Settings of a trace config that the service refuses, ignores or replaces.
// Source: what is known of the service of v58 when a session is enabled.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/findings/examiner.h"

namespace ringscope {
namespace {

constexpr uint64_t kDayMs = 24 * 3600 * 1000;

/// A time of a config; longer ones than can be counted in ns are cut.
Sentence Milliseconds(const char* name, uint64_t ms) {
  return Time(name, std::min(ms, uint64_t{1} << 40) * kMsInNs);
}

/// @param reason goes after a colon
void Refuse(Examiner& examiner, const Sentence& reason, Sentence remedy,
            std::vector<ConfigChange> changes = {}) {
  examiner.Add("config.refused", Say("The service refuses this session: {}", reason),
               {.cause = "It answers with an error: the session does not start, and nothing is "
                         "recorded.",
                .remedy = std::move(remedy),
                .changes = std::move(changes)});
}

/// Returns a value that several elements have, or an empty text.
template <typename Elements, typename Name>
std::string Repeated(const Elements& elements, Name name) {
  std::vector<std::string> names;
  for (const auto& element : elements) {
    const std::string& text = std::invoke(name, element);
    if (!text.empty() && std::ranges::find(names, text) != names.end()) return Printable(text);
    names.push_back(text);
  }
  return {};
}

/// Refusals of the session's length and of its triggers.
void ExamineTimes(Examiner& examiner) {
  const TraceConfigFacts& config = examiner.config;
  const uint64_t longest_ms = config.has_extra_guardrails ? kDayMs : 7 * kDayMs;
  const Sentence longest =
      Say("{} days{}", Number("longest_days", longest_ms / kDayMs),
          config.has_extra_guardrails ? ", as enable_extra_guardrails is set" : "");
  const uint64_t duration_ms = config.duration_ms.value_or(0);
  if (duration_ms > longest_ms)
    Refuse(examiner,
           Say("duration_ms is {}: the longest is {}.", Milliseconds("duration_ns", duration_ms),
               longest),
           Say("duration_ms: {}", longest_ms),
           {{"duration_ms", std::to_string(longest_ms), "is the longest session", false}});
  const TriggerMode mode = config.trigger_mode;
  if (config.clones_if_available && mode != TriggerMode::kStop)
    Refuse(examiner, "use_clone_snapshot_if_available is set without trigger_mode: STOP_TRACING.",
           "trigger_mode: STOP_TRACING, or without use_clone_snapshot_if_available.");
  if (mode == TriggerMode::kUnspecified) return;
  if (mode > TriggerMode::kCloneSnapshot)
    Refuse(examiner, Say("trigger_mode is {}, which is none.", static_cast<int>(mode)),
           "trigger_mode: START_TRACING, STOP_TRACING or CLONE_SNAPSHOT");
  if (config.trigger_timeout_ms == 0 || config.trigger_timeout_ms > longest_ms)
    Refuse(examiner,
           config.trigger_timeout_ms == 0
               ? Sentence("trigger_timeout_ms is not set.")
               : Say("trigger_timeout_ms is {}: the longest is {}.",
                     Milliseconds("trigger_timeout_ns", config.trigger_timeout_ms), longest),
           Say("trigger_timeout_ms of 1 to {}", longest_ms),
           {{"trigger_config.trigger_timeout_ms",
             std::to_string(config.trigger_timeout_ms == 0 ? kDayMs : longest_ms),
             "ends a session that no trigger reaches", false}});
  if (duration_ms > 0)
    Refuse(examiner, "duration_ms and trigger_config are both set.",
           "With triggers, trigger_timeout_ms and stop_delay_ms end the session.",
           {{"duration_ms", "0", "the triggers end the session", false}});
  if (config.write_into_file && mode != TriggerMode::kStart)
    Refuse(examiner,
           Say("write_into_file and trigger_mode: {} exclude each other.",
               mode == TriggerMode::kStop ? "STOP_TRACING" : "CLONE_SNAPSHOT"),
           "Without write_into_file the triggers keep what the buffers have; START_TRACING can be "
           "written into a file.",
           {{"write_into_file", "false", "a trigger saves what the buffers have", false}});
  if (const std::string name = Repeated(config.triggers, std::identity()); !name.empty())
    Refuse(examiner, Say("two triggers have the name '{}'.", name), "A name of its own for each.");
}

/// Refusals of the buffers as a whole.
void ExamineBufferSet(Examiner& examiner) {
  const TraceConfigFacts& config = examiner.config;
  if (config.buffer_count > TraceConfigFacts::kMaxBuffers)
    Refuse(examiner,
           Say("the config has {}: {} are the most.",
               Number("buffers", config.buffer_count, "buffer"), TraceConfigFacts::kMaxBuffers),
           "Fewer buffers: several data sources can share one.");
  if (const std::string name = Repeated(config.buffers, &ConfiguredBuffer::name); !name.empty())
    Refuse(examiner, Say("two buffers have the name '{}'.", name), "A name of its own for each.");
  if (!config.has_extra_guardrails) return;
  const uint64_t most_kb = std::max<uint64_t>(128 * 1024, config.most_buffers_kb);
  uint64_t sum_kb = 0;
  for (size_t i = 0; i < config.buffers.size(); ++i) {
    const uint64_t kb = config.buffers[i].size_kb;
    sum_kb += kb;
    if (kb % 4 != 0)
      Refuse(examiner,
             Say("size_kb of buffers[{}] is {}, no multiple of 4, with enable_extra_guardrails.", i,
                 Number("size_kb", kb)),
             "A multiple of 4.",
             {{fmt::format("buffers[{}].size_kb", i), std::to_string(kb / 4 * 4 + 4),
               "is a multiple of 4", false}});
  }
  if (sum_kb > most_kb)
    Refuse(examiner,
           Say("all buffers have {}: with enable_extra_guardrails {} are the most.",
               Size("buffer_bytes", sum_kb * kKiB), Size("most_bytes", most_kb * kKiB)),
           "Smaller buffers, or guardrail_overrides { max_tracing_buffer_size_kb }.");
  if (config.deferred_start)
    Refuse(examiner, "deferred_start is set, with enable_extra_guardrails.", "Without one of them.",
           {{"deferred_start", "false", "starts at once", false}});
}

/// Refusals of the buffers that data sources target.
void ExamineTargets(Examiner& examiner) {
  const TraceConfigFacts& config = examiner.config;
  if (config.buffer_count == 0 && !config.sources.empty())
    return Refuse(examiner, "the config has data sources, and no buffer that they can write to.",
                  "buffers { size_kb: 65536 }");
  std::vector<std::string_view> names;
  for (const ConfiguredBuffer& buffer : config.buffers) names.push_back(buffer.name);
  for (size_t i = 0; i < config.sources.size(); ++i) {
    const ConfiguredSource& source = config.sources[i];
    const std::string path = fmt::format("data_sources[{}].config.", i);
    const std::string title = fmt::format("data_sources[{}] ({})", i, Printable(source.name));
    const std::string& name = source.target_name;
    const bool is_known = std::ranges::find(names, name) != names.end();
    if (!name.empty() && !is_known) {
      const auto nearest = NearestName(name, names);
      std::vector<ConfigChange> changes;
      if (nearest && !nearest->empty())
        changes.push_back({path + "target_buffer_name", fmt::format("\"{}\"", *nearest),
                           "is the buffer with the nearest name", true});
      Refuse(
          examiner,
          Say("{} targets the buffer '{}', and no buffer has this name.", title, Printable(name)),
          "The name of a buffer, as 'buffers' has it.", std::move(changes));
    } else if (!name.empty() && source.set_index.value_or(0) != 0 &&
               *source.set_index != source.target_buffer) {
      Refuse(examiner,
             Say("{} targets two buffers: target_buffer {}, and '{}', which is buffers[{}].", title,
                 *source.set_index, Printable(name), source.target_buffer),
             "Only one of target_buffer and target_buffer_name.");
    } else if (source.target_buffer >= config.buffer_count) {
      Refuse(examiner,
             Say("{} targets buffers[{}], which the config does not have: it has {}, counted from "
                 "0.",
                 title, Number("target_buffer", source.target_buffer),
                 Number("buffers", config.buffer_count, "buffer")),
             Say("target_buffer of 0 to {}", config.buffer_count - 1));
    }
  }
}

void ExamineReportName(Examiner& examiner) {
  const std::string& name = examiner.config.bugreport_filename;
  const bool is_valid = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_.").find(c) != std::string_view::npos;
  });
  if (!is_valid)
    Refuse(examiner, Say("bugreport_filename is '{}'.", Printable(name)),
           "Only letters, digits, '-', '_' and '.'.");
}

/// Adds what the service uses in the place of a setting.
void Ignore(Examiner& examiner, Sentence what, std::vector<ConfigChange> changes) {
  Finding& finding = examiner.Add("config.ignored", std::move(what));
  finding.changes = std::move(changes);
}

/// Sizes of a producer's shared memory that the service does not use as they are.
void ExamineSharedMemory(Examiner& examiner, size_t index) {
  constexpr uint64_t kDefaultKb = 256, kDefaultPageKb = 4, kMostKb = 32 * 1024, kMostPageKb = 32;
  const ConfiguredProducer& producer = examiner.config.producers[index];
  const bool is_probes = producer.name == "perfetto.traced_probes";  // asks for 2 MiB of 32 KiB
  const auto set_or = [](uint64_t value, uint64_t otherwise) {
    return value == 0 ? otherwise : value;
  };
  const uint64_t page = std::min(
      set_or(producer.page_size_kb, is_probes ? kMostPageKb : kDefaultPageKb), kMostPageKb);
  const uint64_t total = std::min(set_or(producer.shm_size_kb, is_probes ? 2048 : 0), kMostKb);
  const bool is_page = std::has_single_bit(page) && page >= kDefaultPageKb;
  const uint64_t best_page = std::clamp(std::bit_ceil(page), kDefaultPageKb, kMostPageKb);
  const uint64_t best_total =
      std::min((std::max<uint64_t>(total, 1) + best_page - 1) / best_page * best_page, kMostKb);
  const bool is_refused = !is_page || total % page != 0;  // a total of 0 is the producer's
  const bool is_cut = producer.shm_size_kb > kMostKb || producer.page_size_kb > kMostPageKb;
  if (!is_refused && !is_cut) return;
  const std::string path = fmt::format("producers[{}].", index);
  std::vector<ConfigChange> changes;
  if (producer.page_size_kb != 0 && best_page != producer.page_size_kb)
    changes.push_back(
        {path + "page_size_kb", std::to_string(best_page), "pages have 4, 8, 16 or 32 KiB", false});
  if (producer.shm_size_kb != 0 && best_total != producer.shm_size_kb)
    changes.push_back({path + "shm_size_kb", std::to_string(best_total),
                       "a multiple of the page size, and at most 32 MiB", false});
  const Sentence asked = total == 0
                             ? Say("pages of {} KiB", Number("page_size_kb", producer.page_size_kb))
                             : Say("{} KiB in pages of {} KiB",
                                   Number("shm_size_kb", set_or(producer.shm_size_kb, total)),
                                   Number("page_size_kb", set_or(producer.page_size_kb, page)));
  Ignore(examiner,
         is_refused
             ? Say("The shared memory of '{}' cannot have {}: the service makes it {} KiB in pages "
                   "of {} KiB.",
                   Printable(producer.name), asked, Number("used_shm_size_kb", kDefaultKb),
                   Number("used_page_size_kb", kDefaultPageKb))
             : Say("The shared memory of '{}' cannot have {}: the service takes {} KiB in pages of "
                   "{} KiB at most.",
                   Printable(producer.name), asked, Number("used_shm_size_kb", kMostKb),
                   Number("used_page_size_kb", kMostPageKb)),
         std::move(changes));
}

/// Settings of the file and its flushes.
void ExamineFileSettings(Examiner& examiner) {
  constexpr uint64_t kFlushesByItself = 54, kShortestMs = 100, kFlushMs = 5000;
  const TraceConfigFacts& config = examiner.config;
  const uint64_t write_ms = config.file_write_period_ms.value_or(0);
  if (!config.write_into_file) {
    if (write_ms > 0 || config.max_file_size_bytes > 0)
      Ignore(examiner,
             Say("{} has no effect without write_into_file: the buffers are read at the end.",
                 write_ms > 0 ? "file_write_period_ms" : "max_file_size_bytes"),
             {{"write_into_file", "true", "writes the buffers into the file during the session",
               true}});
    return;
  }
  if (write_ms > 0 && write_ms < kShortestMs)
    Ignore(examiner,
           Say("file_write_period_ms is {}: the service writes every {} ms at most.",
               Number("file_write_period_ms", write_ms), kShortestMs),
           {{"file_write_period_ms", std::to_string(kShortestMs), "is the shortest", false}});
  const uint64_t flush_ms = config.flush_period_ms.value_or(0);
  const bool by_itself =
      ServiceRelease(examiner.facts.service_version).value_or(kFlushesByItself) >= kFlushesByItself;
  if (flush_ms == 0 || !by_itself || config.write_flush_mode == WriteFlushMode::kDisabled) return;
  const uint64_t flushes_ms = config.FlushesBeforeWrite() ? config.PeriodNs() / kMsInNs : kFlushMs;
  Finding& finding = examiner.Add(
      "config.ignored",
      Say("flush_period_ms has no effect in a session that is written into a file: since v54 the "
          "service flushes by itself, every {}.",
          Milliseconds("flushes_every_ns", flushes_ms)));
  if (flushes_ms <= flush_ms || examiner.facts.all.packets > 0) {
    finding.harm = Harm::kInfo;
    return;
  }
  finding.remedy =
      "write_flush_mode: WRITE_FLUSH_DISABLED with flush_period_ms, or a shorter "
      "file_write_period_ms.";
  finding.changes.push_back(
      {"write_flush_mode", "WRITE_FLUSH_DISABLED", "lets flush_period_ms take effect", false});
}

}  // namespace

void ExamineRefusals(Examiner& examiner) {
  if (!examiner.has_config()) return;
  // A trace proves that its service took the config, whose duration it may have replaced since.
  if (examiner.facts.all.packets > 0 && !examiner.is_of_log()) return;
  ExamineTimes(examiner);
  ExamineReportName(examiner);
  ExamineBufferSet(examiner);
  ExamineTargets(examiner);
}

void ExamineIgnored(Examiner& examiner) {
  if (!examiner.has_config()) return;
  const TraceConfigFacts& config = examiner.config;
  const auto& producers = config.producers;
  for (size_t i = 0; i < producers.size(); ++i) {
    const auto first = std::ranges::find(producers, producers[i].name, &ConfiguredProducer::name);
    if (first == producers.begin() + static_cast<std::ptrdiff_t>(i))
      ExamineSharedMemory(examiner, i);
    else
      Ignore(examiner,
             Say("producers[{}] has no effect: the first entry of '{}' counts.", i,
                 Printable(producers[i].name)),
             {});
  }
  ExamineFileSettings(examiner);
  if (config.trigger_mode == TriggerMode::kUnspecified && !config.triggers.empty())
    Ignore(examiner, "The triggers have no effect: trigger_mode is not set.", {});
}

}  // namespace ringscope
