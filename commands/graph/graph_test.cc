#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "commands/graph/graph_report.h"
#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Ran Graph(const std::string& log, std::vector<std::string> options) {
  options.push_back("-");
  return RunCommand(GraphCommand(), options, log);
}

/// Likewise, with every chunk if `full`.
std::string DrawnAs(const std::string& log, const char* format, bool full) {
  std::vector<std::string> options = {"--format", format};
  if (full) options.push_back("--full");
  return Graph(log, options).out;
}

/// A log of `count` chunks of sequence 1:1, read at the end, but for one id in the middle.
std::string LogOf(int count) {
  std::string log = R"({"op":"buffer","id":1,"size":1048576,"policy":"ring_buffer"})"
                    "\n";
  for (int id = 0; id < count; ++id) {
    if (id == count / 2) continue;
    log += R"({"op":"commit","buffer":1,"producer":1,"writer":1,"chunk":)" + std::to_string(id) +
           R"(,"fragments":2,"payload":"02080102100a"})" + "\n";
  }
  return log;
}

/// The elements that an XML text leaves open, or closes without having opened them.
std::vector<std::string> Unbalanced(const std::string& xml) {
  std::vector<std::string> open, wrong;
  for (size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
    const size_t end = xml.find('>', at);
    if (end == std::string::npos) return {"no end of " + xml.substr(at, 20)};
    const std::string tag = xml.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(0, tag.find_first_of(" \n"));
    if (tag.front() == '?' || tag.back() == '/') continue;
    if (tag.front() != '/') {
      open.push_back(name);
    } else if (open.empty() || "/" + open.back() != name) {
      wrong.push_back(name);
    } else {
      open.pop_back();
    }
  }
  wrong.insert(wrong.end(), open.begin(), open.end());
  return wrong;
}

// A patch that came is not missing.
TEST(Graph, Text_SaysOnceWhatBecameOfAPatch) {
  const std::string text = WithoutLineBreaks(
      RunCommand(GraphCommand(), {testing::TestdataPath("sessions") / "behind.ops.jsonl.zst"}).out);
  EXPECT_THAT(text, HasSubstr("1 patch too late; stalled 2 reads from 0.004000 s"));
  EXPECT_THAT(text, Not(HasSubstr("a patch is missing")));
  EXPECT_THAT(text, HasSubstr("flagged 'missing beginning, overwritten'"));
}

TEST(Graph, Text_FoldsAndShowsTheGap) {
  const Ran ran = Graph(LogOf(100), {});
  EXPECT_EQ(ran.code, ExitCode::kClean) << ran.error;
  EXPECT_THAT(ran.out, HasSubstr("sequence 2 (1:1) in buffers[0] (v2@58, 1 MiB, ring_buffer)\n"
                                 "  99 chunks, 594 B, 198 packets read\n"));
  EXPECT_THAT(ran.out, HasSubstr("46 chunks, 276 B: all read"));
  EXPECT_THAT(ran.out, HasSubstr("\nNo packet of the log was lost, but 1 chunk id is missing.\n"));
  EXPECT_THAT(WithoutLineBreaks(ran.out), HasSubstr("#50 missing: 1 chunk never committed"));
}

TEST(Graph, Json_HasEachChunkOnce) {
  for (const bool full : {false, true}) {
    const Json document = testing::ParsedJson(DrawnAs(LogOf(100), "json", full));
    EXPECT_EQ(document["schema"], "ringscope.graph/1");
    const Json& graph = document["sessions"][0]["graphs"][0];
    EXPECT_EQ(graph["chunks"], 99);
    int chunks = 0;
    for (const Json& item : graph["items"]) {
      if (item["kind"] == "chunk") ++chunks;
      if (item["kind"] == "run") chunks += item["chunks"].get<int>();
    }
    EXPECT_EQ(chunks, 99);
    EXPECT_EQ(graph["items"].size(), full ? 100u : 11u);
  }
}

TEST(Graph, Svg_IsWellFormedAndSelfContained) {
  for (const int count : {10, 100, 10'000}) {
    for (const bool full : {false, true}) {
      const std::string svg = DrawnAs(LogOf(count), "svg", full);
      EXPECT_THAT(Unbalanced(svg), ElementsAre());
      EXPECT_THAT(svg, Not(HasSubstr("href")));
      EXPECT_THAT(svg, Not(HasSubstr("url(")));
      EXPECT_THAT(svg, Not(HasSubstr("@import")));
      // One line for each item.
      const size_t items = full || count == 10 ? static_cast<size_t>(count) : 11u;
      EXPECT_EQ(CountOf(svg, "class=\"id\""), items);
    }
  }
}

TEST(Graph, SequencesWithLosses_ComeFirst) {
  // 1:2 loses two packets to 1:3; 1:1 nothing.
  std::string log = LogOf(4);
  log.replace(log.find("1048576"), 7, "4096");
  const std::string large(2 * 3900, '0');
  for (const int writer : {2, 3}) {
    log += R"({"op":"commit","buffer":1,"producer":1,"writer":)" + std::to_string(writer) +
           R"(,"chunk":0,"fragments":1,"payload":"bc1e)" + large + "\"}\n";
    if (writer == 2) log.insert(log.rfind("{\"op\""), "{\"op\":\"read\",\"buffer\":1}\n");
  }
  const Ran ran = Graph(log, {"--top", "1"});
  EXPECT_THAT(ran.out, HasSubstr("writer 1:2 in buffers[0]"));
  EXPECT_THAT(ran.out, HasSubstr("overwritten by 1:3#0 at record"));
  EXPECT_THAT(ran.out,
              HasSubstr("1 of 3 sequences shown, the worst first; packets were lost in 1. "));
  EXPECT_THAT(ran.out, Not(HasSubstr("sequence 1:1")));
}

TEST(Graph, ChunksThatProgramsFolded_AreNotDrawnAsLost) {
  const std::string log = testing::TestdataPath("protovm/two-producers.ops.jsonl");
  const std::string text = RunCommand(GraphCommand(), {log}).out;
  EXPECT_THAT(text, HasSubstr("  ◇    #0 "));
  EXPECT_THAT(text, HasSubstr("◇ folded into a state (ProtoVM)"));
  EXPECT_THAT(text, Not(HasSubstr("✗")));
}

TEST(Graph, NoneToShow_SaysHowManyThereAre) {
  const Ran ran = Graph(LogOf(4), {"--top", "0"});
  EXPECT_THAT(ran.out, HasSubstr("0 of 1 sequence shown"));
  EXPECT_THAT(ran.out, Not(HasSubstr("No sequence committed")));
  const std::string none = Graph(LogOf(0), {}).out;
  EXPECT_THAT(none, HasSubstr("No sequence committed anything."));
  EXPECT_THAT(none, Not(HasSubstr("a packet continues"))) << "of a drawing that is not there";
}

TEST(Graph, OddChoices_AreSaid) {
  EXPECT_THAT(Graph(LogOf(3), {"--seq", "9:9"}).err, HasSubstr("sequence 9:9 committed nothing"));
  EXPECT_THAT(Graph(LogOf(3), {"--around", "1:1#77"}).err, HasSubstr("there is no chunk #77"));
}

TEST(Graph, ChoicesThatDoNotExist_AreRefused) {
  EXPECT_THAT(Graph(LogOf(3), {"--around", "77"}).error, HasSubstr("'77' does not name a chunk"));
  EXPECT_THAT(Graph(LogOf(3), {"--buffer", "5"}).error,
              HasSubstr("there is no buffer '5' (its buffers: buffers[0] (id 1))"));
}

TEST(Graph, Output_IsAFile) {
  const TempFolder folder;
  const std::string file = folder.File("graph.txt");
  const Ran ran = Graph(LogOf(5), {"-o", file});
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("wrote "));
  EXPECT_EQ(ReadFile(file), Graph(LogOf(5), {}).out);
}

TEST(Graph, ChunkNames) {
  EXPECT_EQ(ParseChunkName("2:17#4294967295")->chunk, ChunkId{4294967295});
  EXPECT_EQ(ParseChunkName("2:17#0")->sequence, (SequenceKey{ProducerId{2}, WriterId{17}}));
  for (const char* text : {"", "x", "120", "#120", "2:17", "2:17#", "#", "2:17#4294967296", "2#3"})
    EXPECT_FALSE(ParseChunkName(text)) << text;
}

}  // namespace
}  // namespace ringscope
