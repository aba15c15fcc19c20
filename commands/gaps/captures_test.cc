// Recorded sessions: what one command prints of them, the others confirm.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "commands/view/json_fields.h"
#include "formats/inputs/open_log.h"
#include "formats/testing/files.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/testdata.h"
#include "formats/testing/trace_content.h"

namespace ringscope {
namespace {

using ::testing::ElementsAre;

class RecordedSession : public ::testing::TestWithParam<const char*> {
 protected:
  std::string log() const { return testing::CapturePath(GetParam()); }
  std::string trace() const {
    return testing::TestdataPath("captures") / GetParam() / "trace.pftrace.zst";
  }
  /// Reads the buffers as the service did, where the log does not show that.
  std::vector<std::string> AsRecorded() const {
    if (GetParam() != std::string("stream-v2")) return {};
    return {"--reads", "like=" + trace()};
  }
  Json Of(const Command& command, std::vector<std::string> options,
          const std::string& input) const {
    options.insert(options.end(), {"--format", "json", input});
    return testing::ParsedJson(RunCommand(command, options).out);
  }
  Json SessionOf(const Command& command, const std::vector<std::string>& options = {}) const {
    return Of(command, options, log())["sessions"][0];
  }
  /// Sums a number over all buffers.
  static uint64_t Sum(const Json& session, const char* pointer) {
    uint64_t sum = 0;
    for (const Json& buffer : session["buffers"])
      sum += buffer.at(Json::json_pointer(pointer)).get<uint64_t>();
    return sum;
  }
};

INSTANTIATE_TEST_SUITE_P(Captures, RecordedSession, testing::AllCaptures(),
                         testing::NameOfParam<const char*>);

// Applied as it was printed, a config loses what the advice says.
TEST_P(RecordedSession, PrintedConfigs_GiveWhatIsSaidOfThem) {
  const TempFolder folder;
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{}, {"--keep", "500ms"}}) {
    const Json advice = SessionOf(AdviseCommand(), options);
    if (!advice.contains("config") || advice["together"].is_null()) {
      EXPECT_EQ(advice["lost_now"], 0) << "what was lost has a remedy";
      continue;
    }
    const std::string config = folder.Write("config.pbtxt", advice["config"].get<std::string>());
    const Json replayed = SessionOf(GapsCommand(), {"--config", config});
    EXPECT_EQ(Sum(replayed, "/lost/packets"), advice["together"]["lost"].get<uint64_t>());
    EXPECT_EQ(Sum(replayed, "/written/packets"), Sum(advice, "/packets"));
    EXPECT_LT(Sum(replayed, "/lost/packets"), advice["lost_now"].get<uint64_t>());
    for (const Json& buffer : advice["buffers"])
      for (const Json& other : replayed["buffers"])
        if (other["buffer"] == buffer["buffer"]) {
          EXPECT_EQ(other["size"], buffer["size_then"]);
        }
  }
}

// Packets written, read and lost are the same numbers in all commands.
TEST_P(RecordedSession, CommandsAgreeOnTheirNumbers) {
  const Json gaps = SessionOf(GapsCommand());
  const uint64_t written = Sum(gaps, "/written/packets"), lost = Sum(gaps, "/lost/packets"),
                 read = Sum(gaps, "/fates/read/packets");
  const Json replay = SessionOf(ReplayCommand());
  EXPECT_EQ(Sum(replay, "/packets/written"), written);
  EXPECT_EQ(Sum(replay, "/packets/lost"), lost);
  EXPECT_EQ(Sum(replay, "/packets/read"), read);
  const Json advice = SessionOf(AdviseCommand());
  EXPECT_EQ(advice["lost_now"], lost);
  EXPECT_EQ(Sum(advice, "/packets"), written);
  EXPECT_EQ(Sum(advice, "/lost_now"), lost);
  std::vector<std::string> sizes;
  for (const Json& buffer : gaps["buffers"])
    sizes.insert(sizes.end(),
                 {"--sizes", "buffers[" + buffer["index"].dump() + "]=" + buffer["size"].dump()});
  const Json rows = SessionOf(SweepCommand(), sizes)["configurations"];
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(Sum(rows[0], "/written/packets"), written);
  EXPECT_EQ(Sum(rows[0], "/lost"), lost);
  const Json stats = SessionOf(StatsCommand()), doctor = Of(DoctorCommand(), {}, log());
  for (size_t i = 0; i < gaps["buffers"].size(); ++i)
    EXPECT_EQ(stats["buffers"][i]["stats"], rows[0]["buffers"][i]["stats"]);
  EXPECT_EQ(doctor["traces"][0]["answer"]["headline"], gaps["answer"]["headline"]);
  EXPECT_EQ(doctor["traces"][0]["answer"]["change"], gaps["answer"]["change"]);
  uint64_t in_findings = 0;
  for (const Json& finding : doctor["traces"][0]["findings"])
    if (finding["rule"] == "log.lost") in_findings = finding["weight"].get<uint64_t>();
  EXPECT_EQ(in_findings, lost);
}

/// The packets that ended at a stage; null: not known.
Json AtStage(const Json& stages, const char* stage) {
  return stages.contains(stage) ? stages[stage]["count"] : Json(0);
}

// All packets are in one account, of the session and of each sequence; a trace alone proves less.
TEST_P(RecordedSession, Stages_AccountForEveryPacket) {
  const Json gaps = SessionOf(GapsCommand(), AsRecorded());
  const Json& all = gaps["stages"];
  EXPECT_EQ(all["written"]["packets"], Sum(gaps, "/written/packets"));
  EXPECT_EQ(AtStage(all, "left"), Sum(gaps, "/fates/read/packets"));
  uint64_t sum = 0, unusable = 0;
  std::map<std::string, uint64_t> of_sequences;
  for (const char* stage :
       {"shared_memory", "commit", "buffer", "file", "unknown", "elsewhere", "left"}) {
    sum += AtStage(all, stage).get<uint64_t>();
    uint64_t parts = 0;
    for (const Json& sequence : all["sequences"])
      parts += AtStage(sequence["stages"], stage).get<uint64_t>();
    EXPECT_EQ(AtStage(all, stage), parts) << stage;
  }
  EXPECT_EQ(all["written"]["packets"], sum);
  uint64_t lost = AtStage(all, "commit").get<uint64_t>();  // these captures lost nothing elsewhere
  for (const Json& buffer : all["buffers"]) lost += AtStage(buffer, "buffer").get<uint64_t>();
  EXPECT_EQ(lost, Sum(gaps, "/lost/packets") + Sum(gaps, "/fates/stalled/packets"));
  for (const Json& sequence : gaps["sequences"])
    unusable += sequence["unusable"]["packets"].get<uint64_t>();
  EXPECT_EQ(all["unusable"], unusable);
  EXPECT_EQ(Of(DoctorCommand(), AsRecorded(), log())["traces"][0]["stages"], all);

  const Json alone = Of(DoctorCommand(), {}, trace())["traces"][0]["stages"];
  EXPECT_TRUE(alone["written"].is_null());
  EXPECT_TRUE(AtStage(alone, "shared_memory").is_null());
  EXPECT_EQ(AtStage(alone, "left"), AtStage(all, "left"));
  EXPECT_EQ(alone["unusable"], all["unusable"]);
  if (lost > 0) {
    EXPECT_TRUE(AtStage(alone, "buffer").is_null());
  }
}

/// Names of buffers and sequences, by the rule whose finding has them.
std::map<std::string, std::set<std::string>> NamesIn(const Json& document) {
  static const std::regex kName("buffers\\[\\d+\\]|sequence \\d+");
  std::map<std::string, std::set<std::string>> names;
  for (const Json& finding : document["traces"][0]["findings"]) {
    const std::string text = finding["where"].dump();
    auto& of_rule = names[finding["rule"].get<std::string>()];
    for (std::sregex_iterator found(text.begin(), text.end(), kName), end; found != end; ++found)
      of_rule.insert(found->str());
  }
  return names;
}

// A log and the trace of the same session give the same names to the same things.
TEST_P(RecordedSession, LogAndTrace_HaveTheSameNames) {
  std::map<uint64_t, uint64_t> in_trace, in_log;
  const auto content = ReadTraceContent(OpenByteSource(trace()).value()).value();
  for (const ContentPacket& packet : content.packets) ++in_trace[packet.sequence_id];
  const Json gaps = SessionOf(GapsCommand(), AsRecorded());
  for (const Json& sequence : gaps["sequences"])
    if (sequence["sequence_id"] != 0)
      in_log[sequence["sequence_id"].get<uint64_t>()] +=
          sequence["fates"]["read"]["packets"].get<uint64_t>();
  EXPECT_EQ(in_log, in_trace);

  const auto of_log = NamesIn(Of(DoctorCommand(), AsRecorded(), log()));
  size_t both = 0;
  for (const auto& [rule, names] : NamesIn(Of(DoctorCommand(), {}, trace()))) {
    const auto same = of_log.find(rule);
    if (same == of_log.end()) continue;
    ++both;
    EXPECT_EQ(same->second, names) << rule;
  }
  EXPECT_GT(both, 0u);
}

// Options and filters take a buffer by the name that the outputs have.
TEST(BufferNames, AreThoseOfTheOutputs) {
  const std::string log = testing::CapturePath("two-buffers-v2");
  const auto sizes = [&](const std::string& option) {
    const Ran ran = RunCommand(GapsCommand(), {"--size", option, "--format", "json", log});
    std::vector<uint64_t> of;
    const Json document = testing::ParsedJson(ran.out);
    for (const Json& buffer : document["sessions"][0]["buffers"])
      of.push_back(buffer["size"].get<uint64_t>());
    return of;
  };
  EXPECT_THAT(sizes("buffers[1]=1M"), ElementsAre(256u << 10, 1u << 20));
  EXPECT_EQ(sizes("buffers[0]=1M"), sizes("1=1M")) << "the log's ids are 1 and 2";
  const auto sequences = [&](const std::string& buffer) {
    const Ran ran = RunCommand(GapsCommand(), {"--buffer", buffer, "--format", "json", log});
    return testing::ParsedJson(ran.out)["sessions"][0]["sequences"];
  };
  EXPECT_EQ(sequences("buffers[1]"), sequences("2"));
  EXPECT_NE(sequences("buffers[1]"), sequences("buffers[0]"));
  EXPECT_THAT(RunCommand(GapsCommand(), {"--size", "buffers[7]=1M", log}).err,
              ::testing::HasSubstr("there is no buffer 'buffers[7]'"));
}

}  // namespace
}  // namespace ringscope
