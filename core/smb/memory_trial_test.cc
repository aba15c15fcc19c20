#include "core/smb/memory_trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "core/smb/memory_stall.h"
#include "core/smb/memory_story.h"
#include "core/testing/smb_model.h"

namespace ringscope::smb {
namespace {

using testing::ModelJob;
using testing::ModelMemory;
namespace testing = ringscope::testing;

constexpr uint64_t kPage = 4096;

/// The demand that a log of a memory of so many chunks shows.
MemoryDemand DemandOf(const std::vector<ModelJob>& jobs, uint64_t chunks) {
  ModelMemory model(chunks);
  model.Run(jobs);
  return *model.story().Of(testing::kModelProducer)->Demand();
}

/// Writer 1 holds a chunk throughout; writer 2 fills three, which are free 100 ns later.
const std::vector<ModelJob> kJobs = {
    {.writer = 1, .taken_ns = 1000, .returned_ns = 9000, .freed_ns = 9100, .packets = 1},
    {.writer = 2, .taken_ns = 2000, .returned_ns = 2101, .freed_ns = 2400, .packets = 2},
    {.writer = 2, .taken_ns = 2100, .returned_ns = 2201, .freed_ns = 2500, .packets = 3},
    {.writer = 2, .taken_ns = 2200, .returned_ns = 2300, .freed_ns = 2600, .packets = 4},
};

TEST(MemoryTrials, AsRecorded_NothingIsDropped) {
  const MemoryDemand demand = DemandOf(kJobs, 8);
  EXPECT_EQ(demand.uses.size(), 4u);
  EXPECT_TRUE(demand.is_known());
  const MemoryTrial trial = MemoryTrials(demand, kPage).Try(8 * kPage);
  EXPECT_TRUE(trial.is_recorded);
  EXPECT_EQ(trial.drop->refused, 0u);
  EXPECT_EQ(trial.drop->most, 0u);
  EXPECT_EQ(trial.drop->peak, 4u);
  EXPECT_EQ(trial.stall->waits, 0u);
}

TEST(MemoryTrials, FewerChunks) {
  const MemoryDemand demand = DemandOf(kJobs, 8);
  const MemoryTrials trials(demand, kPage);
  // At 2200 two chunks of writer 2 wait for the service.
  const MemoryTrial three = trials.Try(3 * kPage);
  EXPECT_EQ(three.chunks, 3u);
  EXPECT_EQ(three.drop->refused, 1u);
  EXPECT_EQ(three.drop->packets, 4u);
  EXPECT_EQ(three.drop->least, 1u);
  EXPECT_EQ(three.drop->most, 1u);
  EXPECT_EQ(three.drop->peak, 3u);
  // From 2100 on. At 2201 half of it waits to be sent, and is: free 150 ns later.
  EXPECT_EQ(three.drop->full_ns, 251u);
  const MemoryTrial two = trials.Try(2 * kPage);
  EXPECT_EQ(two.drop->refused, 2u);
  EXPECT_EQ(two.drop->packets, 7u);
  EXPECT_EQ(trials.Try(4 * kPage).drop->refused, 0u);
}

// It searches at 2200, again at once, after 8 us: then there is a chunk.
TEST(MemoryTrials, AWriterWaits) {
  const MemoryDemand demand = DemandOf(kJobs, 8);
  const MemoryTrial three = MemoryTrials(demand, kPage).Try(3 * kPage);
  EXPECT_EQ(three.stall->waits, 1u);
  EXPECT_EQ(three.stall->waited_ns, 8000u);
  EXPECT_EQ(three.stall->longest_ns, 8000u);
  EXPECT_EQ(three.stall->gave_up, 0u);
}

// One chunk, which a writer never returns.
TEST(MemoryTrials, AWriterGivesUp) {
  const std::vector<ModelJob> jobs = {
      {.writer = 1, .taken_ns = 1000, .returned_ns = kNotOver, .freed_ns = kNotOver},
      {.writer = 2, .taken_ns = 2000, .returned_ns = 2100, .freed_ns = 2400, .packets = 2},
  };
  uint64_t all = 0;
  for (uint64_t searches = 1; searches < kMostSearches; ++searches) all += SleepAfter(searches);
  EXPECT_EQ(all, 29'342'792'000u);
  const MemoryTrial one = MemoryTrials(DemandOf(jobs, 8), kPage).Try(kPage);
  EXPECT_EQ(one.stall->waits, 1u);
  EXPECT_EQ(one.stall->gave_up, 1u);
  EXPECT_EQ(one.stall->longest_ns, all);
}

// Four chunks are taken until 2200; the first is free again at 2400.
TEST(MemoryTrials, HowLongTheServiceMayBeSilent) {
  const MemoryDemand demand = DemandOf(kJobs, 8);
  const MemoryTrials trials(demand, kPage);
  EXPECT_EQ(trials.Try(8 * kPage).quiet.simulated_ns, std::nullopt);
  EXPECT_EQ(trials.Try(4 * kPage).quiet.simulated_ns, std::nullopt);
  EXPECT_EQ(trials.Try(3 * kPage).quiet.simulated_ns, 0u);
  std::vector<ModelJob> jobs = kJobs;
  jobs.push_back({.writer = 2, .taken_ns = 5000, .returned_ns = 5100, .freed_ns = 5200});
  // Nothing is freed from 2400 on: the fifth chunk finds none at 5000.
  EXPECT_EQ(MemoryTrials(DemandOf(jobs, 8), kPage).Try(4 * kPage).quiet.simulated_ns, 2600u);
}

// All is written in 4 us: at the peak it was not written more slowly than on average.
TEST(MemoryTrials, SizeByPeakRate_OfAShortDemand) {
  std::vector<ModelJob> jobs = kJobs;
  jobs.push_back({.writer = 2, .taken_ns = 5000, .returned_ns = 5100, .freed_ns = 5200});
  const QuietOutcome quiet = MemoryTrials(DemandOf(jobs, 8), kPage).Try(4 * kPage).quiet;
  ASSERT_TRUE(quiet.mean_ns && quiet.peak_ns);
  EXPECT_EQ(*quiet.peak_ns, *quiet.mean_ns);
}

TEST(MemoryTrials, WhatADropHides_IsNotKnown) {
  std::vector<ModelJob> jobs = kJobs;
  jobs.push_back(
      {.writer = 2, .taken_ns = 5000, .returned_ns = 5100, .freed_ns = 5200, .packets = 1});
  const MemoryDemand demand = DemandOf(jobs, 3);  // one is dropped
  EXPECT_EQ(demand.losses, 1u);
  EXPECT_EQ(demand.between_packets, 1u);
  EXPECT_EQ(demand.seen_full, 1u);
  EXPECT_FALSE(demand.is_known());
  EXPECT_FALSE(demand.assumed.empty());
  const MemoryTrials trials(demand, kPage);
  EXPECT_EQ(trials.Try(3 * kPage).drop->refused, 1u);
  EXPECT_EQ(trials.Try(3 * kPage).drop->most, std::nullopt);
  EXPECT_EQ(trials.Try(6 * kPage).drop->least, 0u);
  EXPECT_EQ(trials.Try(6 * kPage).drop->most, std::nullopt);
  const auto enough = trials.Enough();
  ASSERT_TRUE(enough);
  EXPECT_GT(*enough, 3 * kPage);
}

TEST(Repack, SamePages_AreTheSame) {
  const MemoryDemand demand = DemandOf(kJobs, 8);
  const size_t capacity = demand.Capacity(kPage);
  EXPECT_EQ(capacity, 4080u);
  const std::vector<ChunkUse> same = Repack(demand.uses, capacity, capacity);
  ASSERT_EQ(same.size(), demand.uses.size());
  for (size_t i = 0; i < same.size(); ++i) {
    EXPECT_EQ(same[i].holder.writer, demand.uses[i].holder.writer) << i;
    EXPECT_EQ(same[i].taken, demand.uses[i].taken) << i;
    EXPECT_EQ(same[i].freed, demand.uses[i].freed) << i;
    EXPECT_EQ(same[i].content.packets, demand.uses[i].content.packets) << i;
  }
}

ChunkUse Use(uint64_t taken, uint64_t returned, uint64_t freed, uint32_t bytes, bool is_full) {
  return {.holder = {WriterId{1}, ChunkId{0}},
          .taken = {taken, taken},
          .returned = {returned, returned},
          .freed = {freed, freed},
          .content = {.bytes = bytes, .packets = 2, .is_known = true, .is_full = is_full}};
}

// Two full chunks and a part of one fit into one of larger pages.
TEST(Repack, LargerPages) {
  const auto packed = Repack({Use(100, 200, 250, 1000, true), Use(200, 300, 350, 1000, true),
                              Use(300, 350, 400, 10, false)},
                             1000, 8000);
  ASSERT_EQ(packed.size(), 1u);
  EXPECT_EQ(packed[0].taken.to, 100u);
  EXPECT_EQ(packed[0].freed.to, 400u);
  EXPECT_EQ(packed[0].content.bytes, 2010u);
  EXPECT_EQ(packed[0].content.packets, 6u);
}

// A quarter of the bytes, a quarter of the time; each is freed as long after its return.
TEST(Repack, SmallerPages) {
  const auto packed = Repack({Use(100, 200, 250, 1000, true)}, 1000, 250);
  ASSERT_EQ(packed.size(), 4u);
  EXPECT_EQ(packed[1].taken.to, 125u);
  EXPECT_EQ(packed[1].returned.to, 150u);
  EXPECT_EQ(packed[1].freed.to, 200u);
  EXPECT_EQ(packed[3].freed.to, 250u);
}

TEST(ReadContent, MarkersAndFlags) {
  const auto chunk = [](uint32_t id, uint16_t fragments, uint8_t flags, std::string_view payload) {
    std::string bytes;
    AppendChunkHeader(bytes, {ChunkId{id}, WriterId{1}, fragments, flags});
    return bytes + std::string(payload);
  };
  using namespace std::string_view_literals;
  const auto read = [](const std::string& bytes, size_t capacity) {
    return ReadContent(wire::AsBytes(bytes), capacity);
  };
  const std::string two = chunk(1, 2, 0, "\x02\x08\x01\x00"sv);
  EXPECT_EQ(read(two, 4080), (ChunkContent{.bytes = 4, .packets = 1, .is_known = true}));
  EXPECT_TRUE(read(two, 15).is_full);
  EXPECT_TRUE(read(chunk(1, 1, kLastContinues, "\x02\x08\x01"sv), 4080).is_full);
  EXPECT_TRUE(read(chunk(1, 2, 0, "\x02\x08\x01\xff\xff\xff\x7f"sv), 4080).is_aborted);
  const std::string_view flagged = "\x04\xd0\x02\x81\x02";
  EXPECT_TRUE(read(chunk(1, 1, 0, flagged), 4080).follows_loss);
  EXPECT_TRUE(read(chunk(0, 1, 0, flagged), 4080).follows_loss);
  const std::string_view old = "\x03\xd0\x02\x01";
  EXPECT_TRUE(read(chunk(1, 1, 0, old), 4080).follows_loss);
  EXPECT_FALSE(read(chunk(0, 1, 0, old), 4080).follows_loss);  // the first of all
}

/// Writers that fill chunks at random.
std::vector<ModelJob> RandomJobs(std::mt19937& random) {
  const auto number = [&](uint64_t most) { return 1 + random() % most; };
  std::vector<ModelJob> jobs;
  const uint64_t writers = number(6);
  const uint64_t wait = number(3'000'000);
  for (uint16_t writer = 1; writer <= writers; ++writer) {
    uint64_t now = number(2'000'000);
    const uint64_t pace = number(1'000'000);
    for (uint64_t i = number(15); i-- > 0;) {
      ModelJob job{.writer = writer, .taken_ns = now, .packets = static_cast<uint32_t>(number(9))};
      now += 10 + number(pace);
      // Returned when the next one is taken, or before.
      const bool is_full = random() % 3 != 0;
      job.returned_ns = is_full ? now + 1 : now - number(9);
      job.freed_ns = job.returned_ns + number(wait);
      jobs.push_back(job);
    }
    if (random() % 3 == 0) jobs.back().returned_ns = jobs.back().freed_ns = kNotOver;
  }
  return jobs;
}

// A writer fills chunks of a memory of eight pages, of which five are more than half of it.
TEST(MemoryTrials, HalfOfTheMemoryIsSent) {
  std::vector<ModelJob> jobs;
  for (uint64_t i = 0; i < 12; ++i)
    jobs.push_back({.writer = 1,
                    .taken_ns = 1000 + 100 * i,
                    .returned_ns = 1101 + 100 * i,
                    .freed_ns = 1101 + 100 * i + 2000,
                    .packets = 1});
  ModelMemory large(32);
  large.Run(jobs);
  const MemoryDemand demand = *large.story().Of(testing::kModelProducer)->Demand();
  EXPECT_EQ(demand.early.requests, 0u);
  EXPECT_EQ(demand.early.delay_ns, 1000u);
  const MemoryTrials trials(demand, kPage);
  // Without early commits all twelve would be in use.
  const testing::ModelOutcome truth = ModelMemory(8).Run(jobs);
  EXPECT_EQ(truth.early, 1u);
  const MemoryTrial eight = trials.Try(8 * kPage);
  EXPECT_EQ(eight.drop->refused, truth.refused);
  EXPECT_EQ(eight.drop->peak, truth.peak);
  EXPECT_LE(eight.drop->least, truth.refused);
  EXPECT_GE(*eight.drop->most, truth.refused);

  // The other way round: what the log of the small one has is sent later by a large one.
  ModelMemory small(16);
  EXPECT_EQ(small.Run(jobs).early, 1u);
  const MemoryDemand sent_early = *small.story().Of(testing::kModelProducer)->Demand();
  EXPECT_EQ(sent_early.early.requests, 1u);
  EXPECT_EQ(MemoryTrials(sent_early, kPage).Try(32 * kPage).drop->peak, 12u);
  EXPECT_EQ(MemoryTrials(sent_early, kPage).Try(16 * kPage).drop->peak, 12u);
}

// The demand that a memory of one size shows predicts what one of another size does: exactly, if
// looks show each change and nothing was dropped; else within the bounds that are given.
TEST(MemoryTrials, PredictOtherSizes) {
  uint64_t exact = 0, early = 0, bounded = 0, hidden = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const std::vector<ModelJob> jobs = RandomJobs(random);
    const uint64_t recorded = 1 + random() % 16, other = 1 + random() % 12;
    const uint64_t look_every = 1 + (random() % 2) * (random() % 12);
    const uint32_t layout = random() % 3 == 0 ? 1 + static_cast<uint32_t>(random() % 5) : 1;
    ModelMemory model(recorded, look_every, layout);
    const testing::ModelOutcome was = model.Run(jobs);
    const MemoryDemand demand = *model.story().Of(testing::kModelProducer)->Demand();
    ASSERT_EQ(demand.losses, was.flagged);
    const testing::ModelOutcome truth = ModelMemory(other, 1, layout).Run(jobs);
    const MemoryTrials trials(demand, kPage);
    const MemoryTrial as_recorded = trials.Try(recorded * kPage);
    ASSERT_EQ(as_recorded.drop->refused, was.flagged);
    if (look_every == 1) {
      ASSERT_EQ(as_recorded.drop->peak, was.peak);
      ASSERT_EQ(as_recorded.drop->full_ns, was.full_ns);
      if (was.refused == 0 && was.early == 0) {
        ASSERT_EQ(as_recorded.stall->waits, 0u);
      }
    }
    if (other == recorded) continue;
    const MemoryTrial trial = trials.Try(other * kPage);
    ASSERT_LE(trial.drop->least, truth.refused);
    if (trial.drop->most) {
      ASSERT_GE(*trial.drop->most, truth.refused);
      ++bounded;
    }
    if (was.refused > 0) {
      ++hidden;
      // What was refused left a sign unless its writer asked for nothing more.
      if (was.flagged > 0) {
        ASSERT_FALSE(trial.drop->most);
      }
      continue;
    }
    // What was sent early would have been sent at a time that the log does not show.
    if (look_every > 1 || was.early > 0) continue;
    ++exact;
    early += truth.early;
    ASSERT_EQ(trial.drop->refused, truth.refused);
    ASSERT_EQ(trial.drop->packets, truth.packets);
    ASSERT_EQ(trial.drop->peak, truth.peak);
    const testing::ModelOutcome waited = ModelMemory(other, 1, layout).RunWaiting(jobs);
    ASSERT_EQ(trial.stall->waits, waited.waits);
    ASSERT_EQ(trial.stall->waited_ns, waited.waited_ns);
    ASSERT_EQ(trial.stall->gave_up, waited.gave_up);
  }
  EXPECT_GT(exact, 300u);
  EXPECT_GT(early, 300u);
  EXPECT_GT(bounded, 300u);
  EXPECT_GT(hidden, 300u);
}

}  // namespace
}  // namespace ringscope::smb
