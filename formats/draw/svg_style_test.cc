#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/draw/svg.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Viewers that do not support CSS variables draw everything black where they are used.
TEST(SvgStyle, Colours_AreInTheRulesThemselves) {
  const std::string style = SvgStyle(".mine { fill: var(--lost); stroke-width: 3; }\n");
  EXPECT_THAT(style, Not(HasSubstr("var(")));
  EXPECT_THAT(style, HasSubstr(".mine { fill: #cc3340; stroke-width: 3; }"));
}

TEST(SvgStyle, OnDarkGround_OnlyTheColoursChange) {
  const std::string style = SvgStyle(".mine { fill: var(--lost); stroke-width: 3; }\n");
  const size_t dark = style.find("@media (prefers-color-scheme: dark)");
  ASSERT_NE(dark, std::string::npos);
  EXPECT_THAT(style.substr(dark), HasSubstr(".mine { fill: #f2616c; }"));
  EXPECT_THAT(style.substr(dark), Not(HasSubstr("stroke-width")));
}

}  // namespace
}  // namespace ringscope
