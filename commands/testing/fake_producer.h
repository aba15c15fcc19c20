#ifndef RINGSCOPE_COMMANDS_TESTING_FAKE_PRODUCER_H_
#define RINGSCOPE_COMMANDS_TESTING_FAKE_PRODUCER_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "commands/testing/ipc_peer.h"
#include "core/perfetto/commit_request.h"

namespace ringscope::testing {

/// A producer that speaks the protocol over a real socket and writes to real shared memory, one
/// chunk to a page.
class FakeProducer {
 public:
  /// @param scraping smb_scraping_mode: 0 not set, 1 enabled, 2 disabled
  FakeProducer(const std::string& socket, std::string name, uint64_t scraping = 1);

  /// Binds, initializes, registers a data source, and takes the shared memory that it gets.
  /// @return false: the service has gone
  bool Connect(bool no_flush = false);
  void RegisterWriter(WriterId writer, BufferId buffer);

  /// A chunk in shared memory.
  struct Chunk {
    size_t page = 0;
    WriterId writer{};
    ChunkId id{};
    uint16_t fragments = 1;
    uint8_t flags = 0;
    std::string payload;  // the rest of the chunk has zeros
    bool complete = true;
  };
  /// Writes a chunk, or more of one that is there, into a page.
  void Write(const Chunk& chunk);
  /// Writes into a page the start of writer 1's chunk 0, which only a scrape can see.
  void WriteOpen(size_t page);
  /// A page that is free; waits for the service to free one. nullopt if the service has gone
  std::optional<size_t> FreePage();

  /// Sends a commit and waits for nothing.
  bool Commit(const std::string& request, bool drop_reply = true);
  /// Adds a page's chunk to a request.
  static void AddChunk(std::string& request, size_t page, BufferId buffer);

  /// Returns when the service has handled everything. Flushes asked for meanwhile are noted.
  bool Sync();
  /// Waits for a flush to be asked for. @return its id; nullopt if the service has gone
  std::optional<uint64_t> WaitForFlush();

  /// Calls a method by name.
  uint64_t Invoke(const std::string& method, const std::string& args, bool drop_reply);

  BlockingPeer& peer() { return peer_; }
  TestMemory& memory() { return *memory_; }
  const std::string& name() const { return name_; }

 private:
  /// Reads frames until this request's reply. @return false: the service has gone
  bool ReadUntilReply(uint64_t request_id);
  bool ReadOne(uint64_t* replied);

  BlockingPeer peer_;
  const std::string name_;
  const uint64_t scraping_;
  uint64_t last_request_ = 0;
  uint64_t command_request_ = 0;
  std::map<std::string, uint64_t> methods_;
  std::optional<TestMemory> memory_;
  std::vector<uint64_t> flushes_;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_FAKE_PRODUCER_H_
