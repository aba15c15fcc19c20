#include "core/doctor/changed_config.h"

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

TEST(ChangedConfig, OfOneLineTheWorstFindingsChangeCounts) {
  Diagnosis diagnosis;
  diagnosis.findings.resize(2);
  diagnosis.findings[0].changes = {{"flush_period_ms", "1", "first", false}};
  diagnosis.findings[1].changes = {{"flush_period_ms", "2", "second", false},
                                   {"duration_ms", "3", "other", false}};
  const auto changes = ChangesOf(diagnosis);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].value, "1");
}

}  // namespace
}  // namespace ringscope
