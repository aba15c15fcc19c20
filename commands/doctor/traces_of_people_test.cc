// The first sentence of traces as people have them, one file of testdata/traces for each kind.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "commands/view/json_fields.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;

struct Kind {
  const char* file;
  const char* severity;
  const char* verdict;      // a part of it
  const char* change = "";  // the first line of the config that the answer changes
};

constexpr Kind kKinds[] = {
    {"chunks-discarded-is-cumulative", "data_loss", "refused 1 chunk"},
    {"discard-v1-long-trace-lost-nothing", "warning", "0 chunks were discarded here",
     "buffers[0].fill_policy"},
    {"synthetic-events-on-sequence-1", "ok", "A tool wrote it"},
    {"synthetic-events-on-sequence-77", "ok", "it had no buffers that could lose something"},
    {"interned-names-without-cleared-state", "warning", "12 events have no name"},
    {"ftrace-without-events", "warning",
     "linux.ftrace records nothing: its config names no event and no atrace category."},
    {"ftrace-events-asked-none-came", "warning", "read_events is 0 on all 2 CPUs"},
    {"trigger-trace-without-perf-samples", "warning", "'linux.perf' delivered nothing"},
    {"ftrace-setup-errors", "warning", "2 of the 4 events that the config asks for"},
    {"ftrace-needs-ksyms", "warning", "only addresses",
     "data_sources[0].config.ftrace_config.symbolize_ksyms"},
    {"config-without-data-sources", "error", "The config has no data source"},
    {"ftrace-in-use", "error", "Nothing that a producer wrote is in the trace"},
    {"writer-loss-traced-probes", "data_loss", "at 19 places", "producers[0].producer_name"},
    {"zstd-packets", "data_loss", "at 19 places"},
    {"remote-machine-without-clock-sync", "warning", "machine 77"},
    {"slow-data-sources", "data_loss", "2 of 5 flushes"},
    {"plain-ring-wrapped", "info", "Only the last 10.000 s of 1 h 0 min are left."},
    {"write-into-file-7-days", "info", "Only the last 10.000 s of 10 min 0 s are left."},
    {"ring-old-packet-of-a-slow-writer", "error", "the last 1.280 s of 30.000 s"},
    {"process-tree-overwritten", "warning", "processes have no names"},
    {"events-older-than-the-session", "warning", "1 event is 11 min 24 s older than the session"},
    {"gpu-descriptor-at-time-0", "ok", "Nothing is wrong"},
    {"healthy-scheduler", "ok", "Nothing is wrong"},
    {"config-asks-10s-trace-has-2s", "warning", "The events end at 1.990 s, and the session at 10"},
    {"ftrace-overrun-during", "info", "The kernel overwrote 4,000 events"},
    {"second-half-empty", "data_loss", "nothing was recorded after 3.990 s", "buffers[0].size_kb"},
    {"events-appended-by-a-script", "error", "74 of 101 packets that the session did not write"},
    {"file-reached-max-size", "data_loss", "reached max_file_size_bytes after 123.0 ms of 10 min",
     "max_file_size_bytes"},
    {"write-period-longer-than-the-session", "data_loss", "were overwritten",
     "buffers[0].size_kb 256 -> 65536"},
    {"copied-too-early-tracing-disabled-known", "warning",
     "760.0 ms of 3 min 40 s are in it, 9.240 s are missing at its end"},
    {"spurious-packet-dropped", "warning", "the buffer lost nothing",
     "incremental_state_config.clear_period_ms"},
    {"first-seconds-empty", "warning", "from 0 to 3.500 s: the data sources took 3.000 s to start"},
    {"cpus-begin-at-different-times", "warning", "40 of 150 events of the kernel are before CPU 1"},
};

std::string PathOf(const std::string& name) { return std::string(RS_TESTDATA) + "/traces/" + name; }

TEST(TracesOfPeople, TheFirstSentenceIsTrue) {
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.file);
    const Ran ran = RunCommand(DoctorCommand(),
                               {"--format", "json", PathOf(std::string(kind.file) + ".pftrace")});
    const Json trace = testing::ParsedJson(ran.out)["traces"][0];
    EXPECT_EQ(trace["severity"], kind.severity);
    EXPECT_THAT(trace["verdict"].get<std::string>(), HasSubstr(kind.verdict));
    if (*kind.change != '\0') {
      EXPECT_THAT(trace["answer"]["change"].get<std::string>(), HasSubstr(kind.change));
    }
    const bool is_found = trace["severity"] != "ok" && trace["severity"] != "info";
    EXPECT_EQ(ran.code, is_found ? ExitCode::kNotice : ExitCode::kClean);
  }
}

// A period of a day or more is a plain ring: trace processor counts no bytes of a long trace.
TEST(TracesOfPeople, APlainRingIsNoLongTrace) {
  const Ran ran =
      RunCommand(DoctorCommand(), {"--format", "json", PathOf("write-into-file-7-days.pftrace")});
  for (const Json& counter : testing::ParsedJson(ran.out)["traces"][0]["counters"])
    EXPECT_NE(counter["name"], "long_trace_mode_bytes_overwritten");
}

TEST(TracesOfPeople, SourcesAndHolesAreListed) {
  const Ran ran = RunCommand(GapsCommand(), {PathOf("second-half-empty.pftrace")});
  EXPECT_THAT(ran.out, HasSubstr("linux.sys_stats  [1]  delivered      100     100"));
  EXPECT_THAT(ran.out, HasSubstr("buffers[0]  3.990 s  10.000 s  discarded: 1,512 chunks"));
}

TEST(TracesOfPeople, OtherProtobufsAreNoTraces) {
  for (const char* name : {"pprof.pb", "xspace.pb"}) {
    const Ran ran = RunCommand(DoctorCommand(), {PathOf(name)});
    EXPECT_THAT(ran.error, HasSubstr("this is not a Perfetto trace")) << name;
  }
  const Ran zip = RunCommand(DoctorCommand(), {PathOf("bugreport-with-foreign-protos.zip")});
  EXPECT_EQ(zip.code, ExitCode::kClean) << zip.out;
}

}  // namespace
}  // namespace ringscope
