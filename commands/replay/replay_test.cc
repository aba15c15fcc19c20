#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/testdata.h"
#include "formats/testing/trace_content.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Four packets in two chunks of a 4 KiB buffer; no read.
constexpr const char* kPlain =
    R"({"op":"buffer","id":0,"size":4096,"policy":"ring_buffer"})"
    "\n"
    R"({"op":"commit","producer":1,"writer":1,"chunk":0,"fragments":2,"payload":"02080102100a"})"
    "\n"
    R"({"op":"commit","producer":1,"writer":1,"chunk":1,"fragments":2,"payload":"02080202080a"})"
    "\n";

Ran RunReplay(const std::vector<std::string>& args, const std::string& input = kPlain) {
  return RunCommand(ReplayCommand(), args, input);
}

Json ReplayedJson(std::vector<std::string> args) {
  args.insert(args.end(), {"-", "--format", "json"});
  return testing::ParsedJson(RunReplay(args).out);
}

Ran DataLoss(std::vector<std::string> args, const std::string& input = kPlain) {
  args.insert(args.end(), {"-", "--data-loss"});
  return RunCommand(StatsCommand(), args, input);
}

TEST(Replay, ReadsNone_LeavesPacketsUnread) {
  const Json document = ReplayedJson({"--reads", "none"});
  const Json& buffer = document["sessions"][0]["buffers"][0];
  EXPECT_EQ(buffer["read"]["packets"], 0);
  EXPECT_EQ(buffer["unread"]["packets"], 4);
  EXPECT_EQ(buffer["incomplete_bytes"], 0);
}

TEST(Replay, Events_OfPlainOperationsAreThoseAskedFor) {
  const std::vector<std::string> args = {"-", "--events", "-"};
  const Ran ran = RunReplay(args);
  EXPECT_EQ(CountOf(ran.out, "\n"), 1u);
  EXPECT_THAT(ran.out, HasSubstr("\"event\":\"stats\""));
  const Ran with_read = RunReplay(args, std::string(kPlain) + "{\"op\":\"read\"}\n");
  EXPECT_EQ(CountOf(with_read.out, "\"event\":\"packet\""), 4u);
  EXPECT_EQ(with_read.err, "");
}

TEST(Replay, Events_OfASessionIncludeTheReadAtItsEnd) {
  const Ran ran = RunReplay({"-", "--events", "-"},
                            std::string("{\"op\":\"producer\",\"producer\":1}\n") + kPlain);
  EXPECT_EQ(CountOf(ran.out, "\"event\":\"packet\""), 4u);
}

TEST(Replay, Choices_AreStrongerForOneBufferThanForAll) {
  const Ran ran =
      RunReplay({"-", "--format", "json", "--size", "8192", "--engine", "v2@54", "--size",
                 "1=16384", "--policy", "1=discard", "--size", "7=4096"},
                std::string(kPlain) + R"({"op":"buffer","id":1,"size":4096,"policy":"ring_buffer"})"
                                      "\n");
  const Json document = testing::ParsedJson(ran.out);
  const Json& buffers = document["sessions"][0]["buffers"];
  EXPECT_EQ(buffers[0]["size"], 8192);
  EXPECT_EQ(buffers[1]["size"], 16384);
  EXPECT_EQ(buffers[1]["policy"], "discard");
  EXPECT_EQ(buffers[1]["engine"], "v2@54");
  EXPECT_THAT(ran.err, HasSubstr("there is no buffer '7'"));
  EXPECT_THAT(ran.err, HasSubstr("(buffers: buffers[0] (id 0), buffers[1] (id 1))"));
}

TEST(Replay, SeveralSessions_NeedAChoiceForOneFile) {
  const TempFolder folder;
  const std::string log = folder.Write("a.ops.jsonl", kPlain);
  std::vector<std::string> args = {log, log};
  EXPECT_EQ(CountOf(RunReplay(args).out, ": session "), 2u);
  args.insert(args.end(), {"-o", folder.File("out.pftrace")});
  const Ran refused = RunReplay(args);
  EXPECT_THAT(refused.error, HasSubstr("--session 1"));
  EXPECT_EQ(folder.FileCount(), 1u) << "a file was left";
  args.insert(args.end(), {"--session", "2"});
  EXPECT_EQ(RunReplay(args).code, ExitCode::kClean);
  EXPECT_EQ(folder.FileCount(), 2u);
}

TEST(Replay, OneStandardOutput_IsNotForTwo) {
  EXPECT_THAT(RunReplay({"-", "-o", "-", "--events", "-"}).error, HasSubstr("cannot both"));
}

TEST(Replay, IncompleteRecording_IsSaid) {
  const Ran ran =
      RunReplay({"-"}, std::string(kPlain) + "{\"op\":\"recorder_gap\",\"reason\":\"late\"}\n");
  EXPECT_THAT(ran.out, HasSubstr("Not exact: -: session 1: the recording has 1 gap."));
  EXPECT_EQ(ran.err, "");
  // A trace takes standard output.
  const std::string log = std::string(kPlain) + "{\"op\":\"recorder_gap\",\"reason\":\"late\"}\n";
  const Ran piped = RunReplay({"-", "-o", "-"}, log);
  EXPECT_THAT(piped.out, ::testing::Not(HasSubstr("Not exact")));
  EXPECT_THAT(piped.err, HasSubstr("the recording is not exact: the recording has 1 gap"));
}

// Recorded without the consumer: the log does not have its buffers.
TEST(Replay, BuffersThatTheLogLacks_AreOfTheConfigOrOfASize) {
  std::string log(kPlain);
  log.erase(0, log.find('\n') + 1);
  const Ran without = RunReplay({"-"}, log);
  EXPECT_THAT(without.err, HasSubstr("--config"));
  const Ran sized = RunReplay({"-", "--size", "0=64k", "--format", "json"}, log);
  EXPECT_EQ(testing::ParsedJson(sized.out)["sessions"][0]["buffers"][0]["packets"]["read"], 4);
  const TempFolder folder;
  const std::string config =
      folder.Write("cfg.pbtxt", "buffers { size_kb: 8 fill_policy: DISCARD }");
  const Ran configured = RunReplay({"-", "--config", config, "--format", "json"}, log);
  const Json buffer = testing::ParsedJson(configured.out)["sessions"][0]["buffers"][0];
  EXPECT_EQ(buffer["size"], 8192);
  EXPECT_EQ(buffer["policy"], "discard");
  EXPECT_EQ(buffer["packets"]["read"], 4);
  // Also a log that knows its buffers is replayed as the config has them.
  EXPECT_THAT(RunReplay({"-", "--config", config}).out, HasSubstr("8 KiB"));
}

/// Two tracing sessions at once, and one of the service that was started after them: it numbers
/// its buffers from 1 again. Session N has N chunks of two packets.
std::string SeveralSessions() {
  std::string log;
  const auto add = [&](const std::string& record) { log += "{\"op\":" + record + "}\n"; };
  const auto set_up = [&](int session, int buffer) {
    add(fmt::format(R"("session_start","session":{})", session));
    add(fmt::format(R"("buffer","id":{},"size":4096,"policy":"ring_buffer","session":{})", buffer,
                    session));
  };
  const auto commit = [&](int buffer, int chunk) {
    add(fmt::format(R"("commit","producer":1,"writer":{0},"chunk":{1},"buffer":{0},"fragments":2,)"
                    R"("payload":"02080102100a")",
                    buffer, chunk));
  };
  set_up(1, 1);
  set_up(2, 2);
  commit(2, 0);
  commit(1, 0);
  commit(2, 1);
  for (const int session : {1, 2}) {
    add(fmt::format(R"("read","buffer":"all","reason":"consumer","session":{})", session));
    add(fmt::format(R"("buffer_freed","id":{})", session));
    add(fmt::format(R"("session_end","session":{})", session));
  }
  add(R"("service","running":false)");
  add(R"("service","running":true)");
  set_up(3, 1);
  for (int chunk = 0; chunk < 3; ++chunk) commit(1, chunk);
  add(R"("read","buffer":"all","reason":"consumer","session":3)");
  return log;
}

TEST(Replay, Session_IsOneOfTheTracingSessions) {
  for (const int session : {1, 2, 3}) {
    const Ran ran = RunReplay({"-", "--session", std::to_string(session), "--format", "json"},
                              SeveralSessions());
    const Json sessions = testing::ParsedJson(ran.out)["sessions"];
    ASSERT_EQ(sessions.size(), 1u);
    EXPECT_EQ(sessions[0]["session"], session);
    ASSERT_EQ(sessions[0]["buffers"].size(), 1u);
    EXPECT_EQ(sessions[0]["buffers"][0]["buffer"], session == 2 ? 2 : 1);
    EXPECT_EQ(sessions[0]["buffers"][0]["packets"]["written"], 2 * session);
    EXPECT_EQ(sessions[0]["buffers"][0]["packets"]["read"], 2 * session);
    EXPECT_EQ(ran.err, "");
  }
  EXPECT_THAT(RunReplay({"-", "--session", "4"}, SeveralSessions()).error,
              HasSubstr("no session 4: the input has 3 sessions"));
}

// Buffer 1 of the first service, and that of the second.
TEST(Replay, BuffersOfARestartedService_AreOthers) {
  const Ran ran = RunReplay({"-", "--format", "json"}, SeveralSessions());
  const Json sessions = testing::ParsedJson(ran.out)["sessions"];
  ASSERT_EQ(sessions.size(), 2u);
  EXPECT_EQ(sessions[0]["session"], 1);
  ASSERT_EQ(sessions[0]["buffers"].size(), 2u);
  EXPECT_EQ(sessions[0]["buffers"][0]["packets"]["written"], 2);
  EXPECT_EQ(sessions[0]["buffers"][1]["packets"]["written"], 4);
  EXPECT_EQ(sessions[1]["session"], 3);
  ASSERT_EQ(sessions[1]["buffers"].size(), 1u);
  EXPECT_EQ(sessions[1]["buffers"][0]["packets"]["written"], 6);
}

TEST(Replay, Trace_IsOfOneTracingSession) {
  const Ran all = RunReplay({"-", "-o", "-"}, SeveralSessions());
  EXPECT_THAT(all.error, HasSubstr("the log has 2 tracing sessions, and a trace is of one"));
  const Ran one = RunReplay({"-", "-o", "-", "--session", "2"}, SeveralSessions());
  EXPECT_EQ(one.code, ExitCode::kClean);
}

// The service takes a trace's counters in its last read pass.
TEST(Replay, Trace_HasTheCountersOfTheLastPass) {
  const TempFolder folder;
  const std::string session = R"({"op":"session_start","session":1})"
                              "\n" +
                              std::string(kPlain) +
                              R"({"op":"read","buffer":"all","reason":"consumer","session":1})"
                              "\n";
  const std::string late =
      R"({"op":"commit","producer":1,"writer":1,"chunk":2,"fragments":1,"payload":"020801"})"
      "\n";
  const std::string trace = folder.path() + "/out.pftrace";
  ASSERT_EQ(RunReplay({"-", "-o", trace}, session).error, "");
  const std::string log = folder.Write("late.ops.jsonl", session + late);
  const Ran same = RunCommand(DiffCommand(), {log, trace});
  EXPECT_THAT(same.out, HasSubstr("A and B are the same"));
  EXPECT_EQ(same.code, ExitCode::kClean);
  // Read once more, it is another trace.
  const std::string read = folder.Write(
      "read.ops.jsonl", session + late +
                            R"({"op":"read","buffer":"all","reason":"consumer","session":1})"
                            "\n");
  EXPECT_EQ(RunCommand(DiffCommand(), {read, trace}).code, ExitCode::kNotice);
}

// The service would have written nothing: as that is no use, one read is assumed, and said.
TEST(Replay, Trace_OfASessionThatWasNotRead_SaysWhatIsAssumed) {
  const std::string session = R"({"op":"session_start","session":1})"
                              "\n" +
                              std::string(kPlain) +
                              R"({"op":"session","session":1,"change":"stopped"})"
                              "\n"
                              R"({"op":"session_end","session":1})"
                              "\n";
  const auto packets = [](const std::string& trace) {
    return ReadTraceContent(MakeMemorySource(trace)).value().packets.size();
  };
  const std::string kAssumed = "no read of this session, so one at its end is assumed";
  const Ran ran = RunReplay({"-", "-o", "-"}, session);
  EXPECT_THAT(ran.err, HasSubstr(kAssumed));
  EXPECT_EQ(packets(ran.out), 4u);
  const Ran recorded = RunReplay({"-", "-o", "-", "--reads", "recorded"}, session);
  EXPECT_THAT(recorded.err, Not(HasSubstr(kAssumed)));
  EXPECT_EQ(packets(recorded.out), 0u);
}

TEST(Stats, Json_HasTheCounters) {
  const Ran ran = RunCommand(StatsCommand(), {"-", "--format", "json"}, kPlain);
  const Json session = testing::ParsedJson(ran.out)["sessions"][0];
  EXPECT_EQ(session["buffers"][0]["stats"]["chunks_read"], 2);
}

TEST(Stats, OfSeveralTracesAndLogs) {
  const TempFolder folder;
  const std::string log = folder.Write("a.ops.jsonl", kPlain);
  const std::string trace = RS_TESTDATA "/captures/discard-v2/trace.pftrace.zst";
  const Ran ran = RunCommand(StatsCommand(), {log, trace, trace + "x", "--format", "json"});
  const Json traces = testing::ParsedJson(ran.out)["traces"];
  ASSERT_EQ(traces.size(), 3u);
  size_t with_counters = 0;
  for (const Json& one : traces) with_counters += one.contains("counters") ? 1 : 0;
  EXPECT_EQ(with_counters, 2u);
}

TEST(Stats, NothingLost_IsClean) {
  const Ran ran = DataLoss({});
  EXPECT_EQ(ran.code, ExitCode::kClean);
  EXPECT_THAT(ran.out, HasSubstr("No counter shows a data loss."));
}

TEST(Stats, Loss_IsANotice) {
  const Ran ran = RunCommand(
      StatsCommand(), {"--data-loss", testing::TestdataPath("inputs/missing-chunk.ops.jsonl")});
  EXPECT_EQ(ran.code, ExitCode::kNotice);
  EXPECT_THAT(ran.out, HasSubstr("traced_buf_sequence_packet_loss"));
}

TEST(Stats, ExplainedCounts_AreTheCounter) {
  const std::string log = testing::CaptureOps("two-buffers-v2");
  const auto stats = [&](std::vector<std::string> args) {
    args.insert(args.end(), {"--format", "json", log});
    return testing::ParsedJson(RunCommand(StatsCommand(), args).out)["sessions"][0];
  };
  const Json all = stats({})["buffers"];
  for (const StatField& field : kStatFields) {
    if (field.value == &BufferStats::buffer_size) continue;  // rises at no record
    uint64_t sum = 0, listed = 0;
    for (const Json& buffer : all) sum += buffer["stats"][field.name].get<uint64_t>();
    const Json explained = stats({"--explain", field.name});
    for (const Json& rise : explained["counts"]) listed += rise["count"].get<uint64_t>();
    if (explained["left_out"] == 0)
      EXPECT_EQ(listed, sum) << field.name;
    else
      EXPECT_EQ(explained["counts"].size(), 10'000u) << field.name;
  }
}

// For a chunk that was never committed: 'gaps' says the same.
TEST(Stats, PatchThatNoPacketNeeds_IsNoLoss) {
  const std::string log = std::string(kPlain) +
                          R"({"op":"patch","producer":1,"writer":1,"chunk":9,)"
                          R"("patches":[{"offset":0,"data":"00000000"}]})"
                          "\n";
  const Ran ran = DataLoss({}, log);
  EXPECT_EQ(ran.code, ExitCode::kClean);
  EXPECT_THAT(ran.out, HasSubstr("traced_buf_patches_failed"));
  EXPECT_THAT(ran.out, Not(HasSubstr("chunks_written")));
  EXPECT_EQ(DataLoss({"--format", "csv"}, log).out,
            "session,name,idx,severity,value,reads\n"
            "1,traced_buf_patches_failed,0,data_loss,1,end (assumed)\n");
  EXPECT_EQ(RunCommand(StatsCommand(), {"-", "--format", "csv"}, log).code, ExitCode::kClean);
}

/// The rows of a capture's file of trace processor's results, and of ours: (name, idx) to the rest.
using RowsOfCsv = std::map<std::pair<std::string, std::string>, std::string>;

std::vector<std::string> SplitAtCommas(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  return fields;
}

RowsOfCsv BufferRows(const std::string& csv, size_t name, size_t severity, size_t value) {
  RowsOfCsv rows;
  std::istringstream stream(csv);
  for (std::string line; std::getline(stream, line);) {
    const std::vector<std::string> fields = SplitAtCommas(line);
    if (fields.size() <= value || !fields[name].starts_with("traced_buf_")) continue;
    if (fields[value] != "0")
      rows[{fields[name], fields[name + 1]}] = fields[severity] + " " + fields[value];
  }
  return rows;
}

class ReplayAccounts : public ::testing::TestWithParam<const char*> {};

// Nothing vanishes from the table, whatever the size and the reads.
TEST_P(ReplayAccounts, AddUp) {
  const std::vector<std::vector<std::string>> what_ifs = {
      {}, {"--size", "32k"}, {"--size", "64M"}, {"--reads", "none"}, {"--reads", "every=100ms"}};
  for (const std::vector<std::string>& what_if : what_ifs) {
    std::vector<std::string> args = {testing::CapturePath(GetParam()), "--format", "json"};
    args.insert(args.end(), what_if.begin(), what_if.end());
    const Json document = testing::ParsedJson(RunCommand(ReplayCommand(), args).out);
    for (const Json& buffer : document["sessions"][0]["buffers"]) {
      const Json& packets = buffer["packets"];
      EXPECT_GT(packets["written"].get<uint64_t>(), 0u);
      EXPECT_EQ(packets["written"].get<uint64_t>(),
                packets["read"].get<uint64_t>() + packets["lost"].get<uint64_t>() +
                    packets["left"].get<uint64_t>() + packets["elsewhere"].get<uint64_t>());
      EXPECT_EQ(buffer["read"]["packets"].get<uint64_t>(),
                packets["read"].get<uint64_t>() + packets["duplicates"].get<uint64_t>() +
                    buffer["read"]["invalid_packets"].get<uint64_t>());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Captures, ReplayAccounts, testing::AllCaptures(),
                         testing::NameOfParam<const char*>);

class CaptureStats : public ::testing::TestWithParam<const char*> {};

TEST_P(CaptureStats, EqualTraceProcessors) {
  const std::string folder = std::string(RS_TESTDATA) + "/captures/" + GetParam();
  const Ran ran = RunCommand(StatsCommand(), {testing::CapturePath(GetParam()), "--format", "csv"});
  const RowsOfCsv want = BufferRows(ReadFile(folder + "/trace_processor_stats.csv"), 0, 2, 4);
  ASSERT_FALSE(want.empty());
  EXPECT_EQ(BufferRows(ran.out, 1, 3, 4), want);
}

INSTANTIATE_TEST_SUITE_P(V2, CaptureStats,
                         ::testing::Values("discard-v2", "lossless-v2", "ring-v1", "ring-v2",
                                           "short-v2", "two-buffers-v2"),
                         testing::NameOfParam<const char*>);

}  // namespace
}  // namespace ringscope
