#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "core/examine/examination.h"
#include "core/perfetto/fields.h"
#include "core/testing/message_text.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using Message = testing::MessageText;

Message BufferMessage(uint64_t size_kb, uint64_t policy = 1) {
  return Message()
      .Uint(proto::TraceConfig::BufferConfig::kSizeKb, size_kb)
      .Uint(proto::TraceConfig::BufferConfig::kFillPolicy, policy);
}
Message SourceMessage(std::string_view name, uint64_t target = 0) {
  return Message().Inner(proto::TraceConfig::DataSource::kConfig,
                         Message()
                             .Text(proto::DataSourceConfig::kName, name)
                             .Uint(proto::DataSourceConfig::kTargetBuffer, target));
}
std::string CategoryConfig(const std::vector<std::string>& categories) {
  Message track_event;
  for (const std::string& category : categories)
    track_event.Text(proto::TrackEventConfig::kEnabledCategories, category);
  const Message source = Message()
                             .Text(proto::DataSourceConfig::kName, "track_event")
                             .Inner(proto::DataSourceConfig::kTrackEventConfig, track_event);
  return Message()
      .Inner(proto::TraceConfig::kBuffers,
             Message().Uint(proto::TraceConfig::BufferConfig::kSizeKb, 64))
      .Inner(proto::TraceConfig::kDataSources,
             Message().Inner(proto::TraceConfig::DataSource::kConfig, source))
      .text();
}
/// One ring of 64 KiB for track events, whose state is repeated.
Message GoodConfig() {
  return Message()
      .Inner(proto::TraceConfig::kBuffers, BufferMessage(64))
      .Inner(proto::TraceConfig::kDataSources, SourceMessage("track_event"))
      .Inner(proto::TraceConfig::kIncrementalStateConfig,
             Message().Uint(proto::TraceConfig::IncrementalStateConfig::kClearPeriodMs, 100));
}

/// The same, and an event of ftrace.
Message FtraceConfig(std::string_view event) {
  const Message ftrace = Message().Text(proto::FtraceConfig::kFtraceEvents, event);
  return GoodConfig().Inner(
      proto::TraceConfig::kDataSources,
      Message().Inner(proto::TraceConfig::DataSource::kConfig,
                      Message()
                          .Text(proto::DataSourceConfig::kName, "linux.ftrace")
                          .Inner(proto::DataSourceConfig::kFtraceConfig, ftrace)));
}

/// A trace of ten seconds with which nothing is wrong.
TraceFacts GoodTrace() {
  TraceFacts facts;
  facts.all = {1000, 50'000, TimeSpan{0, 10'000'000'000}};
  facts.data_packets = 990;
  facts.service_packets = 10;
  facts.events = 900;
  facts.trusted_packets = 1000;
  facts.config = GoodConfig().text();
  facts.stats_packets = facts.snapshots = 1;
  facts.packets_after_stats = 0;
  facts.service.producers_connected = facts.service.data_sources_registered = 1;
  facts.service.data_sources_seen = facts.service.flushes_requested = 1;
  facts.final_flushes_succeeded = 1;
  TraceBuffer& buffer = facts.buffers.emplace_back();
  buffer.has_stats = buffer.has_losses = true;
  buffer.stats.buffer_size = 65'536;
  buffer.stats.bytes_written = 50'000;
  buffer.stats.chunks_written = 20;
  buffer.span = facts.all.span;
  TraceSequence& sequence = facts.sequences.emplace_back();
  sequence.id = 7;
  sequence.buffer = 0;
  sequence.all = {990, 49'000, facts.all.span};
  sequence.needing = 900;
  sequence.clears = 10;
  sequence.is_listed = true;
  sequence.contents = {{proto::TracePacket::kTrackEvent, sequence.all}};
  return facts;
}
void Wrap(TraceFacts& facts) {
  BufferStats& stats = facts.buffers[0].stats;
  stats.bytes_written = 655'360;
  stats.bytes_overwritten = 600'000;
  stats.chunks_written = 200;
  stats.chunks_overwritten = 180;
  stats.write_wrap_count = 9;
}
void StreamEvery(TraceFacts& facts, uint64_t ms) {
  facts.config = GoodConfig()
                     .Uint(proto::TraceConfig::kWriteIntoFile, 1)
                     .Uint(proto::TraceConfig::kFileWritePeriodMs, ms)
                     .Uint(proto::TraceConfig::kFlushPeriodMs, 1000)
                     .text();
}
FtraceCounters Ftrace(uint32_t counter, uint64_t end) {
  FtraceCounters ftrace;
  for (const uint64_t phase : {1, 2}) {
    const Message cpu = Message().Uint(1, 3).Uint(counter, phase == 2 ? end : 0);
    ftrace.AddStats(wire::AsBytes(Message().Uint(1, phase).Inner(2, cpu).text()));
  }
  return ftrace;
}

const Finding* FindRule(const Examination& diagnosis, std::string_view rule) {
  for (const Finding& finding : diagnosis.findings)
    if (finding.rule->id == rule) return &finding;
  return nullptr;
}

/// A config with events of the kernel. @param kb size of its buffers @param ms their drain period
std::string ConfigWithKernelBuffers(uint64_t kb, uint64_t ms) {
  return GoodConfig()
      .Inner(proto::TraceConfig::kDataSources,
             Message().Inner(proto::TraceConfig::DataSource::kConfig,
                             Message()
                                 .Text(proto::DataSourceConfig::kName, "linux.ftrace")
                                 .Inner(proto::DataSourceConfig::kFtraceConfig,
                                        Message()
                                            .Uint(proto::FtraceConfig::kBufferSizeKb, kb)
                                            .Uint(proto::FtraceConfig::kDrainPeriodMs, ms))))
      .text();
}

// Statistics that data of the session follows do not tell what its buffers lost to the end; those
// that appended packets follow do.
TEST(ExamineTrace, WhatIsInABufferOfOneDataSourceIsThatOnes) {
  const TraceConfigFacts config{.sources = {{.name = "linux.ftrace", .target_buffer = 0},
                                            {.name = "track_event", .target_buffer = 0},
                                            {.name = "com.example", .target_buffer = 1},
                                            {.name = "com.example", .target_buffer = 1},
                                            {.name = "org.example", .target_buffer = 2}}};
  TraceSequence sequence;
  sequence.all.packets = 1;
  EXPECT_EQ(SourceOf(sequence, config), "");
  sequence.buffer = 0;
  EXPECT_EQ(SourceOf(sequence, config), "");
  sequence.buffer = 1;
  EXPECT_EQ(SourceOf(sequence, config), "com.example");
}

TEST(ExamineTrace, NewMetadataOfABrowserHaveTheOldContent) {
  const TraceConfigFacts config{
      .sources = {{.name = "track_event"}, {.name = "org.chromium.trace_metadata2"}}};
  TraceSequence sequence;
  sequence.all.packets = 1;
  sequence.contents = {{proto::TracePacket::kChromeEvents}, {proto::TracePacket::kChromeMetadata}};
  EXPECT_EQ(SourceOf(sequence, config), "org.chromium.trace_metadata2");
}

TEST(ExamineTrace, SequencesThatNoStatisticsListAreInTheOnlyBufferThatTheyCanHaveBeenIn) {
  TraceFacts facts = GoodTrace();
  TraceSequence& sequence = facts.sequences.emplace_back(facts.sequences[0]);
  sequence.id = 99;
  sequence.buffer.reset();
  sequence.is_listed = false;
  sequence.losses.sequence_packet_loss = 1;
  const auto where = [](const TraceFacts& trace) {
    const Examination examination = ExamineTrace(trace);
    return FindRule(examination, "buffer.packet_loss")->where.text;
  };
  EXPECT_THAT(where(facts), HasSubstr("buffers[0]"));
  const Message second = Message()
                             .Text(proto::DataSourceConfig::kName, "track_event")
                             .Uint(proto::DataSourceConfig::kTargetBuffer, 1);
  facts.config = GoodConfig()
                     .Inner(proto::TraceConfig::kBuffers, BufferMessage(64))
                     .Inner(proto::TraceConfig::kDataSources,
                            Message().Inner(proto::TraceConfig::DataSource::kConfig, second))
                     .text();
  EXPECT_THAT(where(facts), HasSubstr("sequences whose buffer is not in the statistics"));
}

TEST(ExamineTrace, StatisticsOfTheMiddle_ProveNoLossToTheEnd) {
  TraceFacts facts = GoodTrace();
  facts.buffers[0].stats.bytes_read = facts.buffers[0].stats.bytes_written;
  EXPECT_THAT(StagesText(ExamineTrace(facts).account),
              HasSubstr("buffers[0] lost nothing; 990 packets are in the trace. Traces do not show "
                        "losses in shared memory or on the way to the file."));
  facts.packets_after_stats = 900;
  EXPECT_THAT(StagesText(ExamineTrace(facts).account),
              HasSubstr("990 packets are in the trace. Traces do not show losses in shared memory, "
                        "at the commit, in buffers[0] or on the way to the file."));
  facts.sequences.push_back(facts.sequences.front());
  facts.sequences.back().is_listed = false;
  facts.sequences.back().all.packets = 900;
  EXPECT_THAT(StagesText(ExamineTrace(facts).account), HasSubstr("buffers[0] lost nothing"));
}

// 10,000 events of 40 bytes were overwritten at two places: 5,000 more need 2,048 KiB, but a config
// with a period of 500 ms is advised to have 4,096.
TEST(ExamineTrace, KernelBuffers_FollowFromWhatTheyLost) {
  constexpr uint32_t kCpu = 1, kEntries = 2, kOverrun = 3, kBytes = 5, kReadEvents = 9;
  TraceFacts facts = GoodTrace();
  facts.config = ConfigWithKernelBuffers(1024, 500);
  for (const uint64_t phase : {1, 2}) {
    Message cpu = Message().Uint(kCpu, 3);
    for (const auto& [counter, end] : {std::pair<uint32_t, uint64_t>(kEntries, 100),
                                       {kOverrun, 10'000},
                                       {kBytes, 4'000},
                                       {kReadEvents, 30'000}})
      cpu.Uint(counter, phase == 2 ? end : 0);
    facts.ftrace.AddStats(wire::AsBytes(Message().Uint(1, phase).Inner(2, cpu).text()));
  }
  for (int i = 0; i < 2; ++i)
    facts.ftrace.AddBundle(wire::AsBytes(Message()
                                             .Uint(proto::FtraceEventBundle::kCpu, 3)
                                             .Uint(proto::FtraceEventBundle::kLostEvents, 1)
                                             .text()));
  const Examination diagnosis = ExamineTrace(facts);
  const Finding* const finding = FindRule(diagnosis, "ftrace.overrun");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->cause.text,
            "The kernel's buffer of a CPU (1 MiB) was full before it was drained (every 500 ms). "
            "CPU 3 wrote 4,000 events/s, and 5,000 (195 KiB) were overwritten each time; "
            "drain_period_ms: 300 would do for this size.");
  ASSERT_EQ(finding->changes.size(), 1u);
  EXPECT_EQ(finding->changes[0].value, "4096");
}

TEST(ExamineTrace, FindsNothingInAGoodTrace) {
  const Examination diagnosis = ExamineTrace(GoodTrace());
  EXPECT_EQ(diagnosis.answer.severity, Harm::kOk) << diagnosis.answer.headline;
  EXPECT_TRUE(diagnosis.findings.empty());
  EXPECT_TRUE(diagnosis.counters.empty());
  EXPECT_GE(diagnosis.well.size(), 4u);
}

using Spoil = std::function<void(TraceFacts&)>;
struct Case {
  const char* rule;
  Spoil spoil;
};

/// What makes a good trace show each rule.
std::vector<Case> Cases() {
  const auto config = [](const Message& message) {
    return [text = message.text()](TraceFacts& facts) { facts.config = text; };
  };
  std::vector<Case> cases = {
      {"trace.empty", [](TraceFacts& f) { f.data_packets = 0; }},
      {"trace.corrupt",
       [](TraceFacts& f) {
         f.errors = {{12, "no packet"}};
         f.error_count = 1;
       }},
      {"trace.cut_off", [](TraceFacts& f) { f.is_cut_off = true; }},
      {"trace.file_full",
       [](TraceFacts& f) {
         f.config = GoodConfig().Uint(proto::TraceConfig::kMaxFileSizeBytes, 60'000).text();
         f.packets_after_stats = 1;
         f.file_bytes = 59'990;
         f.largest_packet = 50;
       }},
      {"trace.after_stats", [](TraceFacts& f) { f.packets_after_stats = 5; }},
      {"trace.short",
       [](TraceFacts& f) {
         f.config = GoodConfig().Uint(proto::TraceConfig::kDurationMs, 60'000).text();
         f.lifetime = TimeSpan{0, 60'000'000'000};
       }},
      {"trace.late_start",
       [](TraceFacts& f) {
         f.lifetime = TimeSpan{0, 10'000'000'000};
         f.sources_started_ns = 3'000'000'000;
         f.all.span = TimeSpan{3'500'000'000, 10'000'000'000};
       }},
      {"buffer.late_chunks", [](TraceFacts& f) { f.buffers[0].stats.chunks_discarded = 80; }},
      {"source.no_category",
       [](TraceFacts& f) {
         f.config = CategoryConfig({"gfx"});
         f.categories = {"net"};
       }},
      {"source.silent", [](TraceFacts& f) { f.sequences[0].contents[0].content = 1; }},
      {"source.slow", [](TraceFacts& f) { f.slow_to_start = {{"com.game", "track_event"}}; }},
      {"state.never_cleared",
       [](TraceFacts& f) {
         f.service_packets = f.trusted_packets = f.stats_packets = 0;
         f.sequences[0].clears = f.sequences[0].needing = 0;
         f.sequences[0].nameless = 12;
       }},
      {"ftrace.setup",
       [](TraceFacts& f) {
         f.config = ConfigWithKernelBuffers(8192, 250);
         f.ftrace.unknown_events = {"dpu/tracing_mark_write"};
       }},
      {"ftrace.symbols",
       config(GoodConfig().Inner(
           proto::TraceConfig::kDataSources,
           Message().Inner(proto::TraceConfig::DataSource::kConfig,
                           Message()
                               .Text(proto::DataSourceConfig::kName, "linux.ftrace")
                               .Inner(proto::DataSourceConfig::kFtraceConfig,
                                      Message().Text(proto::FtraceConfig::kFtraceEvents,
                                                     "workqueue/workqueue_execute_start")))))},
      {"ftrace.late_cpu",
       [](TraceFacts& f) {
         f.ftrace.AddEvent(500);
         f.ftrace.AddBundle(
             wire::AsBytes(Message()
                               .Uint(proto::FtraceEventBundle::kCpu, 1)
                               .Uint(proto::FtraceEventBundle::kPreviousBundleEndTimestamp, 1000)
                               .text()));
       }},
      {"clock.no_sync", [](TraceFacts& f) { f.remotes[7].packets = 20; }},
      {"order.gap", [](TraceFacts& f) { f.hole = TimeHole{{0, 40'000'000'000}, 20, 20}; }},
      {"trace.no_stats", [](TraceFacts& f) { f.stats_packets = 0; }},
      {"trace.joined", [](TraceFacts& f) { f.sessions = 2; }},
      {"packet.errors",
       [](TraceFacts& f) {
         f.has_filter = true;
         f.filter_errors = 3;
       }},
      {"buffer.packet_loss",
       [](TraceFacts& f) {
         for (int i = 0; i < 2; ++i) f.sequences[0].losses.Add(kLossPresent | kLossOverwrite);
         f.buffers[0].losses = f.sequences[0].losses;
       }},
      {"buffer.overwritten", Wrap},
      {"buffer.discarded",
       [](TraceFacts& f) {
         f.config = Message()
                        .Inner(proto::TraceConfig::kBuffers, BufferMessage(64, 2))
                        .Inner(proto::TraceConfig::kDataSources, SourceMessage("track_event"))
                        .text();
         f.buffers[0].stats.chunks_discarded = 80;
       }},
      {"buffer.patches_failed", [](TraceFacts& f) { f.buffers[0].stats.patches_failed = 4; }},
      {"buffer.writer_loss",
       [](TraceFacts& f) { f.buffers[0].stats.trace_writer_packet_loss = 4; }},
      {"buffer.abi_violations", [](TraceFacts& f) { f.buffers[0].stats.abi_violations = 4; }},
      {"buffer.short_reach",
       [](TraceFacts& f) {
         Wrap(f);
         StreamEvery(f, 5000);
       }},
      {"service.chunks_discarded",
       [](TraceFacts& f) {
         f.service.chunks_discarded = 4;
         f.stats_packets = 2;
       }},
      {"service.patches_discarded", [](TraceFacts& f) { f.service.patches_discarded = 4; }},
      {"service.invalid_packets", [](TraceFacts& f) { f.service.invalid_packets = 4; }},
      {"state.unusable", [](TraceFacts& f) { f.sequences[0].skipped = 30; }},
      {"packet.errors", [](TraceFacts& f) { f.content.Add("incremental_state_cleared_missing_sequence_id"_stat); }},
      {"flush.failed",
       [](TraceFacts& f) {
         f.service.flushes_requested = 2;
         f.service.flushes_failed = 1;
       }},
      {"flush.final_failed", [](TraceFacts& f) { f.final_flushes_failed = 1; }},
      {"sequence.lost", [](TraceFacts& f) { f.sequences.emplace_back().is_listed = true; }},
      {"ftrace.overrun",
       [](TraceFacts& f) {
         f.ftrace.AddBundle(wire::AsBytes(Message()
                                              .Uint(proto::FtraceEventBundle::kCpu, 3)
                                              .Uint(proto::FtraceEventBundle::kLostEvents, 1)
                                              .text()));
       }},
      {"ftrace.commit_overrun", [](TraceFacts& f) { f.ftrace = Ftrace(4, 9); }},
      {"ftrace.dropped", [](TraceFacts& f) { f.ftrace = Ftrace(8, 9); }},
      {"ftrace.kprobe_misses",
       [](TraceFacts& f) {
         for (const uint64_t phase : {1, 2})
           f.ftrace.AddStats(wire::AsBytes(
               Message().Uint(1, phase).Inner(10, Message().Uint(2, phase * 5)).text()));
       }},
      {"packet.errors", [](TraceFacts& f) { f.content.Add("ftrace_bundle_tokenizer_errors"_stat); }},
      {"clock.unknown",
       [](TraceFacts& f) {
         f.clock_problems = {{{7, 64}, ClockFailure::kUnknownSource, 5}};
       }},
      {"perf.lost", [](TraceFacts& f) { f.content.At("perf_cpu_lost_records"_stat, 2) = 9; }},
      {"perf.no_callstack", [](TraceFacts& f) { f.profilers.perf_samples = {2, 86, 12, 0}; }},
      {"heap.profile", [](TraceFacts& f) { f.content.At("heapprofd_buffer_overran"_stat, 700) = 1; }},
      {"heap.dump", [](TraceFacts& f) { f.profilers.heap_dumps = {{500, {2}, false}}; }},
      {"packet.errors", [](TraceFacts& f) { f.content.Add("heap_graph_non_finalized_graph"_stat); }},
      {"clock.lost_packets", [](TraceFacts& f) { f.undeferrable = 5; }},
      {"packet.errors", [](TraceFacts& f) { f.invalid_snapshots = 1; }},
      {"clock.no_snapshots", [](TraceFacts& f) { f.snapshots = 0; }},
      {"order.late", [](TraceFacts& f) { f.late_events = 5; }},
      {"packet.errors", [](TraceFacts& f) { f.negative_times = 5; }},
      {"packet.errors", [](TraceFacts& f) { f.content.Add("track_event_missing_timestamp"_stat, 5); }},
      {"config.discard_into_file",
       config(Message()
                  .Inner(proto::TraceConfig::kBuffers, BufferMessage(64, 2))
                  .Inner(proto::TraceConfig::kDataSources, SourceMessage("track_event"))
                  .Uint(proto::TraceConfig::kWriteIntoFile, 1))},
      {"config.no_flush", config(GoodConfig().Uint(proto::TraceConfig::kDurationMs, 3'600'000))},
      {"config.no_clear_period",
       [](TraceFacts& f) {
         Wrap(f);
         f.config = Message()
                        .Inner(proto::TraceConfig::kBuffers, BufferMessage(64))
                        .Inner(proto::TraceConfig::kDataSources, SourceMessage("track_event"))
                        .text();
       }},
      {"config.clear_period",
       [](TraceFacts& f) {
         Wrap(f);
         f.sequences[0].all.span = TimeSpan{9'950'000'000, 10'000'000'000};
       }},
      {"config.shared_buffer",
       [](TraceFacts& f) {
         Wrap(f);
         f.config = GoodConfig()
                        .Inner(proto::TraceConfig::kDataSources, SourceMessage("linux.ftrace"))
                        .text();
       }},
      {"config.ftrace_drain",
       config(GoodConfig().Inner(
           proto::TraceConfig::kDataSources,
           Message().Inner(
               proto::TraceConfig::DataSource::kConfig,
               Message()
                   .Text(proto::DataSourceConfig::kName, "linux.ftrace")
                   .Inner(proto::DataSourceConfig::kFtraceConfig,
                          Message().Uint(proto::FtraceConfig::kDrainPeriodMs, 9000)))))},
      {"order.hole", [](TraceFacts& f) { f.hole = TimeHole{{0, 40'000'000'000}, 2, 200}; }},
      {"config.unused_buffer",
       config(GoodConfig().Inner(proto::TraceConfig::kBuffers, BufferMessage(64)))},
      {"config.refused",
       [](TraceFacts& f) {
         f.all = {};  // no service took it so far
         f.config = GoodConfig().Uint(proto::TraceConfig::kDurationMs, 700'000'000).text();
       }},
      {"config.ignored",
       config(GoodConfig().Inner(
           proto::TraceConfig::kProducers,
           Message().Uint(proto::TraceConfig::ProducerConfig::kShmSizeKb, 4098)))},
      {"config.records_nothing",
       config(GoodConfig().Inner(proto::TraceConfig::kDataSources, SourceMessage("linux.ftrace")))},
      {"config.unknown_source",
       [](TraceFacts& f) {
         f.stats_packets = 0;  // cut off: that nothing of it came shows nothing
         f.config = GoodConfig()
                        .Inner(proto::TraceConfig::kDataSources, SourceMessage("track_events"))
                        .text();
       }},
      {"config.event_name", config(FtraceConfig("sched/sched_switch,power/cpu_idle"))},
      {"config.process_names", config(FtraceConfig("sched/sched_switch"))},
      {"config.size", config(GoodConfig().Inner(proto::TraceConfig::kBuffers, BufferMessage(0)))},
  };
  return cases;
}

// Events that the kernel's buffers had before the session are old, unless it began at boot.
TEST(ExamineTrace, OldEventsOfTheKernel_AreFoundLongAfterBoot) {
  for (const int64_t start_ns : {int64_t{60'000'000'000}, int64_t{3600'000'000'000}}) {
    TraceFacts facts = GoodTrace();
    facts.lifetime = TimeSpan{start_ns, start_ns + 1'000'000'000};
    facts.config =
        GoodConfig()
            .Inner(proto::TraceConfig::kDataSources,
                   Message().Inner(
                       proto::TraceConfig::DataSource::kConfig,
                       Message()
                           .Text(proto::DataSourceConfig::kName, "linux.ftrace")
                           .Inner(proto::DataSourceConfig::kFtraceConfig,
                                  Message().Uint(proto::FtraceConfig::kPreserveFtraceBuffer, 1))))
            .text();
    EXPECT_EQ(FindRule(ExamineTrace(facts), "config.ftrace_drain") != nullptr,
              start_ns > 300'000'000'000);
  }
}

TEST(ExamineTrace, AllThatSpeaksAgainstTheKernelsBuffers_IsFound) {
  TraceFacts facts = GoodTrace();
  facts.config = ConfigWithKernelBuffers(64, 50);
  std::vector<std::string> found;
  for (const Finding& finding : ExamineTrace(facts).findings)
    if (finding.rule->id == std::string_view("config.ftrace_drain"))
      found.push_back(finding.what.text);
  EXPECT_THAT(found, ::testing::UnorderedElementsAre(
                         "The kernel's buffers are drained every 50 ms, which takes CPU time.",
                         "The kernel's buffers have 64 KiB for each CPU, and are drained every 50 "
                         "ms: a CPU that writes more than 1,280 KiB/s loses events."));
}

TEST(ExamineTrace, LossesOfProfilers_AreWordedWithTheirRemedy) {
  using Config = proto::DataSourceConfig;
  const auto source = [](std::string_view name, uint32_t field, const Message& config) {
    return Message().Inner(proto::TraceConfig::DataSource::kConfig,
                           Message().Text(Config::kName, name).Inner(field, config));
  };
  TraceFacts facts = GoodTrace();
  facts.config =
      GoodConfig()
          .Inner(proto::TraceConfig::kDataSources,
                 source("android.heapprofd", Config::kHeapprofdConfig,
                        Message().Uint(proto::HeapprofdConfig::kShmemSizeBytes, 8'388'608)))
          .Inner(proto::TraceConfig::kDataSources,
                 source("linux.perf", Config::kPerfEventConfig,
                        Message().Uint(proto::PerfEventConfig::kRingBufferPages, 128)))
          .text();
  facts.content.At("heapprofd_buffer_overran"_stat, 700) = 1;
  facts.content.At("perf_cpu_lost_records"_stat, 3) = 40;
  facts.profilers.perf_samples = {2, 86, 12, 0};
  facts.profilers.heap_dumps = {{500, {2}, false}, {501, {}, true}};
  std::vector<std::string> found;
  for (const Finding& finding : ExamineTrace(facts).findings) {
    found.push_back(finding.what.text);
    for (const ConfigChange& change : finding.changes)
      found.back() += " " + change.path + " " + change.value;
  }
  EXPECT_THAT(
      found,
      ::testing::IsSupersetOf(
          {"The heap profile of pid 700 ends early: the buffer between the process and heapprofd "
           "was full. data_sources[1].config.heapprofd_config.shmem_size_bytes 16777216",
           "The kernel had no space for 40 records of linux.perf. "
           "data_sources[2].config.perf_event_config.ring_buffer_pages 256",
           "98 of 100 samples have no callstack: 86 could not be read, 12 not unwound.",
           "The Java heap dump of pid 500 is not complete: packet 2 is missing.",
           "The Java heap dump of pid 501 is not complete: its end is missing."}));
}

TEST(ExamineTrace, CountersOfNoRelease_AreNamedAsFarAsTheyAreKnown) {
  TraceFacts facts = GoodTrace();
  facts.unknown_counters = {{{0, 22}, 3}, {{0, 99}, 7}};
  const std::vector<std::string> unknown = ExamineTrace(facts).unknown;
  EXPECT_THAT(unknown, ::testing::IsSupersetOf(
                           {"What buffers[0] means by a counter of 3 (compactions, field 22 of "
                            "BufferStats): no released buffer has it.",
                            "What buffers[0] means by a counter of 7 (field 99 of BufferStats): no "
                            "released buffer has it."}));
}

TEST(ExamineTrace, FindsWhatEachRuleIsAbout) {
  std::set<std::string_view> found;
  for (const Case& one : Cases()) {
    TraceFacts facts = GoodTrace();
    one.spoil(facts);
    const Examination diagnosis = ExamineTrace(facts);
    const Finding* const finding = FindRule(diagnosis, one.rule);
    ASSERT_NE(finding, nullptr) << one.rule;
    found.insert(one.rule);
    EXPECT_TRUE(finding->what.text.ends_with('.')) << finding->what.text;
    EXPECT_FALSE(finding->remedy.empty()) << one.rule;
    EXPECT_TRUE(finding->harm <= Harm::kInfo || diagnosis.answer.severity >= finding->harm);
  }
  // Those of a log are found by its replay: see Doctor.RulesOfALog.
  for (const Rule& rule : DoctorRules())
    EXPECT_TRUE(found.contains(rule.id) || std::string_view(rule.id).starts_with("log."))
        << rule.id;
}

TEST(ExamineTrace, ARingThatNobodyReadsMayOverwrite) {
  TraceFacts facts = GoodTrace();
  Wrap(facts);
  EXPECT_EQ(ExamineTrace(facts).answer.severity, Harm::kInfo);
  StreamEvery(facts, 100);
  EXPECT_EQ(ExamineTrace(facts).answer.severity, Harm::kDataLoss);
}

// The length is an estimate where the trace has no events of the service: what came out is more
// than one read takes.
TEST(ExamineTrace, SessionOfUnknownLength_WasReadOftenIfMoreThanItsBufferCameOut) {
  TraceFacts facts = GoodTrace();
  Wrap(facts);
  StreamEvery(facts, 60'000);
  EXPECT_NE(FindRule(ExamineTrace(facts), "buffer.overwritten")->cause.text.find("read once"),
            std::string::npos);
  facts.buffers[0].stats.bytes_read = 155'360;
  EXPECT_EQ(FindRule(ExamineTrace(facts), "buffer.overwritten")->cause.text.find("read once"),
            std::string::npos);
}

TEST(ExamineTrace, CategoriesThatTheConfigEnablesAndNoEventHasAreNamed) {
  TraceFacts facts = GoodTrace();
  facts.categories = {"__metadata", "net,loading"};
  facts.config = CategoryConfig({"gfx*", "__metadata"});
  const Examination none = ExamineTrace(facts);
  ASSERT_NE(FindRule(none, "source.no_category"), nullptr);
  EXPECT_EQ(none.answer.headline, "No event has a category that the config enables: 'gfx*'.");
  facts.config = CategoryConfig({"gfx", "load*", "*t"});
  const Examination some = ExamineTrace(facts);
  EXPECT_EQ(FindRule(some, "source.no_category")->what.text,
            "1 of 3 enabled categories has no event: 'gfx'.");
  EXPECT_EQ(FindRule(some, "source.no_category")->harm, Harm::kInfo);
  // Patterns that fit in many ways take no longer.
  facts.categories = {std::string(256, 'a')};
  std::string many;
  for (int i = 0; i < 40; ++i) many += "*a";
  facts.config = CategoryConfig({many, many + "b"});
  EXPECT_EQ(FindRule(ExamineTrace(facts), "source.no_category")->what.text,
            "1 of 2 enabled categories has no event: '" + many + "b'.");
  facts.has_other_categories = true;
  EXPECT_EQ(FindRule(ExamineTrace(facts), "source.no_category"), nullptr);
}

TEST(ExamineTrace, TheWorstFindingIsTheVerdict) {
  TraceFacts facts = GoodTrace();
  facts.buffers[0].stats.patches_failed = 4;
  facts.sequences[0].skipped = 900;
  const Examination diagnosis = ExamineTrace(facts);
  EXPECT_EQ(diagnosis.answer.severity, Harm::kError);
  EXPECT_TRUE(
      diagnosis.answer.headline.starts_with("The names of the events were lost: the UI can show "))
      << diagnosis.answer.headline;
}

std::string LineOf(const Answer& answer, std::string_view label) {
  for (const AnswerLine& line : answer.lines)
    if (line.label == label) return line.text;
  return "";
}

TEST(Answer, SaysWhatIsWrongWhyAndWhatToChange) {
  TraceFacts facts = GoodTrace();
  StreamEvery(facts, 100);
  Wrap(facts);
  facts.sequences[0].skipped = 900;
  const Answer answer = ExamineTrace(facts).answer;
  EXPECT_EQ(answer.severity, Harm::kError);
  EXPECT_TRUE(answer.headline.starts_with("The names of the events were lost: the UI can show "))
      << answer.headline;
  EXPECT_NE(LineOf(answer, "Stages").find("Traces do not show losses"), std::string::npos);
  EXPECT_NE(LineOf(answer, "Stages").find("buffers[0] overwrote"), std::string::npos);
  EXPECT_FALSE(LineOf(answer, "Why").empty());
  EXPECT_NE(LineOf(answer, "Stages").find("are in the trace, 90 of them usable"),
            std::string::npos);
  EXPECT_FALSE(answer.change.empty());
}

TEST(Answer, OfATraceWithoutLossesOrStatistics) {
  TraceFacts facts = GoodTrace();
  EXPECT_EQ(ExamineTrace(facts).answer.severity, Harm::kOk);
  facts.buffers[0].stats.bytes_read = facts.buffers[0].stats.bytes_written;
  EXPECT_NE(LineOf(ExamineTrace(facts).answer, "Stages").find("buffers[0] lost nothing"),
            std::string::npos);
  facts.stats_packets = 0;
  facts.buffers.clear();
  EXPECT_NE(LineOf(ExamineTrace(facts).answer, "Stages")
                .find("losses in shared memory, at the commit, in buffers[0] or "),
            std::string::npos);
}

TEST(ExamineTrace, StateIsRepeatedWithinWhatTheRingHolds) {
  TraceFacts facts = GoodTrace();
  facts.config = Message()
                     .Inner(proto::TraceConfig::kBuffers, BufferMessage(64))
                     .Inner(proto::TraceConfig::kDataSources, SourceMessage("track_event"))
                     .text();
  facts.sequences[0].skipped = 900;
  const auto period = [&]() -> std::string {
    const Examination diagnosis = ExamineTrace(facts);
    const Finding* const finding = FindRule(diagnosis, "state.unusable");
    for (const ConfigChange& change : finding->changes)
      if (change.path == "incremental_state_config.clear_period_ms") return change.value;
    return finding->remedy.text;
  };
  EXPECT_EQ(period(), "5000");
  Wrap(facts);
  facts.buffers[0].stats.buffer_size = 64 << 10;
  facts.all.span = TimeSpan{0, 10'000'000'000};
  facts.sequences[0].all.span = TimeSpan{9'000'000'000, 10'000'000'000};
  EXPECT_EQ(period(), "100");  // a tenth of the second that the ring holds
  // Without their state, the packets' times are not known: the mean rate gives an estimate.
  facts.sequences[0].all.span.reset();
  facts.buffers[0].stats.bytes_written = 10 * (64 << 10);
  EXPECT_EQ(period(), "100");
  facts.buffers[0].stats.bytes_written = 1000 * (64 << 10);
  EXPECT_NE(period().find("only the last 10.0 ms, too little"), std::string::npos) << period();
}

TEST(ExamineTrace, PatchesForDiscardedChunksAreNoLossOfTheirOwn) {
  TraceFacts facts = GoodTrace();
  facts.buffers[0].stats.patches_failed = 4;
  facts.buffers[0].stats.chunks_discarded = 80;
  EXPECT_EQ(FindRule(ExamineTrace(facts), "buffer.patches_failed")->harm, Harm::kDataLoss);
  facts.config = Message()
                     .Inner(proto::TraceConfig::kBuffers, BufferMessage(64, 2))
                     .Inner(proto::TraceConfig::kDataSources, SourceMessage("track_event"))
                     .text();
  const Examination diagnosis = ExamineTrace(facts);
  const Finding* const finding = FindRule(diagnosis, "buffer.patches_failed");
  EXPECT_EQ(finding->harm, Harm::kInfo);
  EXPECT_EQ(finding->what.text.find("too late"), std::string::npos) << finding->what.text;
}

TEST(ExamineTrace, LossesBeforeTheFirstPacketsAreNamedBesideTheCount) {
  TraceFacts facts = GoodTrace();
  facts.sequences[0].losses.Add(kLossPresent | kLossOverwrite);
  facts.buffers[0].losses = facts.sequences[0].losses;
  const auto proof = [&] {
    return FindRule(ExamineTrace(facts), "buffer.packet_loss")->proof.text;
  };
  facts.sequences[0].first_loss_bits = kLossPresent;  // as V1 flags every first packet
  EXPECT_EQ(proof().find("leaves out"), std::string::npos) << proof();
  facts.sequences[0].first_loss_bits = kLossPresent | kLossOverwrite;
  EXPECT_NE(proof().find("It leaves out the first packet of a sequence: 1 of those reports a loss"),
            std::string::npos)
      << proof();
}

TEST(Answer, NamesTheLargestSequenceOnlyWhereBuffersLostData) {
  TraceFacts facts = GoodTrace();
  facts.buffers[0].stats.abi_violations = 1;
  EXPECT_EQ(LineOf(ExamineTrace(facts).answer, "Largest"), "");
  Wrap(facts);
  StreamEvery(facts, 100);
  EXPECT_EQ(LineOf(ExamineTrace(facts).answer, "Largest").find("100% "), 0);
}

TEST(ExamineConfig, JudgesAConfigAlone) {
  EXPECT_EQ(ExamineConfig(GoodConfig().text()).answer.severity, Harm::kOk);
  const Examination bad =
      ExamineConfig(Message().Inner(proto::TraceConfig::kBuffers, BufferMessage(0)).text());
  EXPECT_EQ(bad.answer.severity, Harm::kError);
  EXPECT_NE(FindRule(bad, "config.size"), nullptr);
}

// A size keeps all that was overwritten, with the state in it: no config needs both.
TEST(Changes, OfASizeThatKeepsAllAndAPeriodTheSizeIsTaken) {
  TraceFacts facts = GoodTrace();
  Wrap(facts);
  facts.config = Message()
                     .Inner(proto::TraceConfig::kBuffers, BufferMessage(64))
                     .Inner(proto::TraceConfig::kDataSources, SourceMessage("track_event"))
                     .text();
  facts.sequences[0].needing = facts.sequences[0].skipped = 100;
  facts.sequences[0].all.span = TimeSpan{5'000'000'000, 10'000'000'000};
  const Examination examination = ExamineTrace(facts);
  const auto changes = examination.changes();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].path, "buffers[0].size_kb");
  EXPECT_THAT(examination.answer.change,
              HasSubstr("(an estimate), or incremental_state_config.clear_period_ms 500"));
}

// What a ring holds is what was written, up to an end in which nothing was.
TEST(Changes, APeriodIsATenthOfTheTimeWithData) {
  TraceFacts facts = GoodTrace();
  Wrap(facts);
  facts.config = GoodConfig().text();
  facts.all.span = TimeSpan{0, 6'000'000'000};
  facts.lifetime = TimeSpan{0, 10'000'000'000};
  facts.sequences[0].all.span = TimeSpan{5'500'000'000, 6'000'000'000};
  const Examination examination = ExamineTrace(facts);
  EXPECT_EQ(examination.reach.at(0).ns, 4'500'000'000u);
  EXPECT_EQ(examination.reach.at(0).held_ns(), 500'000'000u);
  EXPECT_EQ(FindRule(examination, "config.clear_period"), nullptr);
  facts.sequences[0].all.span = TimeSpan{5'950'000'000, 6'000'000'000};
  EXPECT_NE(FindRule(ExamineTrace(facts), "config.clear_period"), nullptr);
}

// The ring has a few packets that are older than the first repetition of the state in it.
TEST(State, AFewPacketsBeforeItsFirstRepetitionAreNoLoss) {
  TraceFacts facts = GoodTrace();
  Wrap(facts);
  facts.config = GoodConfig().text();
  facts.sequences[0].all.span = TimeSpan{5'000'000'000, 10'000'000'000};
  facts.sequences[0].needing = 100;
  facts.sequences[0].skipped = 2;
  EXPECT_EQ(FindRule(ExamineTrace(facts), "state.unusable")->harm, Harm::kInfo);
  facts.sequences[0].skipped = 40;
  EXPECT_EQ(FindRule(ExamineTrace(facts), "state.unusable")->harm, Harm::kDataLoss);
}

TEST(ExamineConfig, ATriggerModeWithoutATriggerIsNamed) {
  const Message triggers = Message()
                               .Uint(proto::TraceConfig::TriggerConfig::kTriggerMode, 2)
                               .Uint(proto::TraceConfig::TriggerConfig::kTriggerTimeoutMs, 1000);
  const Examination examination =
      ExamineConfig(GoodConfig().Inner(proto::TraceConfig::kTriggerConfig, triggers).text());
  ASSERT_NE(FindRule(examination, "config.ignored"), nullptr);
  EXPECT_THAT(FindRule(examination, "config.ignored")->remedy.text, HasSubstr("triggers {"));
}

TEST(Changes, OfOneLineTheWorstFindingsChangeCounts) {
  Examination diagnosis;
  diagnosis.findings.resize(2);
  diagnosis.findings[0].changes = {{"flush_period_ms", "1", "first", false}};
  diagnosis.findings[1].changes = {{"flush_period_ms", "2", "second", false},
                                   {"duration_ms", "3", "other", false}};
  const auto changes = diagnosis.changes();
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].value, "1");
}

}  // namespace
}  // namespace ringscope
