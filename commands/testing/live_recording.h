#ifndef RINGSCOPE_COMMANDS_TESTING_LIVE_RECORDING_H_
#define RINGSCOPE_COMMANDS_TESTING_LIVE_RECORDING_H_

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "commands/testing/consumer.h"
#include "commands/testing/fake_service.h"
#include "commands/testing/ipc_peer.h"
#include "commands/testing/producer.h"
#include "commands/testing/recorder_run.h"
#include "commands/testing/replay_check.h"
#include "core/testing/ops_in_memory.h"
#include "formats/testing/files.h"

namespace ringscope::testing {

/// How often a test of whole sessions records, by RINGSCOPE_RECORDINGS.
inline uint32_t Recordings(uint32_t otherwise = 1) {
  const char* const chosen = std::getenv("RINGSCOPE_RECORDINGS");
  return chosen == nullptr ? otherwise : static_cast<uint32_t>(std::atoi(chosen));
}

/// Waits until so many data sources are started, and adds a writer for each.
inline std::vector<SharedMemoryWriter*> WritersOf(Producer& producer, size_t sources) {
  EXPECT_TRUE(producer.WaitForSources(sources));
  std::vector<SharedMemoryWriter*> writers;
  for (const StartedSource& source : producer.started())
    writers.push_back(producer.AddWriter(source.buffer).value());
  return writers;
}

/// A recorder between a service and clients: the clients connect to `listen()` and
/// `consumer_listen()`; the log is compared with what they received. The service is that of the
/// tests, or the program that RINGSCOPE_TRACED names (traced): so the tests that do without options
/// of the service run against the real one.
class LiveRecording {
 public:
  /// Long enough that a test does not depend on the machine's speed.
  static constexpr std::chrono::minutes kLongWait{1};

  /// @param options of the recorder; sockets are chosen, but for one to listen at that is given
  /// @param tracing of the service of the tests; the one that RINGSCOPE_TRACED names has its own
  explicit LiveRecording(RecorderOptions options = {.longest_wait = kLongWait},
                         TracingServiceOptions tracing = {})
      : options_(std::move(options)) {
    if (options_.producer.listen.empty()) options_.producer.listen = UniqueSocketName("listen");
    options_.consumer.emplace().listen = UniqueSocketName("listen");
    if (const char* const traced = std::getenv("RINGSCOPE_TRACED")) {
      options_.producer.connect = folder_.File("producer");
      options_.consumer->connect = folder_.File("consumer");
      StartTraced(traced);
    } else {
      service_ = std::make_unique<FakeService>(FakeServiceOptions{.tracing = std::move(tracing)});
      options_.producer.connect = service_->producer_socket();
      options_.consumer->connect = service_->consumer_socket();
    }
    recorder_.emplace(options_, log_);
  }
  ~LiveRecording() {
    recorder_.reset();
    StopService();
  }

  const std::string& listen() const { return options_.producer.listen; }
  const std::string& consumer_listen() const { return options_.consumer->listen; }
  /// Where the service's own socket for producers is.
  const std::string& service_socket() const { return options_.producer.connect; }
  /// nullptr if it is the one that RINGSCOPE_TRACED names.
  const FakeService* service() const { return service_.get(); }
  MemoryLog& log() { return log_; }
  RecorderRun& recorder() { return *recorder_; }
  /// Ends the service, as if it had crashed.
  void StopService() {
    service_.reset();
    if (traced_ == nullptr) return;
    traced_->Terminate();
    traced_->TakeEnding();
    traced_.reset();
  }

  LogOpener opener() const {
    return [this]() -> Result<std::unique_ptr<OpSource>> {
      return std::make_unique<OpsInMemory>(log_.ops());
    };
  }
  /// Stops the recorder, and compares the log's sessions with what consumers received.
  void ExpectSessions(const std::map<uint64_t, TraceContent>& received) {
    recorder_->Stop();
    const auto replayed = ContentOfSessions(opener()).value();
    for (const auto& [session, content] : received) {
      ASSERT_TRUE(replayed.contains(session)) << "session " << session;
      EXPECT_EQ(TraceDifference(content, replayed.at(session)), "") << "session " << session;
    }
  }
  void ExpectClones(const std::map<uint64_t, TraceContent>& received) {
    recorder_->Stop();
    const auto replayed = ContentOfClones(opener()).value();
    for (const auto& [clone, content] : received) {
      ASSERT_TRUE(replayed.contains(clone)) << "clone " << clone;
      EXPECT_EQ(TraceDifference(content, replayed.at(clone)), "") << "clone " << clone;
    }
  }

 private:
  void StartTraced(const std::string& program) {
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    traced_ =
        ChildProcess::Start({"env", "PERFETTO_PRODUCER_SOCK_NAME=" + options_.producer.connect,
                             "PERFETTO_CONSUMER_SOCK_NAME=" + options_.consumer->connect, program})
            .value();
    while (!Connect(options_.consumer->connect) && std::chrono::steady_clock::now() < patience)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }

  const TempFolder folder_;
  std::unique_ptr<FakeService> service_;
  std::unique_ptr<ChildProcess> traced_;
  RecorderOptions options_;
  MemoryLog log_;
  std::optional<RecorderRun> recorder_;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_LIVE_RECORDING_H_
