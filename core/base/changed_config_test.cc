#include "core/base/changed_config.h"

#include <gtest/gtest.h>

namespace ringscope {
namespace {

constexpr const char* kConfig = R"(buffers {
  size_kb: 1024
}
buffers {
  size_kb: 64
  fill_policy: DISCARD
}
data_sources {
  config {
    name: "linux.ftrace"
  }
}
duration_ms: 5000
)";

TEST(ChangedConfig, ALineThatIsThere) {
  EXPECT_EQ(ChangedConfig(kConfig, {{"buffers[1].size_kb", "4096", "was full", true}}),
            R"(buffers {
  size_kb: 1024
}
buffers {
  # changed, was 64: was full (an estimate)
  size_kb: 4096
  fill_policy: DISCARD
}
data_sources {
  config {
    name: "linux.ftrace"
  }
}
duration_ms: 5000
)");
}

TEST(ChangedConfig, ALineInAMessageThatIsNotThere) {
  const std::string text = ChangedConfig(
      kConfig,
      {{"data_sources[0].config.ftrace_config.drain_period_ms", "250", "drains sooner", false},
       {"incremental_state_config.clear_period_ms", "5000", "repeats", false}});
  EXPECT_NE(text.find(R"(    name: "linux.ftrace"
    # added: drains sooner
    ftrace_config {
      drain_period_ms: 250
    }
  }
}
duration_ms: 5000
# added: repeats
incremental_state_config {
  clear_period_ms: 5000
}
)"),
            std::string::npos)
      << text;
}

TEST(ChangedConfig, AFieldOfAMessageBehindItIsNotTaken) {
  const std::string text =
      ChangedConfig("buffers {\n  size_kb: 1\n}\n", {{"size_kb", "2", "x", false}});
  EXPECT_EQ(text, "buffers {\n  size_kb: 1\n}\n# added: x\nsize_kb: 2\n");
}

TEST(ChangedConfig, AMessageThatIsAddedFieldByField) {
  const std::string text = ChangedConfig(
      "buffers {\n  size_kb: 1\n}\n",
      {{"buffers[1].size_kb", "2", "x", false}, {"buffers[1].fill_policy", "DISCARD", "y", false}});
  EXPECT_EQ(text,
            "buffers {\n  size_kb: 1\n}\n# added: x\nbuffers {\n  size_kb: 2\n"
            "  # added: y\n  fill_policy: DISCARD\n}\n");
}

TEST(UnifiedDiff, IsWhatPatchTakes) {
  EXPECT_EQ(UnifiedDiff("a.pbtxt", "1\n2\n3\n", "1\n2\n3\n"), "");
  EXPECT_EQ(UnifiedDiff("a.pbtxt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n",
                        "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n12\n13\n"),
            "--- a.pbtxt\n+++ a.pbtxt\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
            "@@ -10,3 +10,4 @@\n 10\n 11\n 12\n+13\n");
  EXPECT_EQ(UnifiedDiff("a", "", "x\n"), "--- a\n+++ a\n@@ -0,0 +1,1 @@\n+x\n");
}

}  // namespace
}  // namespace ringscope
