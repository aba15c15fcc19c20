#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/draw/svg.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Viewers that do not support CSS variables draw everything black where they are used.
TEST(SvgStyle, Colours_AreInTheRulesThemselves) {
  EXPECT_THAT(SvgStyle(), Not(HasSubstr("var(")));
  EXPECT_THAT(SvgStyle(), HasSubstr(".lost { fill: #cc3340; }"));
}

}  // namespace
}  // namespace ringscope
