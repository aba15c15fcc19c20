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
  EXPECT_THAT(Kept({.kinds = {"writer", "read"}}), ElementsAre(2, 3));
  EXPECT_THAT(Kept({.producers = {kWriter.producer}}), ElementsAre(1, 2));
  EXPECT_THAT(Kept({{.sequences = {kWriter}}}), ElementsAre(2));
  EXPECT_THAT(Kept({.kinds = {"read"}, .producers = {kWriter.producer}}), ElementsAre());
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

}  // namespace
}  // namespace ringscope
