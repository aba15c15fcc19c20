#include "formats/log/record_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/log/commit_log_format.h"
#include "formats/log/commit_log_index.h"
#include "formats/log/record_fields.h"
#include "formats/testing/commit_log_schema.h"
#include "formats/testing/sample_log.h"

namespace ringscope::commit_log {
namespace {

using namespace std::string_literals;
using ringscope::testing::EveryKind;
using ::testing::HasSubstr;

/// The Record message that AppendRecord makes, without its tag and length.
std::string Encode(const Op& op, std::optional<uint64_t> number = {}) {
  std::string field;
  AppendRecord(op, number, field);
  return std::string(wire::AsText(wire::FieldReader(wire::AsBytes(field)).Next()->bytes));
}

TEST(RecordCodec, Schema_HasEveryKindUnderItsNameAndAllItsFields) {
  if (!ringscope::testing::HasProtoc()) GTEST_SKIP() << "needs protoc";
  const ringscope::testing::OpList ops = EveryKind();
  for (size_t kind = 0; kind < kOpKinds; ++kind) {
    const Op& op = ops[kind];
    ASSERT_EQ(op.body.index(), kind);
    const std::string text = ringscope::testing::DecodeWithProtoc("Record", Encode(op, 5));
    EXPECT_THAT(text, HasSubstr("\n"s + OpKindName(kind) + " {")) << text;
    EXPECT_THAT(text, HasSubstr("number: 5"));
    // A field that the schema does not know is printed by its number.
    EXPECT_FALSE(::testing::Value(text, ::testing::ContainsRegex("(^|\n) *[0-9]+[:{ ]"))) << text;
  }
}

TEST(RecordCodec, Schema_OfTheSummary) {
  if (!ringscope::testing::HasProtoc()) GTEST_SKIP() << "needs protoc";
  LogSummaryBuilder builder;
  uint64_t number = 0;
  const ringscope::testing::OpList ops = EveryKind();
  for (const Op& op : ops.ops()) builder.Add(op, number++);
  std::string encoded;
  Index index;
  index.records = number;
  index.frames.push_back({1, 2, 3, 4, 5, 6, 7});
  index.sessions = builder.Sessions();
  EncodeMessage(index, encoded);
  const std::string text = ringscope::testing::DecodeWithProtoc("Index", encoded);
  EXPECT_THAT(text, HasSubstr("frame_hash: 7"));
  EXPECT_THAT(text, HasSubstr("sequence {"));
  EXPECT_FALSE(::testing::Value(text, ::testing::ContainsRegex("(^|\n) *[0-9]+[:{ ]"))) << text;

  Index decoded;
  ASSERT_TRUE(DecodeMessage(wire::AsBytes(encoded), decoded));
  EXPECT_EQ(decoded.frames, index.frames);
  EXPECT_EQ(decoded.sessions, index.sessions);
}

TEST(RecordCodec, Number_IsOnlyThereIfGiven) {
  const Op op{1, Note{"x"}};
  EXPECT_EQ(wire::FirstVarint(wire::AsBytes(Encode(op, 0)), kNumber), 0u);
  EXPECT_EQ(wire::FirstVarint(wire::AsBytes(Encode(op, UINT64_MAX)), kNumber), UINT64_MAX);
  EXPECT_EQ(wire::FirstVarint(wire::AsBytes(Encode(op)), kNumber), std::nullopt);
}

TEST(RecordCodec, OutOfRange_IsAnErrorAndNotCut) {
  struct Case {
    const char* name;
    std::string record;
    const char* says;
  };
  for (const Case& c : {
           Case{"buffer id 65536", "\x72\x04\x08\x80\x80\x04"s, "field 1 is 65536"},
           Case{"fill policy 2", "\x72\x02\x20\x02"s, "field 4 is 2"},
           Case{"commit with uid 2^32", "\xca\x01\x06\x10\x80\x80\x80\x80\x10"s, "field 2"},
           Case{"torn body", "\x72\x02\x08\x80"s, "not well-formed"},
           Case{"group", "\x0b"s, "not well-formed"},
       }) {
    const auto decoded = DecodeRecord(wire::AsBytes(c.record));
    ASSERT_FALSE(decoded) << c.name;
    EXPECT_THAT(decoded.error().message, HasSubstr(c.says)) << c.name;
  }
}

TEST(RecordCodec, WellFormedRequest_AsProtobufParsersSeeIt) {
  struct Case {
    const char* name;
    std::string request;
    bool well_formed;
  };
  for (const Case& c : {
           Case{"empty", "", true},
           Case{"flush id", "\x18\x05"s, true},
           Case{"unknown field", "\x7a\x02xx"s, true},
           Case{"chunk whose fields are torn", "\x0a\x02\x08\x80"s, false},
           Case{"patch whose fields are torn", "\x12\x04\x22\x02\x08\x80"s, false},
           Case{"data that looks like a torn message", "\x0a\x04\x22\x02\x08\x80"s, true},
           Case{"tag of six bytes", "\x98\x80\x80\x80\x80\x00\x05"s, false},
           Case{"length of six bytes", "\x0a\x80\x80\x80\x80\x80\x00"s, false},
           Case{"field number 0", "\x00\x00"s, false},
       }) {
    EXPECT_EQ(IsWellFormedRequest(wire::AsBytes(c.request)), c.well_formed) << c.name;
    if (ringscope::testing::HasProtoc() && !c.request.empty()) {
      const std::string text = ringscope::testing::DecodeWithProtoc("CommitDataRequest", c.request);
      EXPECT_EQ(!text.empty(), c.well_formed) << c.name;
    }
  }
}

}  // namespace
}  // namespace ringscope::commit_log
