// Copies of logs: those of 'verify --repair', and what 'import' shares with it.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "formats/inputs/open_log.h"
#include "formats/log/commit_log_format.h"
#include "formats/testing/frames.h"
#include "formats/testing/sample_log.h"

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class LogCopies : public ::testing::Test {
 protected:
  /// @return the copy; empty: the command failed
  std::string Repair(const std::string& log) {
    const std::string path = folder_.Write("log.tblog", log), copy = folder_.File("copy.tblog");
    ran_ = RunCommand(VerifyCommand(), {path, "--repair", copy, "--force"});
    return ran_.error.empty() ? ReadFile(copy) : "";
  }
  static LogInfo Verify(const std::string& bytes) {
    return VerifyLog(MakeMemorySource(bytes)).value();
  }

  const TempFolder folder_;
  Ran ran_;
};

/// A flipped bit in the frame with this number.
std::string WithDamage(std::string log, size_t frame) {
  char& damaged = log[FrameOffsets(log)[frame] + 30];
  damaged = static_cast<char>(damaged ^ 1);
  return log;
}

TEST_F(LogCopies, OfADamagedLog_VerifiesClean) {
  const std::string log = WriteLog(SmallSession(4), kCheckedFrame);
  for (size_t at = 0; at < log.size(); at += 7) {
    std::string flipped = log;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    const std::string copy = Repair(flipped);
    EXPECT_EQ(ran_.error, "") << at;
    EXPECT_THAT(Verify(copy).damage, IsEmpty()) << at;
    EXPECT_TRUE(ReadLogInfo(MakeMemorySource(copy)).value().from_index);
  }
  for (size_t cut = 1; cut < log.size(); cut += 7) {
    const std::string copy = Repair(log.substr(0, cut));
    // A log of which no record can be read has no copy.
    if (!ran_.error.empty())
      EXPECT_LE(cut, FrameOffsets(log)[2]) << ran_.error;
    else
      EXPECT_THAT(Verify(copy).damage, IsEmpty()) << cut;
  }
}

TEST_F(LogCopies, NoteWhatIsMissing) {
  const OpList copy = ReadLog(Repair(WithDamage(WriteLog(SmallSession(4), kCheckedFrame), 3))).ops;
  EXPECT_EQ(ran_.code, ExitCode::kNotice);
  EXPECT_THAT(WithoutLineBreaks(ran_.out),
              HasSubstr("log.tblog: 1 damaged place could not be read."));
  EXPECT_THAT(ran_.out, HasSubstr("Lost from "));
  ASSERT_THAT(copy.ops(), SizeIs(6));
  const auto& gap = std::get<RecorderGap>(copy[4].body);
  EXPECT_EQ(gap.records, 1u);
  EXPECT_EQ(gap.from_ns, 2001u);
  EXPECT_EQ(gap.to_ns, 2003u);
  EXPECT_THAT(gap.reason, HasSubstr("record 4"));
}

TEST_F(LogCopies, WithoutRecordsOfUnknownKinds_SaySo) {
  const std::string unknown_kind = "\x0a\x04\xa2\x06\x01y";
  const std::string log = commit_log::StartFrame() +
                          DataFrame(Encoded(HeaderOf("a"), 0) + Encoded(Note{"x"}) + unknown_kind);
  EXPECT_THAT(Verify(Repair(log)).damage, IsEmpty());
  EXPECT_EQ(ran_.code, ExitCode::kNotice);
  EXPECT_THAT(ran_.out, HasSubstr("1 record of kinds that this version does not know left out"));
  EXPECT_THAT(ran_.out, Not(HasSubstr("Nothing was lost")));
  const Ran imported = RunCommand(
      ImportCommand(), {folder_.Write("log.tblog", log), "-o", folder_.File("import.tblog")});
  EXPECT_EQ(imported.code, ExitCode::kNotice);
  EXPECT_THAT(imported.err, HasSubstr("1 record of kinds"));
}

TEST_F(LogCopies, OfALostHeader_HaveOne) {
  const OpList copy = ReadLog(Repair(WithDamage(WriteLog(SmallSession(3), kCheckedFrame), 1))).ops;
  ASSERT_THAT(copy.ops(), SizeIs(4));
  EXPECT_TRUE(IsImportHeader(std::get<LogHeader>(copy[0].body)));
  EXPECT_TRUE(std::holds_alternative<Commit>(copy[1].body));
  EXPECT_EQ(std::get<RecorderGap>(copy[2].body).records, 3u);
}

TEST_F(LogCopies, OfAnIntactLog_AreEqual) {
  for (const std::string& log :
       {WriteLog(SmallSession(5)), WriteLog(SmallSession(2)) + WriteLog(SmallSession(2, "b"))}) {
    EXPECT_EQ(ReadLog(Repair(log)).ops.size(), ReadLog(log).ops.size());
    EXPECT_THAT(ran_.out, HasSubstr("Nothing was lost."));
    EXPECT_EQ(ran_.code, ExitCode::kClean);
  }
  const std::string log = WriteLog(SmallSession(5));
  EXPECT_EQ(Repair(log), log);
}

TEST_F(LogCopies, OfALogThatWasNotClosed_AreMarked) {
  const std::string log = WriteLog(SmallSession(4), kCheckedFrame);
  const std::vector<size_t> offsets = FrameOffsets(log);
  const std::string open = log.substr(0, offsets[offsets.size() - 3]);
  const std::string imported = folder_.File("imported.tblog");
  const std::string repaired = Repair(open);
  const Ran ran = RunCommand(ImportCommand(), {folder_.File("log.tblog"), "-o", imported});
  EXPECT_EQ(ran.code, ExitCode::kNotice);
  EXPECT_THAT(WithoutLineBreaks(ran.err), HasSubstr("the log was not closed"));
  EXPECT_EQ(ReadFile(imported), repaired);
  const OpList copy = ReadLog(repaired).ops;
  const Op& last = copy[copy.size() - 1];
  EXPECT_EQ(std::get<RecordingEnded>(last.body).ending, RecordingEnding::kCutOff);
  EXPECT_EQ(last.time_ns, 2003u);
}

TEST_F(LogCopies, OfAllParts_AreOneLog) {
  for (uint32_t part = 0; part < 3; ++part) {
    OpList ops;
    LogHeader header = HeaderOf("a", part);
    header.repeated_records = part > 0 ? 1 : 0;
    ops.Add(std::nullopt, header).Add(std::nullopt, Note{"state"});
    ops.Add(part, Note{std::to_string(part)});
    if (part < 2) ops.Add(part, RecordingEnded{.ending = RecordingEnding::kNextPart});
    folder_.Write(part == 0 ? "cap.tblog" : "cap.000" + std::to_string(part) + ".tblog",
                  WriteLog(ops));
  }
  const std::string repaired = folder_.File("repaired"), imported = folder_.File("imported");
  const std::string part = folder_.File("cap.0001.tblog");
  const Ran ran = RunCommand(VerifyCommand(), {part, "--repair", repaired});
  EXPECT_THAT(ran.out, HasSubstr("Nothing was lost."));
  EXPECT_EQ(RunCommand(ImportCommand(), {part, "-o", imported}).code, ExitCode::kClean);
  EXPECT_EQ(ReadFile(imported), ReadFile(repaired));
  std::vector<std::string> texts;
  const ReadBack back = ReadLog(ReadFile(repaired));
  for (const Op& op : back.ops.ops()) {
    EXPECT_FALSE(std::holds_alternative<RecordingEnded>(op.body));
    if (const auto* note = std::get_if<Note>(&op.body)) texts.push_back(note->text);
  }
  EXPECT_THAT(texts, ElementsAre("state", "0", "1", "2"));
  // Parts after the last one that is there are missing.
  std::filesystem::remove(folder_.File("cap.0002.tblog"));
  const Ran cut = RunCommand(VerifyCommand(), {part, "--repair", repaired, "--force"});
  EXPECT_THAT(cut.out, HasSubstr("part 2 is missing"));
  EXPECT_THAT(cut.out, HasSubstr("marked as cut off"));
}

TEST_F(LogCopies, NeedAFile) {
  const std::string log = folder_.Write("a.ops.jsonl", "{\"op\":\"note\",\"text\":\"a\"}\n");
  const std::string fifo = folder_.File("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const int reader = ::open(fifo.c_str(), O_RDWR | O_CLOEXEC);
  const Ran ran = RunCommand(VerifyCommand(), {log, "--repair", fifo});
  ::close(reader);
  EXPECT_EQ(ran.error_code, ErrorCode::kUsage);
  EXPECT_THAT(ran.error, HasSubstr("fifo: the copy is verified, so it must be a file"));
  EXPECT_TRUE(std::filesystem::is_fifo(fifo)) << "it is not removed";
}

}  // namespace
}  // namespace ringscope::testing
