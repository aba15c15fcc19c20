#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "formats/inputs/open_log.h"
#include "formats/testing/sample_log.h"
#include "formats/testing/testdata.h"

namespace ringscope::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class CommitLogCheck : public ::testing::Test {
 protected:
  static std::unique_ptr<ByteSource> Open(const std::string& bytes) {
    return MakeMemorySource(bytes);
  }
  static LogInfo Info(const std::string& bytes) { return ReadLogInfo(Open(bytes)).value(); }
  static LogInfo Verify(const std::string& bytes) { return VerifyLog(Open(bytes)).value(); }
};

auto Says(const std::string& text) { return Field(&Damage::what, HasSubstr(text)); }

/// Without its end: what a recorder that was killed leaves.
std::string WithoutEnd(const std::string& log, size_t frames = 2) {
  const std::vector<size_t> offsets = FrameOffsets(log);
  return log.substr(0, offsets[offsets.size() - 1 - frames]);
}

TEST_F(CommitLogCheck, Info_FromIndexEqualsInfoFromAScan) {
  OpList two_sessions = SmallSession(4);
  const OpList every_kind = EveryKind();
  for (const Op& op : every_kind.ops()) two_sessions.Add(op);
  for (const OpList& ops : {SmallSession(3), every_kind, two_sessions}) {
    const std::string log = WriteLog(ops, kCheckedFrame);
    const LogInfo indexed = Info(log);
    const LogInfo scanned = Info(WithoutEnd(log));
    EXPECT_TRUE(indexed.from_index);
    EXPECT_TRUE(indexed.cleanly_closed);
    EXPECT_FALSE(scanned.from_index);
    EXPECT_FALSE(scanned.cleanly_closed);
    EXPECT_EQ(indexed.sessions, scanned.sessions);
    EXPECT_EQ(indexed.raw_bytes, scanned.raw_bytes);
    EXPECT_EQ(indexed.data_frames, scanned.data_frames);
    EXPECT_EQ(indexed.file_bytes, log.size());
    EXPECT_THAT(scanned.damage, IsEmpty());
  }
}

TEST_F(CommitLogCheck, Info_OfConcatenatedLogsIsScanned) {
  const LogInfo info = Info(WriteLog(SmallSession(3)) + WriteLog(SmallSession(2, "b")));
  EXPECT_FALSE(info.from_index);
  EXPECT_TRUE(info.cleanly_closed);
  ASSERT_THAT(info.sessions, SizeIs(2));
  EXPECT_EQ(info.sessions[1].first_record, 5u);
}

TEST_F(CommitLogCheck, Info_OfAContinuedSessionIsOne) {
  OpList next;
  next.Add(9000, HeaderOf("a", 1)).Add(9001, CommitOf(ChunkRequest(7, 3, 50)));
  const LogInfo info = Info(WriteLog(SmallSession(3)) + WriteLog(next));
  ASSERT_THAT(info.sessions, SizeIs(1));
  EXPECT_EQ(info.sessions[0].chunks, 4u);
}

TEST_F(CommitLogCheck, Info_DoesNotTrustADamagedIndex) {
  const std::string log = WriteLog(SmallSession(3), kCheckedFrame);
  const LogInfo intact = Info(log);
  const std::vector<size_t> offsets = FrameOffsets(log);
  for (size_t at = offsets[offsets.size() - 3]; at < log.size(); ++at) {
    std::string flipped = log;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x04);
    const LogInfo info = Info(flipped);
    EXPECT_EQ(info.sessions, intact.sessions) << at;
  }
}

TEST_F(CommitLogCheck, Info_OfAText) {
  const LogInfo info = Info("{\"op\":\"note\",\"text\":\"x\"}\n");
  EXPECT_EQ(info.format, LogFormat::kOps);
  ASSERT_THAT(info.sessions, SizeIs(1));
  EXPECT_EQ(info.sessions[0].records, 1u);
  EXPECT_FALSE(info.cleanly_closed);
}

TEST_F(CommitLogCheck, Verify_CleanLogs) {
  EXPECT_THAT(Verify(WriteLog(OpList())).damage, IsEmpty());
  EXPECT_THAT(Verify(WriteLog(SmallSession(5), kCheckedFrame)).damage, IsEmpty());
  const LogInfo joined =
      Verify(WriteLog(SmallSession(5), kCheckedFrame) + WriteLog(SmallSession(2), kCheckedFrame));
  EXPECT_THAT(joined.damage, IsEmpty());
  EXPECT_THAT(joined.sessions, SizeIs(2));
  OpList derived;
  derived.Add({}, ImportHeader()).Add(4, Note{"x"}).Add({}, ImportHeader()).Add({}, Note{"y"});
  EXPECT_THAT(Verify(WriteLog(derived)).damage, IsEmpty());
}

/// Nothing is damaged, and nothing is missing at an end.
bool IsWhole(const LogInfo& info) { return info.damage_count == 0 && info.closed; }

TEST_F(CommitLogCheck, Verify_FindsEveryFlip) {
  const std::string log = WriteLog(SmallSession(4), kCheckedFrame);
  for (size_t at = 0; at < log.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = log;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      EXPECT_FALSE(IsWhole(Verify(flipped))) << "byte " << at << " bit " << bit;
    }
  }
}

TEST_F(CommitLogCheck, Verify_FindsEveryCut) {
  const std::string log = WriteLog(SmallSession(4), kCheckedFrame);
  for (size_t cut = 1; cut < log.size(); ++cut) {
    EXPECT_FALSE(IsWhole(Verify(log.substr(0, cut)))) << cut;
  }
}

TEST_F(CommitLogCheck, Verify_UnclosedLog) {
  const std::string log = WriteLog(SmallSession(4), kCheckedFrame);
  for (const std::string& unclosed : {WithoutEnd(log), WithoutEnd(log) + log}) {
    EXPECT_FALSE(Verify(unclosed).closed);
    EXPECT_THAT(Verify(unclosed).damage, IsEmpty());  // as 'info' says
  }
  EXPECT_THAT(Verify(WithoutEnd(log, 1)).damage, ElementsAre(Says("no seek table")));
}

TEST_F(CommitLogCheck, Verify_IndexOfOtherRecords) {
  const std::string log = WriteLog(SmallSession(4), kCheckedFrame);
  const std::string other = WriteLog(SmallSession(4, "b"), kCheckedFrame);
  const size_t end = WithoutEnd(log).size();
  ASSERT_EQ(end, WithoutEnd(other).size());
  EXPECT_THAT(Verify(log.substr(0, end) + other.substr(end)).damage,
              Contains(Says("entry does not match")));
}

TEST_F(CommitLogCheck, Verify_UnsoundRequestsAreNoDamage) {
  std::string small_chunk;
  CommitRequestBuilder(small_chunk)
      .AddChunk({.page = {},
                 .index = {},
                 .target_buffer = 1,
                 .data = wire::AsBytes("short"),
                 .incomplete = false});
  OpList ops;
  ops.Add({}, HeaderOf("a")).Add({}, CommitOf(small_chunk)).Add({}, CommitOf("\x0a\x7f"));
  const LogInfo info = Verify(WriteLog(ops));
  EXPECT_THAT(info.damage, IsEmpty()) << "what a producer sent is no damage of the log";
}

TEST_F(CommitLogCheck, Captures_SurviveTheCommitLog) {
  for (const std::string& name : ListTestdata("captures", "session.ops.jsonl.zst")) {
    auto text = OpenLog(TestdataPath(name).string());
    ASSERT_TRUE(text) << name;
    ReadBack ops = ReadAllRecords(**text);
    ASSERT_FALSE(ops.error) << ops.error->ToString();
    OpList with_header;
    LogHeader header = ImportHeader();
    header.uuid = "x";
    with_header.Add({}, header);
    for (const Op& op : ops.ops.ops()) with_header.Add(op);
    const std::string log = WriteLog(with_header);
    EXPECT_TRUE(SameOps(ReadLog(log).ops, with_header)) << name;
    EXPECT_THAT(Verify(log).damage, IsEmpty()) << name;
  }
}

}  // namespace
}  // namespace ringscope::testing
