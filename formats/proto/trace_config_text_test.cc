#include "formats/proto/trace_config_text.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/wire.h"
#include "formats/proto/text_proto.h"

namespace ringscope {
namespace {

std::string WithBytes(uint32_t number, std::string_view content) {
  std::string out;
  wire::AppendBytes(out, number, wire::AsBytes(content));
  return out;
}
std::string WithUint(uint32_t number, uint64_t value) {
  std::string out;
  wire::AppendUint(out, number, value);
  return out;
}

TEST(TraceConfigText, NamesFieldsAndValues) {
  const std::string buffer = WithUint(1, 64) + WithUint(4, 2) + WithUint(5, 1);
  const std::string source = WithBytes(
      1, WithBytes(1, "linux.ftrace") + WithBytes(100, WithBytes(1, "sched/sched_switch")));
  const std::string config =
      WithBytes(1, buffer) + WithBytes(2, source) + WithUint(3, 10000) + WithBytes(22, "a \"b\"");
  const std::string text = TraceConfigText(wire::AsBytes(config));
  EXPECT_EQ(text,
            "buffers {\n"
            "  size_kb: 64\n"
            "  fill_policy: DISCARD\n"
            "  transfer_on_clone: true\n"
            "}\n"
            "data_sources {\n"
            "  config {\n"
            "    name: \"linux.ftrace\"\n"
            "    ftrace_config {\n"
            "      ftrace_events: \"sched/sched_switch\"\n"
            "    }\n"
            "  }\n"
            "}\n"
            "duration_ms: 10000\n"
            "unique_session_name: \"a \\\"b\\\"\"\n");
  EXPECT_TRUE(ParseTextProto(text, "text"));  // it can be read back
}

TEST(TraceConfigText, UnknownFields_HaveNumbers) {
  EXPECT_EQ(TraceConfigText(wire::AsBytes(WithUint(900, 7) + WithBytes(901, "text") +
                                          WithBytes(902, WithUint(1, 2)))),
            "900: 7\n"
            "901: \"text\"\n"
            "902 {\n"
            "  1: 2\n"
            "}\n");
}

TEST(TraceConfigText, BytesThatAreNoText_AreEscaped) {
  EXPECT_EQ(TraceConfigText(wire::AsBytes(WithBytes(22, std::string("\x01\n\xff", 3)))),
            "unique_session_name: \"\\001\\n\\377\"\n");
}

TEST(TraceConfigText, Malformed_SaysSo) {
  EXPECT_EQ(TraceConfigText(wire::AsBytes(WithUint(3, 1) + "\x0a\x7f")),
            "duration_ms: 1\n# what follows cannot be parsed\n");
}

TEST(TraceConfigText, Negative_AndOtherMessages) {
  EXPECT_EQ(TraceConfigText(wire::AsBytes(WithUint(27, UINT64_MAX))), "trace_uuid_msb: -1\n");
  EXPECT_EQ(DataSourceConfigText(wire::AsBytes(WithUint(4, 9))), "tracing_session_id: 9\n");
  EXPECT_EQ(CloneSessionText(wire::AsBytes(WithBytes(4, "mine"))),
            "unique_session_name: \"mine\"\n");
}

// A message inside a message inside ... does not exhaust the stack.
TEST(TraceConfigText, Depth_IsLimited) {
  std::string deep = WithUint(1, 1);
  for (int i = 0; i < 1000; ++i) deep = WithBytes(900, deep);
  EXPECT_FALSE(TraceConfigText(wire::AsBytes(deep)).empty());
}

}  // namespace
}  // namespace ringscope
