#include "formats/ops/ops_jsonl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/base/wire.h"
#include "core/perfetto/commit_request.h"
#include "formats/io/hex.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/same_op.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::SameOp;
using ::testing::StartsWith;

std::string Reformat(std::string_view line) {
  std::string storage;
  const auto op = ParseOp(line, storage);
  return op ? FormatOp(*op) : "error: " + op.error().ToString();
}

/// Checks that a record, read back from its line, is the same; returns the line.
std::string RoundTrip(const Op& op) {
  std::string line = FormatOp(op);
  std::string storage;
  const auto again = ParseOp(line, storage);
  EXPECT_TRUE(again) << line << '\n' << again.error().ToString();
  EXPECT_TRUE(again && SameOp(op, *again)) << line;
  return line;
}

std::string RoundTripRequest(std::string_view request) {
  return RoundTrip(Op{{}, Commit{.producer = ProducerId{7}, .request = wire::AsBytes(request)}});
}

void ExpectThatLinesStayEqual(const std::string& path) {
  SCOPED_TRACE(path);
  const std::string text = testing::ReadTestdata(path);
  for (const std::string_view line : testing::Lines(text)) {
    const std::string formatted = Reformat(line);
    if (formatted == line) continue;  // else only the keys' order may differ
    Json expected = testing::ParsedJson(line);
    if (expected["op"] == "commit")  // what a line may leave out is written out
      for (const auto& [key, value] :
           {std::pair<const char*, Json>{"buffer", 0}, {"flags", 0}, {"complete", true}})
        if (!expected.contains(key)) expected[key] = value;
    ASSERT_EQ(Json::diff(testing::ParsedJson(formatted), expected), Json::array());
  }
}

TEST(OpsOfTestdata, LinesStayEqual) {
  const auto cases = testing::ListTestdata("conformance/cases", ".jsonl.zst");
  EXPECT_EQ(cases.size(), 379u);
  for (const std::string& path : cases) ExpectThatLinesStayEqual(path);
  for (const std::string& path : testing::ListTestdata("captures", ".ops.jsonl.zst"))
    ExpectThatLinesStayEqual(path);
}

TEST(OpsFormat_Kinds, EachRoundTrips) {
  const ProducerId producer{65535};
  const OpBody bodies[] = {
      LogHeader{.format_version = 1,
                .tool = "ringscope 0.1.0",
                .uuid = "00112233445566778899aabbccddeeff",
                .part = 3,
                .source = Origin::kShm,
                .host = "Linux \"x\" \\ \n\t\x01 \xC3\xA9 \xF0\x9F\x98\x80",
                .clock = "boottime",
                .description = "everything"},
      LogHeader{},
      SessionStarted{UINT64_MAX},
      SessionEnded{1},
      TraceConfigRecord{std::string("\0\xFF\x80", 3)},
      BufferSetUp{BufferId{65535}, 4, 65536, FillPolicy::kDiscard, "v2@56"},
      BufferSetUp{BufferId{0}, {}, 1, FillPolicy::kRingBuffer, ""},
      BufferFreed{BufferId{2}},
      ClockSnapshotRecord{"\x0a"},
      ProducerConnected{producer, UINT32_MAX, -1, 5, INT32_MIN, "name", 2, "v58.2", 262144, 4096},
      ProducerConnected{},
      SharedMemorySetUp{producer, 262144, 4096},
      ProducerDisconnected{producer},
      DataSourceRegistered{producer, "track_event", true},
      DataSourceSetUp{producer, 12, "track_event", BufferId{9}},
      DataSourceStopped{producer, 12},
      WriterRegistered{producer, WriterId{32767}, BufferId{9}},
      WriterUnregistered{producer, WriterId{32767}},
      FlushRequested{5, producer},
      FlushRequested{5, {}},
      FlushAcknowledged{producer, 5},
      FlushTimedOut{5},
      ReadPass{BufferId{3}, 10, 32768, ReadReason::kConsumer},
      ReadPass{{}, {}, {}, ReadReason::kFinal},
      CloneRead{BufferId{3}},
      RecorderGap{"slow disk", producer, 1, 2, 3, 4},
      RecorderGap{},
      SessionStarted{2, "name"},
      SessionChanged{},
      SessionChanged{2, SessionChange::kFileNamed, "/data/trace"},
      TraceConfigRecord{"c", 2},
      BufferSetUp{BufferId{1}, 0, 65536, FillPolicy::kDiscard, "v2@58", 2},
      ProducerConnected{producer, 0, 0, {}, {}, "name", {}, "", {}, {}, UINT32_MAX},
      DataSourceRegistered{producer, "track_event", false, true, true, true},
      DataSourceUnregistered{producer, "track_event"},
      DataSourceSetUp{producer, 12, "track_event", BufferId{9}, 2, "config"},
      DataSourceStarted{producer, 12},
      DataSourceNotified{producer, 12, true},
      DataSourceNotified{producer, 12, false},
      StateClearRequested{producer, {}},
      StateClearRequested{producer, {0, UINT64_MAX}},
      TriggerActivated{producer, "trigger"},
      FlushRequested{5, producer, {1, 2}, 0x121},
      ReadPass{{}, {}, 32768, ReadReason::kConsumer, 2},
      CloneRequested{1, {}, ""},
      CloneRequested{1, 2, "request"},
      BufferCloned{1, BufferId{3}, true},
      BufferCleared{BufferId{3}},
      CloneEnded{1, false, "no", true, 7},
      RecordingEnded{},
      RecordingEnded{
          RecordingEnding::kCutOff,
          1,
          2,
          UINT64_MAX,
          {{InexactReason::kOrder, 3, 1, "detail"}, {InexactReason::kEnd, 0, {}, "\xFF"}}},
      Note{"not UTF-8: \xFF\xFE \xC0\x80 \xED\xA0\x80 \xF4\x90\x80\x80"},
  };
  for (const OpBody& body : bodies) {
    RoundTrip(Op{{}, body});
    const std::string line = RoundTrip(Op{UINT64_MAX, body});
    EXPECT_THAT(line, AllOf(StartsWith(std::string(R"({"op":")") + OpKindName(body.index())),
                            HasSubstr(R"(","ts":18446744073709551615)")));
  }
}

TEST(OpsFormat_Requests, OneChunkIsACommitLine) {
  std::string request;
  const ChunkHeader header{ChunkId{UINT32_MAX}, WriterId{9}, 1023, 63};
  CommitRequestBuilder(request).AddChunk(BufferId{5}, header, wire::AsBytes("\x05hello"), false);
  EXPECT_EQ(RoundTripRequest(request),
            R"({"op":"commit","buffer":5,"producer":7,"writer":9,"chunk":4294967295,)"
            R"("fragments":1023,"flags":63,"complete":false,"payload":"0568656c6c6f"})");
}

TEST(OpsFormat_Requests, OnePatchListIsAPatchLine) {
  ChunkToPatch patch{.target_buffer = 5, .writer = 9, .chunk = 10, .patches = {}, .more = true};
  patch.patches.push_back({UINT64_MAX, wire::AsBytes("abcd")});
  std::string request;
  CommitRequestBuilder(request).AddPatch(patch);
  EXPECT_EQ(RoundTripRequest(request),
            R"({"op":"patch","buffer":5,"producer":7,"writer":9,"chunk":10,)"
            R"("patches":[{"offset":18446744073709551615,"data":"61626364"}],"more":true})");
}

TEST(OpsFormat_Requests, OthersAreSpelledOut) {
  std::string request;
  CommitRequestBuilder builder(request);
  builder.AddChunk(BufferId{5}, ChunkHeader{ChunkId{1}, WriterId{9}, 2, 4}, {}, true);
  builder.AddChunk(
      ChunkToMove{.page = 3, .index = 0, .target_buffer = 70000, .data = {}, .incomplete = true});
  builder.AddChunk(ChunkToMove{.page = {},
                               .index = {},
                               .target_buffer = {},
                               .data = wire::AsBytes("short"),
                               .incomplete = {}});
  builder.AddPatch(ChunkToPatch{.target_buffer = {},
                                .writer = 70000,
                                .chunk = {},
                                .patches = {{8, wire::AsBytes("x")}, {9, {}}},
                                .more = false});
  builder.SetFlushRequestId(77);
  EXPECT_EQ(
      RoundTripRequest(request),
      R"({"op":"request","producer":7,"chunks":[)"
      R"({"buffer":5,"writer":9,"chunk":1,"fragments":2,"flags":4,"complete":true,"payload":""},)"
      R"({"page":3,"index":0,"buffer":70000,"complete":false},)"
      R"({"complete":true,"data":"73686f7274"}],)"
      R"("patches":[{"writer":70000,"patches":[{"offset":8,"data":"78"},{"offset":9,"data":""}],)"
      R"("more":false}],"flush":77})");
}

TEST(OpsFormat_Requests, WhatIsNotCanonicalKeepsItsBytes) {
  const char* const requests[] = {
      "\xFF",              // malformed
      "\x0A\x05\x08",      // cut short
      "\x18\x85\x00",      // a varint longer than needed
      "\x20\x01",          // an unknown field
      "\x18\x01\x0A\x00",  // flush id ahead of a chunk
  };
  for (const std::string_view request : requests) {
    std::string hex;
    AppendHex(hex, wire::AsBytes(request));
    EXPECT_EQ(RoundTripRequest(request), R"({"op":"request","producer":7,"raw":")" + hex + "\"}");
  }
  EXPECT_EQ(RoundTripRequest(""), R"({"op":"request","producer":7})");
}

TEST(OpsFormat_Requests, LimitsOfPlainLines) {
  const auto chunk = [](uint16_t writer, size_t payload) {
    std::string request;
    CommitRequestBuilder(request).AddChunk(BufferId{}, ChunkHeader{{}, WriterId{writer}, 1, 0},
                                           wire::AsBytes(std::string(payload, 'p')), true);
    return request;
  };
  EXPECT_THAT(RoundTripRequest(chunk(1, kMaxChunkPayload)), StartsWith(R"({"op":"commit")"));
  EXPECT_THAT(RoundTripRequest(chunk(1, kMaxChunkPayload + 1)), StartsWith(R"({"op":"request")"));
  const std::string nobody = chunk(0, 1);
  EXPECT_THAT(RoundTrip(Op{{}, Commit{.request = wire::AsBytes(nobody)}}),
              StartsWith(R"({"op":"request")"));
  const std::string part = chunk(1, 1);
  EXPECT_THAT(RoundTrip(Op{{},
                           Commit{.producer = ProducerId{1},
                                  .uid = 5,
                                  .pid = -1,
                                  .origin = Origin::kInline,
                                  .request = wire::AsBytes(part),
                                  .number = 3,
                                  .part = 0,
                                  .last = false}}),
              HasSubstr(R"("origin":"inline","number":3,"part":0,"last":false,"chunks":[)"));
  std::string many;
  for (int i = 0; i < 10'001; ++i) CommitRequestBuilder(many).AddChunk(ChunkToMove{});
  EXPECT_THAT(RoundTripRequest(many), HasSubstr(R"("raw":")"));
}

/// Bytes that look like a request, more or less.
std::string RandomRequest(std::mt19937& random) {
  const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  const auto maybe = [&](uint64_t limit) -> std::optional<uint64_t> {
    if (below(4) == 0) return std::nullopt;
    return below(16) == 0 ? random() : random() % limit;
  };
  std::string bytes(below(24), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  std::string request;
  CommitRequestBuilder builder(request);
  for (uint32_t i = below(3); i > 0; --i) {
    ChunkToMove chunk{.page = {}, .index = {}, .target_buffer = maybe(65536), .data = {}};
    if (below(4) == 0) chunk.page = maybe(64), chunk.index = maybe(14);
    if (below(8) != 0) chunk.data = wire::AsBytes(bytes);
    chunk.incomplete = below(2) == 0;
    builder.AddChunk(chunk);
  }
  for (uint32_t i = below(3); i > 0; --i) {
    ChunkToPatch patch{maybe(65536), maybe(65536), maybe(1u << 31), {}, below(2) == 0};
    for (uint32_t j = below(3); j > 0; --j)
      patch.patches.push_back({random(), wire::AsBytes(bytes).first(std::min<size_t>(
                                             bytes.size(), below(8) == 0 ? 3 : 4))});
    builder.AddPatch(patch);
  }
  if (below(8) == 0) builder.SetFlushRequestId(random());
  if (below(2) == 0) {
    for (uint32_t i = below(3); i > 0 && !request.empty(); --i) {
      const size_t at = random() % request.size();
      if (below(3) == 0) {
        request.resize(at);
      } else {
        request[at] = static_cast<char>(random());
      }
    }
  }
  return below(8) == 0 ? bytes : request;
}

TEST(OpsFormat_Requests, RandomBytesRoundTrip) {
  std::mt19937 random(20240607);
  for (int i = 0; i < 20'000 && !::testing::Test::HasFailure(); ++i)
    RoundTripRequest(RandomRequest(random));
}

}  // namespace
}  // namespace ringscope
