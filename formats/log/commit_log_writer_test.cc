#include "formats/log/commit_log_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xxhash.h>
#include <zstd.h>

#include <fstream>
#include <sstream>

#include "formats/io/compressed_source.h"
#include "formats/log/commit_log_format.h"
#include "formats/testing/commit_log_schema.h"
#include "formats/testing/sample_log.h"
#include "formats/testing/string_sink.h"
#include "formats/testing/testdata.h"

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string Decompressed(const std::string& log) {
  return ReadAll(*MakeZstdSource(MakeMemorySource(log)));
}

TEST(CommitLogWriter, RoundTrip_EveryKind) {
  const OpList ops = EveryKind();
  for (const size_t frame_bytes : {size_t{1}, size_t{100}, size_t{1} << 20}) {
    SCOPED_TRACE(frame_bytes);
    ExpectWhole(ReadLog(WriteLog(ops, frame_bytes)), ops);
  }
}

TEST(CommitLogWriter, RoundTrip_EmptyLog) {
  const ReadBack back = ReadLog(WriteLog(OpList()));
  EXPECT_THAT(back.ops.ops(), IsEmpty());
  EXPECT_THAT(back.damage, IsEmpty());
}

size_t CountOf(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(CommitLogWriter, StandardTools_DecompressedIsTheProtobufMessage) {
  if (!HasProtoc()) GTEST_SKIP() << "needs protoc";
  const OpList ops = EveryKind();
  const std::string text = DecodeWithProtoc("CommitLog", Decompressed(WriteLog(ops, 300)));
  EXPECT_EQ(CountOf(text, "record {"), ops.size());
  EXPECT_THAT(text, HasSubstr("chunks_to_move {"));
}

TEST(CommitLogWriter, StandardTools_ConcatenatedLogsAreOneMessage) {
  if (!HasProtoc()) GTEST_SKIP() << "needs protoc";
  const std::string log = WriteLog(SmallSession(3)) + WriteLog(SmallSession(4, "b"));
  const std::string text = DecodeWithProtoc("CommitLog", Decompressed(log));
  EXPECT_EQ(CountOf(text, "record {"), 5u + 6u);
}

TEST(CommitLogWriter, Determinism_SameInputSameBytes) {
  OpList ops;
  ops.Add({}, ImportHeader());
  for (uint32_t i = 0; i < 20; ++i) ops.Add(i, CommitOf(ChunkRequest(1, i, 500)));
  EXPECT_EQ(WriteLog(ops, 2000), WriteLog(ops, 2000));
}

TEST(CommitLogWriter, Uuid_IsDerivedFromTheRecordsThatFollow) {
  const auto uuid = [](const OpList& ops) {
    const ReadBack back = ReadLog(WriteLog(ops));
    return std::get<LogHeader>(back.ops[0].body).uuid;
  };
  OpList one;
  one.Add({}, ImportHeader()).Add({}, Note{"one"});
  OpList two;
  two.Add({}, ImportHeader()).Add({}, Note{"two"});
  EXPECT_THAT(uuid(one), SizeIs(32));
  EXPECT_EQ(uuid(one), uuid(one));
  EXPECT_NE(uuid(one), uuid(two));
}

TEST(CommitLogWriter, Uuid_IsDerivedEvenIfTheFirstRecordIsLargerThanAFrame) {
  OpList ops;
  ops.Add({}, ImportHeader()).Add({}, Note{std::string(500, 'x')});
  OpList other;
  other.Add({}, ImportHeader()).Add({}, Note{std::string(500, 'y')});
  EXPECT_NE(std::get<LogHeader>(ReadLog(WriteLog(ops, 100)).ops[0].body).uuid,
            std::get<LogHeader>(ReadLog(WriteLog(other, 100)).ops[0].body).uuid);
}

TEST(CommitLogWriter, Uuid_OnceDerivedIsKeptAndChangesNothing) {
  for (const size_t first : {size_t{10}, size_t{180}, size_t{500}}) {
    OpList ops;
    ops.Add({}, ImportHeader()).Add({}, Note{std::string(first, 'x')}).Add({}, Note{"y"});
    const std::string log = WriteLog(ops, 250);
    EXPECT_EQ(WriteLog(ReadLog(log).ops, 250), log) << first;
  }
}

TEST(CommitLogWriter, Frames_HeaderStartsOne) {
  OpList ops;
  ops.Add({}, HeaderOf("a")).Add({}, Note{"x"}).Add({}, HeaderOf("b")).Add({}, Note{"y"});
  // Start, two data frames, index, seek table.
  EXPECT_THAT(FrameOffsets(WriteLog(ops)), SizeIs(6));
}

TEST(CommitLogWriter, Frames_FlushMakesWhatWasAppendedReadable) {
  StringSink sink;
  const auto writer = CommitLogWriter::Create(sink).value();
  const OpList ops = SmallSession(2);
  AppendAll(ops, *writer);
  ASSERT_TRUE(writer->Flush());
  EXPECT_TRUE(SameOps(ReadLog(sink.text).ops, ops));
  EXPECT_EQ(writer->bytes_written(), sink.text.size());
}

TEST(CommitLogWriter, Pauses_LeaveTheRecordsAsTheyAre) {
  OpList ops;
  ops.Add({}, HeaderOf("a"));
  for (uint32_t i = 0; i < 200; ++i) ops.Add(i, CommitOf(ChunkRequest(1, i, 4000)));
  for (const size_t frame_bytes : {size_t{1}, size_t{5000}, size_t{1} << 20}) {
    StringSink sink;
    int pauses = 0;
    CommitLogWriterOptions options;
    options.frame_bytes = frame_bytes;
    options.pause = [&pauses] { ++pauses; };
    options.map_memory = true;
    const auto writer = CommitLogWriter::Create(sink, options).value();
    pauses = 0;
    AppendAll(ops, *writer);
    ASSERT_TRUE(writer->Close());
    ExpectWhole(ReadLog(sink.text), ops);
    EXPECT_EQ(writer->bytes_written(), sink.text.size());
    EXPECT_EQ(FrameOffsets(sink.text).size(), FrameOffsets(WriteLog(ops, frame_bytes)).size());
    EXPECT_GT(pauses, 10);
  }
}

TEST(CommitLogWriter, Threads_WriteTheSameFile) {
  OpList ops;
  ops.Add({}, ImportHeader());
  for (uint32_t i = 0; i < 200; ++i) ops.Add(i, CommitOf(ChunkRequest(1, i, 100 + 37 * (i % 90))));
  ops.Add({}, HeaderOf("b")).Add({}, Note{"another session"});
  for (const size_t frame_bytes : {size_t{1}, size_t{5000}, size_t{1} << 20}) {
    const std::string log = WriteLog(ops, frame_bytes);
    for (const unsigned threads : {1U, 2U, 5U})
      EXPECT_EQ(WriteLog(ops, frame_bytes, /*close=*/true, threads), log)
          << frame_bytes << " " << threads;
  }
}

TEST(CommitLogWriter, Threads_FlushMakesWhatWasAppendedReadable) {
  StringSink sink;
  const auto writer = CommitLogWriter::Create(sink, {.frame_bytes = 300, .threads = 2}).value();
  const OpList ops = SmallSession(50);
  AppendAll(ops, *writer);
  ASSERT_TRUE(writer->Flush());
  EXPECT_TRUE(SameOps(ReadLog(sink.text).ops, ops));
}

/// A disk with little space.
class SmallSink : public ByteSink {
 public:
  explicit SmallSink(size_t space) : space_(space) {}
  using ByteSink::Write;
  Status Write(Bytes bytes) override {
    if (bytes.size() <= space_) {
      space_ -= bytes.size();
      return {};
    }
    return Fail(ErrorCode::kIo, "the disk is full");
  }

 private:
  size_t space_;
};

TEST(CommitLogWriter, Threads_ErrorOfTheSinkShowsAndStays) {
  SmallSink sink(2000);
  const auto writer = CommitLogWriter::Create(sink, {.frame_bytes = 300, .threads = 2}).value();
  const OpList ops = SmallSession(50);
  Status status;
  for (const Op& op : ops.ops()) {
    status = writer->Append(op);
    if (!status) break;
  }
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "the disk is full");
  EXPECT_EQ(writer->Close().error().message, "the disk is full");
}

TEST(CommitLogWriter, SeekTable_ByteByByte) {
  const std::string log = WriteLog(SmallSession(5), 300);
  const std::vector<size_t> offsets = FrameOffsets(log);
  const size_t frames = offsets.size() - 2;  // before the table
  std::string expected;
  const auto append = [&expected](uint32_t value) {
    for (int i = 0; i < 4; ++i) expected.push_back(static_cast<char>(value >> (8 * i)));
  };
  append(0x184D2A5E);
  append(static_cast<uint32_t>(12 * frames + 9));
  for (size_t i = 0; i < frames; ++i) {
    const std::string frame = log.substr(offsets[i], offsets[i + 1] - offsets[i]);
    const std::string content = Decompressed(frame);
    append(static_cast<uint32_t>(frame.size()));
    append(static_cast<uint32_t>(content.size()));
    append(static_cast<uint32_t>(XXH64(content.data(), content.size(), 0)));
  }
  append(static_cast<uint32_t>(frames));
  expected.push_back('\x80');
  append(0x8F92EAB1);
  EXPECT_EQ(log.substr(offsets[frames]), expected);
  EXPECT_EQ(log.substr(8, 23), "ringscope commit log 1\n");
}

/// A request of `chunks` chunks and a flush id.
std::string LargeRequest(uint32_t chunks) {
  std::string request;
  for (uint32_t i = 0; i < chunks; ++i) request += ChunkRequest(3, i, 400);
  CommitRequestBuilder(request).SetFlushRequestId(9);
  return request;
}

TEST(CommitLogWriter, Split_AtFieldBordersWithNumberPartAndLast) {
  const std::string request = LargeRequest(10);
  OpList ops;
  ops.Add({}, HeaderOf("a")).Add(5, CommitOf(request)).Add(6, CommitOf(LargeRequest(1)));
  const std::string log = WriteLog(ops, 1000);
  const ReadBack back = ReadLog(log);
  ASSERT_THAT(back.damage, IsEmpty());
  std::string joined;
  size_t parts = 0;
  for (size_t i = 1; i + 1 < back.ops.size(); ++i) {
    const auto& part = std::get<Commit>(back.ops[i].body);
    EXPECT_LE(part.request.size(), 1000u);
    EXPECT_TRUE(CommitRequestParser().Parse(part.request));
    EXPECT_EQ(part.number, 1u);
    EXPECT_EQ(part.part, parts);
    EXPECT_EQ(part.last, i + 2 == back.ops.size());
    EXPECT_EQ(back.ops[i].time_ns, 5u);
    joined += wire::AsText(part.request);
    ++parts;
  }
  EXPECT_EQ(parts, 5u);
  EXPECT_EQ(joined, request);
  EXPECT_TRUE(std::get<Commit>(back.ops[6].body).last);
  // Writing what was read changes nothing more.
  EXPECT_EQ(WriteLog(back.ops, 1000), log);
}

TEST(CommitLogWriter, Split_PartsMayBeSplitFurther) {
  const std::string request = LargeRequest(10);
  OpList ops;
  ops.Add({}, HeaderOf("a")).Add({}, CommitOf(request));
  const ReadBack coarse = ReadLog(WriteLog(ops, 2000));
  const ReadBack fine = ReadLog(WriteLog(coarse.ops, 500));
  std::string joined;
  for (size_t i = 1; i < fine.ops.size(); ++i) {
    const auto& part = std::get<Commit>(fine.ops[i].body);
    EXPECT_EQ(part.part, i - 1);
    EXPECT_EQ(part.last, i + 1 == fine.ops.size());
    joined += wire::AsText(part.request);
  }
  EXPECT_EQ(joined, request);
}

TEST(CommitLogWriter, Split_AFieldLargerThanAFrameStaysWhole) {
  OpList ops;
  ops.Add({}, HeaderOf("a")).Add({}, CommitOf(ChunkRequest(1, 0, 5000)));
  EXPECT_TRUE(SameOps(ReadLog(WriteLog(ops, 1000)).ops, ops));
}

TEST(CommitLogWriter, Malformed_RequestIsKeptAndTheLogStaysAMessage) {
  OpList ops;
  ops.Add({}, HeaderOf("a")).Add({}, CommitOf("\x0a\x7f too short"));
  const std::string log = WriteLog(ops);
  EXPECT_TRUE(SameOps(ReadLog(log).ops, ops));
  if (!HasProtoc()) GTEST_SKIP() << "needs protoc";
  EXPECT_THAT(DecodeWithProtoc("CommitLog", Decompressed(log)), HasSubstr("malformed_request:"));
}

TEST(CommitLogWriter, Refuses_WhatCannotBe) {
  StringSink sink;
  auto writer = CommitLogWriter::Create(sink);
  EXPECT_EQ((*writer)->Append(Op{{}, Note{"x"}}).error().code, ErrorCode::kUsage);
  LogHeader newer;
  newer.format_version = 2;
  EXPECT_EQ((*writer)->Append(Op{{}, newer}).error().code, ErrorCode::kUnsupported);
  ASSERT_TRUE((*writer)->Append(Op{{}, LogHeader()}));
  const std::string large(commit_log::kMaxRecordBytes, 'x');
  EXPECT_EQ((*writer)->Append(Op{{}, Note{large}}).error().code, ErrorCode::kLimit);
  LogHeader wordy;
  wordy.description = large;
  EXPECT_EQ((*writer)->Append(Op{{}, wordy}).error().code, ErrorCode::kLimit);
  ASSERT_TRUE((*writer)->Append(Op{{}, Note{"fine"}}));
  ASSERT_TRUE((*writer)->Close());
  EXPECT_EQ((*writer)->Append(Op{{}, Note{"x"}}).error().code, ErrorCode::kUsage);
  EXPECT_THAT(ReadLog(sink.text).ops.ops(), SizeIs(2));
}

TEST(CommitLogWriter, SinkError_IsKept) {
  SmallSink sink(commit_log::kStartFrameSize);
  const auto writer = CommitLogWriter::Create(sink).value();
  ASSERT_TRUE(writer->Append(Op{{}, HeaderOf("a")}));
  EXPECT_EQ(writer->Flush().error().message, "the disk is full");
  EXPECT_EQ(writer->Append(Op{{}, Note{"x"}}).error().message, "the disk is full");
  EXPECT_EQ(writer->Close().error().message, "the disk is full");
}

TEST(ImportHeader, IsRecognised_WhateverTheToolsVersionAndTheUuid) {
  LogHeader header = ImportHeader();
  EXPECT_TRUE(IsImportHeader(header));
  header.uuid = "0123";
  header.tool = "ringscope 99.9";
  EXPECT_TRUE(IsImportHeader(header));
  header.tool = "other 1";
  EXPECT_FALSE(IsImportHeader(header));
}

TEST(ImportHeader, IsNotRecognised_IfItSaysMore) {
  for (void (*change)(LogHeader&) :
       {+[](LogHeader& h) { h.part = 1; }, +[](LogHeader& h) { h.source = Origin::kShm; },
        +[](LogHeader& h) { h.host = "x"; }, +[](LogHeader& h) { h.clock = "boottime"; },
        +[](LogHeader& h) { h.description = "x"; }}) {
    LogHeader header = ImportHeader();
    change(header);
    EXPECT_FALSE(IsImportHeader(header));
  }
}

TEST(ToolVersion, IsTheBuilds_InCMakeLists) {
  std::ifstream file(std::string(RS_SOURCE_DIR) + "/CMakeLists.txt");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("VERSION " + std::string(kToolVersion) + " "));
}

}  // namespace
}  // namespace ringscope::testing
