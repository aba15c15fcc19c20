#include "formats/log/prepared_frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/testing/sample_log.h"

namespace ringscope {
namespace {

using testing::CommitOf;
using testing::EveryKind;
using testing::ExpectWhole;
using ::testing::HasSubstr;
using testing::HeaderOf;
using testing::OpList;
using testing::ReadLog;
using testing::SameOps;

/// The header in a frame of its own, then the rest, ahead of the writer or by it.
std::string Write(const OpList& ops, size_t frame_bytes, bool ahead) {
  StringSink sink;
  const auto writer = CommitLogWriter::Create(sink, {.frame_bytes = frame_bytes}).value();
  EXPECT_TRUE(writer->Append(ops[0]));
  EXPECT_TRUE(writer->Flush());
  PreparedFrame frame(frame_bytes);
  for (size_t i = 1; i < ops.size(); ++i) {
    if (!ahead || std::holds_alternative<LogHeader>(ops[i].body)) {
      if (ahead) {
        EXPECT_TRUE(writer->AppendFrame(frame));
      }
      frame.Clear();
      EXPECT_TRUE(writer->Append(ops[i]));
      continue;
    }
    if (frame.Append(ops[i])) continue;
    EXPECT_TRUE(writer->AppendFrame(frame));
    frame.Clear();
    EXPECT_TRUE(frame.Append(ops[i]));
  }
  if (ahead) {
    EXPECT_TRUE(writer->AppendFrame(frame));
  }
  EXPECT_TRUE(writer->Close());
  return sink.text;
}

TEST(PreparedFrame, RoundTrip_EveryKind) {
  const OpList ops = EveryKind();
  for (const size_t frame_bytes : {size_t{400}, size_t{1} << 20}) {
    SCOPED_TRACE(frame_bytes);
    ExpectWhole(ReadLog(Write(ops, frame_bytes, /*ahead=*/true)), ops);
  }
}

// Byte for byte what the writer makes of the same records.
TEST(PreparedFrame, IsAsTheWritersOwn) {
  OpList ops;
  ops.Add(1, HeaderOf("a"));
  for (uint32_t i = 0; i < 300; ++i) {
    const std::string request = testing::ChunkRequest(1, i, i);
    ops.Add(i % 3 == 0 ? std::nullopt : std::optional<uint64_t>(i), CommitOf(request));
  }
  constexpr size_t kFrameBytes = size_t{1} << 20;
  EXPECT_TRUE(Write(ops, kFrameBytes, /*ahead=*/true) == Write(ops, kFrameBytes, false));
}

TEST(PreparedFrame, Full_TakesNothing) {
  PreparedFrame frame(1000);
  const std::string request(700, 'x');
  ASSERT_TRUE(frame.Append({.time_ns = 1, .body = CommitOf(request)}));
  EXPECT_FALSE(frame.Append({.time_ns = 2, .body = CommitOf(request)}));
  EXPECT_FALSE(frame.Append({.time_ns = 3, .body = Note{request}}));
  StringSink sink;
  const auto writer = CommitLogWriter::Create(sink).value();
  ASSERT_TRUE(writer->Append({.body = HeaderOf("a")}));
  ASSERT_TRUE(writer->AppendFrame(frame));
  ASSERT_TRUE(writer->Close());
  OpList expected;
  expected.Add({}, HeaderOf("a"));
  expected.Add(1, CommitOf(request));
  EXPECT_TRUE(SameOps(ReadLog(sink.text).ops, expected));
  frame.Clear();
  EXPECT_TRUE(frame.empty());
  EXPECT_TRUE(frame.Append({.time_ns = 3, .body = Note{request}}));
}

TEST(PreparedFrame, WithoutAHeader_IsRefused) {
  StringSink sink;
  const auto writer = CommitLogWriter::Create(sink).value();
  PreparedFrame frame(1000);
  ASSERT_TRUE(frame.Append({.time_ns = 1, .body = Note{"first"}}));
  const Status status = writer->AppendFrame(frame);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("begins with a header"));
}

}  // namespace
}  // namespace ringscope
