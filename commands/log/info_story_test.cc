#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Document = nlohmann::json;

const std::string kLifeLog = std::string(RS_SOURCE_DIR) + "/testdata/inputs/life.ops.jsonl";

std::string LifeText(const std::string& input) {
  const Ran ran = RunCommand(InfoCommand(), {"-"}, input);
  EXPECT_EQ(ran.error, "");
  return ran.out;
}
Document LifeDocument(const std::string& log) {
  const Ran ran = RunCommand(InfoCommand(), {"--format", "json", log});
  EXPECT_EQ(ran.error, "");
  return Document::parse(ran.out)["sessions"][0];
}

TEST(InfoStory, Document_HasTypedEvents) {
  const Document session = LifeDocument(kLifeLog);
  EXPECT_EQ(session["start_ns"], 1000000010000) << "of the session's start";
  ASSERT_FALSE(session["events"].empty());
  Document flush, notified;
  for (const Document& event : session["events"]) {
    if (event["event"] == "flush" && flush.is_null()) flush = event;
    if (event["event"] == "data_source_notify") notified = event;
  }
  EXPECT_EQ(flush["flush"], 1);
  EXPECT_EQ(flush["producer"], 1);
  EXPECT_EQ(flush["reason"], "periodic");
  EXPECT_EQ(flush["initiator"], "traced");
  EXPECT_EQ(flush["instances"], Document::array({1}));
  EXPECT_EQ(notified["stopped"], true);
  EXPECT_FALSE(notified.contains("buffer"));
}

TEST(InfoStory, Document_HasConfigAsBytesAndText) {
  const Document config = LifeDocument(kLifeLog)["configs"][0];
  EXPECT_EQ(config["session"], 1);
  EXPECT_THAT(config["bytes"].get<std::string>(), ::testing::StartsWith("0a06"));
  EXPECT_THAT(config["text"].get<std::string>(), HasSubstr("unique_session_name: \"ci\"\n"));
}

TEST(InfoStory, Document_HasFlushesWithTheirAnswers) {
  const Document session = LifeDocument(kLifeLog);
  EXPECT_EQ(session["flushes"].size(), 10u);
  EXPECT_EQ(session["flushes"][8]["outcome"], "failed");
  EXPECT_EQ(session["flushes"][8]["timed_out"], true);
  const Document answer = session["flushes"][9]["answers"][1];
  EXPECT_EQ(answer["producer"], 2);
  EXPECT_EQ(answer["latency_ns"], 29900000);
}

// A commit log's index has the same as its records.
TEST(InfoStory, Index_HasTheLife) {
  const TempFolder folder;
  const std::string log = folder.File("life.tblog");
  ASSERT_EQ(RunCommand(ImportCommand(), {kLifeLog, "-o", log}).error, "");
  const Ran ran = RunCommand(InfoCommand(), {log});
  EXPECT_THAT(ran.out, HasSubstr("answered from its index"));
  const Document indexed = LifeDocument(log);
  const Document scanned = LifeDocument(kLifeLog);
  for (const char* key : {"flushes", "configs"}) EXPECT_EQ(indexed[key], scanned[key]) << key;
  EXPECT_EQ(indexed["events"].size(), scanned["events"].size());
}

TEST(InfoStory, ManyAlike_AreCounted) {
  std::string log = R"({"op":"buffer","id":1,"size":4096,"policy":"ring_buffer"})"
                    "\n";
  for (int i = 1; i <= 100; ++i)
    log += R"({"op":"producer","ts":)" + std::to_string(i) + R"(000000,"producer":)" +
           std::to_string(i) + R"(,"name":"p"})" + "\n";
  const std::string text = LifeText(log);
  EXPECT_THAT(text, HasSubstr("producer 6 'p' connects"));
  EXPECT_THAT(text, Not(HasSubstr("producer 7 'p' connects")));
  EXPECT_THAT(text, HasSubstr("and 94 more like \"producer 6"));
}

TEST(InfoStory, BuffersAlone_AreNoStory) {
  const std::string text = LifeText(R"({"op":"buffer","id":1,"size":4096,"policy":"ring_buffer"})"
                                    "\n");
  EXPECT_THAT(text, Not(HasSubstr("what happened")));
}

}  // namespace
}  // namespace ringscope
