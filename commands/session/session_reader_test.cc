#include "commands/session/session_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/testing/memory_run.h"

namespace ringscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kNoteA = R"({"op":"note","text":"a"})"
                               "\n";
constexpr const char* kNoteB = R"({"op":"note","text":"b"})"
                               "\n";
constexpr const char* kNoteC = R"({"op":"note","text":"c"})"
                               "\n";

std::string Header(const std::string& uuid, int part) {
  return R"({"op":"header","uuid":")" + uuid + R"(","part":)" + std::to_string(part) + "}\n";
}

/// The notes' texts, "gap" for damage, a "|" in front of each session.
std::vector<std::string> Read(MemoryRun& run, SessionSelection selection) {
  std::vector<std::string> seen;
  SessionReader reader(run.context, std::move(selection), "reading");
  while (true) {
    const Result<bool> more = reader.NextSession();
    if (!more) {
      seen.push_back(more.error().message);
      break;
    }
    if (!*more) break;
    seen.push_back("|");
    while (true) {
      const Result<std::optional<Op>> op = reader.Next();
      if (!op) return seen.push_back(op.error().ToString()), seen;
      if (!*op) break;
      if (const auto* note = std::get_if<Note>(&(*op)->body)) seen.push_back(note->text);
      if (const auto* gap = std::get_if<RecorderGap>(&(*op)->body))
        seen.push_back(gap->is_damage ? "gap" : "recorder's gap");
    }
  }
  reader.Finish();
  return seen;
}

TEST(SessionReader, PlainOperations_AreOneSession) {
  MemoryRun run(std::string(kNoteA) + kNoteB);
  EXPECT_THAT(Read(run, {{"-"}, {}}), ElementsAre("|", "a", "b"));
}

TEST(SessionReader, Headers_StartSessionsUnlessTheyContinueOne) {
  const std::string one(32, '1');
  const std::string two(32, '2');
  MemoryRun run(Header(one, 0) + kNoteA + Header(one, 1) + kNoteB + Header(two, 0) + kNoteC +
                Header(two, 0) + kNoteA + Header(one, 1) + kNoteB);
  EXPECT_THAT(Read(run, {{"-"}, {}}), ElementsAre("|", "a", "b", "|", "c", "|", "a", "|", "b"));
}

TEST(SessionReader, Damage_IsAGapOfItsSession) {
  const std::string one(32, '1');
  const std::string two(32, '2');
  constexpr const char* kBad = "not JSON\n";
  const auto read = [](const std::string& log) {
    MemoryRun run(log);
    return Read(run, {{"-"}, {}});
  };
  EXPECT_THAT(read(std::string(kNoteA) + kBad + kNoteB), ElementsAre("|", "a", "gap", "b"));
  EXPECT_THAT(read(std::string(kNoteA) + kBad), ElementsAre("|", "a", "gap"));
  // No session is before the first record.
  EXPECT_THAT(read(std::string(kBad) + kNoteA + kNoteB), ElementsAre("|", "a", "gap", "b"));
  EXPECT_THAT(read(Header(one, 0) + kNoteA + kBad + Header(two, 0) + kNoteB),
              ElementsAre("|", "a", "gap", "|", "b"));
  EXPECT_THAT(read(Header(one, 0) + kNoteA + kBad + Header(one, 1) + kNoteB),
              ElementsAre("|", "a", "gap", "b"));
}

TEST(SessionReader, TimeThatGoesBack_IsSaid) {
  const auto note = [](uint64_t ns) {
    return R"({"op":"note","text":"a","ts":)" + std::to_string(ns) + "}\n";
  };
  for (const uint64_t back_ns : {uint64_t{1'000'000}, uint64_t{5'000'000'000}}) {
    MemoryRun run(note(20'000'000'000) + note(20'000'000'000 - back_ns));
    SessionReader reader(run.context, {{"-"}, {}}, "reading");
    ASSERT_TRUE(reader.NextSession().value());
    while (reader.Next().value()) {
    }
    // A clock can be a little off; twelve hours are another log.
    if (back_ns < 1'000'000'000)
      EXPECT_THAT(reader.reported().assumptions, ::testing::IsEmpty());
    else
      EXPECT_THAT(reader.reported().assumptions,
                  ElementsAre(HasSubstr("time goes back by 5.000 s at record 1")));
  }
}

TEST(SessionReader, TimeThatGoesBackAllTheTime_IsSaidAFewTimes) {
  std::string log;
  for (int i = 0; i < 200; ++i)
    log +=
        R"({"op":"note","text":"a","ts":)" + std::string(i % 2 == 0 ? "9" : "1") + "000000000}\n";
  MemoryRun run(log);
  SessionReader reader(run.context, {{"-"}, {}}, "reading");
  ASSERT_TRUE(reader.NextSession().value());
  while (reader.Next().value()) {
  }
  EXPECT_GT(reader.reported().assumptions.size(), 0u);
  EXPECT_LE(reader.reported().assumptions.size(), 16u);
}

TEST(SessionReader, Files_ContinueASessionOnlyByItsNextPart) {
  const TempFolder folder;
  const std::string uuid(32, '1');
  const std::string first = folder.Write("1", Header(uuid, 0) + kNoteA);
  const std::string second = folder.Write("2", Header(uuid, 1) + kNoteB);
  const std::string plain = folder.Write("3", kNoteC);
  MemoryRun run;
  EXPECT_THAT(Read(run, {{first, second, plain, plain}, {}}),
              ElementsAre("|", "a", "b", "|", "c", "|", "c"));
}

TEST(SessionReader, OneSession_IsSelectedByNumber) {
  const TempFolder folder;
  const std::string a = folder.Write("a", kNoteA);
  const std::string b = folder.Write("b", kNoteB);
  const std::string c = folder.Write("c", kNoteC);
  MemoryRun run;
  EXPECT_THAT(Read(run, {{a, b, c}, 2}), ElementsAre("|", "b"));
  EXPECT_THAT(Read(run, {{a, b, c}, 3}), ElementsAre("|", "c"));
  EXPECT_THAT(Read(run, {{a, b, c}, 4}), ElementsAre("no session 4: the input has 3 sessions"));
}

TEST(SessionReader, EmptyInput_IsSaid) {
  MemoryRun run("# nothing\n");
  EXPECT_THAT(Read(run, {{"-"}, {}}), ElementsAre());
  EXPECT_THAT(run.err.text, HasSubstr("there are no records"));
}

TEST(SessionReader, InputOfBadLinesAlone_IsAnError) {
  MemoryRun run("{\"op\":\"nonsense\"}\n");
  EXPECT_THAT(Read(run, {{"-"}, {}}), ElementsAre("no record of it can be read"));
}

TEST(SessionReader, BadLine_IsLeftOutAndReported) {
  MemoryRun run(std::string(kNoteA) + "{\"op\":\"note\",\"text\":7}\n" + kNoteA);
  const std::vector<std::string> seen = Read(run, {{"-"}, {}});
  EXPECT_THAT(seen, ElementsAre("|", "a", "gap", "a"));
  EXPECT_THAT(run.err.text, HasSubstr("(record 1): line 2: key \"text\""));
}

}  // namespace
}  // namespace ringscope
