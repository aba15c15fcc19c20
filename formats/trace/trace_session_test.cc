#include "formats/trace/trace_session.h"

#include <gtest/gtest.h>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

constexpr uint32_t kBufferName = 7, kTargetBufferName = 11;

std::string BufferField(const std::string& name, uint64_t mode) {
  std::string buffer, config;
  wire::AppendUint(buffer, proto::BufferConfig::kSizeKb, 64);
  wire::AppendBytes(buffer, kBufferName, wire::AsBytes(name));
  wire::AppendUint(buffer, proto::BufferConfig::kExperimentalMode, mode);
  wire::AppendBytes(config, proto::TraceConfig::kBuffers, wire::AsBytes(buffer));
  return config;
}

std::string SourceField(const std::string& buffer) {
  std::string source, outer, config;
  wire::AppendBytes(source, kTargetBufferName, wire::AsBytes(buffer));
  wire::AppendBytes(outer, proto::DataSource::kConfig, wire::AsBytes(source));
  wire::AppendBytes(config, proto::TraceConfig::kDataSources, wire::AsBytes(outer));
  return config;
}

TEST(TraceSession, DataSources_MayNameTheirBuffer) {
  TraceFacts facts;
  facts.config = BufferField("a", 1) + BufferField("b", 1) + SourceField("b");
  EXPECT_EQ(TraceSession(facts).BufferOf(2), BufferId{1});
}

TEST(TraceSession, ShadowMode_IsV1) {
  TraceFacts facts;
  facts.config = BufferField("a", 2) + BufferField("b", 1);
  const TraceSession session(facts);
  ASSERT_EQ(session.buffers.size(), 2u);
  EXPECT_EQ(session.buffers[0].engine, "v1");
  EXPECT_EQ(session.buffers[1].engine, "v2");
}

}  // namespace
}  // namespace ringscope
