// Records as unit tests of Perfetto: their texts are those of testdata/cases, which are compiled
// against a fixture (formats/testing/perfetto_fixture.h), pass with side A's engine and fail with
// side B's. RINGSCOPE_UPDATE_GOLDEN=1 writes the expected texts.

#include "formats/ops/perfetto_case.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/compare/stream_notation.h"
#include "formats/inputs/open_log.h"
#include "formats/ops/ops_jsonl.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;

struct KnownCase {
  const char* name;  // of the records in testdata/diff
  const char* a;
  const char* b;
};

const KnownCase kKnownCases[] = {
    {"54-55-scrape-keeps-incomplete", "v2@54", "v2@55"},
    {"56-57-reports-loss-causes", "v2@57", "v2@56"},
    {"57-58-allows-writer-drop", "v2@57", "v2@58"},
    {"57-58-completed-chunk-moves", "v2@58", "v2@57"},
    {"57-58-relocates-completed-chunk", "v1", "v2@58"},
};
std::string PrintToName(const ::testing::TestParamInfo<KnownCase>& info) {
  std::string name = info.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
}
void PrintTo(const KnownCase& known, std::ostream* out) { *out << known.name; }

Result<std::string> CaseOf(const std::vector<StoredOp>& ops, const char* a, const char* b,
                           const char* cause = "a case") {
  return WritePerfettoCase(
      {.cause = cause,
       .what = "the engines differ",
       .ops = ops,
       .sides = {{.engine = FindEngine(a).value()}, {.engine = FindEngine(b).value()}}});
}

class KnownCases : public ::testing::TestWithParam<KnownCase> {};
INSTANTIATE_TEST_SUITE_P(Perfetto, KnownCases, ::testing::ValuesIn(kKnownCases), PrintToName);

TEST_P(KnownCases, PassWithAAndFailWithB) {
  const KnownCase& known = GetParam();
  std::vector<StoredOp> ops;
  const auto log =
      OpenLog(testing::TestdataPath(fmt::format("diff/{}.ops.jsonl", known.name)).string()).value();
  while (const auto op = log->Next().value()) ops.emplace_back(*op);
  const auto text = CaseOf(ops, known.a, known.b, known.name);
  ASSERT_TRUE(text) << text.error().ToString();
  const std::filesystem::path expected =
      testing::TestdataPath(fmt::format("cases/{}.cc", known.name));
  if (std::getenv("RINGSCOPE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(expected) << *text;
    GTEST_SKIP() << "written; build again";
  }
  std::ifstream file(expected);
  EXPECT_EQ(*text, std::string(std::istreambuf_iterator<char>(file), {}));
  const size_t name = text->find(", ") + 2;
  const std::string test = text->substr(name, text->find(')', name) - name);
  const auto run = [&](const char* engine) {
    return WEXITSTATUS(
        std::system(fmt::format("RINGSCOPE_CASE_ENGINE={} {} --gtest_filter='*.{}' >/dev/null 2>&1",
                                engine, RS_PERFETTO_CASES, test)
                        .c_str()));
  };
  EXPECT_LE(std::ranges::count(*text, '\n'), 40);
  EXPECT_EQ(run(known.a), 0);
  EXPECT_EQ(run(known.b), 1);
}

Result<std::string> CaseOfLines(const std::vector<std::string>& lines) {
  std::vector<StoredOp> ops;
  std::string storage;
  for (const std::string& line : lines) ops.emplace_back(ParseOp(line, storage).value());
  return CaseOf(ops, "v2@57", "v2@58");
}

constexpr const char* kBuffer = R"({"op":"buffer","id":0,"size":4096,"policy":"ring_buffer"})";

// The packets' own bytes do not matter here: they become the helpers'.
TEST(PerfettoCase, Chunks_AreMadeByTheHelpers) {
  const std::string text =
      CaseOfLines({kBuffer, R"({"op":"commit","producer":1,"writer":2,"chunk":4294967295,)"
                            R"("fragments":4,"flags":7,)"
                            R"("payload":"044001400102400200ffffff7f"})"})
          .value();
  EXPECT_THAT(text, HasSubstr("TEST_F(TraceBufferV2Test, Reproducer_a_case) {"));
  EXPECT_THAT(
      text,
      HasSubstr("  CreateChunk(ProducerID(1), WriterID(2), ChunkID(4294967295u))\n"
                "      .AddPacket(5, 'a').AddPacket(3, 'b').AddPacket({0x00})\n"
                "      .AddPacket({0xff, 0xff, 0xff, 0x7f})\n"
                "      .SetFlags(kContFromPrevChunk | kContOnNextChunk | kChunkNeedsPatching)\n"
                "      .CopyIntoTraceBuffer();\n"));
  EXPECT_THAT(text, HasSubstr("SuppressClientDchecksForTesting();"));
  EXPECT_THAT(text, HasSubstr("EXPECT_EQ(1u, trace_buffer()->stats().abi_violations());"));
}

TEST(PerfettoCase, DamagedChunks_AreBytes) {
  // The second size is beyond the payload.
  const std::string text =
      CaseOfLines({kBuffer, R"({"op":"commit","producer":1,"writer":1,"chunk":0,"fragments":5,)"
                            R"("payload":"ffffff7f7f616263646566676869"})"})
          .value();
  EXPECT_THAT(text, HasSubstr("\n      .AddPacket({0xff, 0xff, 0xff, 0x7f, 0x7f, 0x61, 0x62, 0x63, "
                              "0x64, 0x65, 0x66, 0x67,\n          0x68, 0x69})\n"
                              "      .IncrementNumPackets().IncrementNumPackets()"));
}

TEST(PerfettoCase, DifferenceThatATestCannotShow_IsReported) {
  const auto text = CaseOfLines({kBuffer});
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message,
              HasSubstr("a test of v2@57's buffer cannot show the difference"));
}

TEST(PerfettoCase, OfOneEngine_ShowsWhatThatDoes) {
  StreamStep read;
  read.kind = StreamStep::Kind::kRead;
  const auto text =
      CaseOf({SetUpOf(4096, FillPolicy::kRingBuffer), OpOf(read)}, "v2@58", "v2@58").value();
  EXPECT_THAT(text, HasSubstr("Expected is what v2@58 gives.\n"));
  EXPECT_THAT(text, HasSubstr("trace_buffer()->BeginRead();\n  ASSERT_THAT(ReadPacket(), IsEmpty"));
}

TEST(PerfettoCase, SeveralBuffers_AreRefused) {
  const auto text =
      CaseOfLines({kBuffer, R"({"op":"buffer","id":1,"size":4096,"policy":"ring_buffer"})"});
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kUnsupported);
}

TEST(PerfettoCase, Paths) {
  EXPECT_EQ(PerfettoCasePath("a/bug.ops.jsonl"), "a/bug.cc");
  EXPECT_EQ(PerfettoCasePath("bug"), "bug.cc");
}

}  // namespace
}  // namespace ringscope
