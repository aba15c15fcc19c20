// Generated sessions: many producers that commit, patch, are flushed and scraped and vanish,
// through the recorder to a service that is none of its code's business.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "commands/testing/fake_producer.h"
#include "commands/testing/fake_service.h"
#include "commands/testing/recorder_run.h"

namespace ringscope::testing {
namespace {

using ::testing::IsEmpty;

constexpr BufferId kBuffer{1};

/// The effects of each producer, in its order.
std::map<std::string, std::vector<std::string>> ByProducer(
    const std::vector<std::string>& effects) {
  std::map<std::string, std::vector<std::string>> by_producer;
  for (const std::string& effect : effects)
    by_producer[effect.substr(0, effect.find(':'))].push_back(effect);
  return by_producer;
}

/// How a producer of a generated session behaves.
struct Behaviour {
  int chunks = 40;
  bool cut_short = false;    // ends in the middle of a frame
  bool slow_reader = false;  // takes what it is sent byte by byte
};

/// Writers 1 and 2 write packets that may continue in the next chunk, with the sizes patched in
/// later; writer 3 always has a chunk under way that only a scrape can see.
void Produce(FakeProducer& producer, const Behaviour& behaviour, uint32_t seed) {
  std::mt19937 random(seed);
  if (behaviour.slow_reader) producer.peer().set_read_size(3);
  ASSERT_TRUE(producer.Connect());
  for (const WriterId writer : {WriterId{1}, WriterId{2}, WriterId{3}})
    producer.RegisterWriter(writer, kBuffer);
  uint32_t next_chunk[4] = {};
  std::optional<size_t> open_page;
  uint16_t open_fragments = 0;
  for (int i = 0; i < behaviour.chunks; ++i) {
    const auto page = producer.FreePage();
    if (!page) return;
    if (!open_page) {
      open_page = page;
      producer.Write({.page = *page,
                      .writer = WriterId{3},
                      .id = ChunkId{next_chunk[3]++},
                      .fragments = 1,
                      .payload = "open",
                      .complete = false});
      continue;
    }
    const auto writer = static_cast<uint16_t>(1 + random() % 2);
    const ChunkId id{next_chunk[writer]++};
    const bool patched = random() % 2 == 0;
    producer.Write({.page = *page,
                    .writer = WriterId{writer},
                    .id = id,
                    .fragments = static_cast<uint16_t>(1 + random() % 20),
                    .flags = static_cast<uint8_t>(random() % 4 + (patched ? kNeedsPatching : 0)),
                    .payload = std::string(random() % 4000, static_cast<char>('a' + i % 26))});
    std::string request;
    FakeProducer::AddChunk(request, *page, kBuffer);
    if (patched && random() % 2 == 0) {
      const uint8_t bytes[4] = {1, 2, 3, static_cast<uint8_t>(i)};
      CommitRequestBuilder(request).AddPatch(
          {.target_buffer = Raw(kBuffer),
           .writer = writer,
           .chunk = Raw(id),
           .patches = {{.offset = random() % 4000, .data = bytes}},
           .more = false});
    }
    if (random() % 8 == 0) {  // an acknowledgement, with chunks of its own, with more in memory
      open_fragments = static_cast<uint16_t>(open_fragments + 3);
      producer.Write({.page = *open_page,
                      .writer = WriterId{3},
                      .id = ChunkId{next_chunk[3] - 1},
                      .fragments = open_fragments,
                      .payload = std::string(open_fragments, 'o'),
                      .complete = false});
      CommitRequestBuilder(request).SetFlushRequestId(static_cast<uint64_t>(i) + 1);
    }
    ASSERT_TRUE(producer.Commit(request, random() % 4 != 0));
  }
  if (behaviour.cut_short) producer.peer().Send(std::string("\x40\0\0\0half a frame", 16));
}

struct SessionResult {
  std::vector<std::string> service_effects;
  std::vector<std::string> log_effects;
};

SessionResult RunSession(int producers, bool seal_memory, RecorderOptions options, MemoryLog& log,
                         bool shuffle = false) {
  SessionResult result;
  FakeService service(
      {.tracing = {.traces_all = true, .seal_memory = seal_memory, .shuffle = shuffle}});
  options.producer = {UniqueSocketName("listen"), service.producer_socket()};
  RecorderRun recorder(options, log);
  {
    std::vector<std::thread> threads;
    for (int i = 0; i < producers; ++i) {
      threads.emplace_back([&, i] {
        FakeProducer producer(options.producer.listen, fmt::format("p{}", i));
        Produce(producer, {.cut_short = i % 5 == 1, .slow_reader = i % 5 == 2},
                static_cast<uint32_t>(i));
        if (i % 5 != 1) producer.Sync();  // the others vanish with all that they have sent
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  service.WaitForEnds(static_cast<size_t>(producers));
  recorder.Stop();
  EXPECT_THAT(recorder.warnings(), ::testing::Each(::testing::HasSubstr("which is unknown")));
  result.service_effects = service.effects();
  result.log_effects = EffectsOf(log.ops());
  return result;
}

constexpr int kProducers = 50;

/// Memory that is mapped, and memory that is read by system calls.
class Sessions : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Memory, Sessions, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "Sealed" : "Unsealed"; });

TEST_P(Sessions, Exact_LogHasWhatEachProducersServiceGot) {
  MemoryLog log;
  const SessionResult result = RunSession(kProducers, GetParam(), {}, log);
  const auto service = ByProducer(result.service_effects);
  EXPECT_EQ(service.size(), size_t{kProducers});
  EXPECT_EQ(ByProducer(result.log_effects), service);
  const auto scraped = [](const std::string& effect) {
    return effect.find("w3") != std::string::npos && effect.ends_with("incomplete") == false &&
           effect.find(" incomplete ") != std::string::npos;
  };
  EXPECT_GT(std::ranges::count_if(result.log_effects, scraped), kProducers);
}

size_t CountMarks(const MemoryLog& log, InexactReason reason) {
  size_t count = 0;
  for (const Inexact& mark : log.All<Inexact>()) count += mark.reason == reason ? 1 : 0;
  return count;
}

/// The first effect in which the lists differ, with those around it; empty: they are equal.
std::string FirstDifference(const std::vector<std::string>& log,
                            const std::vector<std::string>& service) {
  const auto at = static_cast<size_t>(std::ranges::mismatch(log, service).in1 - log.begin());
  std::string text;
  for (size_t i = at - std::min<size_t>(at, 3); i < std::max(log.size(), service.size()); ++i) {
    if (i > at + 5 || (at == log.size() && at == service.size())) break;
    text += fmt::format("{}{:5}  {:70}  {}\n", i == at ? "->" : "  ", i,
                        i < log.size() ? log[i] : "", i < service.size() ? service[i] : "");
  }
  return text;
}

// The service handles what it has in any order: what was not confirmed would be in another order.
TEST_P(Sessions, StrictOrder_IsTheServices) {
  MemoryLog log;
  const SessionResult result = RunSession(20, GetParam(), {}, log, /*shuffle=*/true);
  EXPECT_EQ(FirstDifference(result.log_effects, result.service_effects), "");
  EXPECT_EQ(CountMarks(log, InexactReason::kUnconfirmed), 0u);
  EXPECT_EQ(CountMarks(log, InexactReason::kUnhandled), 0u);
}

/// A recorder between a service and producers that the test plays step by step.
class Session : public ::testing::Test {
 protected:
  FakeProducer Producer(const std::string& name, uint64_t scraping = 1) const {
    return FakeProducer(options_.producer.listen, name, scraping);
  }

  MemoryLog log_;
  FakeService service_{{.tracing = {.traces_all = true}}};
  const RecorderOptions options_{
      .producer = {UniqueSocketName("listen"), service_.producer_socket()}};
  RecorderRun recorder_{options_, log_};
};

TEST_F(Session, ScrapingIsSwitchedOffWhereItWasOn) {
  for (const uint64_t mode : {uint64_t{0}, uint64_t{1}, uint64_t{2}}) {
    FakeProducer producer = Producer(fmt::format("mode {}", mode), mode);
    ASSERT_TRUE(producer.Connect());
  }
  const auto gone = service_.WaitForEnds(3);
  EXPECT_EQ(gone.at("mode 0").scraping_mode, 0u);
  EXPECT_EQ(gone.at("mode 1").scraping_mode, 2u);
  EXPECT_EQ(gone.at("mode 2").scraping_mode, 2u);
}

/// Requests of the recorder's own, but for commits.
size_t CountOwnRequests(const std::string& received) {
  constexpr uint64_t kFirstOwn = 0xF0000000;
  ipc::MethodTable methods;
  methods.Learn(ipc::BindReplyWith(1, ipc::kProducerPort));
  size_t count = 0;
  for (Bytes rest = wire::AsBytes(received); rest.size() > ipc::kFramePrefix;) {
    const size_t size = ipc::kFramePrefix + wire::LoadLittleEndian<uint32_t>(rest.data());
    const ipc::Frame frame = ipc::ParseFrame(rest.first(size)).value();
    if (const auto* const invoke = std::get_if<ipc::InvokeMethod>(&frame.body))
      count +=
          frame.request_id >= kFirstOwn && methods.Find(*invoke) != ipc::MethodName::kCommitData;
    rest = rest.subspan(size);
  }
  return count;
}

// The replies to the commits themselves show their order.
TEST_F(Session, CommitsOfSeveralProducers_NeedNoFurtherRequests) {
  constexpr uint32_t kRounds = 40;
  {
    FakeProducer first = Producer("first");
    FakeProducer second = Producer("second");
    for (FakeProducer* const producer : {&first, &second}) {
      ASSERT_TRUE(producer->Connect());
      producer->RegisterWriter(WriterId{1}, kBuffer);
      ASSERT_TRUE(producer->Sync());
    }
    for (uint32_t i = 0; i < 2 * kRounds; ++i) {
      FakeProducer& producer = i % 2 == 0 ? first : second;
      producer.Write({.page = 0, .writer = WriterId{1}, .id = ChunkId{i / 2}, .payload = "a"});
      std::string request;
      FakeProducer::AddChunk(request, 0, kBuffer);
      ASSERT_TRUE(producer.Commit(request));
      while (producer.memory().bitmap(0).load() != 0) std::this_thread::yield();
    }
  }
  size_t own = 0;
  for (const auto& [name, gone] : service_.WaitForEnds(2)) own += CountOwnRequests(gone.received);
  EXPECT_LT(own, kRounds);
}

// No acknowledgement ever triggers a scrape of a producer's memory: a timer does.
TEST_F(Session, ProducerThatNeverFlushes_IsScrapedAllTheSame) {
  FakeProducer producer = Producer("p");
  ASSERT_TRUE(producer.Connect(/*no_flush=*/true));
  producer.RegisterWriter(WriterId{1}, kBuffer);
  producer.WriteOpen(3);
  ASSERT_TRUE(log_.WaitFor<Commit>());
  EXPECT_EQ(log_.All<Commit>().front().origin, Origin::kScraped);
}

// At a flush the service scrapes all producers, not only those that it asks.
TEST_F(Session, FlushOfAnother_ScrapesWhoNeverFlushes) {
  FakeProducer asked = Producer("asked");
  ASSERT_TRUE(asked.Connect());
  FakeProducer silent = Producer("silent");
  ASSERT_TRUE(silent.Connect(/*no_flush=*/true));
  silent.RegisterWriter(WriterId{1}, kBuffer);
  ASSERT_TRUE(silent.Sync());
  silent.WriteOpen(3);
  service_.Flush();
  const auto flush = asked.WaitForFlush();
  ASSERT_TRUE(flush);
  std::string acknowledgement;
  CommitRequestBuilder(acknowledgement).SetFlushRequestId(*flush);
  ASSERT_TRUE(asked.Commit(acknowledgement));
  ASSERT_TRUE(log_.WaitFor<FlushAcknowledged>());
  std::vector<std::string> order;
  for (const Op& op : log_.ops()) {
    if (std::holds_alternative<Commit>(op.body)) order.push_back("scrape");
    if (std::holds_alternative<FlushAcknowledged>(op.body)) order.push_back("acknowledged");
  }
  EXPECT_EQ(order, (std::vector<std::string>{"scrape", "acknowledged"}));
}

TEST_F(Session, FlushesAndStopsAreLogged) {
  FakeProducer producer = Producer("p");
  ASSERT_TRUE(producer.Connect());
  ASSERT_TRUE(producer.Sync());
  service_.Flush();
  EXPECT_EQ(producer.WaitForFlush(), 1u);
  EXPECT_EQ(log_.All<FlushRequested>(), (std::vector<FlushRequested>{{1, ProducerId{1}, {1}}}));
  const auto set_up = log_.All<DataSourceSetUp>();
  ASSERT_EQ(set_up.size(), 1u);
  EXPECT_EQ(set_up[0].instance, 1u);
  EXPECT_EQ(set_up[0].name, "source.p");
  EXPECT_EQ(set_up[0].target_buffer, kBuffer);
  const auto config = Decode<ipc::DataSourceConfig>(wire::AsBytes(set_up[0].config));
  EXPECT_EQ(config.name, "source.p");
  EXPECT_EQ(config.target_buffer, Raw(kBuffer));
  const auto connected = log_.All<ProducerConnected>();
  ASSERT_EQ(connected.size(), 1u);
  EXPECT_EQ(connected[0].pid, ::getpid());
  EXPECT_EQ(connected[0].uid, ::getuid());
}

TEST_F(Session, LifeOfADataSourceIsLogged) {
  FakeProducer producer = Producer("p");
  ASSERT_TRUE(producer.Connect());
  ipc::RegisterDataSource source;
  source.descriptor = {.name = "other",
                       .will_notify_on_start = true,
                       .will_notify_on_stop = true,
                       .handles_state_clear = true};
  producer.Invoke("RegisterDataSource", Encode(source), true);
  producer.Invoke("NotifyDataSourceStarted", Encode(ipc::NotifyDataSource{1}), true);
  producer.Invoke("ActivateTriggers", Encode(ipc::ActivateTriggers{{"a", "b"}}), true);
  ASSERT_TRUE(producer.Sync());
  service_.Command("p", {.clear_state = ipc::ClearIncrementalState{{1}}});
  service_.Command("p", {.stop = ipc::NotifyDataSource{1}});
  ASSERT_TRUE(log_.WaitFor<DataSourceStopped>());
  producer.Invoke("NotifyDataSourceStopped", Encode(ipc::NotifyDataSource{1}), true);
  producer.Invoke("UnregisterDataSource", Encode(ipc::UnregisterDataSource{"other"}), true);
  ASSERT_TRUE(producer.Sync());

  constexpr ProducerId kProducer{1};
  EXPECT_EQ(log_.All<DataSourceRegistered>().back(),
            (DataSourceRegistered{kProducer, "other", false, true, true, true}));
  // The service also starts the one that was registered later.
  EXPECT_EQ(log_.All<DataSourceStarted>(),
            (std::vector<DataSourceStarted>{{kProducer, 1}, {kProducer, 2}}));
  EXPECT_EQ(log_.All<DataSourceNotified>(),
            (std::vector<DataSourceNotified>{{kProducer, 1, false}, {kProducer, 1, true}}));
  EXPECT_EQ(log_.All<StateClearRequested>(), (std::vector<StateClearRequested>{{kProducer, {1}}}));
  EXPECT_EQ(log_.All<TriggerActivated>(),
            (std::vector<TriggerActivated>{{kProducer, "a"}, {kProducer, "b"}}));
  EXPECT_EQ(log_.All<DataSourceUnregistered>(),
            (std::vector<DataSourceUnregistered>{{kProducer, "other"}}));
}

}  // namespace
}  // namespace ringscope::testing
