#include "formats/draw/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringscope {
namespace {

using ::testing::HasSubstr;

TEST(Svg, Escaping_LeavesNoMarkup) {
  EXPECT_EQ(XmlEscaped("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
  EXPECT_EQ(XmlEscaped("über ●\n"), "über ●\n");
  EXPECT_EQ(XmlEscaped(std::string("a\x01z", 3)), "a\xEF\xBF\xBDz");
  EXPECT_EQ(XmlEscaped("a\xFFz"), "a\xEF\xBF\xBDz");
}

TEST(Svg, Numbers_AreShort) {
  EXPECT_EQ(SvgNumber(12), "12");
  EXPECT_EQ(SvgNumber(0.25), "0.3");
  EXPECT_EQ(SvgNumber(-0.01), "0");
  EXPECT_EQ(SvgNumber(1234567.04), "1234567");
}

TEST(Svg, Document_NeedsNothingFromElsewhere) {
  SvgWriter svg;
  svg.Box({1, 2, 3, 4}, "card");
  svg.Line(0, 0, 5, 5, "link");
  svg.Text(7, 8, "a < b", "small");
  const std::string document = svg.Finish(100, 50, "title");
  EXPECT_THAT(document, HasSubstr("width=\"100\" height=\"50\" viewBox=\"0 0 100 50\""));
  EXPECT_THAT(document, HasSubstr("<title>title</title>"));
  EXPECT_THAT(document, HasSubstr("<rect x=\"1\" y=\"2\" width=\"3\" height=\"4\" "
                                  "class=\"card\"/>\n"));
  EXPECT_THAT(document, HasSubstr("<line x1=\"0\" y1=\"0\" x2=\"5\" y2=\"5\" class=\"link\"/>"));
  EXPECT_THAT(document, HasSubstr("<text x=\"7\" y=\"8\" class=\"small\">a &lt; b</text>"));
  EXPECT_EQ(document.find("href"), std::string::npos);
}

}  // namespace
}  // namespace ringscope
