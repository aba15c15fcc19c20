#ifndef RINGSCOPE_COMMANDS_TESTING_PRODUCER_PORT_H_
#define RINGSCOPE_COMMANDS_TESTING_PRODUCER_PORT_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "commands/testing/client_connection.h"
#include "commands/testing/service_journal.h"
#include "commands/testing/smb_memory.h"
#include "core/base/ids.h"
#include "core/perfetto/commit_request.h"
#include "formats/ipc/ipc_messages.h"

namespace ringscope::testing {

class TracingService;

/// A producer, as the service sees it: its connection, its shared memory, its data sources.
class ProducerPort : public ClientConnection::Port {
 public:
  ProducerPort(TracingService& service, EventLoop& loop, UniqueFd fd, ProducerId id);

  Status Serve() { return connection_.Serve(*this); }
  void OnRequest(ClientRequest& request) override;
  void OnDisconnect() override;

  ProducerId id() const { return id_; }
  const std::string& name() const { return name_; }
  PeerIdentity peer() const { return peer_; }
  GoneProducer AsGone() { return {connection_.TakeReceived(), scraping_mode_}; }
  const std::vector<ipc::DataSourceDescriptor>& sources() const { return sources_; }
  const std::map<WriterId, BufferId>& writers() const { return writers_; }

  bool has_memory() const { return memory_.has_value(); }
  const SmbMemory& memory() const { return *memory_; }
  /// Makes the shared memory, unless the producer brought its own, and sends it.
  Status SetUpMemory(MemorySizes sizes);
  /// What the producer asks for; 0: nothing.
  MemorySizes memory_hint() const { return memory_hint_; }
  void SendCommand(const ipc::AsyncCommand& command, const UniqueFd* fd = nullptr) {
    SendCommand(Encode(command), fd);
  }
  void SendCommand(std::string command, const UniqueFd* fd = nullptr);

  /// The commit's chunks, patches and so on with the bytes of the chunks that are in shared memory;
  /// these chunks are free then. What the service skips is left out.
  CommitRequestParser& TakeChunks(Bytes request, std::string& data);
  /// Finds the chunks that are not committed, of writers that `wants` accepts.
  /// @param request gets them, with their bytes
  void Scrape(const std::function<bool(BufferId)>& wants, std::string& request) const;

 private:
  void Initialize(ClientRequest& request);
  void Register(const ClientRequest& request);

  TracingService& service_;
  const ProducerId id_;
  ClientConnection connection_;
  const PeerIdentity peer_;
  std::string name_;
  bool initialized_ = false;
  uint64_t scraping_mode_ = 0;
  MemorySizes memory_hint_;
  std::optional<SmbMemory> memory_;
  bool brought_memory_ = false;
  std::optional<uint64_t> command_request_;
  struct PendingCommand {
    std::string command;
    std::optional<UniqueFd> fd;
  };
  std::vector<PendingCommand> pending_;  // until the producer asks for commands
  std::vector<ipc::DataSourceDescriptor> sources_;
  std::map<WriterId, BufferId> writers_;
  CommitRequestParser parser_;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_PRODUCER_PORT_H_
