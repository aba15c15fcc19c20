#ifndef RINGSCOPE_COMMANDS_TESTING_TRACING_SESSION_H_
#define RINGSCOPE_COMMANDS_TESTING_TRACING_SESSION_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "commands/record/event_loop.h"
#include "commands/record/socket.h"
#include "commands/testing/service_messages.h"
#include "commands/testing/session_store.h"
#include "formats/ipc/ipc_messages.h"

namespace ringscope::testing {

class ConsumerPort;

/// A data source of a producer that takes part in a session.
struct SourceInstance {
  enum class State : uint8_t { kConfigured, kStarting, kStarted, kStopping, kStopped };

  uint64_t id = 0;
  ProducerId producer{};
  std::string source;
  BufferId buffer{};
  std::string config;  // its DataSourceConfig, as the producer gets it
  bool no_flush = false;
  bool notifies_start = false;
  bool notifies_stop = false;
  bool clears_state = false;
  State state = State::kConfigured;
};

/// A flush that is under way.
struct PendingFlush {
  std::set<ProducerId> waits_for;
  std::function<void(bool ok)> done;
  EventLoop::Timer timer;  // its timeout, or its completion
};

/// A packet of the service itself that waits for the next read.
struct WaitingPacket {
  uint64_t time_ns = 0;  // CLOCK_BOOTTIME
  std::string content;
};

/// A tracing session of the service.
struct TracingSession {
  enum class State : uint8_t { kDisabled, kConfigured, kStarted, kStopping, kCloned };

  uint64_t id = 0;
  ConsumerPort* consumer = nullptr;
  State state = State::kDisabled;
  ServiceConfig config;
  std::string raw_config;
  uint64_t uuid_msb = 0;
  uint64_t uuid_lsb = 0;
  std::vector<BufferId> buffers;  // by their index in the config
  SessionStore store;
  std::vector<SourceInstance> instances;
  std::map<uint64_t, PendingFlush> flushes;
  uint64_t flushes_requested = 0;
  uint64_t flushes_succeeded = 0;
  uint64_t flushes_failed = 0;
  uint64_t final_flush_outcome = 0;
  uint64_t invalid_packets_before = 0;  // of a clone: of the session that was cloned
  std::vector<ReceivedTrigger> triggers;
  bool triggered = false;

  // What the next read writes besides the buffers' packets.
  std::string initial_clocks;  // until it is written
  std::vector<std::string> clocks;
  std::vector<WaitingPacket> events;
  bool config_written = false;
  bool stats_due = false;
  size_t triggers_written = 0;
  std::optional<ReceivedTrigger> clone_trigger;
  bool all_started = false;

  // Writing into a file.
  UniqueFd file;
  uint64_t file_bytes = 0;
  EventLoop::Timer file_timer;

  std::optional<uint64_t> enable_request;
  EventLoop::Timer duration_timer;
  EventLoop::Timer flush_timer;
  EventLoop::Timer stop_timer;
  EventLoop::Timer clone_hit_timer;
  EventLoop::Timer snapshot_timer;
  EventLoop::Timer state_timer;
  EventLoop::Timer next_pass;  // of a read

  bool IsCloneOnly() const {
    return config.triggers.mode == ipc::kTriggerModeClone && state != State::kCloned;
  }
  uint64_t FlushTimeoutMs() const {
    constexpr uint64_t kDefault = 5000;
    return config.flush_timeout_ms == 0 ? kDefault : config.flush_timeout_ms;
  }
  const ipc::BufferConfig& ConfigOf(BufferId buffer) const {
    for (size_t i = 0; i < buffers.size(); ++i)
      if (buffers[i] == buffer) return config.buffers[i];
    return config.buffers.front();
  }
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_TRACING_SESSION_H_
