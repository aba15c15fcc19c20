// The files of recordings, and the commands that read them: parts, older recordings, a total limit.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "commands/record/log_queue.h"
#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "core/perfetto/commit_request.h"
#include "formats/inputs/open_log.h"

namespace ringscope {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Text without its line breaks.
std::string OneLine(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

class Recordings : public ::testing::Test {
 protected:
  LogFilesOptions Options() const {
    LogFilesOptions options;
    options.path = log_;
    options.header.tool = "test";
    options.header.uuid = RandomUuid();
    return options;
  }
  static void Append(LogFiles& files, uint64_t time_ns, OpBody body) {
    ASSERT_TRUE(files.Append({.time_ns = time_ns, .body = std::move(body)}));
    ASSERT_TRUE(files.Flush());
  }
  /// Records packets, numbered from 0, that are read after each fourth.
  /// @param reads false: at the end only
  static void Record(LogFilesOptions options, uint32_t packets, bool close = true,
                     bool reads = true) {
    const auto files = LogFiles::Create(std::move(options)).value();
    uint64_t time = 1000;
    Append(*files, time, ProducerConnected{.producer = kProducer, .name = "p"});
    Append(*files, time, BufferSetUp{.id = kBuffer, .index = 0, .size = 65536});
    Append(*files, time, WriterRegistered{kProducer, kWriter, kBuffer});
    uint32_t random = 1;
    for (uint32_t i = 0; i < packets; ++i) {
      std::string packet(1000, '\0');
      for (char& c : packet) c = static_cast<char>((random = random * 1664525 + 1013904223) >> 24);
      const std::string payload = "\xe8\x07" + packet;
      std::string request;
      CommitRequestBuilder(request).AddChunk(kBuffer, {ChunkId{i}, kWriter, 1, 0},
                                             wire::AsBytes(payload), true);
      Commit commit;
      commit.producer = kProducer;
      commit.request = wire::AsBytes(request);
      Append(*files, ++time, commit);
      if (reads ? i % 4 == 3 : i + 1 == packets)
        Append(*files, ++time, ReadPass{.buffer = kBuffer});
    }
    if (close) {
      ASSERT_TRUE(files->Close(RecordingEnding::kSignal, time));
    }
  }
  void RecordParts(uint32_t packets = 100, bool close = true) {
    LogFilesOptions options = Options();
    options.max_size = 10'000;
    Record(options, packets, close);
  }
  /// The packets of a replay, one per line.
  static std::vector<std::string> Packets(const std::vector<std::string>& logs,
                                          ExitCode expected = ExitCode::kClean) {
    std::vector<std::string> args = logs;
    args.insert(args.end(), {"--events", "-"});
    const Ran ran = RunCommand(ReplayCommand(), args);
    EXPECT_EQ(ran.error, "");
    EXPECT_EQ(ran.code, expected) << ran.err;
    std::vector<std::string> packets;
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);)
      if (line.find("\"event\":\"packet\"") != std::string::npos) packets.push_back(line);
    return packets;
  }
  std::string Part(uint32_t part) const { return PartPath(log_, part); }

  static constexpr ProducerId kProducer{1};
  static constexpr WriterId kWriter{1};
  static constexpr BufferId kBuffer{1};
  const TempFolder folder_;
  const std::string log_ = folder_.File("cap.tblog");
};

TEST_F(Recordings, AnyPart_ReplaysAllOfThem) {
  RecordParts();
  ASSERT_GT(folder_.FileCount(), 4u);
  const std::vector<std::string> all = Packets({log_});
  EXPECT_EQ(all.size(), 100u);
  EXPECT_EQ(Packets({Part(3)}), all);
  EXPECT_EQ(Packets({Part(2), log_, Part(1)}), all);
  const Ran info = RunCommand(InfoCommand(), {Part(1)});
  EXPECT_EQ(info.code, ExitCode::kClean);
  EXPECT_THAT(info.out, AllOf(HasSubstr(" parts: "), HasSubstr("when it was asked to")));
  const Ran verify = RunCommand(VerifyCommand(), {log_});
  EXPECT_EQ(verify.code, ExitCode::kClean);
  EXPECT_EQ(CountOf(verify.out, "no damage"), folder_.FileCount());
}

TEST_F(Recordings, PartsRenamedAndShuffled_AreTheSameLog) {
  RecordParts();
  const std::vector<std::string> all = Packets({log_});
  std::vector<std::string> names;
  const auto parts = static_cast<uint32_t>(folder_.FileCount());
  for (uint32_t part = 0; part < parts; ++part) {
    names.push_back(folder_.File(fmt::format("x{}.tblog", 100 - part)));
    fs::rename(Part(part), names.back());
  }
  std::ranges::sort(names);
  EXPECT_EQ(Packets(names), all);
}

TEST_F(Recordings, MissingPart_IsNamedByAllCommands) {
  RecordParts();
  fs::remove(Part(2));
  const std::string missing = "part 2 is missing, between " + Part(1) + " and " + Part(3);
  const Ran verify = RunCommand(VerifyCommand(), {log_, "--format", "json"});
  EXPECT_EQ(verify.code, ExitCode::kNotice);
  EXPECT_THAT(verify.out, HasSubstr(missing));
  const Ran info = RunCommand(InfoCommand(), {log_, "--format", "json"});
  EXPECT_EQ(info.code, ExitCode::kNotice);
  EXPECT_THAT(info.out, HasSubstr(missing));
  const Ran replay = RunCommand(ReplayCommand(), {log_});
  EXPECT_EQ(replay.code, ExitCode::kNotice);
  EXPECT_THAT(replay.err, AllOf(HasSubstr(missing), HasSubstr("begins with part 3")));
}

TEST_F(Recordings, LastPartThatIsMissing_IsNamed) {
  RecordParts();
  const auto last = static_cast<uint32_t>(folder_.FileCount() - 1);
  fs::remove(Part(last));
  const Ran replay = RunCommand(ReplayCommand(), {log_});
  EXPECT_EQ(replay.code, ExitCode::kNotice);
  EXPECT_THAT(replay.err, HasSubstr(fmt::format("part {} is missing, after ", last)));
}

TEST_F(Recordings, OlderRecording_IsReplacedWithItsPartsOrNotAtAll) {
  RecordParts();
  const size_t parts = folder_.FileCount();
  const std::string before = ReadFile(log_);
  const auto refused = LogFiles::Create(Options());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().ToString(), HasSubstr("--force"));
  EXPECT_EQ(folder_.FileCount(), parts);
  EXPECT_EQ(ReadFile(log_), before);
  // Also where only further parts are left of it.
  fs::remove(log_);
  EXPECT_FALSE(LogFiles::Create(Options()));

  const std::string mine = folder_.Write("cap.0100.tblog", "no part");
  LogFilesOptions options = Options();
  options.replace = true;
  Record(options, 1);
  EXPECT_EQ(folder_.FileCount(), 2u);
  EXPECT_EQ(ReadFile(mine), "no part");
  fs::remove(mine);
  EXPECT_EQ(Packets({log_}).size(), 1u);
}

TEST_F(Recordings, TwoRecorders_NeverShareAFile) {
  LogFilesOptions options = Options();
  options.max_size = 1;
  const auto files = LogFiles::Create(options).value();
  options.replace = true;
  const auto second = LogFiles::Create(options);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().ToString(), HasSubstr("being recorded by "));
  // Nor when the first one has moved on, and its first part is gone.
  Append(*files, 1, Note{"a"});
  Append(*files, 2, Note{"b"});
  fs::remove(log_);
  const auto third = LogFiles::Create(options);
  ASSERT_FALSE(third);
  EXPECT_THAT(third.error().ToString(), HasSubstr("being recorded by "));
}

TEST_F(Recordings, TotalLimit_KeepsTheLastParts_WhichReplayAsTheEndOfAll) {
  RecordParts(400);
  const std::vector<std::string> all = Packets({log_});
  for (const auto& entry : fs::directory_iterator(folder_.path())) fs::remove(entry.path());

  LogFilesOptions options = Options();
  options.max_size = 10'000;
  options.keep = 60'000;
  Record(options, 400);
  uint64_t kept = 0;
  for (const auto& entry : fs::directory_iterator(folder_.path())) kept += entry.file_size();
  EXPECT_LE(kept, 70'000u);
  EXPECT_GT(kept, 40'000u);
  EXPECT_FALSE(fs::exists(log_));
  const std::string first = FilesNamedAsParts(log_).front();

  const Ran replay = RunCommand(ReplayCommand(), {first});
  EXPECT_EQ(replay.code, ExitCode::kNotice);
  EXPECT_THAT(replay.err, AllOf(HasSubstr("the records before are missing"),
                                HasSubstr("replayed from empty"), Not(HasSubstr("part 0"))));
  const std::vector<std::string> last = Packets({first}, ExitCode::kNotice);
  ASSERT_GT(last.size(), 30u);
  ASSERT_LT(last.size(), 100u);
  // The first packet reports what was lost before it; its followers are the same.
  EXPECT_TRUE(
      std::equal(last.begin() + 1, last.end(), all.end() - static_cast<long>(last.size()) + 1));
  const Ran info = RunCommand(InfoCommand(), {first});
  EXPECT_EQ(info.code, ExitCode::kNotice);
  EXPECT_THAT(OneLine(info.out), HasSubstr("the records before are missing"));
}

TEST_F(Recordings, TotalLimit_OfSeveralBuffersLosesNothingThatTheyHold) {
  Record(Options(), 400, /*close=*/true, /*reads=*/false);
  const std::vector<std::string> all = Packets({log_});
  ASSERT_GT(all.size(), 60u);
  fs::remove(log_);
  LogFilesOptions options = Options();
  options.max_size = 10'000;
  options.keep = 60'000;  // less than the buffer holds
  Record(options, 400, /*close=*/true, /*reads=*/false);
  std::string first = FilesNamedAsParts(log_).front();
  EXPECT_LT(Packets({first}, ExitCode::kNotice).size(), all.size() - 5);

  for (const auto& entry : fs::directory_iterator(folder_.path())) fs::remove(entry.path());
  options = Options();
  options.max_size = 10'000;
  options.keep = 200'000;
  Record(options, 400, /*close=*/true, /*reads=*/false);
  first = FilesNamedAsParts(log_).front();
  const std::string since = "buffers which were there before are replayed from empty";
  for (const Command& command : {ReplayCommand(), GapsCommand(), StatsCommand()}) {
    const Ran ran = RunCommand(command, {first});
    EXPECT_EQ(ran.code, ExitCode::kNotice);
    EXPECT_THAT(OneLine(ran.err), HasSubstr(since)) << command.name;
    EXPECT_THAT(OneLine(RunCommand(command, {first, "--format", "json"}).out), HasSubstr(since))
        << command.name;
  }
  EXPECT_THAT(OneLine(RunCommand(DoctorCommand(), {first, "--format", "json"}).out),
              HasSubstr(since));
  const std::vector<std::string> last = Packets({first}, ExitCode::kNotice);
  EXPECT_LE(last.size(), all.size() + 1);  // where its write position was, a chunk more or less
  EXPECT_GE(last.size(), all.size() - 1);
}

TEST_F(Recordings, LogThatWasNotClosed_IsSaidSoByEachCommand_AndByItsCopy) {
  RecordParts(100, /*close=*/false);
  const std::vector<Command> commands = {VerifyCommand(), InfoCommand(), ReplayCommand()};
  for (const Command& command : commands) {
    const Ran ran = RunCommand(command, {log_});
    EXPECT_EQ(ran.code, ExitCode::kNotice);
    EXPECT_THAT(ran.out + ran.err, HasSubstr("was not closed"));
  }
  const std::string copy = folder_.File("copy.tblog");
  const Ran repair = RunCommand(VerifyCommand(), {log_, "--repair", copy});
  EXPECT_EQ(repair.code, ExitCode::kNotice);
  EXPECT_THAT(OneLine(repair.out), HasSubstr("marked as cut off"));
  for (const Command& command : commands) {
    const Ran ran = RunCommand(command, {copy});
    EXPECT_EQ(ran.code, ExitCode::kNotice);
    EXPECT_THAT(ran.out + ran.err, HasSubstr("a copy of one"));
  }
  EXPECT_EQ(Packets({copy}, ExitCode::kNotice), Packets({log_}, ExitCode::kNotice));
}

TEST_F(Recordings, LogThatIsBeingRecorded_CanBeRead_AndIsSaidSo) {
  const auto files = LogFiles::Create(Options()).value();
  Append(*files, 7, Note{"a"});
  Append(*files, 2'000'007, Note{"b"});
  const Ran info = RunCommand(InfoCommand(), {log_});
  EXPECT_EQ(info.code, ExitCode::kNotice);
  EXPECT_THAT(OneLine(info.out),
              AllOf(HasSubstr("being recorded by "), HasSubstr("its last record is 2.0 ms after")));
}

TEST_F(Recordings, RequestThatAProducerSentMalformed_IsNoDamage) {
  {
    const auto files = LogFiles::Create(Options()).value();
    Append(*files, 1, ProducerConnected{.producer = kProducer, .name = "p"});
    Append(*files, 2, BufferSetUp{.id = kBuffer, .index = 0, .size = 65536});
    const std::string request = "\x0a\x7f";  // a chunk of more bytes than follow
    Commit commit;
    commit.producer = kProducer;
    commit.request = wire::AsBytes(request);
    Append(*files, 3, commit);
    ASSERT_TRUE(files->Close(RecordingEnding::kSignal, 4));
  }
  const Ran verify = RunCommand(VerifyCommand(), {log_});
  EXPECT_EQ(verify.code, ExitCode::kClean);
  EXPECT_THAT(verify.out, HasSubstr("no damage"));
  EXPECT_EQ(RunCommand(ReplayCommand(), {log_}).error, "");
}

TEST_F(Recordings, EmptyFile_IsDamage) {
  const std::string empty = folder_.Write("empty.tblog", "");
  const Ran verify = RunCommand(VerifyCommand(), {empty});
  EXPECT_EQ(verify.code, ExitCode::kNotice);
  EXPECT_THAT(verify.out, HasSubstr("the file is empty"));
  for (const Command& command : {InfoCommand(), ReplayCommand()}) {
    const Ran ran = RunCommand(command, {empty});
    EXPECT_THAT(ran.error,
                AllOf(HasSubstr("empty.tblog: the file is empty"), HasSubstr("expected a .tblog")));
  }
}

}  // namespace
}  // namespace ringscope
