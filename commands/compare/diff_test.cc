#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "commands/session/replay_run.h"
#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "core/base/wire.h"
#include "formats/io/byte_stream.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/string_sink.h"
#include "formats/testing/testdata.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A chunk with an abort marker: only the counters of v2@57 and v2@58 differ.
constexpr const char* kAborted =
    R"({"op":"buffer","id":1,"size":4096,"policy":"ring_buffer"})"
    "\n"
    R"({"op":"commit","ts":1000,"buffer":1,"producer":1,"writer":1,"chunk":0,"fragments":2,"payload":"020801ffffff7f"})"
    "\n";

// Two chunks of 3000 bytes, one sequence: the second evicts the first.
std::string Evicting() {
  const std::string packet = "b817" + std::string(6000, '6');
  std::string log = R"({"op":"buffer","id":1,"size":4096,"policy":"ring_buffer"})"
                    "\n";
  for (const char* chunk : {"0", "1"})
    log += R"({"op":"commit","buffer":1,"producer":1,"writer":1,"chunk":)" + std::string(chunk) +
           R"(,"fragments":1,"payload":")" + packet + "\"}\n";
  return log;
}

using Args = std::vector<std::string>;

Ran Diff(const Args& args, const std::string& input = kAborted) {
  return RunCommand(DiffCommand(), args, input);
}

/// Compares two engines.
Ran DiffEngines(const char* a, const char* b, Args args = {"-"},
                const std::string& input = kAborted) {
  args.insert(args.end(), {"--a", a, "--b", b});
  return Diff(args, input);
}

std::string CapturePath(const std::string& name) {
  return std::string(RS_TESTDATA) + "/captures/" + name;
}

// No file has such a name, and a look whether it is a folder fails.
TEST(Diff, NameThatIsTooLong_IsAnError) {
  const std::string name(5000, 'x');
  const Ran ran = Diff({name, "--a", "v2@55"});
  EXPECT_EQ(ran.code, ExitCode::kFailed);
  EXPECT_THAT(ran.error, HasSubstr(name));
}

TEST(Diff, SameResult_IsClean) {
  const Ran ran = DiffEngines("v2@55", "v2@56");
  EXPECT_EQ(ran.code, ExitCode::kClean) << ran.error;
  EXPECT_THAT(ran.out, HasSubstr("A and B are the same."));
}

TEST(Diff, Difference_IsANotice) {
  const Ran ran = DiffEngines("v2@57", "v2@58");
  EXPECT_EQ(ran.code, ExitCode::kNotice);
  EXPECT_THAT(ran.out, HasSubstr("; also: 1 counter."));
  EXPECT_THAT(ran.out, HasSubstr("abi_violations: 1 in A, 0 in B"));
  EXPECT_THAT(ran.out, Not(HasSubstr("Counters of buffers[0]")));
  EXPECT_THAT(DiffEngines("v2@57", "v2@58", {"-", "--all"}).out,
              HasSubstr("Counters of buffers[0]"));
}

TEST(Diff, Json_SaysTheSame) {
  const Ran ran =
      DiffEngines("v2@58", "v2@58", {"-", "--b-size", "8192", "--format", "json"}, Evicting());
  EXPECT_EQ(ran.code, ExitCode::kNotice);
  const Json document = testing::ParsedJson(ran.out);
  EXPECT_EQ(document["schema"], "ringscope.diff/1");
  EXPECT_EQ(document["same"], false);
  const Json& session = document["sessions"][0];
  EXPECT_EQ(session["counts"]["only_in_b"], 1);
  EXPECT_EQ(session["counts"]["loss_bits"], 1);
  EXPECT_EQ(session["first_divergence"]["kind"], "only_in_b");
  const Json& packet = session["packets"]["only_in_b"][0];
  EXPECT_EQ(packet["sequence"], "1:1");
  EXPECT_EQ(packet["b"]["bytes"], 3000);
  EXPECT_EQ(packet["a"]["why"]["kind"], "evicted");
  EXPECT_EQ(packet["a"]["why"]["by"], "1:1#1");
  EXPECT_EQ(session["buffers"][0]["counters"]["chunks_written"]["a"], 2);
  EXPECT_EQ(session["buffers"][0]["b"]["size"], 8192);
}

TEST(Diff, NothingChosen_IsRefused) {
  const Ran ran = Diff({"-"});
  EXPECT_EQ(ran.error_code, ErrorCode::kUsage);
  EXPECT_THAT(ran.error, HasSubstr("both sides would be the same"));
}

TEST(Diff, BufferThatIsNotThere_IsRefused) {
  const Ran ran = DiffEngines("v1", "v2", {"-", "--b-size", "7=4096"});
  EXPECT_EQ(ran.error_code, ErrorCode::kUsage);
  EXPECT_THAT(ran.error, HasSubstr("the options of side B name buffer '7'"));
  EXPECT_THAT(ran.error, HasSubstr("'ringscope info' lists its buffers"));
  EXPECT_THAT(DiffEngines("v1", "v2", {"-"}, "{\"op\":\"note\",\"text\":\"x\"}\n").error,
              HasSubstr("it has no buffer"));
}

TEST(Diff, InputsThatDoNotGoTogether_AreRefused) {
  const TempFolder folder;
  const std::string log = folder.Write("a.ops.jsonl", kAborted);
  const std::string other = folder.Write("a.txt", "hello\n");
  const std::string trace = CapturePath("ring-v2/trace.pftrace.zst");
  const auto refused = [](const Args& inputs) {
    const Ran ran = Diff(inputs);
    EXPECT_EQ(ran.error_code, ErrorCode::kUsage);
    return ran.error;
  };
  EXPECT_THAT(refused({log, log}), HasSubstr("both sides would be the same"));
  EXPECT_THAT(refused({trace, log}), HasSubstr("name a log first, then its trace"));
  EXPECT_THAT(refused({trace, trace, trace}), HasSubstr("compared only with one other"));
  EXPECT_THAT(refused({trace}), HasSubstr("compared only with one other"));
  EXPECT_THAT(Diff({trace, other}).error,
              HasSubstr("a.txt: this is a text file, not a log or a trace"));
  EXPECT_THAT(DiffEngines("v1", "v2", {trace, trace}).error, HasSubstr("are for logs"));
  EXPECT_THAT(DiffEngines("v1", "v2", {log, trace}).error, HasSubstr("are for logs"));
  EXPECT_EQ(DiffEngines("v1", "v2", {folder.File("missing")}).error_code, ErrorCode::kIo);
}

TEST(Diff, TracesOfOtherSessions_AreRefused) {
  const Ran ran =
      Diff({CapturePath("ring-v2/trace.pftrace.zst"), CapturePath("short-v2/trace.pftrace.zst")});
  EXPECT_EQ(ran.error_code, ErrorCode::kUsage);
  EXPECT_THAT(ran.error, HasSubstr("of the 2539 packets of the smaller result"));
}

TEST(Diff, ManyLogs_AreComparedOneAfterTheOther) {
  const TempFolder folder;
  const std::string aborted = folder.Write("aborted.ops.jsonl", kAborted);
  const std::string evicting = folder.Write("evicting.ops.jsonl", Evicting());
  const Ran ran = DiffEngines("v2@57", "v2@58", {aborted, evicting, "--format", "jsonl"});
  EXPECT_EQ(ran.code, ExitCode::kNotice) << ran.error;
  std::vector<bool> same;
  for (const std::string_view line : testing::Lines(ran.out)) {
    const Json document = testing::ParsedJson(line);
    EXPECT_EQ(document["schema"], "ringscope.diff/1");
    same.push_back(document["same"].get<bool>());
  }
  EXPECT_EQ(same, (std::vector<bool>{false, true}));
}

TEST(Diff, Minimize_WritesWhatShowsTheSame) {
  const TempFolder folder;
  const std::string log = folder.Write(
      "a.ops.jsonl", std::string(kAborted) + Evicting().substr(Evicting().find('\n') + 1));
  const std::string minimal = folder.File("min.ops.jsonl");
  const Ran ran = DiffEngines("v2@57", "v2@58", {log, "--minimize", minimal});
  EXPECT_EQ(ran.code, ExitCode::kNotice) << ran.error;
  EXPECT_THAT(ran.err, HasSubstr(": 2 of 4 records"));
  EXPECT_THAT(ReadFile(minimal), HasSubstr("ringscope diff --a v2@57 --b v2@58"));
  EXPECT_THAT(DiffEngines("v2@57", "v2@58", {minimal}).out, HasSubstr("; also: 1 counter."));

  // Without a difference there is nothing to write.
  const std::string none = folder.File("none.ops.jsonl");
  const Ran same = DiffEngines("v2@58", "v2@58", {log, "--minimize", none});
  EXPECT_EQ(same.code, ExitCode::kClean);
  EXPECT_THAT(same.err, HasSubstr("is not written"));
  EXPECT_FALSE(std::filesystem::exists(none));
}

TEST(Diff, Minimize_WritesATestCase) {
  const TempFolder folder;
  const std::string log = folder.Write("a.ops.jsonl", kAborted);
  const auto minimize = [&](const char* name, std::vector<std::string> more = {}) {
    Args args = {log, "--minimize", folder.File(name)};
    args.insert(args.end(), more.begin(), more.end());
    return DiffEngines("v2@57", "v2@58", args);
  };
  EXPECT_THAT(minimize("x.ops.jsonl").err, HasSubstr("a test that passes with v2@57, not with"));
  EXPECT_THAT(ReadFile(folder.File("x.cc")), HasSubstr("TEST_F(TraceBufferV2Test, Reproducer_"));
  // What is in the way is found before anything is written.
  folder.Write("w.cc", "mine\n");
  const Ran refused = minimize("w.ops.jsonl");
  EXPECT_THAT(refused.error, HasSubstr("w.cc"));
  EXPECT_FALSE(std::filesystem::exists(folder.File("w.ops.jsonl")));
  EXPECT_EQ(ReadFile(folder.File("w.cc")), "mine\n");
  EXPECT_EQ(minimize("w.ops.jsonl", {"--force"}).error, "");
}

/// Commits of 3,000 bytes, and reads after each tenth.
std::string ManyCommits(int count) {
  std::string log = Evicting().substr(0, Evicting().find('\n') + 1);
  for (int i = 0; i < count; ++i) {
    log += fmt::format(R"({{"op":"commit","buffer":1,"producer":1,"writer":{},"chunk":{},)",
                       1 + i % 3, i / 3);
    log += R"("fragments":1,"flags":0,"complete":true,"payload":"b817)" + std::string(6000, '6') +
           "\"}\n";
    if (i % 10 == 9)
      log += R"({"op":"read","buffer":1})"
             "\n";
  }
  return log;
}

// The smallest buffers in which sides of two sizes differ, and what is in them.
TEST(Diff, Minimize_ShrinksBuffersOfTwoSizes) {
  const TempFolder folder;
  const std::string log = folder.Write("a.ops.jsonl", ManyCommits(400));
  const std::string minimal = folder.File("min.ops.jsonl");
  const Ran ran = Diff({log, "--a", "v2@58", "--a-size", "512k", "--b", "v2@58", "--b-size", "1M",
                        "--a-reads", "none", "--b-reads", "none", "--minimize", minimal});
  EXPECT_EQ(ran.error, "");
  EXPECT_THAT(WithoutLineBreaks(ran.err),
              HasSubstr("a test that passes with A (v2@58), not with B (v2@58)"));
  const std::string text = ReadFile(minimal);
  EXPECT_THAT(
      text,
      HasSubstr("ringscope diff --a v2@58 --a-size 4096 --a-reads none --b v2@58 --b-size 8192 "
                "--b-reads none'"));
  EXPECT_LE(CountOf(text, "\n"), 6u);
  EXPECT_LT(text.size(), 20'000u);
  EXPECT_THAT(Diff({minimal, "--a", "v2@58", "--b", "v2@58", "--b-size", "8192"}).out,
              HasSubstr("A and B differ"));
  EXPECT_THAT(WithoutLineBreaks(ReadFile(folder.File("min.cc"))),
              HasSubstr("v2@58 with a buffer of 8192 bytes (ring_buffer) gives something else."));
}

TEST(Diff, Minimize_OfPolicies) {
  const TempFolder folder;
  const std::string minimal = folder.File("min.ops.jsonl");
  const Ran ran = Diff({folder.Write("a.ops.jsonl", ManyCommits(100)), "--a", "v2@58", "--b",
                        "v2@58", "--b-policy", "discard", "--minimize", minimal});
  EXPECT_EQ(ran.error, "");
  EXPECT_THAT(ReadFile(minimal),
              HasSubstr("ringscope diff --a v2@58 --b v2@58 --b-policy discard'"));
  EXPECT_THAT(WithoutLineBreaks(ReadFile(folder.File("min.cc"))), HasSubstr("bytes (discard)"));
}

// The moments of reads are the session's: there is no test of a buffer alone.
TEST(Diff, Minimize_OfReads) {
  const TempFolder folder;
  const std::string minimal = folder.File("min.ops.jsonl");
  const Ran ran = Diff({folder.Write("a.ops.jsonl", ManyCommits(60)), "--a", "v2@58", "--b",
                        "v2@58", "--b-reads", "end", "--minimize", minimal});
  EXPECT_EQ(ran.error, "");
  EXPECT_THAT(WithoutLineBreaks(ran.err),
              HasSubstr("no test case was written: it requires that both sides"));
  EXPECT_FALSE(std::filesystem::exists(folder.File("min.cc")));
  EXPECT_THAT(Diff({minimal, "--a", "v2@58", "--b", "v2@58", "--b-reads", "end"}).out,
              HasSubstr("A and B differ"));
  EXPECT_LE(CountOf(ReadFile(minimal), "\n"), 8u);
}

// Shrinks a recorded session to a line of notation, and a unit test of one screen.
TEST(Diff, Minimize_OfCaptures_FitsOnAScreen) {
  const TempFolder folder;
  // Some need a sequence taken away as a whole.
  const char* const pairs[][3] = {{"ring-v1", "v1", "v2@56"},      {"ring-v1", "v2@54", "v2@55"},
                                  {"ring-v2", "v1", "v2@58"},      {"ring-v2", "v2@55", "v1"},
                                  {"ring-v2", "v2@56", "v2@58"},   {"short-v2", "v1", "v2@55"},
                                  {"discard-v2", "v2@54", "v2@58"}};
  for (const auto& [capture, a, b] : pairs) {
    SCOPED_TRACE(fmt::format("{} {} {}", capture, a, b));
    const Ran ran = DiffEngines(a, b,
                                {CapturePath(std::string(capture) + "/session.ops.jsonl.zst"),
                                 "--minimize", folder.File("min.ops.jsonl"), "--force"});
    EXPECT_EQ(ran.error, "");
    EXPECT_LE(CountOf(ReadFile(folder.File("min.cc")), "\n"), 40u);
    EXPECT_THAT(ran.err, HasSubstr("in a line: ringscope try '"));
  }
}

TEST(Diff, Minimize_NotesTheOptionsSoThatTheyCanBeGivenAgain) {
  const TempFolder folder;
  const std::string minimal = folder.File("min.ops.jsonl");
  const std::string sides =
      "--a v2@57 --a-size 4096 --b v1 --b-policy 1=discard --b-reads every=500ns";
  EXPECT_EQ(
      Diff({folder.Write("a.ops.jsonl", kAborted), "--minimize", minimal, "--a", "v2@57",
            "--a-size", "8k", "--b", "v1", "--b-policy", "1=discard", "--b-reads", "every=500ns"})
          .error,
      "");
  EXPECT_THAT(ReadFile(minimal), HasSubstr("ringscope diff " + sides + "'"));
}

TEST(Diff, Config_SetsUpBuffersThatTheLogLacks) {
  const TempFolder folder;
  const std::string config = folder.Write("config.pbtxt", "buffers { size_kb: 4 }\n");
  constexpr const char* kCommit =
      R"({"op":"commit","buffer":1,"producer":1,"writer":1,"chunk":0,"fragments":1,)"
      R"("payload":"0161"})"
      "\n";
  const std::string log = folder.Write("a.ops.jsonl", kCommit);
  const Ran without = Diff({log, "--a", "v1", "--b", "v2"});
  EXPECT_THAT(without.error, HasSubstr("it has no buffer"));
  const Ran ran = Diff({log, "--a", "v1", "--b", "v2", "--config", config, "--format", "json"});
  EXPECT_EQ(ran.error, "");
  const Json buffer = testing::ParsedJson(ran.out)["sessions"][0]["buffers"][0];
  EXPECT_EQ(buffer["a"]["size"], 4096);
  EXPECT_EQ(buffer["b"]["size"], 4096);
}

/// The traces that a replay of a capture wrote, and that the service itself wrote.
TEST(Diff, TraceOfAReplay_IsThatOfTheService) {
  const TempFolder folder;
  MemoryRun memory("");
  SessionReader sessions(memory.context, {{CapturePath("ring-v2/session.ops.jsonl.zst")}, {}}, "");
  ASSERT_TRUE(sessions.NextSession().value());
  StringSink sink;
  ReplayRun run(memory.context, sessions, {});
  auto& trace = run.Add<TraceWriter>(sink);
  ASSERT_TRUE(run.ToEnd());
  ASSERT_TRUE(trace.Finish());
  const Ran ran = Diff({folder.Write("replay.pftrace", sink.text),
                        CapturePath("ring-v2/trace.pftrace.zst"), "--format", "json"});
  const Json document = testing::ParsedJson(ran.out);
  EXPECT_EQ(document["compares"], "traces");
  EXPECT_EQ(document["counts"]["matched"], 4912);
  EXPECT_EQ(document["counts"]["only_in_a"], 0);
  EXPECT_EQ(document["counts"]["only_in_b"], 0);
  EXPECT_EQ(document["counts"]["loss_bits"], 0);
}

/// The packets of a capture's trace, but those with a field.
std::string TraceWithout(const std::string& name, uint32_t left_out) {
  const auto reader =
      TraceReader::Open(OpenByteSource(CapturePath(name)).value(), TraceReader::OnDamage::kSkip)
          .value();
  std::string trace;
  RawPacket packet;
  while (reader->Next(packet).value())
    if (!wire::LastBytes(packet.bytes, left_out)) wire::AppendBytes(trace, 1, packet.bytes);
  return trace;
}

TEST(Diff, TraceWithoutTraceStats_SaysThatCountersWereNotCompared) {
  constexpr uint32_t kTraceStats = 35;
  const TempFolder folder;
  const std::string log = CapturePath("short-v2/session.ops.jsonl.zst");
  const std::string trace = CapturePath("short-v2/trace.pftrace.zst");
  const std::string without =
      folder.Write("without.pftrace", TraceWithout("short-v2/trace.pftrace.zst", kTraceStats));
  const char* const kNotCompared = "Counters were not compared: A or B has no TraceStats packet.";
  EXPECT_THAT(Diff({log, trace}).out, Not(HasSubstr(kNotCompared)));
  for (const std::string& a : {log, trace}) {
    const Ran ran = Diff({a, without});
    EXPECT_EQ(ran.code, ExitCode::kClean) << ran.out << ran.error;
    EXPECT_THAT(ran.out, HasSubstr(kNotCompared));
  }
}

// A file that is full, or was cut off, ends within a read: the replay cannot know where.
TEST(Diff, TraceThatEndsWithinARead_IsComparedAsFarAsItGoes) {
  const auto reader =
      TraceReader::Open(OpenByteSource(CapturePath("stream-v2/trace.pftrace.zst")).value(),
                        TraceReader::OnDamage::kSkip)
          .value();
  std::string trace;
  RawPacket packet;
  for (int reads = 0, left = 100; left > 0 && reader->Next(packet).value();) {
    wire::AppendBytes(trace, 1, packet.bytes);
    const auto event = wire::LastBytes(packet.bytes, 69);
    reads += event && wire::LastVarint(*event, 4) ? 1 : 0;  // read_tracing_buffers_completed
    left -= reads > 2 ? 1 : 0;
  }
  const TempFolder folder;
  const Ran ran = Diff({CapturePath("stream-v2/session.ops.jsonl.zst"),
                        folder.Write("cut.pftrace", trace), "--format", "json"});
  EXPECT_EQ(ran.code, ExitCode::kClean) << ran.out << ran.error;
  const Json found = testing::ParsedJson(ran.out);
  EXPECT_EQ(found["same"], true);
  EXPECT_EQ(found["a"]["packets"], found["b"]["packets"]);
  EXPECT_GT(found["cut_off_packets"], 0);
  EXPECT_TRUE(found["buffers"].empty());
}

// The log of a streamed session that has no reads: they are found in the file, unless the log's own
// are asked for.
TEST(Diff, RecordedReads_AreObeyedBesideAStreamedTrace) {
  const std::string log = CapturePath("stream-v2/session.ops.jsonl.zst");
  const std::string trace = CapturePath("stream-v2/trace.pftrace.zst");
  const Json found = testing::ParsedJson(Diff({log, trace, "--format", "json"}).out);
  EXPECT_EQ(found["same"], true);
  const Ran ran = Diff({log, trace, "--a-reads", "recorded", "--format", "json"});
  EXPECT_EQ(ran.code, ExitCode::kNotice) << ran.error;
  const Json recorded = testing::ParsedJson(ran.out);
  EXPECT_EQ(recorded["reads"]["mode"], "recorded");
  EXPECT_EQ(recorded["reads"]["assumed"], false);
  EXPECT_EQ(recorded["a"]["packets"], 0);
  EXPECT_EQ(recorded["counts"]["only_in_b"], recorded["b"]["packets"]);
}

// Side by side are the facts of the two examinations, which are those of their answers.
TEST(DiffQuality, OfALogAndALargerBuffer) {
  const std::string captures = RS_TESTDATA "/captures/";
  const std::string old = captures + "ring-v2/trace.pftrace.zst";
  const std::string now = captures + "lossless-v2/trace.pftrace.zst";
  const Ran text = RunCommand(DiffCommand(), {"--quality", old, now});
  ASSERT_EQ(text.error, "");
  EXPECT_EQ(text.code, ExitCode::kNotice);
  EXPECT_THAT(text.out, HasSubstr("reach of buffers[0]"));
  const Json document = testing::ParsedJson(
      RunCommand(DiffCommand(), {"--quality", old, now, "--format", "json"}).out);
  EXPECT_EQ(document.at("compares"), "quality");
  EXPECT_EQ(document.at("same"), false);
  std::map<std::string, Json> rows;
  for (const Json& row : document.at("rows")) rows[row.at("fact")] = row;
  EXPECT_EQ(rows.at("packets in the trace").at("old"), 4912);
  EXPECT_EQ(rows.at("usable packets").at("old"), 2);
  EXPECT_TRUE(rows.at("reach of buffers[0]").at("new").is_null()) << "nothing was overwritten";
  EXPECT_EQ(rows.at("severity").at("old"), "error");
  EXPECT_THAT(RunCommand(DiffCommand(), {"--quality", old, now, "--format", "md"}).out,
              HasSubstr("| usable packets | 2 |"));
  EXPECT_EQ(RunCommand(DiffCommand(), {"--quality", old, old}).code, ExitCode::kClean);
}

TEST(DiffQuality, NeedsTwoInputsWithASession) {
  const std::string log = RS_TESTDATA "/captures/ring-v2/session.ops.jsonl.zst";
  EXPECT_EQ(RunCommand(DiffCommand(), {"--quality", log}).error_code, ErrorCode::kUsage);
  EXPECT_EQ(RunCommand(DiffCommand(), {"--quality", log, log, "--a", "v1"}).error_code,
            ErrorCode::kUsage);
}

}  // namespace
}  // namespace ringscope
