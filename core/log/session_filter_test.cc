#include <gtest/gtest.h>

#include "core/log/record_filter.h"

namespace ringscope {
namespace {

constexpr ProducerId kOneProducer{1};

bool FilterKeeps(SessionFilter& filter, OpBody body) {
  Op op{.time_ns = {}, .body = std::move(body)};
  return filter.Keeps(op);
}

TEST(SessionFilter, FlushesOfOtherSessions_AreLeftOut) {
  SessionFilter filter(2);
  EXPECT_TRUE(
      FilterKeeps(filter, DataSourceSetUp{.producer = kOneProducer, .instance = 1, .session = 1}));
  EXPECT_TRUE(
      FilterKeeps(filter, DataSourceSetUp{.producer = kOneProducer, .instance = 2, .session = 2}));
  EXPECT_FALSE(
      FilterKeeps(filter, FlushRequested{.flush = 5, .producer = kOneProducer, .instances = {1}}));
  EXPECT_TRUE(
      FilterKeeps(filter, FlushRequested{.flush = 6, .producer = kOneProducer, .instances = {2}}));
  EXPECT_FALSE(FilterKeeps(filter, FlushTimedOut{.flush = 5}));
  EXPECT_TRUE(FilterKeeps(filter, FlushTimedOut{.flush = 6}));
}

TEST(SessionFilter, ClonesOfOtherSessions_AreLeftOut) {
  SessionFilter filter(2);
  EXPECT_FALSE(FilterKeeps(filter, CloneRequested{.clone = 1, .session = 1, .request = {}}));
  EXPECT_TRUE(FilterKeeps(filter, CloneRequested{.clone = 2, .session = 2, .request = {}}));
  EXPECT_FALSE(FilterKeeps(filter, BufferCloned{.clone = 1, .buffer = BufferId{1}}));
  EXPECT_TRUE(FilterKeeps(filter, BufferCloned{.clone = 2, .buffer = BufferId{2}}));
  EXPECT_FALSE(FilterKeeps(filter, ClonePass{.clone = 1, .max_bytes = 1}));
  EXPECT_FALSE(FilterKeeps(filter, CloneEnded{.clone = 1, .success = true, .error = {}}));
  EXPECT_TRUE(FilterKeeps(filter, CloneEnded{.clone = 2, .success = true, .error = {}}));
}

TEST(SessionFilter, BuffersOfOtherSessions_AreKnown) {
  SessionFilter filter(2);
  Op op{.time_ns = {},
        .body = BufferSetUp{.id = BufferId{1}, .index = {}, .engine = {}, .session = 1}};
  EXPECT_TRUE(filter.Keeps(op));
  EXPECT_TRUE(std::get<BufferSetUp>(op.body).left_out);
  EXPECT_FALSE(FilterKeeps(filter, ReadPass{.buffer = {}, .session = 1}));
  EXPECT_TRUE(FilterKeeps(filter, ReadPass{.buffer = {}, .session = 2}));
  EXPECT_TRUE(FilterKeeps(filter, Commit{}));
}

}  // namespace
}  // namespace ringscope
