#include "core/log/record_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace ringscope {
namespace {

using ::testing::ElementsAre;

const SequenceKey kWriter{ProducerId{1}, WriterId{3}};

/// A buffer, a producer at 1 s, its writer at 2 s, a read of all buffers at 3 s.
std::vector<Op> SomeSession() {
  return {{{}, BufferSetUp{.id = BufferId{1}}},
          {1'000'000'000, ProducerConnected{.producer = kWriter.producer}},
          {2'000'000'000,
           WriterRegistered{
               .producer = kWriter.producer, .writer = kWriter.writer, .buffer = BufferId{1}}},
          {3'000'000'000, ReadPass{}}};
}

/// Numbers of the records that are kept.
std::vector<size_t> Kept(const RecordCriteria& criteria) {
  RecordFilter filter(criteria);
  filter.StartSession({});
  std::vector<size_t> kept;
  const std::vector<Op> session = SomeSession();
  for (size_t i = 0; i < session.size(); ++i)
    if (filter.Keeps(session[i], i)) kept.push_back(i);
  return kept;
}

TEST(RecordFilter, Nothing_KeepsEverything) { EXPECT_THAT(Kept({}), ElementsAre(0, 1, 2, 3)); }

TEST(RecordFilter, Times_AreFromTheFirstRecordThatHasOne) {
  EXPECT_THAT(Kept({{.from = TimePoint{1'000'000'000, true}}}), ElementsAre(2, 3));
  EXPECT_THAT(Kept({{.from = TimePoint{0, true}, .to = TimePoint{1'000'000'000, true}}}),
              ElementsAre(0, 1, 2));
  EXPECT_THAT(Kept({{.from = TimePoint{2'000'000'000, false}}}), ElementsAre(2, 3));
}

TEST(RecordFilter, AllCriteria_MustMatch) {
  EXPECT_THAT(Kept({{.sequences = {kWriter}}}), ElementsAre(2));
  EXPECT_THAT(Kept({{.sequences = {kWriter}, .to = TimePoint{0, true}}}), ElementsAre());
  EXPECT_THAT(Kept({.records = RecordRange{1, 2}}), ElementsAre(1, 2));
}

// A pass over all buffers reads each of them.
TEST(RecordFilter, Buffer_KeepsReadsOfAllBuffers) {
  EXPECT_THAT(Kept({{.buffers = {BufferId{1}}}}), ElementsAre(0, 2, 3));
  EXPECT_THAT(Kept({{.buffers = {BufferId{2}}}}), ElementsAre(3));
  EXPECT_THAT(Kept({{.buffers = {BufferKey(/*by_index=*/true, 0)}}}), ElementsAre(0, 2, 3));
  EXPECT_THAT(Kept({{.buffers = {BufferKey(/*by_index=*/true, 1)}}}), ElementsAre(3));
}

TEST(RecordFilter, IsPast_AtTheLastNumber) {
  const RecordFilter filter({.records = RecordRange{1, 2}});
  EXPECT_FALSE(filter.IsPast(1));
  EXPECT_TRUE(filter.IsPast(2));
}

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
