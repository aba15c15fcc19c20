#include "formats/descriptors/changed_config.h"

#include <gtest/gtest.h>

#include "formats/descriptors/descriptors.h"

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

TEST(ChangedConfig, PresentValues) {
  std::vector<ConfigChange> changes = {{"buffers[1].size_kb", "4096", "", false},
                                       {"buffers[1].fill_policy", "RING_BUFFER", "", false},
                                       {"flush_period_ms", "5000", "", false}};
  SetPresentValues(kConfig, changes);
  EXPECT_EQ(changes[0].was, "64");
  EXPECT_EQ(changes[1].was, "DISCARD");
  EXPECT_EQ(changes[2].was, "") << "not set";
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

TEST(ChangedConfig, WhatTheUserWroteStays) {
  constexpr const char* kOwn = R"(# my config
buffers: { size_kb : 1024, fill_policy: RING_BUFFER }  # main
buffers <
	size_kb: 64 # small
>
data_sources { config { name: "a" } }
duration_ms: 5000 # five seconds)";
  EXPECT_EQ(ChangedConfig(kOwn, {{"buffers[0].size_kb", "4096", "was full", false},
                                 {"buffers[1].size_kb", "128", "was full, too", true},
                                 {"data_sources[0].config.target_buffer", "1", "moved", false},
                                 {"flush_period_ms", "500", "late", false}}),
            R"(# my config
# changed, was 1024: was full
buffers: { size_kb: 4096, fill_policy: RING_BUFFER }  # main
buffers <
	# changed, was 64: was full, too (an estimate)
	size_kb: 128 # small
>
# added: moved
data_sources { config { name: "a" target_buffer: 1 } }
duration_ms: 5000 # five seconds
# added: late
flush_period_ms: 500
)");
}

TEST(ChangedConfig, TheUuidOfASessionIsNotReused) {
  const std::string config =
      descriptors::Encode("TraceConfig", "duration_ms: 5 trace_uuid_msb: 1 trace_uuid_lsb: 2", "x")
          .value();
  EXPECT_EQ(ReusableConfig(wire::AsBytes(config)), "duration_ms: 5\n");
}

TEST(ChangedConfig, AValueThatIsTheSameStays) {
  EXPECT_EQ(ChangedConfig(kConfig, {{"duration_ms", "5000", "as it is", false}}), kConfig);
}

TEST(ChangedConfig, FieldsThatAreNotKnownStay) {
  EXPECT_EQ(ChangedConfig("31337: 5\nbuffers {\n  size_kb: 1\n}\n",
                          {{"buffers[0].size_kb", "2", "x", false}}),
            "31337: 5\nbuffers {\n  # changed, was 1: x\n  size_kb: 2\n}\n");
}

TEST(ChangedConfig, AnIndexOfAnyNumberIsAdded) {
  EXPECT_EQ(ChangedConfig("duration_ms: 5\n", {{"buffers[4294967295].size_kb", "2", "x", false}}),
            "duration_ms: 5\n# added: x\nbuffers {\n  size_kb: 2\n}\n");
}

TEST(ChangedConfig, WhatCannotBeParsedHasTheChangesAtItsEnd) {
  EXPECT_EQ(ChangedConfig("buffers {", {{"buffers[0].size_kb", "2", "x", false}}),
            "buffers {\n# to be changed: buffers[0].size_kb: 2; x\n");
}

}  // namespace
}  // namespace ringscope
