#include "core/base/text.h"

#include <gtest/gtest.h>

#include <map>

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

TEST(Text, Printable_EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(Printable("app"), "app");
  EXPECT_EQ(Printable("\x1b[31mred\n"), "\\x1b[31mred\\x0a");
  EXPECT_EQ(Printable("Zürich €"), "Zürich €");
  EXPECT_EQ(Printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(Printable("\xc2\x9b"), "\\xc2\\x9b");  // a control sequence in one character
  EXPECT_EQ(Printable("\xc0\xaf"), "\\xc0\\xaf");  // overlong
  // Characters that only change the direction of what follows.
  EXPECT_EQ(Printable("a\u202egnp.exe"), "a\\xe2\\x80\\xaegnp.exe");
  EXPECT_EQ(Printable("\u061c"), "\\xd8\\x9c");
  EXPECT_EQ(Printable("\u200f"), "\\xe2\\x80\\x8f");
  EXPECT_EQ(Printable("\u2066"), "\\xe2\\x81\\xa6");
  EXPECT_EQ(Printable("\u200d\u2010\u202f\u2065"), "\u200d\u2010\u202f\u2065");
}

TEST(Text, ShellWord) {
  EXPECT_EQ(ShellWord("a/b-1.tblog"), "a/b-1.tblog");
  EXPECT_EQ(ShellWord("it's \\ b"), "'it'\\''s \\ b'");
  EXPECT_EQ(ShellWord("-a"), "./-a");
  EXPECT_EQ(ShellWord("-"), "-");
  EXPECT_EQ(ShellWord("a\n'\\\xff"), "$'a\\x0a\\'\\\\\\xff'");
}

TEST(Text, CountsAndSequences) {
  EXPECT_EQ(Count(1, "packet"), "1 packet");
  EXPECT_EQ(Count(1200, "packet"), "1,200 packets");
  EXPECT_EQ(ToString(SequenceKey{ProducerId{2}, WriterId{17}}), "2:17");
}

TEST(Text, HumanDuration) {
  EXPECT_EQ(HumanDuration(0), "0 s");
  EXPECT_EQ(HumanDuration(1'500), "1.5 us");
  EXPECT_EQ(HumanDuration(12'500'000), "12.5 ms");
  EXPECT_EQ(HumanDuration(1'837'000'000), "1.837 s");
  EXPECT_EQ(HumanDuration(999'999'999), "1.000 s");
  EXPECT_EQ(HumanDuration(200'000'000'000), "3 min 20 s");
  EXPECT_EQ(HumanDuration(7'500'000'000'000), "2 h 5 min");
}

TEST(Text, Percent) {
  EXPECT_EQ(Percent(1, 4), "25.0%");
  EXPECT_EQ(Percent(0, 0), "");
}

TEST(Suggest, NearestNameOrAFullerOne) {
  const std::vector<std::string> names = {"import", "info", "replay", "repair", "completions"};
  for (const auto& [word, meant] : std::map<std::string, std::string>{
           {"imprt", "import"}, {"ifno", "info"}, {"compl", "completions"}, {"replai", "replay"}})
    EXPECT_EQ(DidYouMean(word, names, "see help"), "did you mean '" + meant + "'?");
  for (const char* word : {"rep", "frobnicate", "c"})  // "rep": replay or repair?
    EXPECT_EQ(DidYouMean(word, names, "see help"), "see help");
}

}  // namespace
}  // namespace ringscope
