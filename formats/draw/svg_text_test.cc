#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/draw/svg.h"

namespace ringscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(SvgText, Width_FollowsTheClass) {
  const double plain = SvgTextWidth("overwritten", "");
  EXPECT_NEAR(plain, 63.5, 0.1);
  EXPECT_NEAR(SvgTextWidth("overwritten", "soft small right"), plain * 10 / 11, 0.01);
  EXPECT_GT(SvgTextWidth("overwritten", "title"), plain * 17 / 11);
  EXPECT_EQ(SvgTextWidth("", "title"), 0);
  EXPECT_GT(SvgTextWidth("über", ""), SvgTextWidth("ber", ""));
}

TEST(SvgText, Rules_HaveTheSizesThatAreMeasured) {
  EXPECT_THAT(SvgStyle(), HasSubstr("text.small { font-size: 10px; }"));
  EXPECT_THAT(SvgStyle(), HasSubstr("text.title { font-size: 17px; font-weight: bold; }"));
}

TEST(SvgText, Lines_BreakAtSpaces) {
  const std::string text = "805 patches applied to 679 chunks";
  EXPECT_THAT(SvgTextLines(text, 1000, ""), ElementsAre(text));
  EXPECT_THAT(SvgTextLines(text, 116, ""), ElementsAre("805 patches applied", "to 679 chunks"));
  EXPECT_THAT(SvgTextLines("", 130, ""), IsEmpty());
  EXPECT_THAT(SvgTextLines("2:1\u00A0(35.0%), 3:1\u00A0(15.0%)", 90, ""),
              ElementsAre("2:1\u00A0(35.0%),", "3:1\u00A0(15.0%)"));
  for (const std::string& line : SvgTextLines(text, 60, ""))
    EXPECT_LE(SvgTextWidth(line, ""), 60) << line;
}

TEST(SvgText, LongWords_AreDividedBetweenCharacters) {
  EXPECT_THAT(SvgTextLines("üüü", 1, ""), ElementsAre("ü", "ü", "ü"));
  std::string joined;
  for (const std::string& line : SvgTextLines("/a/folder/with/a/long/name", 50, "")) joined += line;
  EXPECT_EQ(joined, "/a/folder/with/a/long/name");
}

}  // namespace
}  // namespace ringscope
