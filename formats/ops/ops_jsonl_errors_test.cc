#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/wire.h"
#include "core/perfetto/commit_request.h"
#include "formats/ops/ops_jsonl.h"

namespace ringscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string ErrorOf(std::string_view line) {
  std::string storage;
  const auto op = ParseOp(line, storage);
  return op ? "none: " + FormatOp(*op) : op.error().ToString();
}

struct BadLine {
  const char* name;
  std::string line;
  std::vector<std::string> says;
};

/// A correct commit but for these keys, which take the others' places.
std::string CommitWith(const std::string& keys) {
  return R"({"op":"commit","producer":1,"writer":1,"chunk":0,"fragments":0,"payload":"",)" + keys +
         "}";
}
std::string PatchWith(const std::string& keys) {
  return R"({"op":"patch","producer":1,"writer":1,"chunk":0,"patches":[],)" + keys + "}";
}

const std::string kMissing = "missing, and required here";

TEST(OpsErrors, NameTheKey) {
  const BadLine lines[] = {
      {"NotJson", "hello", {"invalid JSON at byte 1"}},
      {"TornJson", R"({"op":"read")", {"invalid JSON at byte"}},
      {"TrailingText", R"({"op":"read"} x)", {"invalid JSON at byte 15"}},
      {"TornCommit", R"({"op":"commit","payload":"00)", {"invalid JSON at byte"}},
      {"InvalidUtf8", "{\"op\":\"note\",\"text\":\"\xFF\"}", {"invalid JSON at byte"}},
      {"NulByte", std::string("{\"op\":\"read\"\0}", 14), {"invalid JSON at byte 13"}},
      {"NulBehind", std::string("{\"op\":\"read\"}\0", 14), {"invalid JSON at byte 14"}},
      {"NotAnObject", "[1]", {"expected a JSON object per line"}},
      {"NumberAlone", "5", {"expected a JSON object per line"}},
      {"HugeNumber", R"({"op":"read","buffer":1e999})", {"invalid JSON: a number is too large"}},
      {"NoOp", R"({"buffer":1})", {"key \"op\"", kMissing}},
      {"OpNoText", R"({"op":1})", {"key \"op\"", "expected a string, found 1"}},
      {"UnknownOp", R"({"op":"comit"})", {"\"op\"", "known operation (\"commit\"?)", "comit"}},
      {"OddOp", R"({"op":"zzzzzzzz"})", {"expected a known operation, found \"zzzzzzzz\""}},
      {"BadTime", R"({"op":"read","ts":-1})", {"key \"ts\"", "found -1"}},
      {"TooLateTime", R"({"op":"read","ts":18446744073709551616})", {"key \"ts\""}},
      {"NoProducer", R"({"op":"commit"})", {"key \"producer\"", kMissing}},
      {"NoWriter", R"({"op":"patch","producer":1})", {"key \"writer\"", kMissing}},
      {"NoChunk", R"({"op":"commit","producer":1,"writer":1})", {"key \"chunk\"", kMissing}},
      {"NoPayload",
       R"({"op":"commit","producer":1,"writer":1,"chunk":0,"fragments":0})",
       {"key \"payload\"", kMissing}},
      {"NoFragments",
       R"({"op":"commit","producer":1,"writer":1,"chunk":0,"payload":""})",
       {"key \"fragments\"", kMissing}},
      {"LargeProducer", CommitWith(R"("producer":65536)"), {"\"producer\"", "from 0 to 65535"}},
      {"LargeWriter", CommitWith(R"("writer":65536)"), {"\"writer\"", "found 65536"}},
      {"BothZero", CommitWith(R"("producer":0,"writer":0)"), {"producer and writer are both 0"}},
      {"PatchOfNobody", PatchWith(R"("producer":0,"writer":0)"), {"are both 0"}},
      {"LargeFragments", CommitWith(R"("fragments":1024)"), {"\"fragments\"", "0 to 1023"}},
      {"LargeFlags", CommitWith(R"("flags":64)"), {"\"flags\"", "0 to 63", "found 64"}},
      {"LargeChunk", CommitWith(R"("chunk":4294967296)"), {"\"chunk\"", "0 to 4294967295"}},
      {"LargeUid", CommitWith(R"("uid":4294967296)"), {"\"uid\"", "0 to 4294967295"}},
      {"NegativeUid", CommitWith(R"("uid":-1)"), {"\"uid\"", "found -1"}},
      {"LargePid", CommitWith(R"("pid":2147483648)"), {"\"pid\"", "found 2147483648"}},
      {"SmallPid", CommitWith(R"("pid":-2147483649)"), {"\"pid\"", "from -2147483648 to"}},
      {"LargeBuffer", CommitWith(R"("buffer":65536)"), {"\"buffer\"", "0 to 65535"}},
      {"FloatChunk", CommitWith(R"("chunk":1.0)"), {"\"chunk\"", "found 1.0"}},
      {"ExponentChunk", CommitWith(R"("chunk":1e2)"), {"\"chunk\"", "expected an integer"}},
      {"TextChunk", CommitWith(R"("chunk":"1")"), {"\"chunk\"", "found \"1\""}},
      {"BoolChunk", CommitWith(R"("chunk":true)"), {"\"chunk\"", "found true"}},
      {"NullChunk", CommitWith(R"("chunk":null)"), {"\"chunk\"", "found null"}},
      {"ArrayChunk", CommitWith(R"("chunk":[1])"), {"\"chunk\"", "found an array"}},
      {"FloatPid", CommitWith(R"("pid":1.5)"), {"\"pid\"", "found 1.5"}},
      {"NumberAsBool", CommitWith(R"("complete":1)"), {"\"complete\"", "true or false, found 1"}},
      {"TextAsBool", PatchWith(R"("more":"true")"), {"\"more\"", "true or false"}},
      {"BadOrigin", CommitWith(R"("origin":"smb")"), {"\"origin\"", "\"scraped\"", "\"smb\""}},
      {"OddHex", CommitWith(R"("payload":"abc")"), {"\"payload\"", "even number of hex digits"}},
      {"NoHex", CommitWith(R"("payload":"zz")"), {"\"payload\"", "hex digits", "found \"zz\""}},
      {"PayloadNoText", CommitWith(R"("payload":5)"), {"\"payload\"", "expected a string"}},
      {"LargePayload",
       R"({"op":"commit","producer":1,"writer":1,"chunk":0,"fragments":0,"payload":")" +
           std::string(2 * 65528, '0') + "\"}",
       {"\"payload\"", "expected at most 65527 bytes, found 65528"}},
      {"PatchesNoArray", PatchWith(R"("patches":{})"), {"\"patches\"", "expected an array"}},
      {"PatchNoObject", PatchWith(R"("patches":[5])"), {"\"patches[0]\"", "expected an object"}},
      {"PatchNoOffset",
       PatchWith(R"("patches":[{"offset":1,"data":"00000000"},{"data":"00000000"}])"),
       {"\"patches[1].offset\"", kMissing}},
      {"PatchLargeOffset",
       PatchWith(R"("patches":[{"offset":18446744073709551616,"data":"00000000"}])"),
       {"\"patches[0].offset\"", "0 to 18446744073709551615"}},
      {"PatchShortData",
       PatchWith(R"("patches":[{"offset":1,"data":"0000"}])"),
       {"\"patches[0].data\"", "exactly 4 bytes, found 2"}},
      {"BufferNoId", R"({"op":"buffer","size":1,"policy":"discard"})", {"\"id\"", kMissing}},
      {"BufferNoPolicy", R"({"op":"buffer","id":1,"size":1})", {"\"policy\"", kMissing}},
      {"BufferBadPolicy",
       R"({"op":"buffer","id":1,"size":1,"policy":"ring"})",
       {"\"policy\"", "\"ring_buffer\" or \"discard\", found \"ring\""}},
      {"BufferEmpty",
       R"({"op":"buffer","id":1,"size":0,"policy":"discard"})",
       {"\"size\"", "at least 1 byte"}},
      {"BufferOddV1",
       R"({"op":"buffer","id":1,"size":4100,"policy":"discard","engine":"v1"})",
       {"\"size\"", "a multiple of 16", "4100"}},
      {"ReadBadBuffer", R"({"op":"read","buffer":"some"})", {"\"buffer\"", "found \"some\""}},
      {"RequestRawAndMore",
       R"({"op":"request","producer":1,"raw":"","flush":1})",
       {"\"flush\"", "or \"raw\", found both"}},
      {"RequestTwoPayloads",
       R"({"op":"request","producer":1,"chunks":[{"writer":1,"chunk":1,"fragments":1,)"
       R"("payload":"","data":""}]})",
       {"\"chunks[0].data\"", "found both"}},
      {"RequestPatch",
       R"({"op":"request","producer":1,"patches":[{"patches":[{"offset":1}]}]})",
       {"\"patches[0].patches[0].data\"", kMissing}},
  };
  for (const BadLine& bad : lines) {
    SCOPED_TRACE(bad.name);
    const std::string error = ErrorOf(bad.line);
    for (const std::string& part : bad.says) EXPECT_THAT(error, HasSubstr(part));
  }
}

TEST(OpsErrors_Bounds, DeepNesting) {
  EXPECT_THAT(ErrorOf(R"({"op":"read","x":)" + std::string(1'000'000, '[')),
              HasSubstr("JSON nested deeper than 32 levels"));
  EXPECT_THAT(ErrorOf(R"({"op":"read","x":[[[[{"a":[1,{}]}]]]]})"), HasSubstr("none:"));
}

TEST(OpsErrors_Bounds, ManyValues) {
  std::string line = R"({"op":"read","x":[0)";
  for (int i = 0; i < 1'100'000; ++i) line += ",0";
  EXPECT_THAT(ErrorOf(line + "]}"), HasSubstr("more than 1048576 JSON values"));
}

TEST(OpsParser_Defaults, ApplyToAbsentKeys) {
  std::string storage;
  const auto op = ParseOp(
      R"({"op":"commit","producer":1,"writer":2,"chunk":3,"fragments":0,"payload":"","later":[{}]})",
      storage);
  ASSERT_TRUE(op);
  const Commit& commit = std::get<Commit>(op->body);
  EXPECT_FALSE(op->time_ns);
  EXPECT_FALSE(commit.uid);
  EXPECT_FALSE(commit.pid);
  EXPECT_EQ(commit.origin, Origin::kImported);
  CommitRequestParser parser;
  ASSERT_TRUE(parser.Parse(commit.request));
  ASSERT_EQ(parser.chunks().size(), 1u);
  EXPECT_EQ(parser.chunks()[0].target_buffer, 0u);
  EXPECT_FALSE(parser.chunks()[0].incomplete);
  EXPECT_EQ(ParseChunkHeader(*parser.chunks()[0].data),
            (ChunkHeader{ChunkId{3}, WriterId{2}, 0, 0}));
  const auto read = ParseOp(R"({"op":"read"})", storage);
  ASSERT_TRUE(read);
  EXPECT_EQ(std::get<ReadPass>(read->body), (ReadPass{BufferId{0}, {}, {}, {}}));
}

TEST(OpsParser_Payload, IsTheLinesOwnHoweverItIsWritten) {
  const std::string plain = R"({"op":"commit","buffer":0,"producer":1,"writer":1,"chunk":0,)"
                            R"("fragments":0,"flags":0,"complete":true,"payload":"ab"})";
  const char* const rest = R"("producer":1,"writer":1,"chunk":0,"fragments":0})";
  for (const std::string start : {
           R"({"op":"commit","payload":"ab",)",
           R"({"op":"commit","payload":"AB",)",
           R"({"op":"commit", "payload" : "ab",)",
           R"({"op":"commit","payload":"\u0061b",)",
           R"({"payload":"ab","op":"commit",)",
           R"({"op":"commit","x":{"payload":"00"},"payload":"ab",)",
           R"({"op":"commit","x":"\"payload\":\"00","payload":"ab",)",
           R"({"op":"commit","x\"payload":"00","payload":"ab",)",
           R"({"op":"commit","x":{"payload":"zz"},"payload":"ab",)",
           R"({"op":"commit","payload":"00","payload":"ab",)",
       }) {
    std::string storage;
    const auto op = ParseOp(start + rest, storage);
    ASSERT_TRUE(op) << start << op.error().ToString();
    EXPECT_EQ(FormatOp(*op), plain) << start;
  }
}

TEST(OpsParser_Payload, OfEachChunkOfARequestIsItsOwn) {
  const std::string line = R"({"op":"request","producer":1,"chunks":[)"
                           R"({"buffer":1,"writer":1,"chunk":0,"fragments":1,"flags":0,)"
                           R"("complete":true,"payload":"01aa"},)"
                           R"({"buffer":1,"writer":1,"chunk":1,"fragments":1,"flags":0,)"
                           R"("complete":true,"payload":""},{"complete":true,"data":"cc"},)"
                           R"({"buffer":1,"writer":1,"chunk":2,"fragments":1,"flags":0,)"
                           R"("complete":true,"payload":"01bbdd"}]})";
  std::string spaced = line;
  for (size_t at = 0; (at = spaced.find("\":", at)) != std::string::npos; at += 3)
    spaced.insert(at + 2, " ");
  for (const std::string& text : {line, spaced}) {
    std::string storage;
    const auto op = ParseOp(text, storage);
    ASSERT_TRUE(op) << op.error().ToString();
    EXPECT_EQ(FormatOp(*op), line);
  }
}

TEST(OpsReader_Lines, BlankOnesAndCommentsAreSkipped) {
  const std::string text = "# two reads\n\n \t\r\n{\"op\":\"read\"}\r\n#{\n{\"op\":\"clone_read\"}";
  const auto reader = MakeOpsReader(MakeMemorySource(text), LogFormat::kOps);
  auto op = reader->Next();
  ASSERT_TRUE(op && *op);
  EXPECT_TRUE(std::holds_alternative<ReadPass>((*op)->body));
  EXPECT_EQ(reader->record_number(), 0u);
  op = reader->Next();
  ASSERT_TRUE(op && *op) << "the last line needs no line break";
  EXPECT_TRUE(std::holds_alternative<CloneRead>((*op)->body));
  EXPECT_EQ(reader->record_number(), 1u);
  op = reader->Next();
  ASSERT_TRUE(op);
  EXPECT_FALSE(*op);
  EXPECT_EQ(reader->position(), text.size());
  EXPECT_EQ(reader->size(), text.size());
  EXPECT_TRUE(reader->damage().empty());
}

TEST(OpsReader_Damage, BadLinesAreLeftOut) {
  const auto reader = MakeOpsReader(
      MakeMemorySource(
          "{\"op\":\"read\"}\n# comment\n{\"op\":\"flush\"}\n{\"op\":\"read\"}\n{\"op\"", "a.ops"),
      LogFormat::kOps);
  for (const uint64_t record : {0U, 2U}) {
    const auto op = reader->Next();
    ASSERT_TRUE(op && *op);
    EXPECT_EQ(reader->record_number(), record) << "the line left out has its number";
  }
  EXPECT_FALSE(reader->Next().value());
  ASSERT_EQ(reader->damage_count(), 2U);
  const Damage& flush = reader->damage()[0];
  EXPECT_EQ(flush.what, "line 3: key \"flush\": missing, and required here");
  EXPECT_EQ(flush.offset, 24U);
  EXPECT_EQ(flush.bytes, 14U);
  EXPECT_EQ(flush.first_record, 1U);
  EXPECT_EQ(flush.records, 1U);
  EXPECT_THAT(reader->damage()[1].what, HasSubstr("line 5: invalid JSON at byte"));
}

TEST(OpsReader_Damage, EndlessLineIsLeftOut) {
  const auto reader =
      MakeOpsReader(MakeMemorySource(std::string(kMaxOpsLine + 1, ' ') + "\n{\"op\":\"read\"}\n"),
                    LogFormat::kOps);
  EXPECT_TRUE(reader->Next().value());
  EXPECT_FALSE(reader->Next().value());
  ASSERT_EQ(reader->damage_count(), 1U);
  EXPECT_THAT(reader->damage()[0].what, AllOf(HasSubstr("line 1:"), HasSubstr("longer than")));
}

TEST(OpsReader_Damage, ListIsLimited) {
  std::string text = "{\"op\":\"read\"}\n";
  for (size_t i = 0; i < LogSource::kMaxDamage + 5; ++i) text += "x\n";
  const auto reader = MakeOpsReader(MakeMemorySource(text), LogFormat::kOps);
  EXPECT_TRUE(reader->Next().value());
  EXPECT_FALSE(reader->Next().value());
  EXPECT_EQ(reader->damage().size(), LogSource::kMaxDamage);
  EXPECT_EQ(reader->damage_count(), LogSource::kMaxDamage + 5);
}

}  // namespace
}  // namespace ringscope
