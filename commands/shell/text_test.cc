#include "commands/shell/text.h"

#include <gtest/gtest.h>

#include "commands/testing/memory_run.h"

namespace ringscope {
namespace {

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
