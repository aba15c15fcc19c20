#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "formats/log/commit_log_writer.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/string_sink.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kLifeLog = std::string(RS_SOURCE_DIR) + "/testdata/inputs/life.ops.jsonl";

std::string LifeText(const std::string& input) {
  const Ran ran = RunCommand(InfoCommand(), {"-"}, input);
  EXPECT_EQ(ran.error, "");
  return ran.out;
}
Json LifeDocument(const std::string& log) {
  const Ran ran = RunCommand(InfoCommand(), {"--format", "json", log});
  EXPECT_EQ(ran.error, "");
  return testing::ParsedJson(ran.out)["sessions"][0];
}

TEST(InfoOfSession, Document_HasTypedEvents) {
  const Json session = LifeDocument(kLifeLog);
  EXPECT_EQ(session["start_ns"], 1000000010000) << "of the session's start";
  ASSERT_FALSE(session["events"].empty());
  Json flush, notified;
  for (const Json& event : session["events"]) {
    if (event["event"] == "flush" && flush.is_null()) flush = event;
    if (event["event"] == "data_source_notify") notified = event;
  }
  EXPECT_EQ(flush["flush"], 1);
  EXPECT_EQ(flush["producer"], 1);
  EXPECT_EQ(flush["reason"], "periodic");
  EXPECT_EQ(flush["initiator"], "traced");
  EXPECT_EQ(flush["instances"], Json::array({1}));
  EXPECT_EQ(notified["stopped"], true);
  EXPECT_FALSE(notified.contains("buffer"));
}

TEST(InfoOfSession, Document_HasConfigAsBytesAndText) {
  const Json config = LifeDocument(kLifeLog)["configs"][0];
  EXPECT_EQ(config["session"], 1);
  EXPECT_THAT(config["bytes"].get<std::string>(), ::testing::StartsWith("0a06"));
  EXPECT_THAT(config["text"].get<std::string>(), HasSubstr("unique_session_name: \"ci\"\n"));
}

TEST(InfoOfSession, Document_HasFlushesWithTheirAnswers) {
  const Json session = LifeDocument(kLifeLog);
  EXPECT_EQ(session["flushes"].size(), 10u);
  EXPECT_EQ(session["flushes"][8]["outcome"], "failed");
  EXPECT_EQ(session["flushes"][8]["timed_out"], true);
  const Json answer = session["flushes"][9]["answers"][1];
  EXPECT_EQ(answer["producer"], 2);
  EXPECT_EQ(answer["latency_ns"], 29900000);
}

// A commit log's index has the same as its records.
TEST(InfoOfSession, Index_HasTheLife) {
  const TempFolder folder;
  const std::string log = folder.File("life.tblog");
  ASSERT_EQ(RunCommand(ImportCommand(), {kLifeLog, "-o", log}).error, "");
  const Ran ran = RunCommand(InfoCommand(), {log});
  EXPECT_THAT(ran.out, HasSubstr("answered from its index"));
  const Json indexed = LifeDocument(log);
  const Json scanned = LifeDocument(kLifeLog);
  for (const char* key : {"flushes", "configs"}) EXPECT_EQ(indexed[key], scanned[key]) << key;
  EXPECT_EQ(indexed["events"].size(), scanned["events"].size());
}

TEST(InfoOfSession, ManyAlike_AreCounted) {
  std::string log = R"({"op":"buffer","id":1,"size":4096,"policy":"ring_buffer"})"
                    "\n";
  for (int i = 1; i <= 100; ++i)
    log += R"({"op":"producer","ts":)" + std::to_string(i) + R"(000000,"producer":)" +
           std::to_string(i) + R"(,"name":"p"})" + "\n";
  const std::string text = LifeText(log);
  EXPECT_THAT(text, HasSubstr("producer 6 'p' connects"));
  EXPECT_THAT(text, Not(HasSubstr("producer 7 'p' connects")));
  EXPECT_THAT(text, HasSubstr("93 more like \"producer 6"));
}

/// The words from "Not complete" to the end of the sentence.
std::string NotCompleteIn(const std::string& out) {
  const std::string text = WithoutLineBreaks(out);
  const size_t begin = text.find("Not complete: ");
  return begin == std::string::npos ? "" : text.substr(begin, text.find(". ", begin) - begin);
}

TEST(LogThatWasNotClosed, VerifyAndInfoSayTheSame) {
  const TempFolder folder;
  StringSink sink;
  const auto writer = CommitLogWriter::Create(sink).value();
  ASSERT_TRUE(writer->Append({.time_ns = {}, .body = ImportHeader()}));
  for (const uint64_t ns : {1'000'000'000u, 3'500'000'000u}) {
    ASSERT_TRUE(writer->Append({.time_ns = ns, .body = Note{"alive"}}));
    ASSERT_TRUE(writer->Flush());
  }
  const std::string safe = sink.text;
  ASSERT_TRUE(writer->Append({.time_ns = 4'000'000'000u, .body = Note{std::string(200, 'x')}}));
  ASSERT_TRUE(writer->Flush());
  const std::string torn = sink.text.substr(0, sink.text.size() - 1);
  ASSERT_TRUE(writer->Close());
  for (const std::string& log : {safe, torn, sink.text}) {
    const std::string path = folder.Write("a.tblog", log);
    const Ran info = RunCommand(InfoCommand(), {path});
    const Ran verify = RunCommand(VerifyCommand(), {path});
    EXPECT_EQ(info.code, log == sink.text ? ExitCode::kClean : ExitCode::kNotice);
    EXPECT_EQ(verify.code, info.code);
    EXPECT_EQ(NotCompleteIn(verify.out), NotCompleteIn(info.out));
    if (log == safe) {
      EXPECT_THAT(NotCompleteIn(info.out), HasSubstr("its last record is 2.500 s after"));
    }
    EXPECT_EQ(CountOf(verify.out, "damaged in 1 place"), CountOf(info.out, "damaged in 1 place"));
  }
}

// All commands count tracing sessions; a log's text says in how many recordings they are.
TEST(InfoOfSession, TwoTracingSessions_AreCountedAsOtherCommandsDo) {
  std::string log;
  for (const int session : {1, 2})
    log += fmt::format(R"({{"op":"session_start","ts":{}000000,"session":{}}})"
                       "\n",
                       session, session);
  const TempFolder folder;
  const std::string path = folder.Write("two.ops.jsonl", log);
  const Ran ran = RunCommand(InfoCommand(), {path, "--session", "2"});
  EXPECT_THAT(WithoutLineBreaks(ran.out), HasSubstr("2 sessions in 1 recording, 2 records"));
  EXPECT_THAT(ran.out, HasSubstr("a recording of sessions 1 to 2"));
  EXPECT_THAT(RunCommand(InfoCommand(), {path, "--session", "3"}).error,
              HasSubstr("the input has 2 sessions"));
}

// Times count from the session's start, as in all other commands, also in logs without a record of
// it.
TEST(InfoOfSession, TimesCountFromTheFirstRecordThatIsNotOfAProducer) {
  const std::string text =
      LifeText(R"({"op":"producer","ts":1000000000,"producer":1,"name":"p"})"
               "\n"
               R"({"op":"writer","ts":1500000000,"producer":1,"writer":1,"buffer":1})"
               "\n"
               R"({"op":"disconnect","ts":3500000000,"producer":1})"
               "\n");
  EXPECT_THAT(text, HasSubstr("2.000 s; its log begins 500.0 ms earlier"));
  EXPECT_THAT(text, HasSubstr("-0.500  producer 1 'p' connects"));
}

// A restarted service numbers its buffers from 1 again.
TEST(InfoOfSession, BuffersOfOneId_AreTwoInEveryTable) {
  const auto life = [](int session, int index) {
    return fmt::format(
        R"({{"op":"buffer","id":1,"index":{},"size":4096,"policy":"ring_buffer","session":{}}})"
        "\n"
        R"({{"op":"commit","buffer":1,"producer":1,"writer":1,"chunk":{},"fragments":1,)"
        R"("payload":"0161"}})"
        "\n"
        R"({{"op":"buffer_freed","id":1}})"
        "\n",
        index, session, session);
  };
  const TempFolder folder;
  const std::string other_index = folder.Write("a.ops.jsonl", life(1, 0) + life(2, 2));
  const Json session = LifeDocument(other_index);
  ASSERT_EQ(session["sequences"].size(), 2u);
  EXPECT_EQ(session["sequences"][0]["set_up"], 0);
  EXPECT_EQ(session["sequences"][1]["set_up"], 1);
  const std::string text = RunCommand(InfoCommand(), {other_index}).out;
  EXPECT_THAT(text, ::testing::ContainsRegex("1:1 .* \\[0\\] "));
  EXPECT_THAT(text, ::testing::ContainsRegex("1:1 .* \\[2\\] "));
  const std::string same_index = LifeText(life(1, 0) + life(2, 0));
  for (const char* const name : {"buffers[0] of session 1 ", "buffers[0] of session 2 "})
    EXPECT_THAT(same_index, HasSubstr(name));
  for (const char* const name : {" [0] of session 1 ", " [0] of session 2 "})
    EXPECT_THAT(same_index, HasSubstr(name));
  // The index has the same.
  const std::string log = folder.File("a.tblog");
  ASSERT_EQ(RunCommand(ImportCommand(), {other_index, "-o", log}).error, "");
  EXPECT_EQ(LifeDocument(log)["sequences"], session["sequences"]);
}

TEST(InfoOfSession, BuffersAlone_AreNotListed) {
  const std::string text = LifeText(R"({"op":"buffer","id":1,"size":4096,"policy":"ring_buffer"})"
                                    "\n");
  EXPECT_THAT(text, Not(HasSubstr("what happened")));
}

/// A log of a session with one read and one clone.
struct OldLogCase {
  const char* name;
  const char* tool;
  const char* config;  // as hex digits
  size_t marks;
};
class OrderOfReads : public ::testing::TestWithParam<OldLogCase> {};

// Recorders before version 0.2 did not wait for what the service had handled before such a read.
TEST_P(OrderOfReads, OfOldRecorders_IsNotKnown) {
  const TempFolder folder;
  const std::string log = folder.Write(
      "a.ops.jsonl",
      fmt::format(R"({{"op":"header","tool":"{}","source":"shm","description":"recorded live"}}
{{"op":"session_start","session":1}}
{{"op":"config","config":"{}","session":1}}
{{"op":"read","reason":"file","session":1}}
{{"op":"clone","clone":1,"session":1}}
{{"op":"recording_end","ending":"signal"}}
)",
                  GetParam().tool, GetParam().config));
  const Json info = LifeDocument(log);
  EXPECT_EQ(info.contains("inexact") ? info["inexact"].size() : 0, GetParam().marks);
  const bool is_known = GetParam().marks == 0;
  EXPECT_EQ(RunCommand(InfoCommand(), {log}).out.find("before version 0.2") == std::string::npos,
            is_known);
  EXPECT_EQ(RunCommand(VerifyCommand(), {log}).out.find("The recording is not exact") ==
                std::string::npos,
            is_known);
}

constexpr const char* kWritesIntoFile = "4001";
INSTANTIATE_TEST_SUITE_P(
    Logs, OrderOfReads,
    ::testing::Values(OldLogCase{"Streamed", "ringscope 0.1.0", kWritesIntoFile, 2},
                      OldLogCase{"StreamedByThisVersion", "ringscope 0.2.0", kWritesIntoFile, 0},
                      OldLogCase{"NotStreamed", "ringscope 0.1.0", "", 0}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace ringscope
