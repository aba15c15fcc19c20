// Producers that fill their shared memory in every way, recorded: what the log shows of it equals
// what they know.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "commands/shell/commands.h"
#include "commands/testing/demo_recording.h"
#include "commands/testing/fake_service.h"
#include "commands/testing/memory_run.h"
#include "core/smb/memory_story.h"
#include "formats/ops/ops_jsonl.h"

namespace ringscope::testing {
namespace {

using demo::Consumer;
using demo::Producer;
using demo::SharedMemoryWriter;
using demo::WhenFull;
using ::testing::HasSubstr;

constexpr size_t kPage = TestMemory::kPage;
constexpr size_t kPages = 8;
/// A packet of this size fills most of a chunk: the next one needs another.
constexpr size_t kLarge = 4000;

std::string Config(uint64_t size_kb = 1024) {
  ipc::TraceConfig config;
  config.buffers = {{.size_kb = size_kb}};
  config.data_sources = {{{.name = "source", .target_buffer = 0}}};
  return Encode(config);
}

std::string Packet(size_t bytes) {
  std::string packet;
  wire::AppendBytes(packet, 900, wire::AsBytes(std::string(bytes, 'x')));
  return packet;
}

/// The log's records, so far apart.
std::vector<Op> SpacedOps(const MemoryLog& log, uint64_t ms_apart) {
  std::vector<Op> ops = log.ops();
  uint64_t ms = 0;
  for (Op& op : ops) op.time_ns = (ms += ms_apart) * 1'000'000;
  return ops;
}

/// What 'gaps' reports of a log in which something was lost.
std::string GapsOf(const std::vector<Op>& ops) {
  std::string log;
  for (const Op& op : ops) log += FormatOp(op) + "\n";
  const Ran ran = RunCommand(GapsCommand(), {"--format", "json", "-"}, log);
  EXPECT_EQ(ran.code, ExitCode::kNotice) << ran.error << ran.err;
  return ran.out;
}

/// Packets that their writers dropped, by that report.
uint64_t DroppedBy(const std::string& gaps) {
  uint64_t packets = 0;
  const auto report = nlohmann::json::parse(gaps);
  for (const auto& session : report["sessions"])
    for (const auto& buffer : session["buffers"])
      packets += buffer["fates"]["writer_dropped"]["packets"].get<uint64_t>();
  return packets;
}

/// Waits until looks show so many chunks complete and not committed. @return false: they do not
bool WaitForHeldBack(const MemoryLog& log, uint64_t chunks) {
  for (int tries = 0; tries < 10'000; ++tries) {
    smb::MemoryStory story{1};
    for (const Op& op : log.ops()) story.Add(op);
    for (const smb::MemoryFollower* const memory : story.Memories())
      if (memory->use().most_held_back >= chunks) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

/// A recorded producer with eight pages of shared memory. It sends only what it is asked to.
class SharedMemoryUse : public ::testing::Test {
 protected:
  void Start(WhenFull when_full) {
    consumer_.emplace(Consumer::Connect(run_.consumer_listen()).value());
    ASSERT_TRUE(consumer_->EnableTracing(Config()));
    producer_ = Producer::Connect(run_.listen(), {.name = "p",
                                                  .sources = {{.name = "source"}},
                                                  .own_memory = kPages * kPage,
                                                  .batch_bytes = size_t{1} << 30,
                                                  .when_full = when_full})
                    .value();
    ASSERT_TRUE(producer_->WaitForSources(1));
  }
  SharedMemoryWriter& Add() {
    return *producer_->AddWriter(producer_->started()[0].buffer).value();
  }
  bool Write(SharedMemoryWriter& writer, size_t bytes) {
    return writer.Write(wire::AsBytes(Packet(bytes))).value();
  }
  std::vector<Op> TimedOps(uint64_t ms_apart = 1) { return SpacedOps(run_.log(), ms_apart); }
  /// The last look is made when the producer has gone.
  smb::MemoryUse UseAtEnd() {
    EXPECT_TRUE(producer_->Sync());
    producer_->Kill();
    EXPECT_TRUE(run_.log().WaitFor<ProducerDisconnected>());
    run_.recorder().Stop();
    smb::MemoryStory story{1};
    for (const Op& op : TimedOps()) story.Add(op);
    EXPECT_EQ(story.Memories().size(), 1u);
    const smb::MemoryUse use = story.Memories().front()->use();
    EXPECT_EQ(use.size, kPages * kPage);
    EXPECT_EQ(use.chunks, kPages);
    EXPECT_EQ(use.missing, 0u);
    EXPECT_EQ(use.bad_pages, 0u);
    return use;
  }

  /// What 'gaps' reports of the log.
  std::string Gaps(uint64_t ms_apart = 1) {
    UseAtEnd();
    return GapsOf(TimedOps(ms_apart));
  }

  DemoRecording run_{{.looks = record::LookLimits{.is_cheap = false}}};
  std::optional<Consumer> consumer_;
  std::unique_ptr<Producer> producer_;
};

// Each writer keeps the chunk that it is writing.
TEST_F(SharedMemoryUse, WritersHoldAChunkEach) {
  Start(WhenFull::kDrop);
  for (size_t i = 0; i < kPages; ++i) ASSERT_TRUE(Write(Add(), 10));
  EXPECT_FALSE(Write(Add(), 10));  // one writer too many
  const smb::MemoryUse use = UseAtEnd();
  EXPECT_EQ(use.peak->counts.being_written, kPages);
  EXPECT_EQ(use.most_writers, kPages);
  EXPECT_EQ(use.most_held_back, 0u);
  EXPECT_EQ(use.full_looks, 1u);
}

// Complete chunks that are not committed are the producer's own: the service never heard of them.
TEST_F(SharedMemoryUse, ChunksHeldBack) {
  Start(WhenFull::kDrop);
  SharedMemoryWriter& writer = Add();
  uint64_t written = 0;
  while (Write(writer, kLarge)) ++written;
  EXPECT_EQ(written, writer.written());
  EXPECT_EQ(writer.dropped(), 1u);
  const smb::MemoryUse use = UseAtEnd();
  EXPECT_EQ(use.most_held_back, kPages);
  EXPECT_EQ(use.most_committed, 0u);
  EXPECT_EQ(use.full_looks, 1u);
}

// The look before the commit shows the chunks that it names; afterwards the service has freed them.
TEST_F(SharedMemoryUse, CommitFreesThem) {
  Start(WhenFull::kDrop);
  SharedMemoryWriter& writer = Add();
  while (Write(writer, kLarge)) {
  }
  ASSERT_TRUE(producer_->Commit());
  ASSERT_TRUE(producer_->Sync());
  ASSERT_TRUE(Write(writer, 10));
  const smb::MemoryUse use = UseAtEnd();
  EXPECT_EQ(use.peak->counts.complete, kPages);
  EXPECT_GE(use.full_looks, 1u);
  EXPECT_GE(use.looks, 2u);
  EXPECT_LT(use.full.least, *use.last_ns - *use.first_ns);
}

// A packet larger than the memory of a producer that drops: it is lost, whatever the service does.
TEST_F(SharedMemoryUse, PacketLargerThanTheMemory) {
  Start(WhenFull::kDrop);
  SharedMemoryWriter& writer = Add();
  EXPECT_FALSE(Write(writer, 2 * kPages * kPage));
  ASSERT_TRUE(producer_->Commit());
  EXPECT_EQ(writer.dropped(), 1u);
  const smb::MemoryUse use = UseAtEnd();
  EXPECT_EQ(use.peak->counts.complete, kPages);
}

TEST_F(SharedMemoryUse, AbortedAsWritersHoldTheChunks) {
  Start(WhenFull::kDrop);
  for (size_t i = 0; i + 1 < kPages; ++i) ASSERT_TRUE(Write(Add(), 10));
  EXPECT_FALSE(Write(Add(), 2 * kPage));  // the last chunk takes its beginning
  ASSERT_TRUE(producer_->Commit());
  const std::string gaps = Gaps();
  EXPECT_THAT(gaps, HasSubstr(R"("reason": "held_by_writers")"));
  EXPECT_THAT(gaps, HasSubstr(R"("being_written": 7)"));
}

TEST_F(SharedMemoryUse, AbortedAsThePacketIsTooLarge) {
  Start(WhenFull::kDrop);
  EXPECT_FALSE(Write(Add(), 2 * kPages * kPage));
  ASSERT_TRUE(producer_->Commit());
  EXPECT_THAT(Gaps(), HasSubstr(R"("reason": "large_packet")"));
}

TEST_F(SharedMemoryUse, AbortedInABurst) {
  Start(WhenFull::kDrop);
  SharedMemoryWriter& writer = Add();
  for (size_t i = 0; i + 1 < kPages; ++i) ASSERT_TRUE(Write(writer, kLarge));
  EXPECT_FALSE(Write(writer, 2 * kPage));
  ASSERT_TRUE(producer_->Commit());
  const std::string gaps = Gaps();
  EXPECT_THAT(gaps, HasSubstr(R"("reason": "burst")"));
  EXPECT_THAT(gaps, HasSubstr(R"("held_back": 8)"));
}

// The producer has complete chunks for a while, and sends them only when it is too late.
TEST_F(SharedMemoryUse, AbortedAsTheProducerHeldChunksBack) {
  Start(WhenFull::kDrop);
  SharedMemoryWriter& first = Add();
  SharedMemoryWriter& second = Add();
  ASSERT_TRUE(Write(first, 10));
  ASSERT_TRUE(Write(second, 10));
  ASSERT_TRUE(second.Finish());
  ASSERT_TRUE(producer_->Commit());  // the look before it sees a chunk in use: others follow
  ASSERT_TRUE(producer_->Sync());    // the service has freed the other
  for (size_t i = 0; i < 5; ++i) ASSERT_TRUE(Write(second, kLarge));
  ASSERT_TRUE(second.Finish());
  ASSERT_TRUE(WaitForHeldBack(run_.log(), 5));
  EXPECT_FALSE(Write(second, 3 * kPage));  // two chunks are free for it
  ASSERT_TRUE(producer_->Commit());
  EXPECT_EQ(second.dropped(), 1u);
  const std::string gaps = Gaps(/*ms_apart=*/20);
  EXPECT_THAT(gaps, HasSubstr(R"("reason": "held_back")"));
  EXPECT_THAT(gaps, HasSubstr(R"("held_back": 7)"));
  EXPECT_EQ(DroppedBy(gaps), first.dropped() + second.dropped());
}

// The producer commits at once, and a service that is busy does not take what it was asked to.
TEST(SharedMemoryOfABusyService, AbortedAsTheServiceWasLate) {
  std::promise<void> is_busy, is_free;
  std::shared_future<void> go_on = is_free.get_future().share();
  bool was_busy = false;
  FakeService service({.smb_bytes = kPages * kPage, .on_chunk = [&](Bytes) {
                         if (std::exchange(was_busy, true)) return;
                         is_busy.set_value();
                         go_on.wait();
                       }});
  MemoryLog log;
  const std::string listen = UniqueSocketName("listen");
  RecorderRun recorder({.producer = {listen, service.socket()},
                        .scraping = record::Scraping::kObserve,
                        .strict_order = false,
                        .looks = record::LookLimits{.is_cheap = false}},
                       log);
  const auto producer = Producer::Connect(listen, {.name = "p",
                                                   .sources = {{.name = "source"}},
                                                   .batch_bytes = size_t{1} << 30,
                                                   .when_full = WhenFull::kDrop})
                            .value();
  ASSERT_TRUE(producer->WaitForSources(1));
  SharedMemoryWriter& writer = *producer->AddWriter(producer->started()[0].buffer).value();
  const auto write = [&](size_t bytes) {
    return writer.Write(wire::AsBytes(Packet(bytes))).value();
  };
  for (size_t i = 0; i < 6; ++i) ASSERT_TRUE(write(kLarge));
  ASSERT_TRUE(writer.Finish());
  ASSERT_TRUE(producer->Commit());
  // It reads the first of the six chunks.
  const auto reads = is_busy.get_future().wait_for(std::chrono::seconds(30));
  EXPECT_EQ(reads, std::future_status::ready);
  EXPECT_FALSE(write(3 * kPage));
  EXPECT_TRUE(producer->Commit());
  EXPECT_TRUE(log.WaitFor<Commit>(2));
  is_free.set_value();
  ASSERT_TRUE(producer->Sync());
  EXPECT_EQ(writer.dropped(), 1u);
  producer->Kill();
  ASSERT_TRUE(log.WaitFor<ProducerDisconnected>());
  recorder.Stop();

  std::vector<Op> ops = SpacedOps(log, /*ms_apart=*/20);
  ops.insert(ops.begin(),
             Op{.time_ns = 0, .body = BufferSetUp{.id = BufferId{1}, .size = size_t{1} << 20}});
  const std::string gaps = GapsOf(ops);
  EXPECT_THAT(gaps, HasSubstr(R"("reason": "service_late")"));
  EXPECT_THAT(gaps, HasSubstr(R"("waiting_for_service": 5)"));
  EXPECT_THAT(gaps, HasSubstr(R"("being_read": 1)"));
  EXPECT_EQ(DroppedBy(gaps), writer.dropped());
}

/// Writers of several producers that write, drop, come and go at random.
class RandomWriters {
 public:
  RandomWriters(uint32_t seed, std::vector<Producer*> producers) : random_(seed) {
    for (Producer* const producer : producers) users_.push_back({.producer = producer});
  }
  void Step() {
    User& user = users_[random_() % users_.size()];
    const auto choice = random_() % 100;
    if (user.writers.empty() || (choice < 6 && user.writers.size() < kPages + 1)) {
      const BufferId buffer = user.producer->started()[0].buffer;
      user.writers.push_back({user.producer->AddWriter(buffer).value()});
    } else if (choice < 9) {
      const size_t gone = random_() % user.writers.size();
      Leave(user.writers[gone]);
      ASSERT_TRUE(user.producer->RemoveWriter(user.writers[gone].writer));
      user.writers.erase(user.writers.begin() + static_cast<ptrdiff_t>(gone));
    } else if (choice < 22) {
      ASSERT_TRUE(user.producer->Commit());
      if (choice < 18) {
        ASSERT_TRUE(user.producer->Sync());
      }
    } else {
      Write(user.writers[random_() % user.writers.size()]);
    }
  }
  void Finish() {
    for (User& user : users_) {
      for (Writer& writer : user.writers) {
        Leave(writer);
        ASSERT_TRUE(writer.writer->Finish());
      }
      ASSERT_TRUE(user.producer->Commit());
      ASSERT_TRUE(user.producer->Sync());
    }
  }
  uint64_t written() const { return written_; }
  uint64_t aborted() const { return aborted_; }
  /// Times that a writer lost packets, as far as a log can show them: by a marker, or without one
  /// by the flag of the next packet.
  uint64_t losses() const { return aborted_ + flagged_; }
  uint64_t flagged() const { return flagged_; }

 private:
  struct Writer {
    SharedMemoryWriter* writer = nullptr;
    bool is_losing = false;
    bool has_marker = false;  // in its last chunk
  };
  struct User {
    Producer* producer = nullptr;
    std::vector<Writer> writers;
  };
  void Write(Writer& user) {
    constexpr size_t kSizes[] = {10, 300, kLarge, 3 * kPage, (kPages + 2) * kPage};
    const size_t bytes = kSizes[random_() % 32 == 0 ? 4 : random_() % 4];
    const std::optional<size_t> patched =
        random_() % 4 == 0 && bytes > 100 ? std::optional<size_t>(20) : std::nullopt;
    const uint64_t aborted = user.writer->aborted();
    const uint32_t chunks = user.writer->chunks();
    const bool is_written = user.writer->Write(wire::AsBytes(Packet(bytes)), patched).value();
    // The flag of a packet that is aborted in its first chunk is gone with it.
    const bool shows_flag = user.is_losing && (is_written || user.writer->chunks() >= chunks + 2);
    if (shows_flag && !user.has_marker) ++flagged_;
    user.is_losing = !is_written;
    if (is_written) user.has_marker = false;
    if (user.writer->aborted() > aborted) user.has_marker = true;
  }
  void Leave(const Writer& user) {
    written_ += user.writer->written();
    aborted_ += user.writer->aborted();
  }

  std::mt19937 random_;
  std::vector<User> users_;
  uint64_t written_ = 0, aborted_ = 0, flagged_ = 0;
};

// What the log shows of several producers' losses is what their writers counted.
TEST(SharedMemoryOfProducers, AtRandom) {
  uint64_t aborted = 0, flagged = 0;
  for (uint32_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    DemoRecording run({.looks = record::LookLimits{.is_cheap = false}});
    Consumer consumer = Consumer::Connect(run.consumer_listen()).value();
    ASSERT_TRUE(consumer.EnableTracing(Config(16 * 1024)));
    std::vector<std::unique_ptr<Producer>> producers;
    std::vector<Producer*> used;
    for (const char* const name : {"a", "b", "c"}) {
      producers.push_back(Producer::Connect(run.listen(), {.name = name,
                                                           .sources = {{.name = "source"}},
                                                           .own_memory = kPages * kPage,
                                                           .batch_bytes = size_t{1} << 30,
                                                           .when_full = WhenFull::kDrop})
                              .value());
      ASSERT_TRUE(producers.back()->WaitForSources(1));
      used.push_back(producers.back().get());
    }
    RandomWriters writers(seed, used);
    for (int step = 0; step < 300; ++step) writers.Step();
    writers.Finish();
    for (auto& producer : producers) producer->Kill();
    ASSERT_TRUE(run.log().WaitFor<ProducerDisconnected>(3));
    run.recorder().Stop();

    const std::vector<Op> ops = SpacedOps(run.log(), /*ms_apart=*/1);
    const auto report = nlohmann::json::parse(GapsOf(ops));
    const auto& buffer = report["sessions"][0]["buffers"][0];
    EXPECT_EQ(buffer["fates"]["writer_dropped"]["packets"], writers.aborted());
    EXPECT_EQ(buffer["written"]["packets"], writers.written() + writers.aborted());
    smb::MemoryStory story{3, 100'000};
    for (const Op& op : ops) story.Add(op);
    uint64_t losses = 0, between = 0;
    for (const smb::MemoryFollower* const memory : story.Memories()) {
      losses += memory->Demand()->losses;
      between += memory->Demand()->between_packets;
    }
    EXPECT_EQ(losses, writers.losses());
    EXPECT_EQ(between, writers.flagged());
    aborted += writers.aborted();
    flagged += writers.flagged();
  }
  EXPECT_GT(aborted, 100u);
  EXPECT_GT(flagged, 20u);
}

// A producer that waits loses nothing; the looks show that no chunk was free.
TEST_F(SharedMemoryUse, Stall) {
  Start(WhenFull::kStall);
  SharedMemoryWriter& writer = Add();
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(Write(writer, kLarge));
  EXPECT_EQ(writer.dropped(), 0u);
  const smb::MemoryUse use = UseAtEnd();
  // It commits only when it waits: each commit's look shows a full memory.
  EXPECT_GE(use.full_looks, producer_->stalls());
  EXPECT_GT(producer_->stalls(), 3u);
}

}  // namespace
}  // namespace ringscope::testing
