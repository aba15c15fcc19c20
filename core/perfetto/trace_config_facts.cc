#include "core/perfetto/trace_config_facts.h"

#include <bit>

#include "core/base/lookup.h"
#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

constexpr uint64_t kDefaultPeriodMs = 5000;
constexpr uint64_t kShortestPeriodMs = 100;
constexpr uint64_t kLongestPeriodMs = uint64_t{1} << 40;  // more cannot be counted in ns
constexpr uint64_t kPeriodUnitNs = 1'000'000;             // periods of a config are in ms
constexpr size_t kMaxEntries = 1024;                      // data sources, triggers, producers
constexpr size_t kMaxEvents = 4096;                       // of ftrace, that are named

std::string Text(Bytes message, uint32_t number) {
  return std::string(wire::AsText(wire::BytesIn(message, number)));
}

/// Takes the value of a field with this number.
void TakeSetting(const wire::Field& field, uint32_t number, std::string& to) {
  if (field.IsBytes(number)) to = wire::AsText(field.bytes);
}
template <typename Number>
void TakeSetting(const wire::Field& field, uint32_t number, Number& to) {
  if (!field.IsVarint(number)) return;
  if constexpr (std::is_enum_v<Number>)
    to = static_cast<Number>(std::min<uint64_t>(field.value, UINT8_MAX));
  else
    to = static_cast<Number>(field.value);
}

ConfiguredBuffer ReadBuffer(Bytes message) {
  using Config = proto::TraceConfig::BufferConfig;
  constexpr uint64_t kDiscard = 2, kV2 = 1;  // FillPolicy, ExperimentalMode
  const auto number = [&](uint32_t field) { return wire::NumberIn(message, field); };
  return {.name = Text(message, Config::kName),
          .size_kb = number(Config::kSizeKb),
          .policy = number(Config::kFillPolicy) == kDiscard ? FillPolicy::kDiscard
                                                            : FillPolicy::kRingBuffer,
          .is_v2 = number(Config::kExperimentalMode) == kV2,
          .transfer_on_clone = number(Config::kTransferOnClone) != 0,
          .clear_before_clone = number(Config::kClearBeforeClone) != 0};
}

void ReadFtrace(Bytes ftrace, ConfiguredSource& source) {
  using Config = proto::FtraceConfig;
  source.ftrace_buffer_kb = wire::LastVarint(ftrace, Config::kBufferSizeKb);
  source.ftrace_drain_period_ms = wire::LastVarint(ftrace, Config::kDrainPeriodMs);
  source.preserves_ftrace = wire::LastVarint(ftrace, Config::kPreserveFtraceBuffer) > 0;
  const bool has_list = wire::LastBytes(ftrace, Config::kSyscallEvents).has_value();
  for (const wire::Field& field : wire::FieldReader(ftrace)) {
    const std::string_view text = wire::AsText(field.bytes);
    const bool is_event = field.number == Config::kFtraceEvents;
    const bool is_category = field.number == Config::kAtraceCategories ||
                             field.number == Config::kAtraceCategoriesPreferSdk;
    if (is_event && source.ftrace_events.size() < kMaxEvents)
      source.ftrace_events.emplace_back(text);
    if (is_category && source.atrace_categories.size() < kMaxEvents)
      source.atrace_categories.emplace_back(text);
    source.has_all_syscalls |= is_event && !has_list && text.starts_with("raw_syscalls/");
    source.asks_for_events |= is_event || is_category || field.number == Config::kAtraceApps ||
                              field.number == Config::kKprobeEvents ||
                              field.number == Config::kEnableFunctionGraph;
  }
}

ConfiguredSource ReadSource(Bytes message) {
  using Config = proto::DataSourceConfig;
  const Bytes config = wire::BytesIn(message, proto::TraceConfig::DataSource::kConfig);
  ConfiguredSource source{.name = Text(config, Config::kName),
                          .target_buffer = wire::NumberIn(config, Config::kTargetBuffer),
                          .own = OwnFieldsOf(config),
                          .target_name = Text(config, Config::kTargetBufferName),
                          .set_index = wire::LastVarint(config, Config::kTargetBuffer)};
  for (const wire::Field& field : wire::FieldReader(message))
    source.filtered |= field.number != proto::TraceConfig::DataSource::kConfig;
  ReadFtrace(wire::BytesIn(config, Config::kFtraceConfig), source);
  wire::ForEachMessage(wire::BytesIn(config, Config::kTrackEventConfig),
                       proto::TrackEventConfig::kEnabledCategories, [&](Bytes category) {
                         if (source.track_categories.size() < kMaxEvents)
                           source.track_categories.emplace_back(wire::AsText(category));
                       });
  source.perf_ring_pages = wire::NumberIn(wire::BytesIn(config, Config::kPerfEventConfig),
                                          proto::PerfEventConfig::kRingBufferPages);
  source.heap_shm_bytes = wire::NumberIn(wire::BytesIn(config, Config::kHeapprofdConfig),
                                         proto::HeapprofdConfig::kShmemSizeBytes);
  return source;
}

void ReadTriggers(Bytes message, TraceConfigFacts& facts) {
  using Config = proto::TraceConfig::TriggerConfig;
  for (const wire::Field& field : wire::FieldReader(message)) {
    TakeSetting(field, Config::kTriggerMode, facts.trigger_mode);
    TakeSetting(field, Config::kTriggerTimeoutMs, facts.trigger_timeout_ms);
    TakeSetting(field, Config::kUseCloneSnapshotIfAvailable, facts.clones_if_available);
    if (field.IsBytes(Config::kTriggers) && facts.triggers.size() < kMaxEntries)
      facts.triggers.push_back(Text(field.bytes, Config::Trigger::kName));
  }
}

}  // namespace

uint64_t FileWritePeriodNs(uint64_t file_write_period_ms) {
  const uint64_t ms = file_write_period_ms == 0 ? kDefaultPeriodMs : file_write_period_ms;
  return std::clamp(ms, kShortestPeriodMs, kLongestPeriodMs) * kPeriodUnitNs;
}

uint64_t TraceConfigFacts::PeriodNs() const {
  return FileWritePeriodNs(file_write_period_ms.value_or(0));
}

bool TraceConfigFacts::IsStreamed() const {
  constexpr uint64_t kDayMs = 86'400'000;
  return write_into_file && PeriodNs() < kDayMs * kPeriodUnitNs;
}

bool TraceConfigFacts::FlushesBeforeWrite() const {
  if (write_flush_mode == WriteFlushMode::kEnabled) return true;
  if (write_flush_mode == WriteFlushMode::kDisabled) return false;
  return PeriodNs() > kDefaultPeriodMs * kPeriodUnitNs;
}

std::string OwnFieldsOf(Bytes data_source_config) {
  constexpr std::array<uint32_t, 8> kFilledIn = {2, 3, 4, 6, 7, 8, 11, 122};
  std::vector<std::string_view> fields;
  for (const wire::Field& field : wire::FieldReader(data_source_config))
    if (!Contains(kFilledIn, field.number)) fields.push_back(wire::AsText(field.whole));
  std::ranges::stable_sort(fields);
  std::string own;
  for (const std::string_view field : fields) own += field;
  return own;
}

TraceConfigFacts ReadTraceConfigFacts(Bytes config) {
  using Config = proto::TraceConfig;
  using Producer = Config::ProducerConfig;
  using Builtin = Config::BuiltinDataSource;
  TraceConfigFacts facts;
  wire::FieldReader fields(config);
  for (const wire::Field& field : fields) {
    TakeSetting(field, Config::kWriteIntoFile, facts.write_into_file);
    TakeSetting(field, Config::kFileWritePeriodMs, facts.file_write_period_ms);
    TakeSetting(field, Config::kWriteFlushMode, facts.write_flush_mode);
    TakeSetting(field, Config::kFlushPeriodMs, facts.flush_period_ms);
    TakeSetting(field, Config::kDurationMs, facts.duration_ms);
    TakeSetting(field, Config::kDeferredStart, facts.deferred_start);
    TakeSetting(field, Config::kEnableExtraGuardrails, facts.has_extra_guardrails);
    TakeSetting(field, Config::kMaxFileSizeBytes, facts.max_file_size_bytes);
    TakeSetting(field, Config::kBugreportFilename, facts.bugreport_filename);
    TakeSetting(field, Config::kUniqueSessionName, facts.unique_session_name);
    TakeSetting(field, Config::kOutputPath, facts.output_path);
    if (field.IsVarint(Config::kFlushTimeoutMs) && field.value != 0)
      facts.flush_timeout_ms = std::min(field.value, kLongestPeriodMs);
    if ((field.IsVarint(Config::kCompressionType) && field.value != 0) ||
        field.IsBytes(Config::kTraceFilter) || field.IsBytes(Config::kCompression))
      facts.shows_ends_of_reads = false;
    if (field.IsBytes(Config::kBuffers) && ++facts.buffer_count <= TraceConfigFacts::kMaxBuffers)
      facts.buffers.push_back(ReadBuffer(field.bytes));
    if (field.IsBytes(Config::kDataSources) && facts.sources.size() < kMaxEntries)
      facts.sources.push_back(ReadSource(field.bytes));
    if (field.IsBytes(Config::kProducers) && facts.producers.size() < kMaxEntries)
      facts.producers.push_back({Text(field.bytes, Producer::kProducerName),
                                 wire::NumberIn(field.bytes, Producer::kShmSizeKb),
                                 wire::NumberIn(field.bytes, Producer::kPageSizeKb)});
    if (field.IsBytes(Config::kGuardrailOverrides))
      facts.most_buffers_kb =
          wire::NumberIn(field.bytes, Config::GuardrailOverrides::kMaxTracingBufferSizeKb);
    if (field.IsBytes(Config::kTriggerConfig)) ReadTriggers(field.bytes, facts);
    if (field.IsBytes(Config::kIncrementalStateConfig))
      facts.clear_period_ms =
          wire::LastVarint(field.bytes, Config::IncrementalStateConfig::kClearPeriodMs);
    if (field.IsBytes(Config::kBuiltinDataSources)) {
      if (const uint64_t ms = wire::NumberIn(field.bytes, Builtin::kSnapshotIntervalMs))
        facts.snapshot_interval_ms = std::min(ms, kLongestPeriodMs);
      if (wire::NumberIn(field.bytes, Builtin::kDisableServiceEvents) != 0)
        facts.shows_ends_of_reads = false;
    }
  }
  facts.is_well_formed = fields.ok();
  for (ConfiguredSource& source : facts.sources) {
    const auto* const buffer = FindBy(facts.buffers, source.target_name, &ConfiguredBuffer::name);
    if (!source.target_name.empty() && buffer != nullptr)
      source.target_buffer = static_cast<uint64_t>(buffer - facts.buffers.data());
  }
  return facts;
}

uint64_t TypedSize(uint64_t bytes) {
  const uint64_t power = std::bit_ceil(bytes);
  return power > uint64_t{1} << 20 && bytes <= power / 4 * 3 ? power / 4 * 3 : power;
}

uint64_t TypedPeriod(uint64_t ms) {
  uint64_t unit = 1;
  while (ms / unit >= 10) unit *= 10;
  for (const uint64_t tenths : {50u, 40u, 30u, 25u, 20u, 10u})
    if (ms * 10 >= tenths * unit && tenths * unit % 10 == 0) return tenths * unit / 10;
  return 0;
}

ClearPeriod ClearPeriodFor(std::optional<uint64_t> reach_ns, const TraceConfigFacts& config) {
  constexpr uint64_t kShortestMs = 40, kUsualMs = 5000;
  uint64_t tenth_ms = kUsualMs;
  if (reach_ns)
    tenth_ms = *reach_ns / kPeriodUnitNs / 10;
  else if (const uint64_t duration_ms = config.duration_ms.value_or(0); duration_ms > 0)
    tenth_ms = std::clamp(duration_ms / 10, kShortestMs, kUsualMs);
  if (tenth_ms < kShortestMs) return {};
  ClearPeriod period{.ms = TypedPeriod(tenth_ms), .reason = {}};
  const uint64_t today_ms = config.clear_period_ms.value_or(0);
  // What a ring holds is not the same in each recording.
  if (today_ms > 0 && today_ms <= tenth_ms + tenth_ms / 4) return period;
  period.reason =
      Say("producers repeat their state, so that all but {} of what the ring holds{} "
          "can be used",
          Time("unusable_at_most_ns", period.ms * kPeriodUnitNs),
          reach_ns ? Say(" ({})", Time("reach_ns", *reach_ns)) : Sentence());
  return period;
}

std::vector<ConfigChange> SharedMemoryChanges(const TraceConfigFacts& config,
                                              const std::string& producer, uint64_t kb,
                                              std::string reason, size_t& entries) {
  const auto known = std::ranges::find(config.producers, producer, &ConfiguredProducer::name);
  const bool is_new = known == config.producers.end();
  const auto entry = is_new ? entries++ : static_cast<size_t>(known - config.producers.begin());
  const std::string path = fmt::format("producers[{}].", entry);
  std::vector<ConfigChange> changes;
  if (is_new) {
    std::string quoted = "\"";
    for (const char c : Printable(producer)) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
    changes.push_back({path + "producer_name", quoted + "\"", "", false});
  }
  changes.push_back({path + "shm_size_kb", std::to_string(kb), std::move(reason), true});
  return changes;
}

}  // namespace ringscope
