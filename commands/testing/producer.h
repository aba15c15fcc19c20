#ifndef RINGSCOPE_COMMANDS_TESTING_PRODUCER_H_
#define RINGSCOPE_COMMANDS_TESTING_PRODUCER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/testing/service_client.h"
#include "commands/testing/smb_memory.h"
#include "core/perfetto/commit_request.h"
#include "formats/ipc/ipc_messages.h"

namespace ringscope::testing {

class SharedMemoryWriter;

struct ProducerOptions {
  std::string name;
  std::vector<ipc::DataSourceDescriptor> sources;
  bool scraped = true;             // by the service
  size_t own_memory = 0;           // bytes of shared memory that it brings; 0: the service's
  size_t batch_bytes = 16 * 1024;  // of chunks that one request commits
  /// When the shared memory is full, packets are lost. Else what is complete is sent, and the
  /// writer waits until the service has handled it.
  bool drops_when_full = false;
};

/// A data source that a session started.
struct StartedSource {
  uint64_t instance = 0;
  std::string name;
  BufferId buffer{};
  uint64_t session = 0;
};

/// A producer of trace data, over a real socket and with real shared memory. It blocks. One thread.
class Producer {
 public:
  static Result<std::unique_ptr<Producer>> Connect(const std::string& socket,
                                                   ProducerOptions options);
  ~Producer();
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  /// Handles what the service has sent. @return whether anything was
  Result<bool> Poll();
  /// Waits for something that the service sends, and handles it.
  Status Wait();
  /// Returns when the service has handled all that was sent.
  Status Sync();
  /// Data sources that are started, and have not been stopped.
  const std::vector<StartedSource>& started() const { return started_; }
  /// Waits until so many are.
  Status WaitForSources(size_t count);

  /// A new sequence. It must not live longer than the producer.
  Result<SharedMemoryWriter*> AddWriter(BufferId buffer);
  Status RemoveWriter(SharedMemoryWriter* writer);

  /// Commits all chunks that are complete.
  Status Commit();
  /// Flushes that the service asked for and that are not acknowledged.
  const std::deque<ipc::FlushCommand>& flushes() const { return flushes_; }
  Status WaitForFlush();
  /// Completes all open chunks, and acknowledges all flushes that were asked for.
  Status AnswerFlushes();
  /// The same without completing the chunks: they are left to be scraped.
  Status AcknowledgeFlushes();
  Status ActivateTrigger(const std::string& name);
  /// Ends the connection as it ends with the process: nothing more is sent.
  void Kill() { client_.Close(); }

  const std::string& name() const { return options_.name; }

 private:
  friend class SharedMemoryWriter;

  Producer(ServiceClient client, ProducerOptions options);
  Status Initialize();
  Status Invoke(const std::string& method, const std::string& args, bool drop_reply = true);
  Status OnReply(ServiceReply& reply);
  Status OnStop(uint64_t instance);

  /// A chunk to write to; nullopt if there is none, and the policy is to drop.
  Result<std::optional<smb::ChunkPlace>> TakeChunk();
  std::optional<smb::ChunkPlace> FindFreeChunk();
  /// The writer has completed the chunk.
  Status ReturnChunk(smb::ChunkPlace place, BufferId buffer);
  Status AddPatch(const ChunkToPatch& patch);

  ServiceClient client_;
  const ProducerOptions options_;
  std::optional<SmbMemory> memory_;
  std::optional<uint64_t> command_request_;
  std::optional<uint64_t> awaited_;  // request whose reply Sync waits for
  std::vector<StartedSource> started_;
  std::vector<std::pair<uint64_t, StartedSource>> set_up_;
  std::deque<ipc::FlushCommand> flushes_;
  std::map<WriterId, std::unique_ptr<SharedMemoryWriter>> writers_;
  uint16_t last_writer_ = 0;
  size_t next_page_ = 0;  // where the search for a free chunk starts
  std::string request_;   // chunks that are complete, and not committed
  std::string patches_;   // of the request
  size_t pending_bytes_ = 0;
};

/// Writes the packets of one sequence into chunks of the producer's shared memory.
class SharedMemoryWriter {
 public:
  SharedMemoryWriter(Producer& producer, WriterId id, BufferId buffer)
      : producer_(producer), id_(id), buffer_(buffer) {}

  WriterId id() const { return id_; }

  /// Writes a packet. Where it continues in another chunk, four of its bytes may be left to a
  /// patch: the size of a message that is not known before its end.
  /// @param patched offset of these bytes in the packet
  /// @return whether it was written; if not, the shared memory is full, and the packet is lost
  Result<bool> Write(Bytes packet, std::optional<size_t> patched = {});
  /// Completes the open chunk.
  Status Finish();

  uint64_t dropped() const { return dropped_; }

 private:
  struct OpenChunk {
    smb::ChunkPlace place;
    std::span<uint8_t> bytes;  // header and payload
    ChunkId id{};
    size_t used = 0;  // bytes, of `bytes`
    uint16_t fragments = 0;
    uint8_t flags = 0;
  };
  size_t Space() const { return chunk_->bytes.size() - chunk_->used; }
  void Open(smb::ChunkPlace place, bool continues);
  Status Close();
  void StoreHeader();
  /// Appends what fits of the packet. @return what is left
  Bytes AddFragment(Bytes packet, bool is_first);
  /// Leaves the four bytes at `offset` of the fragment that begins at `begin` to a patch.
  ChunkToPatch LeaveToPatch(size_t begin, size_t offset, Bytes data);
  Result<bool> WriteFragments(Bytes packet, std::optional<size_t> patched);

  Producer& producer_;
  const WriterId id_;
  const BufferId buffer_;
  std::optional<OpenChunk> chunk_;
  ChunkId next_{};
  bool lost_before_ = false;  // a packet was dropped, and the next one is to report it
  uint64_t dropped_ = 0;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_PRODUCER_H_
