// Streams as tests of Perfetto's suite: their text is that of testdata/cases, which is compiled
// against a fixture (formats/testing/perfetto_fixture.h), passes with side A's engine and fails
// with side B's. RINGSCOPE_UPDATE_GOLDEN=1 writes the expected texts.

#include "formats/ops/test_case.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/base/wire.h"
#include "core/fuzz/fuzz_run.h"
#include "core/testing/chunk_dsl.h"
#include "formats/inputs/open_log.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using testing::Chunk;
using ::testing::HasSubstr;
using ::testing::Not;

struct KnownCase {
  const char* name;  // of the stream in testdata/diff
  const char* a;
  const char* b;
  CaseStyle style = CaseStyle::kPerfettoV2;
};

const KnownCase kKnownCases[] = {
    {"54-55-readmits-grown-chunk", "v2@54", "v2@55"},
    {"54-55-scrape-keeps-incomplete", "v2@54", "v2@55"},
    {"54-55-seals-when-exactly-full", "v2@54", "v2@55"},
    {"54-55-wraps-at-next-commit", "v2@54", "v2@55"},
    {"55-56-clearing-consumes-pieces", "v2@55", "v2@56"},
    {"55-56-counts-lost-fragments", "v2@55", "v2@56"},
    {"55-56-readmission-is-no-gap", "v2@55", "v2@56"},
    {"55-56-recommit-before-evict", "v2@55", "v2@56"},
    {"56-57-tells-loss-causes", "v2@57", "v2@56"},
    {"57-58-allows-writer-drop", "v2@57", "v2@58"},
    {"57-58-chunks-relocated", "v2@58", "v2@57"},
    {"57-58-relocates-completed-chunk", "v1", "v2@58", CaseStyle::kPerfettoV1},
};

std::string PrintToName(const ::testing::TestParamInfo<KnownCase>& info) {
  std::string name = info.param.name;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}
void PrintTo(const KnownCase& known, std::ostream* out) { *out << known.name; }

Both<const EngineInfo*> EnginesOf(const char* a, const char* b) {
  return {FindEngine(a).value(), FindEngine(b).value()};
}

PlainStream ReadStream(const std::string& path) {
  PlainStream stream;
  const auto log = OpenLog(path).value();
  while (const auto op = log->Next().value()) AddOp(*op, stream);
  return stream;
}

/// @return the exit status
int RunCase(const std::string& test, const char* engine) {
  const int status =
      std::system(fmt::format("RINGSCOPE_CASE_ENGINE={} {} --gtest_filter='*.{}' >/dev/null 2>&1",
                              engine, RS_PERFETTO_CASES, test)
                      .c_str());
  return WEXITSTATUS(status);
}

class PerfettoCase : public ::testing::TestWithParam<KnownCase> {};
INSTANTIATE_TEST_SUITE_P(Known, PerfettoCase, ::testing::ValuesIn(kKnownCases), PrintToName);

TEST_P(PerfettoCase, PassesWithAAndFailsWithB) {
  const KnownCase& known = GetParam();
  FuzzPlan plan;
  plan.sides = {SideOf(*FindEngine(known.a).value()), SideOf(*FindEngine(known.b).value())};
  const PlainStream stream =
      ReadStream(testing::TestdataPath(fmt::format("diff/{}.ops.jsonl", known.name)).string());
  const auto finding = FirstFinding(plan, stream);
  ASSERT_TRUE(finding);
  const PlainStream smallest = Smallest(plan, *finding, stream, {});
  const auto text = WriteTestCase({.cause = known.name,
                                   .what = FirstFinding(plan, smallest)->mismatch.text,
                                   .stream = smallest},
                                  plan.engines(), known.style);
  ASSERT_TRUE(text) << text.error().ToString();
  const std::filesystem::path expected =
      testing::TestdataPath(fmt::format("cases/{}.cc", known.name));
  if (std::getenv("RINGSCOPE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(expected) << *text;
    GTEST_SKIP() << "written; build again";
  }
  std::ifstream file(expected);
  EXPECT_EQ(*text, std::string(std::istreambuf_iterator<char>(file), {}));
  const size_t name = text->find("Reproducer_");
  const std::string test = text->substr(name, text->find(')', name) - name);
  EXPECT_EQ(RunCase(test, known.a), 0);
  EXPECT_EQ(RunCase(test, known.b), 1);
}

std::string CaseOf(const PlainStream& stream) {
  return WriteTestCase({.cause = "counter chunks_read", .what = "it differs", .stream = stream},
                       EnginesOf("v2@57", "v2@58"), CaseStyle::kPerfettoV2)
      .value();
}

TEST(TestCaseText, HelpersWhereTheyHaveWords) {
  PlainStream stream;
  std::string payload;
  for (const std::string_view body : {"a00-a01-", "b00-"}) {
    wire::AppendVarint(payload, body.size());
    payload += body;
  }
  StreamStep step;
  step.commit = {.sequence = {ProducerId{1}, WriterId{2}},
                 .chunk = ChunkId{0xffffffff},
                 .fragments = 2,
                 .flags = kFirstContinues | kLastContinues | kNeedsPatching,
                 .complete = false,
                 .payload = wire::AsBytes(payload)};
  stream.Add(step);
  const std::string text = CaseOf(stream);
  EXPECT_THAT(text, HasSubstr("TEST_F(TraceBufferV2Test, Reproducer_CounterChunksRead) {"));
  EXPECT_THAT(text, HasSubstr("  CreateChunk(ProducerID(1), WriterID(2), ChunkID(4294967295u))\n"
                              "      .AddPacket(9, 'a', kContFromPrevChunk)\n"
                              "      .AddPacket(5, 'b', kContOnNextChunk | kChunkNeedsPatching)\n"
                              "      .CopyIntoTraceBuffer(/*chunk_complete=*/false);\n"));
  EXPECT_THAT(text, Not(HasSubstr("SuppressClientDchecksForTesting")));
}

TEST(TestCaseText, BytesWhereTheyHaveNone) {
  PlainStream stream;
  // A size beyond the payload, which no helper makes.
  stream.Add({.commit = Chunk(1, 1, 0)
                            .Raw("\x7f"
                                 "ab")
                            .Counting(1)
                            .From({})
                            .commit()});
  std::string text = CaseOf(stream);
  EXPECT_THAT(text, HasSubstr("static const uint8_t kPayload[] = {\n        0x7f, 0x61, 0x62,};"));
  EXPECT_THAT(text, HasSubstr("SuppressClientDchecksForTesting();"));
  EXPECT_THAT(text, HasSubstr("EXPECT_EQ(1u, trace_buffer()->stats().abi_violations());"));

  // An identity, and a packet that no helper reads.
  stream.steps.clear();
  stream.Add({.commit = Chunk(1, 1, 0).Whole(4095, 'a').From({1000, 42}).commit()});
  stream.size = 8192;
  text = CaseOf(stream);
  EXPECT_THAT(text, HasSubstr("ClientIdentity(uid_t(1000), pid_t(42))"));
  EXPECT_THAT(text, HasSubstr("raw.GetRawBytesForTesting());"));
  EXPECT_THAT(text, HasSubstr("EXPECT_EQ(uid_t(1000), props.producer_uid_trusted());"));
}

TEST(TestCaseText, LinesOfComments_AreOf80Columns) {
  PlainStream stream;
  for (uint32_t i = 0; i < 40; ++i)
    stream.Add({.commit = Chunk(1, 1, i).Whole(20, 'a').Whole(20, 'b').commit()});
  std::istringstream lines(CaseOf(stream));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("//")) {
      EXPECT_LE(line.size(), 80u) << line;
    }
  }
}

TEST(TestCaseText, Paths) {
  EXPECT_EQ(TestCasePath("a/bug.ops.jsonl"), "a/bug.cc");
  EXPECT_EQ(TestCasePath("bug"), "bug.cc");
  EXPECT_EQ(ParseCaseStyle("perfetto-v1").value(), CaseStyle::kPerfettoV1);
  EXPECT_FALSE(ParseCaseStyle("ops"));
}

}  // namespace
}  // namespace ringscope
