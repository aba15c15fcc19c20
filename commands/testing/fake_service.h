#ifndef RINGSCOPE_COMMANDS_TESTING_FAKE_SERVICE_H_
#define RINGSCOPE_COMMANDS_TESTING_FAKE_SERVICE_H_

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "commands/record/event_loop.h"
#include "commands/record/socket.h"
#include "commands/testing/ipc_peer.h"
#include "core/perfetto/commit_request.h"

namespace ringscope::testing {

struct FakeServiceOptions {
  std::string socket = UniqueSocketName("service");
  size_t smb_bytes = 64 * TestMemory::kPage;
  uint16_t target_buffer = 1;  // of every data source that `targets` does not have
  std::map<std::string, uint16_t> targets = {};
  uint64_t session = 0;      // tracing_session_id of every data source
  bool keep_effects = true;  // and all bytes; not for measurements
  bool seal_memory = true;
  /// Frames of different connections that have arrived are handled in random order, as a busy
  /// service may: who wants an order must wait for replies.
  bool shuffle = false;
  /// Bytes of a commit's frame, as each is handled: the chunk's, for measurements.
  std::function<void(Bytes chunk)> on_chunk;
};

/// A tracing service as producers see it: it makes their shared memory, takes their chunks out of
/// it and frees them, applies patches, acknowledges what needs a reply, and can ask for flushes.
/// One thread. What it handles is kept as text, in order.
class FakeService {
 public:
  explicit FakeService(FakeServiceOptions options);
  ~FakeService();

  const std::string& socket() const { return options_.socket; }

  /// Asks all producers to flush.
  void Flush(uint64_t id);
  /// Sends a command to the producer of this name.
  void Command(const std::string& producer, const ipc::AsyncCommand& command);
  /// What was done to the buffers by all producers, in order: "NAME: chunk ...".
  std::vector<std::string> effects() const;
  /// All bytes that a producer's connection carried. Known once the connection has ended.
  struct Traffic {
    std::string received;
    std::string sent;
  };
  /// Waits until so many connections have ended. @return by the producers' names
  std::map<std::string, Traffic> WaitForEnds(size_t count);
  /// smb_scraping_mode as it arrived, by name.
  std::map<std::string, uint64_t> scraping_modes() const;

 private:
  struct Connection;

  void Accept();
  void OnReadable(Connection& connection);
  void Handle(Connection& connection, const ipc::Frame& frame);
  /// Handles some frames of a connection that is chosen at random.
  void HandleAny();
  void HandleRequest(Connection& connection, const ipc::Frame& frame);
  void HandleCommit(Connection& connection, Bytes request);
  void SetUpTracing(Connection& connection);
  void SetUpSources(Connection& connection);
  void SendCommand(Connection& connection, const ipc::AsyncCommand& command, int fd = -1);
  void Reply(Connection& connection, uint64_t request_id, const std::string& reply,
             bool has_more = false);
  void Send(Connection& connection, const std::string& frame, int fd = -1);
  void Note(const Connection& connection, const std::string& effect);
  void End(uint64_t id);

  const FakeServiceOptions options_;
  Listener listener_;
  std::unique_ptr<EventLoop> loop_;
  uint64_t last_id_ = 0;
  std::map<uint64_t, std::unique_ptr<Connection>> connections_;
  CommitRequestParser parser_;
  std::mt19937 random_;
  EventLoop::Timer handle_any_;

  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<std::string> effects_;
  std::map<std::string, Traffic> traffic_;
  std::map<std::string, uint64_t> scraping_modes_;
  struct PendingCommand {
    std::optional<std::string> producer;  // absent: all
    ipc::AsyncCommand command;
  };
  std::vector<PendingCommand> pending_;  // not sent yet
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

/// A chunk and a patch as text, the same for service and log.
std::string DescribeChunk(uint64_t target, Bytes data, bool complete);
std::string DescribePatch(const ChunkToPatch& patch);

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_FAKE_SERVICE_H_
