#include "core/base/unified_diff.h"

#include <gtest/gtest.h>

namespace ringscope {
namespace {

TEST(UnifiedDiff, IsWhatPatchTakes) {
  EXPECT_EQ(UnifiedDiff("a.pbtxt", "1\n2\n3\n", "1\n2\n3\n"), "");
  EXPECT_EQ(UnifiedDiff("a.pbtxt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n",
                        "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n12\n13\n"),
            "--- a.pbtxt\n+++ a.pbtxt\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
            "@@ -10,3 +10,4 @@\n 10\n 11\n 12\n+13\n");
  EXPECT_EQ(UnifiedDiff("a", "x\ny", "x\ny\nz\n"),
            "--- a\n+++ a\n@@ -1,2 +1,3 @@\n x\n-y\n\\ No newline at end of file\n+y\n+z\n");
  EXPECT_EQ(UnifiedDiff("a", "", "x\n"), "--- a\n+++ a\n@@ -0,0 +1,1 @@\n+x\n");
}

}  // namespace
}  // namespace ringscope
