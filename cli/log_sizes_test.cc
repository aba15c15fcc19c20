#include "cli/testing/log_sizes.h"

#include <gtest/gtest.h>

namespace ringscope {
namespace {

TEST(LogSizes, AnotherReleaseOfZstd_IsNoDifference) {
  EXPECT_EQ(WithLogSizesOf("wrote a: 5 records, 927 KiB\n9 records, 1.24 MiB in\n",
                           "wrote a: 5 records, 929 KiB\n9 records, 1.23 MiB in\n"),
            "wrote a: 5 records, 927 KiB\n9 records, 1.24 MiB in\n");
}

TEST(LogSizes, OtherDifferences_Stay) {
  // A size that another release of zstd does not explain, another unit, a count, the size of
  // something else.
  for (const char* made : {"5 records, 940 KiB, 8 KiB raw", "5 records, 927 MiB, 8 KiB raw",
                           "6 records, 927 KiB, 8 KiB raw", "5 records, 927 KiB, 9 KiB raw"})
    EXPECT_EQ(WithLogSizesOf("5 records, 927 KiB, 8 KiB raw", made), made);
}

TEST(LogSizes, MoreSizesThanExpected_Stay) {
  EXPECT_EQ(WithLogSizesOf("5 records, 927 KiB", "5 records, 929 KiB, 5 records, 929 KiB"),
            "5 records, 929 KiB, 5 records, 929 KiB");
}

}  // namespace
}  // namespace ringscope
