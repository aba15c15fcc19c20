#ifndef RINGSCOPE_COMMANDS_TESTING_LIVE_RECORDING_H_
#define RINGSCOPE_COMMANDS_TESTING_LIVE_RECORDING_H_

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/testing/consumer.h"
#include "commands/testing/fake_service.h"
#include "commands/testing/ipc_peer.h"
#include "commands/testing/producer.h"
#include "commands/testing/recorder_run.h"
#include "commands/testing/replay_check.h"
#include "core/testing/ops_in_memory.h"

namespace ringscope::testing {

/// A recorder between the fake service and clients: the clients connect to `listen()` and
/// `consumer_listen()`; the log is compared with what they received.
class LiveRecording {
 public:
  /// Long enough that a test does not depend on the machine's speed.
  static constexpr std::chrono::minutes kLongWait{1};

  /// @param options of the recorder; sockets are chosen, but for one to listen at that is given
  explicit LiveRecording(RecorderOptions options = {.longest_wait = kLongWait},
                         TracingServiceOptions tracing = {})
      : service_(std::make_unique<FakeService>(FakeServiceOptions{.tracing = std::move(tracing)})),
        options_(std::move(options)) {
    if (options_.producer.listen.empty()) options_.producer.listen = UniqueSocketName("listen");
    options_.producer.connect = service_->producer_socket();
    options_.consumer = PortSockets{UniqueSocketName("listen"), service_->consumer_socket()};
    recorder_.emplace(options_, log_);
  }

  const std::string& listen() const { return options_.producer.listen; }
  const std::string& consumer_listen() const { return options_.consumer->listen; }
  /// Where the service's own socket for producers is.
  const std::string& service_socket() const { return service_->producer_socket(); }
  const FakeService& service() const { return *service_; }
  MemoryLog& log() { return log_; }
  RecorderRun& recorder() { return *recorder_; }
  /// Ends the service, as if it had crashed.
  void StopService() { service_.reset(); }

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
  std::unique_ptr<FakeService> service_;
  RecorderOptions options_;
  MemoryLog log_;
  std::optional<RecorderRun> recorder_;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_LIVE_RECORDING_H_
