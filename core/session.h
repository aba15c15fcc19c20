#ifndef RINGSCOPE_CORE_SESSION_H_
#define RINGSCOPE_CORE_SESSION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/catalogue.h"
#include "core/engine.h"
#include "core/op.h"
#include "core/packet_validator.h"
#include "core/sequence_ids.h"

namespace ringscope {

/// A packet that a buffer returned, with what the service adds or says about it.
struct SessionPacket {
  BufferId buffer{};
  const Packet* packet = nullptr;
  uint32_t sequence_id = 0;  // trusted_packet_sequence_id; 0 for an invalid packet
  bool valid = true;         // passed the service's validation
};

/// Counters of the service itself (TraceStats), as far as a log determines them, and what
/// ringscope had to skip.
struct ServiceStats {
  uint64_t chunks_discarded = 0;
  uint64_t patches_discarded = 0;
  uint64_t invalid_packets = 0;
  uint64_t producers_connected = 0;  // at the end
  uint64_t producers_seen = 0;
  uint64_t total_buffers = 0;
  uint64_t flushes_requested = 0;
  uint64_t flushes_succeeded = 0;
  uint64_t flushes_failed = 0;
  uint64_t malformed_requests = 0;  // not counted by the service: it never sees them
  uint64_t skipped_chunks = 0;      // that the service skips and counts nowhere
};

/// Why the service does not let a chunk into a buffer.
enum class Refusal : uint8_t {
  kNoSharedMemory,  // the whole request came before the producer's shared memory was set up
  kNoSuchPage,      // it names a page outside the producer's shared memory
  kNoSuchBuffer,    // the target buffer is not set up
  kMayNotWrite,     // the producer or the writer may not write to the target buffer
};

/// "no_such_buffer", ...: as texts write it.
const char* Name(Refusal refusal);

struct SessionBuffer;

/// Receives what a replay does, in order. Default: nothing.
class SessionSink {
 public:
  virtual ~SessionSink() = default;
  /// The record is about to be applied. `number`: of the record, as the caller counts.
  virtual void OnRecord(const Op&, uint64_t number) { static_cast<void>(number); }
  /// A buffer was set up; it stays where it is until OnBufferReplaced or the session's end.
  virtual void OnBufferSetUp(SessionBuffer&) {}
  /// Another buffer is about to take this one's id; its engine is of no further use.
  virtual void OnBufferReplaced(SessionBuffer&) {}
  /// A chunk is about to go into the buffer, unless the service refuses it.
  virtual void OnChunk(BufferId, const ChunkCommit&, std::optional<Refusal>) {}
  /// The buffer has taken (or discarded) the chunk that OnChunk announced.
  virtual void OnChunkDone(BufferId, const ChunkCommit&) {}
  virtual void OnReadBegun(BufferId) {}
  virtual void OnPatch(BufferId, bool ok) { static_cast<void>(ok); }
  virtual Status OnPacket(const SessionPacket&) { return {}; }
  virtual void OnReadDone(BufferId, uint64_t packets) { static_cast<void>(packets); }
  virtual void OnClonePacket(const SessionPacket&) {}
  virtual void OnCloneDone(BufferId, uint64_t packets, const BufferStats&) {
    static_cast<void>(packets);
  }
  /// Something the user should know; each kind is said once.
  virtual void OnWarning(const std::string&) {}
};

/// What a buffer really is in this replay, after the user's choices.
struct BufferChoice {
  std::optional<std::string> engine;
  std::optional<uint64_t> size;
  std::optional<FillPolicy> policy;
};

/// A buffer of the session, set up and perhaps freed again.
struct SessionBuffer {
  BufferId id{};
  uint32_t index = 0;  // in the trace config
  uint64_t requested_size = 0;
  FillPolicy policy = FillPolicy::kRingBuffer;
  const EngineInfo* info = nullptr;  // lives as long as the session
  std::unique_ptr<Engine> engine;
  bool freed = false;
};

/// Makes the observer for a buffer, or returns nullptr for none. The observer must outlive it.
using ObserverFactory = std::function<EngineObserver*(BufferId)>;

/// Makes a buffer's engine.
using EngineMaker = std::function<Result<std::unique_ptr<Engine>>(const EngineInfo&,
                                                                  const EngineConfig&, BufferId)>;

/// The tracing service's rules around the buffers: who may write where, what it refuses, packet
/// validation, sequence ids, read passes. Each check applies only once the session has records of
/// that kind, so plain operations allow everything.
class Session {
 public:
  struct Options {
    BufferChoice all;                          // for every buffer
    std::map<BufferId, BufferChoice> buffers;  // for one, stronger than `all`
    ObserverFactory observe;
    /// Resolves the engines that `all` and `buffers` name. Those that a log names are looked up in
    /// the catalogue alone: no log can have code loaded.
    EngineLookup find_engine = FindEngine;
    EngineMaker make_engine;  // absent: as the engine's own information says
  };

  Session(Options options, SessionSink& sink) : options_(std::move(options)), sink_(sink) {}

  /// Applies a record. Reads happen where the record says so only through the Read functions.
  Status Apply(const Op& op);

  /// A read of one buffer: begin, then packets until none or a limit is reached.
  /// `max_bytes` counts the packets' own bytes.
  Status ReadBuffer(BufferId id, std::optional<uint64_t> max_packets,
                    std::optional<uint64_t> max_bytes);
  /// A pass of the service over this buffer alone; as ReadAllBuffers.
  Result<bool> ReadBufferPass(BufferId id, uint64_t max_bytes);
  /// A pass of the service over all buffers in order; `max_bytes` counts the packets as they go
  /// into the trace, and buffers after the point where it is reached are not begun.
  /// @return whether the limit was reached (so that there may be more)
  Result<bool> ReadAllBuffers(std::optional<uint64_t> max_bytes);
  Status ReadClone(BufferId id);

  /// By id; freed ones stay listed, with their engine, until another takes the id.
  const std::map<BufferId, SessionBuffer>& buffers() const { return buffers_; }
  const ServiceStats& stats() const { return stats_; }
  /// Trusted sequence ids; asking for a sequence that has none gives it the next.
  SequenceIds& sequence_ids() { return sequence_ids_; }

 private:
  struct Producer {
    Identity identity;
    bool connected = true;
    bool has_shared_memory = false;
    std::optional<uint64_t> smb_pages;
    std::map<WriterId, BufferId> writers;
    std::set<BufferId> may_write;  // target buffers of its data sources
  };
  /// Patches of a request whose last part has not come yet: they take effect behind all chunks.
  struct Held {
    uint64_t number = 0;
    std::string patches;  // encoded
  };

  Status SetUpBuffer(const BufferSetUp& setup);
  void ConnectProducer(const ProducerConnected& connected);
  void DisconnectProducer(ProducerId id);
  Status ApplyCommit(const Commit& commit);
  void RefuseRequest(const Commit& commit);
  void HoldPatches(const Commit& commit);
  Status ApplyHeldPatches(ProducerId producer);
  Status ApplyChunk(const Commit& commit, const Producer* producer, const ChunkToMove& chunk);
  Status ApplyPatch(ProducerId producer, const ChunkToPatch& patch);
  bool MayWrite(const Producer* producer, BufferId buffer, WriterId writer);
  SessionBuffer* FindOpenBuffer(BufferId id);
  std::vector<SessionBuffer*> BuffersInOrder();
  void CountFlush(uint64_t flush);
  struct ReadLimits {
    std::optional<uint64_t> max_packets;
    std::optional<uint64_t> max_bytes;
    bool as_in_trace = false;  // bytes count as the service counts them
  };
  Result<bool> ReadPackets(SessionBuffer& buffer, const ReadLimits& limits, uint64_t& bytes);
  SessionPacket Judge(BufferId buffer, const Packet& packet);
  void WarnOnce(const char* kind, const std::string& text);

  Options options_;
  SessionSink& sink_;
  std::map<BufferId, SessionBuffer> buffers_;
  std::map<ProducerId, Producer> producers_;
  std::map<ProducerId, Held> held_;
  SequenceIds sequence_ids_;
  ServiceStats stats_;
  CommitRequestParser parser_;
  std::vector<Patch> patches_;  // scratch
  std::set<std::string> warned_;
  std::optional<uint64_t> last_flush_;
  uint32_t buffers_set_up_ = 0;
  // Which kinds of records the session has.
  bool knows_producers_ = false;
  bool knows_data_sources_ = false;
  bool knows_shared_memory_ = false;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_H_
