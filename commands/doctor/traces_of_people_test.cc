// The first sentence of traces as people have them, one file of testdata/traces for each kind.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "commands/view/json_fields.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

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
    {"synthetic-events-on-sequence-1", "ok", "A tool wrote the file"},
    {"synthetic-events-on-sequence-77", "ok", "no buffer could lose anything"},
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
    {"writer-loss-traced-probes", "data_loss", "at 19 places", "shm_size_kb: 4096"},
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
    {"tool-with-clock-snapshot", "ok", "A tool wrote the file"},
    {"tool-sets-state-late", "data_loss",
     "5 of 10 packets that need incremental state cannot be used (50.0%): the tool"},
    {"discard-v2-into-file-full", "data_loss", "nothing was recorded after 2.910 s",
     "buffers[0].fill_policy"},
    {"plain-ring-of-track-events", "info", "Only the last 1.000 s of 1 min 0 s are left of buf"},
    {"ring-with-a-writer-of-little", "info", "Only the last 1.000 s of 1 min 0 s are left."},
    {"ftrace-lost-on-one-of-two-cpus", "data_loss", "The kernel overwrote 6,000 events"},
    {"writer-loss-without-a-mark", "data_loss", "dropped 100 packets", "shm_size_kb: 4096"},
    {"three-events-older-than-the-session", "warning",
     "3 events are 11 min 40 s older than the session's start."},
    {"log-events-before-time-0", "info", "1 event was written before the device booted"},
    {"old-service-ends-early", "info", "The events end at 4.910 s"},
    {"hole-flush-period-is-ignored", "data_loss", "No event is left from 4.0 ms to 8 min 20 s.",
     "buffers[0].size_kb 4096 -> 131072"},
    {"tool-with-descriptors-only", "warning", "The trace has no event"},
    {"app-without-categories", "warning", "described tracks and wrote no event"},
    {"start-trigger-never-came", "error", "Nothing that a producer wrote is in the trace"},
    {"profiled-process-not-found", "error", "Nothing that a producer wrote is in the trace"},
    {"device-slept", "info", "There is no event from 4.950 s to 52.000 s"},
    {"clone-of-a-ring-of-gigabytes", "info", "Only the last 9.930 s of 1 h 23 min are left."},
    {"full-memory-of-an-app", "data_loss", "Packets are missing at 10 places"},
    {"full-memory-of-one-of-two-apps", "data_loss",
     "The writer of sequence 3 (pid 700/t3) dropped 12 packets or more"},
    {"ring-of-android-9", "info", "Only the last 4.980 s of 1 min 0 s are left."},
    {"ring-with-repeated-state", "info", "Only the last 9.999 s of 1 min 0 s are left."},
    {"power-rails-with-descriptor", "ok", "Nothing is wrong"},
    {"log-messages-before-the-session", "info", "8 min 20 s older than the session's start"},
    {"java-heap-dump", "ok", "Nothing is wrong"},
    {"java-heap-dump-unfinished", "data_loss", "its end is missing"},
    {"perf-with-a-sample-skipped", "info", "1 of 500 samples has no callstack"},
    {"file-without-the-sessions-end", "warning", "The file is cut off at 30.190 s"},
    {"text-after-the-statistics", "info", "Only the last 1 min 39 s of 10 min 0 s are left of"},
    {"heap-profiles-of-two-processes", "error", "pid 101 was refused"},
    {"tool-with-uuid", "ok", "A tool wrote the file"},
    {"tool-with-config", "ok", "A tool wrote the file"},
    {"tool-with-a-clock-without-snapshot", "error", "cannot place 40 packets in time"},
    {"tool-with-times-of-two-clocks", "warning", "older than all others"},
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

/// Returns the line of the answer with this label; empty: there is none.
std::string LineOf(const std::string& name, const std::string& label) {
  const Ran ran = RunCommand(DoctorCommand(), {"--format", "json", PathOf(name + ".pftrace")});
  const Json document = testing::ParsedJson(ran.out);
  for (const Json& line : document["traces"][0]["answer"]["lines"])
    if (line["label"] == label) return line["text"];
  return "";
}

TEST(TracesOfPeople, TheCauseAndTheRemedyFitTheTrace) {
  EXPECT_EQ(LineOf("start-trigger-never-came", "Why"),
            "The config starts its data sources by a trigger (START_TRACING), and none came.");
  EXPECT_THAT(LineOf("profiled-process-not-found", "Change"), HasSubstr("may be profiled"));
  EXPECT_THAT(LineOf("full-memory-of-an-app", "Change"), HasSubstr("shmem_size_hint_kb"));
  EXPECT_EQ(LineOf("device-slept", "Why"),
            "The device slept for 40.000 s of the session, by its clocks.");
  EXPECT_EQ(LineOf("clone-of-a-ring-of-gigabytes", "Size"), "") << "no buffer can be so large";
  EXPECT_THAT(LineOf("ring-of-android-9", "Stages"), HasSubstr("buffers[0] overwrote about 11 MiB"))
      << "its service counted chunks";
  EXPECT_THAT(LineOf("plain-ring-of-track-events", "Why"), HasSubstr("buffers[1]: "))
      << "the ring of the headline";
  EXPECT_THAT(LineOf("java-heap-dump-unfinished", "Change"), HasSubstr("longer duration_ms"))
      << "the buffer lost nothing";
  EXPECT_EQ(LineOf("heap-profiles-of-two-processes", "Change"),
            "End the other session, and record again.");
  EXPECT_THAT(LineOf("tool-with-times-of-two-clocks", "Change"), HasSubstr("of one clock"));
  EXPECT_THAT(LineOf("tool-with-a-clock-without-snapshot", "Change"), HasSubstr("The tool has to"));
}

// A period of a day or more is a plain ring: trace processor counts no bytes of a long trace.
TEST(TracesOfPeople, APlainRingIsNoLongTrace) {
  const Ran ran =
      RunCommand(DoctorCommand(), {"--format", "json", PathOf("write-into-file-7-days.pftrace")});
  const Json trace = testing::ParsedJson(ran.out)["traces"][0];
  for (const Json& counter : trace["counters"])
    EXPECT_NE(counter["name"], "long_trace_mode_bytes_overwritten");
}

TEST(TracesOfPeople, SourcesAndHolesAreListed) {
  const Ran ran = RunCommand(GapsCommand(), {PathOf("second-half-empty.pftrace")});
  EXPECT_THAT(ran.out, HasSubstr("linux.sys_stats  [1]  delivered      100     100"));
  EXPECT_THAT(ran.out, HasSubstr("buffers[0]  3.990 s  10.000 s  discarded: 1,512 chunks"));
}

TEST(TracesOfPeople, TheAnswerHasTheCauseOfItsHeadline) {
  const auto lines_of = [](const char* name) {
    return RunCommand(DoctorCommand(), {"--brief", PathOf(name)}).out;
  };
  EXPECT_THAT(lines_of("ftrace-in-use.pftrace"),
              HasSubstr("Why      linux.ftrace: Not even its statistics are there"));
  // A ring that wrapped is not why the CPUs' data begin at different times.
  EXPECT_THAT(lines_of("cpus-begin-at-different-times.pftrace"),
              HasSubstr("Buffer   A ring keeps the newest data"));
}

TEST(TracesOfPeople, HolesAreSelected) {
  const auto rows_of = [](const char* option, const char* value) {
    return RunCommand(GapsCommand(), {"--format", "csv", option, value,
                                      PathOf("ftrace-lost-on-one-of-two-cpus.pftrace")});
  };
  EXPECT_THAT(rows_of("--from", "8s").out, HasSubstr(",CPU 0,"));
  EXPECT_THAT(rows_of("--to", "8s").out, Not(HasSubstr("CPU 0")));
  EXPECT_THAT(rows_of("--seq", "com.app").out, Not(HasSubstr("CPU 0")));
  EXPECT_THAT(RunCommand(GapsCommand(),
                         {"--seq", "com.app", PathOf("ftrace-lost-on-one-of-two-cpus.pftrace")})
                  .out,
              HasSubstr("Holes: the filters select none of "));
  EXPECT_THAT(rows_of("--seq", "2:1").error, HasSubstr("name sequences by their id or a part"));
  EXPECT_THAT(rows_of("--config", "any").error, HasSubstr("no replay that can be changed"));
  const auto holes_of = [](const char* option, const char* value) {
    return RunCommand(GapsCommand(), {"--format", "csv", option, value,
                                      PathOf("writer-loss-without-a-mark.pftrace")})
        .out;
  };
  constexpr const char* kTitle = "sequence 2 (linux.ftrace)";
  EXPECT_THAT(holes_of("--seq", "2"), HasSubstr(kTitle));
  EXPECT_THAT(holes_of("--seq", "linux.ft"), HasSubstr(kTitle));
  EXPECT_THAT(holes_of("--seq", "3"), Not(HasSubstr(kTitle)));
  EXPECT_THAT(holes_of("--buffer", "buffers[0]"), HasSubstr(kTitle));
  EXPECT_THAT(holes_of("--buffer", "buffers[1]"), Not(HasSubstr(kTitle)));
}

TEST(TracesOfPeople, SourcesAreKnownByTheirPackets) {
  const Ran ran =
      RunCommand(DoctorCommand(), {"--format", "json", PathOf("sources-by-their-packets.pftrace")});
  const Json trace = testing::ParsedJson(ran.out)["traces"][0];
  std::vector<std::string> states;
  for (const Json& source : trace["sources"]) states.push_back(source["state"]);
  // ftrace, track_event, a vendor's gpu.counters, the battery of sysfs, V8's code
  EXPECT_THAT(states, ElementsAre("ended_early", "delivered", "delivered", "delivered", "unknown"));
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
