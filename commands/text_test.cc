#include "commands/text.h"

#include <gtest/gtest.h>

#include "commands/suggest.h"
#include "commands/table.h"
#include "commands/testing/memory_run.h"

namespace ringscope {
namespace {

TEST(Text, WithCommas) {
  EXPECT_EQ(WithCommas(0), "0");
  EXPECT_EQ(WithCommas(999), "999");
  EXPECT_EQ(WithCommas(1000), "1,000");
  EXPECT_EQ(WithCommas(1234567), "1,234,567");
  EXPECT_EQ(WithCommas(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(Text, HumanSize) {
  EXPECT_EQ(HumanSize(0), "0 B");
  EXPECT_EQ(HumanSize(1023), "1023 B");
  EXPECT_EQ(HumanSize(65536), "64 KiB");
  EXPECT_EQ(HumanSize(1536), "1.50 KiB");
  EXPECT_EQ(HumanSize(10'300), "10.1 KiB");
  EXPECT_EQ(HumanSize(1'000'000), "977 KiB");
  EXPECT_EQ(HumanSize((uint64_t{1} << 20) - 1), "1.00 MiB");
  EXPECT_EQ(HumanSize(UINT64_MAX), "16.0 EiB");
}

TEST(Text, HumanDuration) {
  EXPECT_EQ(HumanDuration(0), "0 ns");
  EXPECT_EQ(HumanDuration(1'500), "1.5 us");
  EXPECT_EQ(HumanDuration(12'500'000), "12.5 ms");
  EXPECT_EQ(HumanDuration(1'837'000'000), "1.837 s");
  EXPECT_EQ(HumanDuration(200'000'000'000), "3 min 20 s");
  EXPECT_EQ(HumanDuration(7'500'000'000'000), "2 h 5 min");
}

TEST(Text, HumanRate) {
  EXPECT_EQ(HumanRate(10, 0), "-");
  EXPECT_EQ(HumanRate(0, 1'000'000'000), "0");
  EXPECT_EQ(HumanRate(1, 4'000'000'000), "0.25");
  EXPECT_EQ(HumanRate(12'345, 1'000'000'000), "12,345");
}

TEST(Text, CountsAndParts) {
  EXPECT_EQ(Count(1, "packet"), "1 packet");
  EXPECT_EQ(Count(1200, "packet"), "1,200 packets");
  EXPECT_EQ(Percent(1, 4), "25.0%");
  EXPECT_EQ(Percent(0, 0), "");
  EXPECT_EQ(ToString(SequenceKey{ProducerId{2}, WriterId{17}}), "2:17");
}

TEST(Text, Printable_EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(Printable("app"), "app");
  EXPECT_EQ(Printable("\x1b[31mred\n"), "\\x1b[31mred\\x0a");
  EXPECT_EQ(Printable("Zürich €"), "Zürich €");
  EXPECT_EQ(Printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(Printable("\xc2\x9b"), "\\xc2\\x9b");  // a control sequence in one character
  EXPECT_EQ(Printable("\xc0\xaf"), "\\xc0\\xaf");  // overlong
}

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

TEST(Suggest, NearestNameOrAFullerOne) {
  const std::vector<std::string> names = {"import", "info", "replay", "repair", "completions"};
  EXPECT_EQ(Nearest("imprt", names), "import");
  EXPECT_EQ(Nearest("ifno", names), "info");
  EXPECT_EQ(Nearest("compl", names), "completions");
  EXPECT_EQ(Nearest("rep", names), std::nullopt);  // replay or repair?
  EXPECT_EQ(Nearest("frobnicate", names), std::nullopt);
  EXPECT_EQ(DidYouMean("replai", names, "see help"), "did you mean 'replay'?");
  EXPECT_EQ(DidYouMean("xyzzy", names, "see help"), "see help");
}

}  // namespace
}  // namespace ringscope
