// Trace configs as people write them, and what is found in each.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/examine/examination.h"
#include "formats/descriptors/changed_config.h"
#include "formats/descriptors/descriptors.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;

constexpr const char* kGood =
    "buffers { size_kb: 65536 name: \"main\" } data_sources { config { name: \"track_event\" } } "
    "incremental_state_config { clear_period_ms: 1000 } ";
constexpr const char* kProbes = "producers { producer_name: \"perfetto.traced_probes\" ";

Examination Examined(const std::string& text) {
  const Result<std::string> bytes = descriptors::Encode("TraceConfig", text, "config");
  EXPECT_TRUE(bytes) << text;
  return ExamineConfig(bytes ? *bytes : "");
}
std::string Ftrace(const std::string& fields) {
  return "buffers { size_kb: 65536 } data_sources { config { name: \"linux.process_stats\" } } "
         "data_sources { config { name: \"linux.ftrace\" ftrace_config { " +
         fields + " } } } ";
}
std::string Many(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

struct ConfigCase {
  const char* name;
  std::string text;
  const char* rule;
  Harm harm;
  const char* says;
  std::vector<std::string> changes = {};  // "PATH VALUE"
};

class ConfigRulesTest : public ::testing::TestWithParam<ConfigCase> {};

TEST_P(ConfigRulesTest, FindsWhatIsWrong) {
  const ConfigCase& one = GetParam();
  const Examination examination = Examined(one.text);
  std::string all;
  for (const Finding& finding : examination.findings) {
    all += fmt::format("{}: {}\n", finding.rule->id, finding.what.text);
    if (finding.rule->id != std::string_view(one.rule) ||
        finding.what.text.find(one.says) == std::string::npos)
      continue;
    EXPECT_EQ(finding.harm, one.harm);
    std::vector<std::string> changes;
    for (const ConfigChange& change : finding.changes)
      changes.push_back(change.path + " " + change.value);
    EXPECT_EQ(changes, one.changes);
    // The config that is advised has nothing of the same kind to change.
    if (changes.empty()) return;
    const std::string changed = ChangedConfig(one.text, finding.changes);
    for (const Finding& left : Examined(changed).findings)
      EXPECT_FALSE(left.rule == finding.rule && left.what.text == finding.what.text) << changed;
    return;
  }
  FAIL() << "not found, but:\n" << all;
}

const std::string kTriggers = "triggers { name: \"a\" } ";

INSTANTIATE_TEST_SUITE_P(
    Refused, ConfigRulesTest,
    ::testing::Values(
        ConfigCase{"Duration",
                   std::string(kGood) + "duration_ms: 691200000",
                   "config.refused",
                   Harm::kError,
                   "duration_ms is 192 h",
                   {"duration_ms 604800000"}},
        ConfigCase{"DurationWithGuardrails",
                   std::string(kGood) + "duration_ms: 86400001 enable_extra_guardrails: true",
                   "config.refused",
                   Harm::kError,
                   "the longest is 1 day",
                   {"duration_ms 86400000"}},
        ConfigCase{"TriggerTimeout",
                   std::string(kGood) +
                       "trigger_config { trigger_mode: START_TRACING "
                       "trigger_timeout_ms: 900000000 " +
                       kTriggers + "}",
                   "config.refused",
                   Harm::kError,
                   "trigger_timeout_ms is",
                   {"trigger_config.trigger_timeout_ms 604800000"}},
        ConfigCase{
            "NoTriggerTimeout",
            std::string(kGood) + "trigger_config { trigger_mode: STOP_TRACING " + kTriggers + "}",
            "config.refused",
            Harm::kError,
            "trigger_timeout_ms is not set",
            {"trigger_config.trigger_timeout_ms 86400000"}},
        ConfigCase{"TriggersAndDuration",
                   std::string(kGood) +
                       "duration_ms: 1000 trigger_config { trigger_mode: "
                       "STOP_TRACING trigger_timeout_ms: 1000 " +
                       kTriggers + "}",
                   "config.refused",
                   Harm::kError,
                   "are both set",
                   {"duration_ms 0"}},
        ConfigCase{"CloneWithoutStop",
                   std::string(kGood) +
                       "trigger_config { trigger_mode: START_TRACING "
                       "use_clone_snapshot_if_available: true "
                       "trigger_timeout_ms: 1000 " +
                       kTriggers + "}",
                   "config.refused", Harm::kError, "without trigger_mode: STOP_TRACING"},
        ConfigCase{"StopTriggerIntoFile",
                   std::string(kGood) +
                       "write_into_file: true trigger_config { trigger_mode: "
                       "STOP_TRACING trigger_timeout_ms: 1000 " +
                       kTriggers + "}",
                   "config.refused",
                   Harm::kError,
                   "exclude each other",
                   {"write_into_file false"}},
        ConfigCase{"SameTriggerTwice",
                   std::string(kGood) +
                       "trigger_config { trigger_mode: STOP_TRACING "
                       "trigger_timeout_ms: 1000 " +
                       kTriggers + kTriggers + "}",
                   "config.refused", Harm::kError, "two triggers have the name 'a'"},
        ConfigCase{"ReportName", std::string(kGood) + "bugreport_filename: \"a/b\"",
                   "config.refused", Harm::kError, "bugreport_filename is 'a/b'"},
        ConfigCase{"SizesWithGuardrails",
                   "buffers { size_kb: 4097 } data_sources { config { name: \"track_event\" } } "
                   "enable_extra_guardrails: true",
                   "config.refused",
                   Harm::kError,
                   "no multiple of 4",
                   {"buffers[0].size_kb 4100"}},
        ConfigCase{"SumWithGuardrails",
                   "buffers { size_kb: 140000 } data_sources { config { name: \"track_event\" } } "
                   "enable_extra_guardrails: true",
                   "config.refused", Harm::kError, "are the most"},
        ConfigCase{"DeferredWithGuardrails",
                   std::string(kGood) + "deferred_start: true enable_extra_guardrails: true",
                   "config.refused",
                   Harm::kError,
                   "deferred_start",
                   {"deferred_start false"}},
        ConfigCase{"ManyBuffers", kGood + Many("buffers { size_kb: 4 } ", 128), "config.refused",
                   Harm::kError, "the config has 129 buffers: 128 are the most"},
        ConfigCase{"SameBufferTwice", std::string(kGood) + "buffers { size_kb: 4 name: \"main\" }",
                   "config.refused", Harm::kError, "two buffers have the name 'main'"},
        ConfigCase{"NoSuchBuffer",
                   std::string(kGood) +
                       "data_sources { config { name: \"linux.perf\" target_buffer: 1 } }",
                   "config.refused", Harm::kError, "targets buffers[1]"},
        ConfigCase{
            "NoSuchBufferName",
            std::string(kGood) +
                "data_sources { config { name: \"linux.perf\" target_buffer_name: \"logs\" } }",
            "config.refused", Harm::kError, "targets the buffer 'logs'"},
        ConfigCase{
            "NearBufferName",
            std::string(kGood) +
                "data_sources { config { name: \"linux.perf\" target_buffer_name: \"mai\" } }",
            "config.refused",
            Harm::kError,
            "targets the buffer 'mai'",
            {"data_sources[1].config.target_buffer_name \"main\""}},
        ConfigCase{"TwoTargets",
                   std::string(kGood) +
                       "buffers { size_kb: 4 } data_sources { config { name: \"linux.perf\" "
                       "target_buffer: 1 target_buffer_name: \"main\" } }",
                   "config.refused", Harm::kError, "targets two buffers"},
        ConfigCase{"NoBuffers", "data_sources { config { name: \"track_event\" } }",
                   "config.refused", Harm::kError, "no buffer that they can write to"},
        ConfigCase{"Size",
                   "buffers { size_kb: 63488000 } data_sources { config { name: \"x\" } }",
                   "config.size",
                   Harm::kError,
                   "size_kb of buffers[0] is 63,488,000",
                   {"buffers[0].size_kb 65536"}}),
    [](const auto& one) { return one.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Ignored, ConfigRulesTest,
    ::testing::Values(
        ConfigCase{"NoMultipleOfThePage",
                   std::string(kGood) + kProbes + "shm_size_kb: 8196 page_size_kb: 64 }",
                   "config.ignored",
                   Harm::kWarning,
                   "8,196 KiB in pages of 64 KiB: the service makes it 256 KiB in pages of 4 KiB",
                   {"producers[0].page_size_kb 32", "producers[0].shm_size_kb 8224"}},
        ConfigCase{"NoMultipleOfTheHint",
                   std::string(kGood) + kProbes + "shm_size_kb: 1000 }",
                   "config.ignored",
                   Harm::kWarning,
                   "1,000 KiB in pages of 32 KiB",
                   {"producers[0].shm_size_kb 1024"}},
        ConfigCase{"LargeSharedMemory",
                   std::string(kGood) + "producers { producer_name: \"app\" shm_size_kb: 65536 }",
                   "config.ignored",
                   Harm::kWarning,
                   "the service takes 32,768 KiB",
                   {"producers[0].shm_size_kb 32768"}},
        ConfigCase{"OddPage",
                   std::string(kGood) + "producers { producer_name: \"app\" page_size_kb: 12 }",
                   "config.ignored",
                   Harm::kWarning,
                   "pages of 12 KiB",
                   {"producers[0].page_size_kb 16"}},
        ConfigCase{"SecondEntry", std::string(kGood) + kProbes + "} " + kProbes + "}",
                   "config.ignored", Harm::kWarning, "producers[1] has no effect"},
        ConfigCase{"FlushPeriod",
                   std::string(kGood) +
                       "write_into_file: true file_write_period_ms: 20000 flush_period_ms: 500",
                   "config.ignored",
                   Harm::kWarning,
                   "every 20.000 s",
                   {"write_flush_mode WRITE_FLUSH_DISABLED"}},
        ConfigCase{"FlushPeriodThatIsLonger",
                   std::string(kGood) +
                       "write_into_file: true file_write_period_ms: 2500 flush_period_ms: 30000",
                   "config.ignored", Harm::kInfo, "flush_period_ms has no effect"},
        ConfigCase{"WritePeriodWithoutFile",
                   std::string(kGood) + "file_write_period_ms: 1000",
                   "config.ignored",
                   Harm::kWarning,
                   "no effect without write_into_file",
                   {"write_into_file true"}},
        ConfigCase{"ShortWritePeriod",
                   std::string(kGood) + "write_into_file: true file_write_period_ms: 20",
                   "config.ignored",
                   Harm::kWarning,
                   "every 100 ms at most",
                   {"file_write_period_ms 100"}},
        ConfigCase{"TriggersWithoutMode",
                   std::string(kGood) + "trigger_config { " + kTriggers + "}", "config.ignored",
                   Harm::kWarning, "trigger_mode is not set"}),
    [](const auto& one) { return one.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Sources, ConfigRulesTest,
    ::testing::Values(
        ConfigCase{"NoSource", "buffers { size_kb: 4096 }", "config.records_nothing", Harm::kError,
                   "no data source"},
        ConfigCase{"NoEvents", Ftrace("buffer_size_kb: 4096"), "config.records_nothing",
                   Harm::kWarning, "linux.ftrace records nothing"},
        ConfigCase{"Typo",
                   "buffers { size_kb: 4096 } data_sources { config { name: \"linux.ftrce\" } }",
                   "config.unknown_source",
                   Harm::kWarning,
                   "the nearest known name is 'linux.ftrace'",
                   {"data_sources[0].config.name \"linux.ftrace\""}},
        ConfigCase{"WithoutItsFirstPart",
                   "buffers { size_kb: 4096 } data_sources { config { name: \"heapprofd\" } }",
                   "config.unknown_source",
                   Harm::kWarning,
                   "'android.heapprofd'",
                   {"data_sources[0].config.name \"android.heapprofd\""}},
        ConfigCase{"CommasInACategory", Ftrace("atrace_categories: \"view,wm\""),
                   "config.event_name", Harm::kWarning, "\"view,wm\" is taken as one name"},
        ConfigCase{"ColonInAnEvent", Ftrace("ftrace_events: \"sched:sched_switch\""),
                   "config.event_name", Harm::kWarning, "\"sched:sched_switch\""},
        ConfigCase{"NoProcesses",
                   "buffers { size_kb: 65536 } data_sources { config { name: \"linux.ftrace\" "
                   "ftrace_config { ftrace_events: \"sched/sched_switch\" } } }",
                   "config.process_names", Harm::kWarning, "No linux.process_stats"},
        ConfigCase{"NoNewTasks", Ftrace("ftrace_events: \"sched/sched_switch\""),
                   "config.process_names", Harm::kWarning, "task/task_newtask"},
        ConfigCase{"SmallRingForItsPeriod",
                   "buffers { size_kb: 4096 } data_sources { config { name: \"track_event\" } } "
                   "write_into_file: true file_write_period_ms: 60000",
                   "buffer.short_reach",
                   Harm::kWarning,
                   "holds 2.097 s to 4.194 s",
                   {"buffers[0].size_kb 131072"}},
        ConfigCase{"PeriodOfAnHour",
                   "buffers { size_kb: 4096 } data_sources { config { name: \"track_event\" } } "
                   "write_into_file: true file_write_period_ms: 3600000",
                   "buffer.short_reach",
                   Harm::kWarning,
                   "read every 1 h 0 min",
                   {"file_write_period_ms 2097"}},
        ConfigCase{"RareClears",
                   "buffers { size_kb: 4 } data_sources { config { name: \"track_event\" } } "
                   "incremental_state_config { clear_period_ms: 60000 }",
                   "config.clear_period", Harm::kWarning, "holds 2.0 ms to 4.1 ms"},
        ConfigCase{"ShortDrain",
                   Ftrace("ftrace_events: \"a/b\" buffer_size_kb: 168 "
                          "drain_period_ms: 42"),
                   "config.ftrace_drain",
                   Harm::kWarning,
                   "every 42 ms, which takes CPU time",
                   {"data_sources[1].config.ftrace_config.drain_period_ms 250",
                    "data_sources[1].config.ftrace_config.buffer_size_kb 2048"}},
        ConfigCase{"ShortDrainOfALargeBuffer",
                   Ftrace("ftrace_events: \"a/b\" buffer_size_kb: 1024 drain_period_ms: 20"),
                   "config.ftrace_drain",
                   Harm::kWarning,
                   "every 20 ms, which takes CPU time",
                   {"data_sources[1].config.ftrace_config.drain_period_ms 250",
                    "data_sources[1].config.ftrace_config.buffer_size_kb 16384"}}),
    [](const auto& one) { return one.param.name; });

TEST(ConfigRules, FindNothingInGoodConfigs) {
  const std::string probes =
      "buffers { size_kb: 65536 } buffers { size_kb: 4096 } data_sources { config { name: "
      "\"linux.ftrace\" ftrace_config { ftrace_events: \"sched/sched_switch\" ftrace_events: "
      "\"task/task_newtask\" ftrace_events: \"task/task_rename\" atrace_categories: \"view\" } } } "
      "data_sources { config { name: \"linux.process_stats\" target_buffer: 1 } } ";
  for (const std::string& text :
       {std::string(kGood), probes, probes + "write_into_file: true file_write_period_ms: 2500",
        std::string(kGood) + kProbes + "shm_size_kb: 4096 page_size_kb: 32 }",
        std::string(kGood) +
            "trigger_config { trigger_mode: STOP_TRACING trigger_timeout_ms: "
            "3600000 " +
            kTriggers + "}",
        std::string("buffers { size_kb: 4096 } data_sources { config { name: \"com.example\" } } "
                    "data_sources { config { name: \"gpu.counters.vendor\" } }")}) {
    const Examination examination = Examined(text);
    EXPECT_EQ(examination.answer.severity, Harm::kOk)
        << text << examination.findings.front().what.text;
  }
}

// A ring that nobody reads during the session shows how far it reaches.
TEST(ConfigRules, SayHowMuchARingHolds) {
  const Answer answer = Examined(kGood).answer;
  ASSERT_FALSE(answer.lines.empty());
  EXPECT_THAT(answer.lines.front().text,
              HasSubstr("buffers[0] (main) holds 33.554 s to 1 min 7 s at usual rates"));
}

}  // namespace
}  // namespace ringscope
