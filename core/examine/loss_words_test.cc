#include "core/examine/loss_words.h"

#include <gtest/gtest.h>

namespace ringscope {
namespace {

TEST(CauseText, OfOnePacketOrSeveral) {
  CauseCount cause{.cause = Cause::kEvicted, .count = {.packets = 1, .bytes = 5}};
  EXPECT_EQ(CauseText(cause), "overwritten before it was read");
  cause.count.packets = 2;
  EXPECT_EQ(CauseText(cause), "overwritten before they were read");
}

}  // namespace
}  // namespace ringscope
