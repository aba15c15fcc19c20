#include "commands/demo/demo_session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "commands/demo/consumer.h"
#include "commands/demo/producer.h"
#include "commands/demo/recorder_thread.h"
#include "commands/demo/track_packets.h"
#include "commands/service/service.h"
#include "formats/inputs/open_log.h"

namespace ringscope::demo {
namespace {

using Name = TrackPackets::NameId;

constexpr uint64_t kTickNs = 16'000'000;  // of a frame
constexpr uint64_t kStateTicks = 16;      // the state that events need is written again
constexpr const char* kEventsSource = "demo.events";
constexpr const char* kLoaderSource = "demo.loader";
constexpr uint64_t kLoaderBufferKb = 32;
constexpr size_t kBurstMemory = 4 * 4096;
constexpr size_t kChunkBytes = 4096;

std::string ConfigOf(const DemoOptions& options) {
  ipc::TraceConfig config;
  config.buffers = {{.size_kb = options.buffer_bytes / 1024,
                     .fill_policy = 1,
                     .experimental_mode = ipc::kExperimentalModeV2,
                     .name = "events"},
                    {.size_kb = kLoaderBufferKb,
                     .fill_policy = 1,
                     .experimental_mode = ipc::kExperimentalModeV2,
                     .name = "loader"}};
  config.data_sources = {{{.name = kEventsSource, .target_buffer = 0}},
                         {{.name = kLoaderSource, .target_buffer = 1}}};
  config.unique_session_name = "demo";
  return Encode(config);
}

/// A sequence of a producer: its writer, and what it writes.
struct Sequence {
  SharedMemoryWriter* writer;
  TrackPackets packets;

  Status Write(const TrackPacket& packet) {
    RS_RETURN_IF_ERROR(writer->Write(wire::AsBytes(packet.bytes), packet.size_offset));
    return {};
  }
  Status WriteState() {
    const std::string state = packets.State();
    RS_RETURN_IF_ERROR(writer->Write(wire::AsBytes(state)));
    return {};
  }
  Status Slice(uint64_t begin_ns, uint64_t end_ns, Name name, std::string_view detail) {
    RS_RETURN_IF_ERROR(Write(packets.Begin(begin_ns, name, detail)));
    return Write(packets.End(end_ns));
  }
};

/// The actors of a session. One thread plays all of them, so that each run is the same.
class DemoSession {
 public:
  explicit DemoSession(const DemoOptions& options)
      : options_(options), random_(static_cast<uint32_t>(options.seed)) {}

  Result<DemoOutcome> Run();

 private:
  struct App {
    std::unique_ptr<Producer> producer;
    std::vector<Sequence> sequences;
  };
  Status Start();
  Status AddApp(ProducerOptions options, const std::vector<std::string>& tracks);
  Status Play();
  Status PlayFrame(App& app, uint64_t time_ns, uint64_t tick);
  Status PlayLoader(uint64_t time_ns, uint64_t tick, uint64_t ticks);
  Status PlayBurst(uint64_t time_ns);
  Status End();

  const DemoOptions& options_;
  std::mt19937 random_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<RecorderThread> recording_;
  std::optional<Consumer> consumer_;
  std::vector<App> apps_;
  App loader_;
  App burst_;
  DemoOutcome outcome_;
  std::string listen_;
  uint64_t tracks_ = 0;
};

Status DemoSession::Start() {
  const auto socket = [](const char* purpose) {
    return fmt::format("@ringscope-demo-{}-{}", ::getpid(), purpose);
  };
  listen_ = socket("listen");
  RS_ASSIGN_OR_RETURN(service_, Service::Start({.producer_socket = socket("producers"),
                                                .consumer_socket = socket("consumers")}));
  record::RecorderOptions recorder;
  recorder.producer = {listen_, service_->options().producer_socket};
  recorder.consumer =
      record::PortSockets{socket("consumer-listen"), service_->options().consumer_socket};
  recorder.looks = record::LookLimits{};
  record::LogFilesOptions files;
  files.path = options_.log_path;
  files.replace = options_.replace;
  files.header = record::LiveHeader("a session of demo-session, recorded live, order: strict");
  const std::string consumer_listen = recorder.consumer->listen;
  RS_ASSIGN_OR_RETURN(recording_, RecorderThread::Start(std::move(recorder), std::move(files)));
  RS_ASSIGN_OR_RETURN(Consumer consumer, Consumer::Connect(consumer_listen));
  consumer_.emplace(std::move(consumer));
  return consumer_->EnableTracing(ConfigOf(options_));
}

Status DemoSession::AddApp(ProducerOptions options, const std::vector<std::string>& tracks) {
  const std::string name = options.name;
  App app;
  RS_ASSIGN_OR_RETURN(app.producer, Producer::Connect(listen_, std::move(options)));
  RS_RETURN_IF_ERROR(app.producer->WaitForSources(1));
  for (const std::string& track : tracks) {
    RS_ASSIGN_OR_RETURN(SharedMemoryWriter* const writer,
                        app.producer->AddWriter(app.producer->started().front().buffer));
    app.sequences.push_back({writer, TrackPackets(++tracks_, name, track)});
    ++outcome_.sequences;
  }
  ++outcome_.producers;
  (name == "loader" ? loader_ : name == "burst" ? burst_ : apps_.emplace_back()) = std::move(app);
  return {};
}

Status DemoSession::PlayFrame(App& app, uint64_t time_ns, uint64_t tick) {
  Sequence &render = app.sequences[0], &input = app.sequences[1];
  if (tick % kStateTicks == 0) {
    RS_RETURN_IF_ERROR(render.WriteState());
    RS_RETURN_IF_ERROR(input.WriteState());
  }
  // Now and then a frame has more to tell than a chunk takes.
  const size_t detail = random_() % 16 == 0 ? 3000 + random_() % 3000 : 20 + random_() % 300;
  RS_RETURN_IF_ERROR(render.Write(render.packets.Begin(time_ns, Name::kFrame, {})));
  RS_RETURN_IF_ERROR(render.Slice(time_ns + 1'000'000, time_ns + 4'000'000, Name::kLayout,
                                  std::string(detail, 'l')));
  RS_RETURN_IF_ERROR(render.Slice(time_ns + 5'000'000, time_ns + 12'000'000, Name::kDraw,
                                  std::string(20 + random_() % 300, 'd')));
  RS_RETURN_IF_ERROR(render.Write(render.packets.End(time_ns + 14'000'000)));
  if (random_() % 4 == 0)
    RS_RETURN_IF_ERROR(
        input.Slice(time_ns + 2'000'000, time_ns + 3'000'000, Name::kInput, "touch"));
  return app.producer->Sync();
}

Status DemoSession::PlayLoader(uint64_t time_ns, uint64_t tick, uint64_t ticks) {
  Sequence& assets = loader_.sequences[0];
  if (tick % kStateTicks == 0) RS_RETURN_IF_ERROR(assets.WriteState());
  if (tick == ticks / 2) {
    // It begins to write a packet, and never ends it.
    const TrackPacket packet = assets.packets.Begin(time_ns, Name::kLoad, std::string(9000, 'a'));
    RS_RETURN_IF_ERROR(assets.writer->WriteUnfinished(wire::AsBytes(packet.bytes).first(5000),
                                                      packet.size_offset));
  } else if (tick % 4 == 0) {
    RS_RETURN_IF_ERROR(assets.Slice(time_ns, time_ns + 10'000'000, Name::kLoad, "asset"));
  }
  RS_RETURN_IF_ERROR(loader_.producer->Commit());
  return loader_.producer->Sync();
}

/// More than the shared memory takes, before the service hears of any of it.
Status DemoSession::PlayBurst(uint64_t time_ns) {
  Sequence& events = burst_.sequences[0];
  RS_RETURN_IF_ERROR(events.WriteState());
  for (uint64_t i = 0; i < 100; ++i)
    RS_RETURN_IF_ERROR(events.Slice(time_ns + i * 100'000, time_ns + i * 100'000 + 50'000,
                                    Name::kBurst, std::string(200, 'b')));
  RS_RETURN_IF_ERROR(burst_.producer->Commit());
  RS_RETURN_IF_ERROR(burst_.producer->Sync());
  RS_RETURN_IF_ERROR(events.WriteState());
  RS_RETURN_IF_ERROR(events.Slice(time_ns + kTickNs, time_ns + 2 * kTickNs, Name::kBurst, "after"));
  return burst_.producer->Sync();
}

Status DemoSession::Play() {
  const uint64_t ticks = std::max<uint64_t>(options_.duration_ns / kTickNs, 8);
  const uint64_t start_ns = BootTimeNs();
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t tick = 0; tick < ticks; ++tick) {
    const uint64_t time_ns = start_ns + tick * kTickNs;
    for (App& app : apps_) RS_RETURN_IF_ERROR(PlayFrame(app, time_ns, tick));
    RS_RETURN_IF_ERROR(PlayLoader(time_ns, tick, ticks));
    if (tick == ticks * 3 / 4) RS_RETURN_IF_ERROR(PlayBurst(time_ns));
    std::this_thread::sleep_until(start + std::chrono::nanoseconds((tick + 1) * kTickNs));
  }
  return {};
}

Status DemoSession::End() {
  std::vector<App*> all = {&loader_, &burst_};
  for (App& app : apps_) all.push_back(&app);
  RS_ASSIGN_OR_RETURN(const uint64_t flush, consumer_->StartFlush());
  for (App* const app : all) {
    RS_RETURN_IF_ERROR(app->producer->WaitForFlush());
    RS_RETURN_IF_ERROR(app->producer->AnswerFlushes());
  }
  RS_RETURN_IF_ERROR(consumer_->WaitFor(flush));
  RS_RETURN_IF_ERROR(consumer_->DisableTracing());
  RS_RETURN_IF_ERROR(consumer_->WaitUntilDisabled());
  RS_RETURN_IF_ERROR(consumer_->ReadBuffers(outcome_.trace));
  RS_ASSIGN_OR_RETURN(const std::string stats, consumer_->GetTraceStats());
  RS_RETURN_IF_ERROR(consumer_->FreeBuffers());
  RS_ASSIGN_OR_RETURN(outcome_.content, ContentOfTrace(outcome_.trace, stats));
  for (App* const app : all) {
    for (const Sequence& sequence : app->sequences) {
      outcome_.packets_written += sequence.writer->written();
      outcome_.packets_dropped += sequence.writer->dropped();
    }
    app->producer->Kill();
  }
  consumer_->Close();
  return {};
}

Result<DemoOutcome> DemoSession::Run() {
  RS_RETURN_IF_ERROR(Start());
  for (int i = 1; i <= options_.producers; ++i)
    RS_RETURN_IF_ERROR(AddApp({.name = fmt::format("app-{}", i),
                               .sources = {{.name = kEventsSource}},
                               .batch_bytes = 2 * kChunkBytes},
                              {"render", "input"}));
  RS_RETURN_IF_ERROR(AddApp({.name = "loader", .sources = {{.name = kLoaderSource}}}, {"assets"}));
  RS_RETURN_IF_ERROR(AddApp({.name = "burst",
                             .sources = {{.name = kEventsSource}},
                             .own_memory = kBurstMemory,
                             .batch_bytes = 2 * kBurstMemory,
                             .when_full = WhenFull::kDrop},
                            {"burst"}));
  RS_RETURN_IF_ERROR(Play());
  RS_RETURN_IF_ERROR(End());
  RS_RETURN_IF_ERROR(recording_->Stop());
  outcome_.chunks = recording_->counts().chunks;
  outcome_.warnings = recording_->warnings();
  const auto open = [this]() -> Result<std::unique_ptr<OpSource>> {
    RS_ASSIGN_OR_RETURN(auto source, OpenByteSource(options_.log_path));
    RS_ASSIGN_OR_RETURN(std::unique_ptr<OpSource> log, OpenLog(std::move(source)));
    return log;
  };
  RS_ASSIGN_OR_RETURN(const auto replayed, ContentOfSessions(open));
  outcome_.difference = replayed.size() == 1
                            ? TraceDifference(outcome_.content, replayed.begin()->second)
                            : fmt::format("{} sessions, not 1", replayed.size());
  return std::move(outcome_);
}

}  // namespace

Result<DemoOutcome> RunDemoSession(const DemoOptions& options) {
  return DemoSession(options).Run();
}

}  // namespace ringscope::demo
