#include <gtest/gtest.h>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/testing/message_text.h"
#include "formats/trace/trace_import.h"

namespace ringscope::testing {
namespace {

constexpr uint32_t kBufferName = 7, kTargetBufferName = 11;

std::string BufferField(const std::string& name, uint64_t mode) {
  return Sub(proto::TraceConfig::kBuffers,
             Uint(proto::TraceConfig::BufferConfig::kSizeKb, 64) + Sub(kBufferName, name) +
                 Uint(proto::TraceConfig::BufferConfig::kExperimentalMode, mode));
}

std::string SourceField(const std::string& buffer) {
  return Sub(proto::TraceConfig::kDataSources,
             Sub(proto::TraceConfig::DataSource::kConfig, Sub(kTargetBufferName, buffer)));
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
}  // namespace ringscope::testing
