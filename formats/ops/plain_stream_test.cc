#include "formats/testing/plain_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/perfetto/commit_request.h"
#include "core/testing/session_log.h"

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

TEST(PlainStream, PatchesThatAreNotOfFourBytes_AreLeftOut) {
  const Request request = Request(1)
                              .Patch(0, 2, 3, 8, "")
                              .Patch(0, 2, 3, 8, "abc")
                              .Patch(0, 2, 3, 8, "abcde")
                              .Patch(0, 2, 3, 8, "abcd");
  PlainStream stream;
  AddOp(request.op(), stream);
  ASSERT_THAT(stream.steps, SizeIs(4));
  for (size_t i = 0; i < 3; ++i) EXPECT_THAT(stream.steps[i]->patches, SizeIs(0)) << i;
  EXPECT_THAT(stream.steps[3]->patches, ElementsAre(Pair(8, "abcd")));
}

TEST(PlainStream, DataThatIsNoChunk_IsLeftOut) {
  std::string request;
  for (const size_t bytes : {size_t{7}, kMaxChunkData + 1, kMaxChunkData}) {
    const std::string data(bytes, 'c');
    ChunkToMove chunk;
    chunk.data = wire::AsBytes(data);
    CommitRequestBuilder(request).AddChunk(chunk);
  }
  CommitRequestBuilder(request).AddChunk({});
  PlainStream stream;
  AddOp(Request(1).Raw(request).op(), stream);
  ASSERT_THAT(stream.steps, SizeIs(1));
  EXPECT_EQ(stream.steps[0]->payload.size(), kMaxChunkPayload);
}

}  // namespace
}  // namespace ringscope::testing
