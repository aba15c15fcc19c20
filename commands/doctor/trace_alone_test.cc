// A trace without a log: what it proves, and nothing more.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "commands/view/json_fields.h"
#include "core/base/wire.h"
#include "formats/io/compressed_source.h"
#include "formats/testing/files.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using ::testing::AnyOf;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Not;

std::string CapturedTrace() {
  return std::string(RS_TESTDATA) + "/captures/ring-v2/trace.pftrace.zst";
}

/// The bytes of the captured trace, the first of them.
std::string BytesOfTrace(size_t most) {
  std::unique_ptr<ByteSource> file = OpenByteSource(CapturedTrace()).value();
  const std::string start = file->Peek(16).value();
  const auto source = MakeSourceFor(wire::AsBytes(start), file);
  return source->Peek(most).value();
}

struct CutTrace {
  TempFolder folder;
  std::string path = folder.Write("cut.pftrace", BytesOfTrace(100'000));
};

TEST(TraceAlone, CutOff_ComesFirstAndNothingIsConcludedFromWhatIsMissing) {
  const CutTrace cut;
  const Json trace = testing::ParsedJson(
      RunCommand(DoctorCommand(), {"--format", "json", cut.path}).out)["traces"][0];
  EXPECT_THAT(trace["verdict"].get<std::string>(), HasSubstr("cut off"));
  EXPECT_EQ(trace["findings"][0]["rule"], "trace.cut_off");
  for (const Json& finding : trace["findings"])
    EXPECT_THAT(finding["rule"].get<std::string>(),
                Not(AnyOf(Eq("sequence.lost"), Eq("trace.no_stats"), Eq("trace.empty"))));
}

TEST(TraceAlone, Verify_SaysWhereItIsCutAndSavesWhatIsWhole) {
  const CutTrace cut;
  const Ran whole = RunCommand(VerifyCommand(), {CapturedTrace()});
  EXPECT_EQ(whole.code, ExitCode::kClean);
  EXPECT_THAT(WithoutLineBreaks(whole.out), HasSubstr("whole: 4,957 packets"));
  const std::string saved = cut.folder.File("saved.pftrace");
  const Ran torn = RunCommand(VerifyCommand(), {cut.path, "--repair", saved});
  EXPECT_EQ(torn.code, ExitCode::kNotice);
  EXPECT_THAT(torn.out, HasSubstr("cut off within a packet"));
  const Ran again = RunCommand(VerifyCommand(), {saved, "--format", "json"});
  EXPECT_EQ(again.code, ExitCode::kClean);
  EXPECT_THAT(WithoutLineBreaks(torn.out), HasSubstr("1,522 packets"));
  EXPECT_EQ(testing::ParsedJson(again.out)["traces"][0]["packets"], 1522);
  // The copy of one would replace that of the other.
  EXPECT_EQ(RunCommand(VerifyCommand(), {cut.path, saved, "--repair", "x.pftrace"}).error_code,
            ErrorCode::kUsage);
}

TEST(TraceAlone, ASessionThatIsNotThereIsAnError) {
  for (const Command& command : {DoctorCommand(), GapsCommand()})
    EXPECT_THAT(RunCommand(command, {"--session", "2", CapturedTrace()}).error,
                HasSubstr("session"));
  const std::string log = std::string(RS_TESTDATA) + "/sessions/order.ops.jsonl.zst";
  EXPECT_EQ(RunCommand(ReportCommand(), {"--quick", "--session", "1", log}).error, "");
}

// Of what has no commits, doctor says all; commands that need them say so.
TEST(TraceAlone, CommandsExamineItOrNeedALog) {
  const CutTrace cut;
  for (const Command& command : {GapsCommand(), AdviseCommand()}) {
    SCOPED_TRACE(command.name);
    for (const std::string& input : {CapturedTrace(), cut.folder.path()}) {
      const Ran ran = RunCommand(command, {"--format", "json", input});
      EXPECT_EQ(ran.code, ExitCode::kNotice) << ran.error;
      EXPECT_EQ(testing::ParsedJson(ran.out)["schema"], "ringscope.doctor/1");
    }
    EXPECT_THAT(RunCommand(command, {CapturedTrace()}).out, Not(HasSubstr("Nothing was lost")));
  }
  for (const Command& command :
       {SweepCommand(), GraphCommand(), ReplayCommand(), InfoCommand(), DumpCommand()}) {
    SCOPED_TRACE(command.name);
    EXPECT_THAT(RunCommand(command, {CapturedTrace()}).error,
                HasSubstr("not the commits that are replayed"));
  }
}

TEST(TraceAlone, StatsAreItsCounters) {
  const Ran ran = RunCommand(StatsCommand(), {"--format", "json", CapturedTrace()});
  EXPECT_EQ(ran.code, ExitCode::kNotice) << ran.error;
  const auto document = testing::ParsedJson(ran.out);
  EXPECT_EQ(document["schema"], "ringscope.stats/1");
  std::map<std::string, uint64_t> values;
  for (const auto& row : document["traces"][0]["counters"]) values[row["name"]] = row["value"];
  EXPECT_EQ(values.at("perf_samples_skipped"), 0u);
  EXPECT_GT(values.at("traced_buf_chunks_overwritten"), 0u);
  EXPECT_THAT(RunCommand(StatsCommand(), {"--size", "8K", CapturedTrace()}).error,
              HasSubstr("no replay that can be changed"));
}

TEST(TraceAlone, UsablePacketsAreThoseOfProducers) {
  const Ran ran = RunCommand(DoctorCommand(), {"--brief", CapturedTrace()});
  EXPECT_THAT(WithoutLineBreaks(ran.out), HasSubstr("can show 2 of 4,912 packets."));
}

// Both inputs of one session: the log is read as the service read it for the trace.
TEST(TraceAlone, WithItsLog_BothAreUsed) {
  const std::string folder = std::string(RS_TESTDATA) + "/captures/stream-v2/";
  const Ran ran = RunCommand(
      DoctorCommand(), {"--brief", folder + "session.ops.jsonl.zst", folder + "trace.pftrace.zst"});
  EXPECT_THAT(WithoutLineBreaks(ran.out), HasSubstr("the UI can show 9 of 47,929 packets."));
  EXPECT_THAT(WithoutLineBreaks(
                  RunCommand(DoctorCommand(), {"--brief", folder + "session.ops.jsonl.zst"}).out),
              HasSubstr("If the session was read only at its end"));
}

TEST(TraceAlone, JsonlBeginsWithTheSchema) {
  const std::string log = std::string(RS_TESTDATA) + "/sessions/order.ops.jsonl.zst";
  for (const Command& command : {GapsCommand(), DoctorCommand()})
    EXPECT_THAT(RunCommand(command, {"--format", "jsonl", log}).out,
                ::testing::StartsWith("{\"schema\":\"ringscope."));
}

}  // namespace
}  // namespace ringscope
