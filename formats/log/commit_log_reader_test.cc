#include "formats/log/commit_log_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/inputs/open_log.h"
#include "formats/log/commit_log_format.h"
#include "formats/log/commit_log_index.h"
#include "formats/log/record_codec.h"
#include "formats/testing/frames.h"
#include "formats/testing/sample_log.h"

namespace ringscope::testing {
namespace {

using namespace std::string_literals;

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr size_t kSmallFrame = 300;  // one commit of SmallSession each

/// The kth data frame of a log with its place: frame 0 is the start frame.
struct Span {
  size_t offset;
  size_t size;
};
Span FrameOf(const std::string& log, size_t k) {
  const std::vector<size_t> offsets = FrameOffsets(log);
  return {offsets[k], offsets[k + 1] - offsets[k]};
}

/// Which of `ops`' records were read back, by their numbers; each must be equal to the original.
std::vector<uint64_t> Survivors(const ReadBack& back, const OpList& ops) {
  for (size_t i = 0; i < back.ops.size(); ++i) {
    EXPECT_LT(back.numbers[i], ops.size());
    EXPECT_TRUE(SameOp(back.ops[i], ops[back.numbers[i]])) << "record " << back.numbers[i];
  }
  return back.numbers;
}

TEST(CommitLogReader, Concatenation_ReadsAsOne) {
  const OpList a = SmallSession(3);
  const OpList b = SmallSession(2, "b");
  const ReadBack back = ReadLog(WriteLog(a, kSmallFrame) + WriteLog(b, kSmallFrame));
  ASSERT_THAT(back.ops.ops(), SizeIs(a.size() + b.size()));
  EXPECT_THAT(back.damage, IsEmpty());
  EXPECT_TRUE(SameOp(back.ops[5], b[0]));
  EXPECT_EQ(back.numbers[5], 5u);
}

TEST(CommitLogReader, Concatenation_OfAnUnclosedLog) {
  const OpList a = SmallSession(3);
  const ReadBack back = ReadLog(WriteLog(a, kSmallFrame, /*close=*/false) + WriteLog(a));
  EXPECT_THAT(back.ops.ops(), SizeIs(2 * a.size()));
  EXPECT_THAT(back.damage, IsEmpty());
}

TEST(CommitLogReader, Torn_AtEveryByteKeepsTheWholeFrames) {
  const OpList ops = SmallSession(6);
  const std::string log = WriteLog(ops, kSmallFrame);
  const std::vector<size_t> offsets = FrameOffsets(log);
  for (size_t cut = 1; cut < log.size(); ++cut) {
    const ReadBack back = ReadLog(log.substr(0, cut));
    ASSERT_FALSE(back.error) << cut << ": " << back.error->ToString();
    size_t whole = 0;
    while (offsets[whole + 1] <= cut) ++whole;
    const bool at_border = offsets[whole] == cut;
    ASSERT_EQ(back.damage.empty(), at_border) << cut;
    if (!at_border) {
      EXPECT_EQ(back.damage[0].offset, offsets[whole]);
      EXPECT_EQ(back.damage[0].bytes, cut - offsets[whole]);
      EXPECT_THAT(back.damage[0].what, HasSubstr("ends in the middle")) << cut;
    }
    const OpList prefix = ReadLog(log.substr(0, offsets[whole])).ops;
    EXPECT_TRUE(SameOps(back.ops, prefix)) << cut;
    Survivors(back, ops);
  }
}

TEST(CommitLogReader, Flip_AtEveryByteCostsAtMostThatFrame) {
  const OpList ops = SmallSession(5);
  const std::string log = WriteLog(ops, kSmallFrame);
  const std::vector<size_t> offsets = FrameOffsets(log);
  // Records by frame, from the intact log.
  std::vector<uint64_t> first_record;
  for (const size_t offset : offsets) {
    first_record.push_back(ReadLog(log.substr(0, offset)).ops.size());
  }
  for (size_t at = 0; at < log.size(); ++at) {
    const size_t frame = static_cast<size_t>(std::upper_bound(offsets.begin(), offsets.end(), at) -
                                             offsets.begin()) -
                         1;
    for (const int mask : {0x01, 0x10, 0x80, 0xFF}) {
      std::string flipped = log;
      flipped[at] = static_cast<char>(flipped[at] ^ mask);
      const ReadBack back = ReadLog(flipped);
      ASSERT_FALSE(back.error) << at << ": " << back.error->ToString();
      const std::vector<uint64_t> survivors = Survivors(back, ops);
      std::vector<uint64_t> expected;
      for (uint64_t i = 0; i < ops.size(); ++i) {
        if (i < first_record[frame] || i >= first_record[frame + 1]) expected.push_back(i);
      }
      if (survivors.size() == ops.size()) continue;  // nothing was lost: outside data, or harmless
      ASSERT_EQ(survivors, expected) << at << " ^ " << mask;
      ASSERT_THAT(back.damage, SizeIs(1)) << at;
      EXPECT_EQ(back.damage[0].offset, offsets[frame]) << at;
      EXPECT_EQ(back.damage[0].first_record, first_record[frame]) << at;
      EXPECT_EQ(back.damage[0].records, first_record[frame + 1] - first_record[frame]) << at;
    }
  }
}

TEST(CommitLogReader, Zeroed_RegionCostsTheFramesThatItTouches) {
  const OpList ops = SmallSession(8);
  std::string log = WriteLog(ops, kSmallFrame);
  const Span from = FrameOf(log, 3);
  const Span to = FrameOf(log, 5);
  log.replace(from.offset + 10, to.offset - from.offset, to.offset - from.offset, '\0');
  const ReadBack back = ReadLog(log);
  EXPECT_THAT(back.ops.ops(), SizeIs(ops.size() - 3));
  ASSERT_THAT(back.damage, SizeIs(1));
  EXPECT_EQ(back.damage[0].offset, from.offset);
  EXPECT_EQ(back.damage[0].bytes, to.offset + to.size - from.offset);
  EXPECT_EQ(back.damage[0].records, 3u);
}

TEST(CommitLogReader, Garbage_BetweenFramesIsPassed) {
  const OpList ops = SmallSession(4);
  std::string log = WriteLog(ops, kSmallFrame);
  log.insert(FrameOf(log, 3).offset, "garbage");
  const ReadBack back = ReadLog(log);
  EXPECT_TRUE(SameOps(back.ops, ops));
  ASSERT_THAT(back.damage, SizeIs(1));
  EXPECT_EQ(back.damage[0].bytes, 7u);
  EXPECT_EQ(back.damage[0].records, 0u);
}

TEST(CommitLogReader, MissingFrames_AreNoticedByTheNumbers) {
  const OpList ops = SmallSession(6);
  std::string log = WriteLog(ops, kSmallFrame);
  const Span gone = FrameOf(log, 3);
  log.erase(gone.offset, gone.size);
  const ReadBack back = ReadLog(log);
  EXPECT_THAT(back.ops.ops(), SizeIs(ops.size() - 1));
  ASSERT_THAT(back.damage, SizeIs(1));
  EXPECT_EQ(back.damage[0].records, 1u);
  EXPECT_EQ(back.damage[0].first_record, 4u);  // the first frame has three records
}

TEST(CommitLogReader, MissingFrames_AtTheEndAreNoticedByTheIndex) {
  const OpList ops = SmallSession(6);
  std::string log = WriteLog(ops, kSmallFrame);
  const size_t frames = FrameOffsets(log).size() - 1;
  const Span last = FrameOf(log, frames - 3);
  log[last.offset + 20] = static_cast<char>(log[last.offset + 20] ^ 0x40);
  const ReadBack back = ReadLog(log);
  ASSERT_THAT(back.damage, SizeIs(1));
  EXPECT_EQ(back.damage[0].first_record, ops.size() - 1);
  EXPECT_EQ(back.damage[0].records, 1u);
}

TEST(CommitLogReader, RepeatedFrames_AreNoticed) {
  const OpList ops = SmallSession(4);
  std::string log = WriteLog(ops, kSmallFrame);
  const Span frame = FrameOf(log, 3);
  log.insert(frame.offset, log.substr(frame.offset, frame.size));
  const ReadBack back = ReadLog(log);
  EXPECT_THAT(back.ops.ops(), SizeIs(ops.size() + 1));
  ASSERT_THAT(back.damage, SizeIs(1));
  EXPECT_THAT(back.damage[0].what, HasSubstr("go back"));
}

TEST(CommitLogReader, LostStartFrame_OfAnAppendedLog) {
  const OpList a = SmallSession(2);
  const OpList b = SmallSession(2, "b");
  std::string log = WriteLog(a);
  log += WriteLog(b).substr(commit_log::kStartFrameSize);
  const ReadBack back = ReadLog(log);
  EXPECT_THAT(back.ops.ops(), SizeIs(a.size() + b.size()));
  EXPECT_EQ(back.numbers.back(), a.size() + b.size() - 1);
  EXPECT_THAT(back.damage, IsEmpty());
}

TEST(CommitLogReader, Record_ThatDoesNotParseCostsOnlyItself) {
  const std::string producer_out_of_range = "\x0a\x09\xca\x01\x06\x08\xf0\xa2\x04\x42\x00";
  const std::string log =
      commit_log::StartFrame() +
      DataFrame(Encoded(HeaderOf("a"), 0) + std::string(producer_out_of_range.data(), 11) +
                Encoded(Note{"after"}));
  const ReadBack back = ReadLog(log);
  ASSERT_THAT(back.ops.ops(), SizeIs(2));
  EXPECT_EQ(std::get<Note>(back.ops[1].body).text, "after");
  EXPECT_EQ(back.numbers[1], 2u);
  ASSERT_THAT(back.damage, SizeIs(1));
  EXPECT_EQ(back.damage[0].first_record, 1u);
  EXPECT_EQ(back.damage[0].records, 1u);
  EXPECT_THAT(back.damage[0].what, HasSubstr("commit"));
}

TEST(CommitLogReader, UnknownKindsAndFields_AreSkipped) {
  std::string unknown_field = Encoded(Note{"x"});
  unknown_field[1] = static_cast<char>(unknown_field[1] + 3);
  unknown_field += "\xfa\x3e\x00"s.substr(0, 3);
  const std::string unknown_kind = "\x0a\x04\xa2\x06\x01y"s;
  const std::string log =
      commit_log::StartFrame() + DataFrame(Encoded(HeaderOf("a"), 0) + unknown_field +
                                           unknown_kind + "\x12\x01z" + Encoded(Note{"end"}));
  const ReadBack back = ReadLog(log);
  EXPECT_THAT(back.damage, IsEmpty());
  ASSERT_THAT(back.ops.ops(), SizeIs(3));
  EXPECT_EQ(std::get<Note>(back.ops[1].body).text, "x");
  EXPECT_EQ(back.numbers[2], 3u);
}

TEST(CommitLogReader, NewerVersion_IsRefusedByName) {
  LogHeader header = HeaderOf("a");
  header.format_version = 3;
  const ReadBack back = ReadLog(commit_log::StartFrame() + DataFrame(Encoded(header, 0)));
  ASSERT_TRUE(back.error);
  EXPECT_EQ(back.error->code, ErrorCode::kUnsupported);
  EXPECT_THAT(back.error->ToString(), HasSubstr("version 3"));
  EXPECT_THAT(back.error->ToString(), HasSubstr("version 2"));
}

TEST(CommitLogReader, Hostile_FramesAreDamageAndTheRestIsRead) {
  const OpList ops = SmallSession(3);
  const std::string log = WriteLog(ops, kSmallFrame);
  const std::string plain = Encoded(Note{"x"}, 3);
  std::string huge = "\x28\xb5\x2f\xfd\xe4"s + std::string(8, '\x7f') + "\x01\x00\x00";
  std::string endless = "\x28\xb5\x2f\xfd\xa4\x00\x00\x00\x04"s + std::string(3000, '\0');
  std::string bomb = DataFrame(std::string(commit_log::kMaxFrameContent + 1, '\0'));
  for (const std::string& hostile : {huge, endless, bomb, DataFrame(plain, /*checksum=*/false),
                                     "\x5e\x2a\x4d\x18\xff\xff\xff\xff"s,
                                     "\x50\x2a\x4d\x18\x17\x00\x00\x00ringscope commit log 9\n"s}) {
    std::string mixed = log;
    mixed.insert(FrameOf(log, 3).offset, hostile);
    const ReadBack back = ReadLog(mixed);
    EXPECT_TRUE(SameOps(back.ops, ops)) << hostile.substr(0, 12);
    ASSERT_THAT(back.damage, SizeIs(1));
    EXPECT_EQ(back.damage[0].bytes, hostile.size());
  }
}

TEST(CommitLogReader, OtherToolsSkippableFrames_ArePassed) {
  const OpList ops = SmallSession(3);
  std::string log = WriteLog(ops, kSmallFrame);
  log.insert(FrameOf(log, 3).offset, "\x55\x2a\x4d\x18\x03\x00\x00\x00xyz"s);
  const ReadBack back = ReadLog(log);
  EXPECT_TRUE(SameOps(back.ops, ops));
  EXPECT_THAT(back.damage, IsEmpty());
}

TEST(CommitLogReader, EmbeddedLog_InADamagedFrameIsNotTakenForTheLog) {
  // Chunks that hold a compressed trace: their bytes do not compress again.
  const std::string inner = DataFrame("some other compressed data, stored as it is");
  std::string request;
  std::string payload = inner;
  const std::string noise = ChunkRequest(1, 1, 2000);
  payload += noise;
  CommitRequestBuilder(request).AddChunk(BufferId{1}, {ChunkId{0}, WriterId{1}, 1, 0},
                                         wire::AsBytes(payload), true);
  OpList ops;
  ops.Add({}, HeaderOf("a")).Add({}, CommitOf(request)).Add({}, Note{"after"});
  std::string log = WriteLog(ops, 100);
  const Span frame = FrameOf(log, 2);
  ASSERT_NE(log.find(inner), std::string::npos);
  log[frame.offset + 4] = static_cast<char>(log[frame.offset + 4] ^ 0x08);  // header unusable
  const ReadBack back = ReadLog(log);
  EXPECT_THAT(back.ops.ops(), SizeIs(2));
  EXPECT_THAT(back.damage, SizeIs(1));
}

TEST(CommitLogReader, Wrapped_InZstdIsRecognised) {
  const OpList ops = SmallSession(3);
  EXPECT_TRUE(SameOps(ReadLog(DataFrame(WriteLog(ops))).ops, ops));
}

TEST(OpenLog, Twice_CompressedIsAnError) {
  const ReadBack back = ReadLog(DataFrame(DataFrame("text")));
  ASSERT_TRUE(back.error);
  EXPECT_EQ(back.error->code, ErrorCode::kUnsupported);
}

TEST(OpenLog, Format_GoesByContent) {
  const std::string ops = "{\"op\":\"note\",\"text\":\"x\"}\n";
  const auto format = [](std::string bytes) {
    return (*OpenLog(MakeMemorySource(std::move(bytes))))->format();
  };
  EXPECT_EQ(format(ops), LogFormat::kOps);
  EXPECT_EQ(format("\n"), LogFormat::kOps);
  const auto empty = OpenLog(MakeMemorySource(""));
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().message, "the file is empty");
  EXPECT_EQ(format(DataFrame(ops)), LogFormat::kZstdOps);
  EXPECT_EQ(format(WriteLog(SmallSession(1))), LogFormat::kCommitLog);
}

TEST(Damage, ToString_SaysWhatIsKnown) {
  EXPECT_EQ((Damage{123, 456, 7, 3, "bad"}).ToString(),
            "at byte 123: 456 bytes lost (records 7 to 9): bad");
  EXPECT_EQ((Damage{1, 1, {}, {}, "bad"}).ToString(), "at byte 1: 1 byte lost: bad");
  EXPECT_EQ((Damage{1, 0, 4, 1, "bad"}).ToString(), "at byte 1: record 4 lost: bad");
  EXPECT_EQ((Damage{1, 0, {}, {}, "bad"}).ToString(), "at byte 1: bad");
}

}  // namespace
}  // namespace ringscope::testing
