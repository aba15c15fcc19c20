// Streams as tests of Perfetto's suite and of ringscope's own: their text is that of
// testdata/cases, which is compiled against a fixture (formats/testing/perfetto_fixture.h) or
// core/testing/chunk_dsl.h, passes with side A's engine and fails with side B's.
// RINGSCOPE_UPDATE_GOLDEN=1 writes the expected texts.

#include "formats/ops/test_case.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/base/wire.h"
#include "core/compare/explain.h"
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
    {"55-56-clearing-consumes-fragments", "v2@55", "v2@56"},
    {"55-56-counts-lost-fragments", "v2@55", "v2@56"},
    {"55-56-readmission-is-no-gap", "v2@55", "v2@56"},
    {"55-56-recommit-before-evict", "v2@55", "v2@56"},
    {"56-57-reports-loss-causes", "v2@57", "v2@56"},
    {"57-58-allows-writer-drop", "v2@57", "v2@58"},
    {"57-58-completed-chunk-moves", "v2@58", "v2@57"},
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

/// @param program that has the test
/// @return the exit status
int RunCase(const char* program, const std::string& test, const char* engine) {
  const int status =
      std::system(fmt::format("RINGSCOPE_CASE_ENGINE={} {} --gtest_filter='*.{}' >/dev/null 2>&1",
                              engine, program, test)
                      .c_str());
  return WEXITSTATUS(status);
}

/// The name of the test in a text: "TEST(Reproducer, NAME) {".
std::string TestNameIn(const std::string& text) {
  const size_t test = text.find("\nTEST");
  const size_t name = text.find(", ", test) + 2;
  return text.substr(name, text.find(')', name) - name);
}

class CaseInTwoStyles : public ::testing::TestWithParam<KnownCase> {
 protected:
  void PassesWithAAndFailsWithB(CaseStyle style, const char* folder, const char* program);
};
INSTANTIATE_TEST_SUITE_P(Known, CaseInTwoStyles, ::testing::ValuesIn(kKnownCases), PrintToName);

TEST_P(CaseInTwoStyles, OfPerfetto) {
  PassesWithAAndFailsWithB(GetParam().style, "cases", RS_PERFETTO_CASES);
}

TEST_P(CaseInTwoStyles, OfRingscope) {
  PassesWithAAndFailsWithB(CaseStyle::kRingscope, "cases/gtest-ringscope", RS_RINGSCOPE_CASES);
}

void CaseInTwoStyles::PassesWithAAndFailsWithB(CaseStyle style, const char* folder,
                                               const char* program) {
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
                                  plan.engines(), style);
  ASSERT_TRUE(text) << text.error().ToString();
  const std::filesystem::path expected =
      testing::TestdataPath(fmt::format("{}/{}.cc", folder, known.name));
  if (std::getenv("RINGSCOPE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(expected) << *text;
    GTEST_SKIP() << "written; build again";
  }
  std::ifstream file(expected);
  EXPECT_EQ(*text, std::string(std::istreambuf_iterator<char>(file), {}));
  const std::string test = TestNameIn(*text);
  EXPECT_EQ(RunCase(program, test, known.a), 0);
  EXPECT_EQ(RunCase(program, test, known.b), 1);
}

std::string CaseOf(const PlainStream& stream, CaseStyle style = CaseStyle::kPerfettoV2) {
  return WriteTestCase({.cause = "counter chunks_read", .what = "it differs", .stream = stream},
                       EnginesOf("v2@57", "v2@58"), style)
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

// What the known cases do not need.
TEST(TestCaseText, RingscopesOwnWords) {
  PlainStream stream;
  stream.policy = FillPolicy::kDiscard;
  stream.Add({.commit = Chunk(1, 2, 0xffffffff).Whole(1, 'a').Raw("zz").From({7, 8}).commit()});
  stream.Add({.commit = Chunk(1, 2, 0).Raw("\x7f").Counting(1).Incomplete().From({7, 8}).commit()});
  // A first fragment that continues, though there is none.
  StreamStep bare{.commit = Chunk(1, 3, 0).From({7, 8}).commit()};
  bare.commit.flags = kFirstContinues;
  stream.Add(bare);
  const std::string bytes = "abcdwxyz";
  const auto* const data = reinterpret_cast<const uint8_t*>(bytes.data());
  const Patch patches[] = {{.offset = 1, .data = data}, {.offset = 5, .data = data + 4}};
  StreamStep patch{.kind = StreamStep::Kind::kPatch};
  patch.patches = {.sequence = {ProducerId{1}, WriterId{2}},
                   .chunk = ChunkId{0},
                   .patches = patches,
                   .more = true};
  stream.Add(patch);
  stream.Add({.kind = StreamStep::Kind::kClone});
  stream.Add({.kind = StreamStep::Kind::kRead, .max_packets = 1});
  const std::string text = CaseOf(stream, CaseStyle::kRingscope);
  EXPECT_THAT(text, HasSubstr("#include \"core/testing/chunk_dsl.h\"\n"));
  EXPECT_THAT(text, HasSubstr("Buffer buffer = On(\"v2@57\", 4096, FillPolicy::kDiscard);"));
  EXPECT_THAT(text, HasSubstr("  buffer.Commit(Chunk(1, 2, 4294967295u)\n"
                              "                    .Whole(1, 'a')\n"
                              "                    .Raw(std::string_view(\"zz\", 2))\n"
                              "                    .From({7, 8}));\n"));
  EXPECT_THAT(text, HasSubstr("                    .Counting(1)\n"
                              "                    .Incomplete()\n"));
  EXPECT_THAT(text, HasSubstr(".flags = 1,"));
  EXPECT_THAT(text, HasSubstr("{.offset = 5, .data = reinterpret_cast<const uint8_t*>(\"wxyz\")}"));
  EXPECT_THAT(text, HasSubstr("const std::unique_ptr<Engine> clone"));
  EXPECT_THAT(text, HasSubstr("EXPECT_EQ(Describe(*packet), \"a1\");"));
  EXPECT_THAT(text, HasSubstr("EXPECT_EQ(packet->identity, (Identity{7, 8}));"));
  const std::filesystem::path expected = testing::TestdataPath("cases/gtest-ringscope/no-words.cc");
  if (std::getenv("RINGSCOPE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(expected) << text;
    GTEST_SKIP() << "written; build again";
  }
  std::ifstream file(expected);
  EXPECT_EQ(text, std::string(std::istreambuf_iterator<char>(file), {}));
  EXPECT_EQ(RunCase(RS_RINGSCOPE_CASES, TestNameIn(text), "v2@57"), 0);
}

// Sides of one engine, with buffers of two sizes.
TEST(TestCaseText, OtherBuffer_IsNamed) {
  PlainStream stream;
  for (uint32_t i = 0; i < 3; ++i) stream.Add({.commit = Chunk(1, 1, i).Whole(2000, 'a').commit()});
  const TestCase of_sizes = {.cause = "only_in_b",
                             .what = "B keeps more",
                             .stream = stream,
                             .buffer_of_b = BufferSetting{8192, FillPolicy::kRingBuffer}};
  const std::string text =
      WriteTestCase(of_sizes, EnginesOf("v2@58", "v2@58"), CaseStyle::kRingscope).value();
  EXPECT_THAT(
      text,
      HasSubstr("// Expected is what v2@58 with a buffer of 4096 bytes (ring_buffer) gives; v2@58\n"
                "// with a buffer of 8192 bytes (ring_buffer) gives something else.\n"));
  EXPECT_THAT(text, HasSubstr("On(\"v2@58\", 4096)"));
  EXPECT_THAT(text, HasSubstr("EXPECT_EQ(buffer.stats().chunks_overwritten, 1u);"));
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
  EXPECT_EQ(ParseCaseStyle("gtest-ringscope").value(), CaseStyle::kRingscope);
  EXPECT_FALSE(ParseCaseStyle("catch2"));
  EXPECT_EQ(StyleFor(*FindEngine("v1").value()), CaseStyle::kPerfettoV1);
  EXPECT_EQ(StyleFor(*FindEngine("v2@54").value()), CaseStyle::kPerfettoV2);
  EXPECT_FALSE(WriteTestCase({.cause = "x", .what = "", .stream = {}}, EnginesOf("v1", "v2@58"),
                             CaseStyle::kOps));
}

}  // namespace
}  // namespace ringscope
