#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/session/replay_run.h"
#include "commands/shell/commands.h"
#include "commands/shell/values.h"
#include "commands/testing/memory_run.h"
#include "formats/testing/files.h"
#include "formats/testing/no_threads.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr uint64_t kSecond = 1'000'000'000;

Json DocumentOf(const Ran& ran) { return testing::ParsedJson(ran.out); }

using Args = std::vector<std::string>;

Args With(Args args, const Args& more) {
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

Ran RunSweep(const Args& args, const std::string& input = "") {
  return RunCommand(SweepCommand(), args, input);
}

Json SweptJson(const Args& args, const std::string& input = "") {
  return DocumentOf(RunSweep(With(args, {"--format", "json"}), input));
}

Json SweptSession(const Args& options, const std::string& log) {
  return SweptJson(With(options, {"-"}), log)["sessions"][0];
}

/// Chunks of one writer, one a second, each with a packet of 1000 bytes; no read.
std::string OneChunkASecond(int seconds) {
  std::string text = R"({"op":"buffer","id":1,"size":8192,"policy":"ring_buffer","ts":0})"
                     "\n";
  std::string payload = "e807";  // 1000
  for (int i = 0; i < 1000; ++i) payload += i == 0 ? "0a" : i == 1 ? "e5" : i == 2 ? "07" : "61";
  for (int i = 0; i < seconds; ++i) {
    text += R"({"op":"commit","producer":2,"writer":1,"chunk":)" + std::to_string(i) +
            R"(,"fragments":1,"buffer":1,"ts":)" + std::to_string(i * 1'000'000'000LL) +
            R"(,"payload":")" + payload + "\"}\n";
  }
  return text;
}

// The heart of it: each row is what a replay of its configuration gives.
class SweepRows : public ::testing::TestWithParam<std::string> {};

TEST_P(SweepRows, EqualReplays) {
  const Json sessions = SweptJson({testing::CapturePath(GetParam()), "--sizes", "256k", "--engines",
                                   "v1,v2@55,v2", "--policies", "ring_buffer,discard", "--reads",
                                   "recorded,every=500ms"})["sessions"];
  ASSERT_EQ(sessions.size(), 1u);
  ASSERT_EQ(sessions[0]["configurations"].size(), 3u * 2 * 2);

  for (const Json& configuration : sessions[0]["configurations"]) {
    ReplayChoices choices;
    choices.session.all.engine = configuration["engine"].get<std::string>();
    choices.session.all.policy = FromName<FillPolicy>(configuration["policy"].get<std::string>());
    for (const Json& buffer : configuration["buffers"])
      choices.session.buffers[BufferId{buffer["buffer"].get<uint16_t>()}].size =
          buffer["size"].get<uint64_t>();
    choices.reads = ParseReads(configuration["reads"].get<std::string>()).value();
    MemoryRun memory;
    SessionReader reader(memory.context, {{testing::CapturePath(GetParam())}, {}}, "replaying");
    ASSERT_TRUE(reader.NextSession().value());
    const ReplayOutcome outcome = ReplayRun(memory.context, reader, choices).ToEnd().value();

    ASSERT_EQ(configuration["buffers"].size(), outcome.buffers.size());
    for (size_t i = 0; i < outcome.buffers.size(); ++i) {
      const BufferOutcome& buffer = outcome.buffers[i];
      const Json& row = configuration["buffers"][i];
      SCOPED_TRACE(row.dump().substr(0, 200));
      EXPECT_EQ(row["buffer"], Raw(buffer.id));
      EXPECT_EQ(row["engine"], buffer.engine);
      EXPECT_EQ(row["size"], buffer.size);
      EXPECT_EQ(row["read"]["packets"], buffer.read.packets);
      EXPECT_EQ(row["read"]["bytes"], buffer.read.bytes);
      EXPECT_EQ(row["unread"]["packets"], buffer.unread.packets);
      EXPECT_EQ(row["sequence_packet_loss"], buffer.losses.sequence_packet_loss);
      for (const StatField& field : kStatFields)
        EXPECT_EQ(row["stats"][field.name], buffer.stats.*field.value) << field.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Captures, SweepRows,
                         ::testing::Values("ring-v1", "ring-v2", "discard-v2", "two-buffers-v2"),
                         testing::NameOfParam<std::string>);

TEST(Sweep, History_ReachesBackToTheOldestPacketRead) {
  // 8 KiB hold eight of the chunks, 1,024 bytes each in the buffer: those of the seconds 12 to 19.
  const Json session = SweptSession({"--sizes", "8k,64k"}, OneChunkASecond(20));
  const Json& small = session["configurations"][0]["buffers"][0];
  EXPECT_EQ(small["read"]["packets"], 8);
  EXPECT_EQ(small["overwritten"]["packets"], 12);
  EXPECT_EQ(small["history_ns"], 7 * kSecond);
  EXPECT_EQ(small["shortest_history_ns"], 7 * kSecond);
  EXPECT_EQ(small["shortest_sequence"], "2:1");
  const Json& large = session["configurations"][1]["buffers"][0];
  EXPECT_EQ(large["history_ns"], 19 * kSecond);
  EXPECT_EQ(large["overwritten"]["packets"], 0);
}

TEST(Sweep, WithoutSizes_ScalesTheLogsOwn) {
  const Json session = SweptSession({}, OneChunkASecond(3));
  std::vector<uint64_t> sizes;
  for (const Json& configuration : session["configurations"])
    sizes.push_back(configuration["buffers"][0]["size"]);
  EXPECT_THAT(sizes, ::testing::ElementsAre(4096, 4096, 4096, 8192, 16384, 32768, 65536));
}

TEST(Sweep, ConfigSetsTheBuffersThatAreSwept) {
  const TempFolder folder;
  const std::string config = folder.Write("a.pbtxt", "buffers { size_kb: 64 }");
  const Json configurations =
      SweptSession({"--config", config}, OneChunkASecond(20))["configurations"];
  ASSERT_EQ(configurations.size(), 7u);
  EXPECT_EQ(configurations[3]["buffers"][0]["size"], 65536);
}

TEST(SweepTarget, Keep_FindsTheSmallestSize) {
  const Ran ran = RunSweep({"-", "--target", "keep=9s", "--format", "json"}, OneChunkASecond(60));
  EXPECT_EQ(ran.code, ExitCode::kClean) << ran.error;
  const Json session = DocumentOf(ran)["sessions"][0];
  const Json& found = session["targets"][0];
  // Ten chunks of 1,024 bytes or a little more: three pages.
  EXPECT_EQ(found["buffers"][0]["size"], 3 * 4096);
}

TEST(SweepTarget, Loss_FindsWhatHoldsAll) {
  const Json session = SweptSession({"--target", "loss=0"}, OneChunkASecond(60));
  const uint64_t size = session["targets"][0]["buffers"][0]["size"];
  for (const Json& configuration : session["configurations"]) {
    const Json& row = configuration["buffers"][0];
    EXPECT_EQ(row["overwritten"]["packets"] == 0, row["size"].get<uint64_t>() >= size);
  }
}

TEST(SweepTarget, LogThatIsTooShort_IsTheReason) {
  const Ran ran = RunSweep({"-", "--target", "keep=30s"}, OneChunkASecond(10));
  EXPECT_EQ(ran.code, ExitCode::kNotice);
  EXPECT_THAT(WithoutLineBreaks(ran.out), HasSubstr("none: the log lasts only 9.000 s"));
}

TEST(SweepTarget, WithSizesOfAllBuffers_IsRefused) {
  EXPECT_THAT(RunSweep({"-", "--target", "loss=0", "--sizes", "1M"}).error,
              HasSubstr("looks for the sizes itself"));
}

TEST(Sweep, TooManyConfigurations_AreRefused) {
  Args args = {"-", "--sizes", "4k..1Gx1.02"};
  for (int i = 0; i < 20; ++i) args.insert(args.end(), {"--engines", "v2"});
  EXPECT_THAT(RunSweep(args, OneChunkASecond(1)).error, HasSubstr("4,096 are allowed"));
}

TEST(Sweep, WithoutThreads_GivesTheSame) {
  const Ran expected = RunSweep({"-"}, OneChunkASecond(10));
  const testing::NoThreads no_threads;
  EXPECT_EQ(RunSweep({"-"}, OneChunkASecond(10)).out, expected.out);
}

// What the session warns of does not depend on how its configurations are replayed.
TEST(Sweep, Warnings_AreGivenOnceForEveryEngine) {
  const std::string log = OneChunkASecond(3) + OneChunkASecond(3);  // a buffer is set up again
  for (const char* engine : {"v1", "v2"}) {
    const std::string err = RunSweep({"-", "--sizes", "8k,64k", "--engines", engine}, log).err;
    const size_t first = err.find("warning");
    ASSERT_NE(first, std::string::npos) << engine;
    EXPECT_EQ(err.find("warning", first + 1), std::string::npos) << err;
  }
}

TEST(Sweep, Csv_BeginsWithTheColumnsAllToolsShare) {
  const std::string out =
      RunSweep({"-", "--sizes", "8k", "--format", "csv"}, OneChunkASecond(20)).out;
  EXPECT_THAT(out, StartsWith("engine,policy,size,reads,packets_written,packets_read,bytes_read,"
                              "chunks_overwritten,chunks_discarded,history_s,buffer,"));
  EXPECT_THAT(out, HasSubstr("\nv2@58,ring_buffer,8192,end,20,8,8000,12,0,7.000000000,1,-,1,"));
}

}  // namespace
}  // namespace ringscope
