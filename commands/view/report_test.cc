#include "commands/view/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "commands/testing/memory_run.h"
#include "commands/view/json_fields.h"
#include "core/perfetto/chunk.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

TEST(Table, AlignsColumns) {
  MemoryRun run;
  Table table({{"name", Align::kLeft}, {"count", Align::kRight}, {"note", Align::kLeft}});
  table.AddRow({"a", "1", "first"});
  table.AddRow({"größer", "1,234", ""});
  table.AddRow({"b"});
  table.Print(run.console, 2);
  EXPECT_EQ(run.Output(),
            "  name    count  note\n"
            "  a           1  first\n"
            "  größer  1,234\n"
            "  b\n");
}

TEST(Table, WithoutTitles_HasNoTitleLine) {
  MemoryRun run;
  Table table({{"", Align::kLeft}, {"", Align::kLeft}});
  table.AddRow({"uuid", "1234"});
  table.Print(run.console);
  EXPECT_EQ(run.Output(), "uuid  1234\n");
}

Table TypedTable() {
  Table table({{"name", Align::kLeft, "name"},
               {"bytes", Align::kRight, "written.bytes"},
               {"share", Align::kRight},
               DataColumn("note")});
  table.AddRow({NameCell("a,\"b\""), BytesCell(65536), "50%"});
  return table;
}

TEST(Table, OneStatement_GivesTextJsonAndCsv) {
  EXPECT_EQ(TypedTable().Text(),
            "name    bytes  share\n"
            "a,\"b\"  64 KiB    50%\n");
  EXPECT_EQ(TypedTable().ToJson().dump(),
            R"([{"name":"a,\"b\"","written":{"bytes":65536},"note":null}])");
  constexpr std::string_view kColumns = "name written.bytes size=written.bytes none";
  EXPECT_EQ(CsvTitles(kColumns) + CsvRow(kColumns, TypedTable().ToJson()[0]),
            "name,written_bytes,size,none\n"
            "\"a,\"\"b\"\"\",65536,65536,\n");
}

TEST(Report, Markdown) {
  MemoryRun run;
  Report report(run.console, Format::kMarkdown, "test");
  report.PrintWrapped(TextStyle::kLoss, "a.tblog: error:", " 2 of <3> *left*");
  report.Paragraph("overwritten", "  Why  ");
  report.Paragraph("size_kb: 8192", "            ");
  report.Paragraph("a.tblog is broken", "- ");
  report.Paragraph("\nNothing else.");
  report.Heading("Losses");
  report.Print(TypedTable());
  report.Code("buffers {\n}\n");
  EXPECT_EQ(run.Output(),
            "\n**a.tblog: error:** 2 of &lt;3> \\*left\\*\n"
            "- **Why** overwritten\n"
            "  - size_kb: 8192\n"
            "- a.tblog is broken\n"
            "\nNothing else.\n"
            "\n### Losses\n\n"
            "\n| name | bytes | share |\n"
            "| --- | ---: | ---: |\n"
            "| a,\"b\" | 64 KiB | 50% |\n"
            "```\nbuffers {\n}\n```\n");
}

enum class Colour : uint8_t { kRed, kGreen };

struct Part {
  SequenceKey sequence;
  std::optional<BufferId> buffer;
};
void ListFields(JsonFieldWriter& io, const Part& part) {
  io("sequence", part.sequence, "buffer", part.buffer);
}

struct Whole {
  std::string name;
  double scale = 0;
  FillPolicy policy = FillPolicy::kRingBuffer;
  Colour colour = Colour::kRed;
  PacketCount count;
  std::vector<Part> parts;
  std::vector<Part> more;
};
void ListFields(JsonFieldWriter& io, const Whole& whole) {
  io("name", whole.name, "scale", whole.scale);
  io.Object("nested",
            [&](auto& nested) { nested("policy", whole.policy, "colour", whole.colour); });
  io("count", whole.count);
  io("parts_count", whole.parts.size());
  io("parts", whole.parts);
  io.UnlessEmpty("more", whole.more);
}

TEST(JsonFields, ListedOnce_AreWritten) {
  const Whole whole{"a",
                    0.5,
                    FillPolicy::kDiscard,
                    Colour::kGreen,
                    {1, 20},
                    {{{ProducerId{2}, WriterId{17}}, BufferId{3}}, {{}, {}}},
                    {}};
  const Json document = FieldsToJson(whole);
  EXPECT_EQ(document.dump(),
            R"({"name":"a","scale":0.5,"nested":{"policy":"discard","colour":1},)"
            R"("count":{"packets":1,"bytes":20},"parts_count":2,)"
            R"("parts":[{"sequence":"2:17","buffer":3},{"sequence":"0:0","buffer":null}]})");
}

std::string Reported(Format format) {
  MemoryRun run;
  Report report(run.console, format, "test");
  report.Title("x.tblog", "2 records");
  report.Fact("host", NameCell("here"), "host");
  report.Fact("a longer title", "for people");
  report.Fact("not there", "");
  report.Data("hidden", 1);
  report.EndFacts();
  report.AddItem("sessions", [&] {
    report.Data("session", 1);
    report.Add("rows", TypedTable(), 2);
  });
  EXPECT_TRUE(report.Finish());
  return run.Output();
}

TEST(Report, Text_IsForPeople) {
  EXPECT_EQ(Reported(Format::kText),
            "x.tblog: 2 records\n"
            "  host            here\n"
            "  a longer title  for people\n"
            "\n"
            "  name    bytes  share\n"
            "  a,\"b\"  64 KiB    50%\n");
}

TEST(Report, WrappedLinesAreStyledEachByItself) {
  MemoryRun memory;
  Console console(memory.streams);
  console.Configure({.color = ColorMode::kAlways});
  Report report(console, Format::kText, "test");
  const std::string styled(70, 'a');
  report.PrintWrapped(TextStyle::kLoss, styled + " bb " + std::string(20, 'c') + ":", " the rest",
                      2);
  ASSERT_TRUE(console.Flush());
  const std::string red = "\x1b[1;31m", off = "\x1b[0m";
  EXPECT_EQ(memory.out.text, "  " + red + styled + " bb" + off + "\n  " + red +
                                 std::string(20, 'c') + ":" + off + " the rest\n");
}

TEST(Report, NoLineIsWiderThanATerminal) {
  for (const size_t word : {1u, 7u, 20u, 77u}) {
    MemoryRun memory;
    Report report(memory.console, Format::kText, "test");
    std::string text;
    for (size_t i = 0; i < 300; i += word) text += std::string(word, 'a') + (i % 2 ? " " : ", ");
    report.Paragraph(text);
    report.Paragraph(text, "  ");
    report.PrintWrapped(TextStyle::kBold, "title:", " " + text, 2);
    report.Title("x.tblog", text);
    const std::string output = memory.Output();
    EXPECT_GT(testing::Lines(output).size(), 16u);
    for (const std::string_view line : testing::Lines(output))
      EXPECT_LE(DisplayWidth(line), 80u) << line;
  }
}

TEST(Report, Json_IsOneDocument) {
  EXPECT_EQ(testing::ParsedJson(Reported(Format::kJson)).dump(),
            R"({"schema":"ringscope.test/1","host":"here","hidden":1,"sessions":[{"session":1,)"
            R"("rows":[{"name":"a,\"b\"","written":{"bytes":65536},"note":null}]}]})");
}

TEST(Report, ToAFile_HasNoColours) {
  MemoryRun run, file;
  run.out.terminal = true;
  Report report(run.console, Format::kText, "test");
  report.WriteTo(file.console);
  report.Heading("Title");
  EXPECT_TRUE(report.Finish());
  EXPECT_EQ(file.Output(), "\nTitle\n");
  EXPECT_EQ(run.Output(), "");
}

TEST(Stages, OfEachProcess_AreSumsOfItsSequences) {
  StageAccounts accounts;
  for (const uint32_t id : {5, 0, 9}) {
    SequenceStages& sequence = accounts.sequences.emplace_back();
    sequence.process = {.name = id == 9 ? "" : "app", .pid = id == 9 ? 8 : 7};
    sequence.id = id;
    sequence.writer = id == 0 ? "1:2" : "";
    sequence.thread = id == 5 ? "render" : "";
    sequence.buffer = "buffers[0]";
    sequence[Stage::kLeft].count = {id, 100};
    sequence[Stage::kBuffer] = {.count = {id == 9 ? 0u : 1000u, 0}, .is_known = id != 9};
    sequence[Stage::kSharedMemory].places = id == 0 ? 3 : 0;
  }
  accounts.Sum();
  MemoryRun run;
  Report report(run.console, Format::kText, "stages");
  PrintStages(report, accounts);
  EXPECT_EQ(run.Output(),
            "\nWhere packets ended\n"
            "                                  shared                in the\n"
            "                         written  memory  buffer  file   trace  unusable\n"
            "  pid 8                        ?       0       ?     0       9         0\n"
            "    sequence 9                 ?       0       ?     0       9         0\n"
            "  app (pid 7)              2,005      3x   2,000     0       5         0\n"
            "    sequence 5 (render)    1,005       0   1,000     0       5         0\n"
            "    writer 1:2             1,000      3x   1,000     0       0         0\n"
            "  ?: not known; 3x: three times an unknown number.\n");
}

}  // namespace
}  // namespace ringscope
