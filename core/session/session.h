#ifndef RINGSCOPE_CORE_SESSION_SESSION_H_
#define RINGSCOPE_CORE_SESSION_SESSION_H_

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/sequence_map.h"
#include "core/engine/catalogue.h"
#include "core/engine/engine.h"
#include "core/log/flush_tracker.h"
#include "core/log/live_state.h"
#include "core/log/op.h"
#include "core/log/service_access.h"
#include "core/log/session_index.h"
#include "core/perfetto/commit_request.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/packet_facts.h"
#include "core/perfetto/trace_stats.h"
#include "core/protovm/buffer_vms.h"
#include "core/session/replay_listener.h"

namespace ringscope {

/// Returns the order in which the service goes through the writers of a buffer: that of an
/// open-addressing hash table without deletions, whose key is producer << 16 | writer and whose
/// hash is the key.
/// @param inserted distinct writers, in the order in which the buffer counted them first
std::vector<SequenceKey> InTableOrder(const std::vector<SequenceKey>& inserted);

/// The service's trusted_packet_sequence_id: one per {machine, producer, writer}, in order of first
/// use. 1 is the service's own.
class SequenceIds {
 public:
  /// @param machine machine_id of the producer; 0: the service's own machine
  uint32_t IdOf(SequenceKey key, uint32_t machine = 0) {
    KeyIndex& ids = machine == 0 ? host_ : remote_[machine];
    uint32_t id = ids.Find(key);
    if (id == KeyIndex::kNone) {
      id = next_++;
      ids.Insert(key, id);
    }
    return id;
  }

 private:
  KeyIndex host_;
  std::map<uint32_t, KeyIndex> remote_;  // by machine
  uint32_t next_ = 2;
};

/// Feeds what a buffer overwrites to its programs.
class VmFeed : public EngineObserver {
 public:
  /// @param now the record under way; must outlive this
  explicit VmFeed(const LogMoment& now) : now_(now) {}

  /// @param buffer with programs; must outlive this, or be replaced before; nullptr if none
  void FeedTo(SessionBuffer* buffer) { fed_buffer_ = buffer; }
  bool wants_overwritten_packets() const override { return fed_buffer_ != nullptr; }
  void OnPacketOverwritten(const Packet& packet) override { Feed(packet); }

 protected:
  /// @return whether a program took the packet
  bool Feed(const Packet& packet);

  const LogMoment& now_;
  SessionBuffer* fed_buffer_ = nullptr;  // that has the programs
};

/// Watches the engine of one buffer for the listeners of a replay: adds the buffer, the moment, and
/// why chunks leave.
class BufferObserver : public VmFeed {
 public:
  /// @param now the record under way; must outlive this, like the listeners
  BufferObserver(BufferId buffer, const LogMoment& now, const ReplayListeners& listeners)
      : VmFeed(now), buffer_(buffer), listeners_(listeners) {}

  /// The engine is about to take this chunk; EndCommit follows.
  void BeginCommit(const ChunkCommit& commit) { under_way_ = {commit.sequence, commit.chunk}; }
  void EndCommit() {
    under_way_.reset();
    evicting_.reset();
    relocating_ = false;
  }
  /// The chunk leaves the buffer together with all others, for a clone.
  /// @param why kTransferred or kDropped
  void LeaveForClone(const ObservedChunk& chunk, Erasure why) {
    Emit(chunk.name(), BufferEvent::Erased{chunk, why});
  }
  /// All that follows is not part of the log.
  void BeginDrain() { draining_ = true; }

  void OnCommitted(const ObservedChunk& chunk) override {
    Emit(chunk.name(), BufferEvent::Committed{chunk, relocating_});
  }
  void OnRewritten(const ObservedChunk& chunk) override {
    Emit(chunk.name(), BufferEvent::Rewritten{chunk});
  }
  void OnRelocated(const ObservedChunk& chunk) override {
    relocating_ = true;
    Emit(chunk.name(), BufferEvent::Relocated{chunk});
  }
  void OnDiscarded(const ChunkCommit& commit, DiscardReason reason) override {
    Emit({commit.sequence, commit.chunk}, BufferEvent::Discarded{reason});
  }
  void OnEvicting(const ObservedChunk& chunk, const ChunkCommit& by) override {
    evicting_ = chunk.name();
    Emit(chunk.name(), BufferEvent::Evicting{chunk, {by.sequence, by.chunk}});
  }
  void OnErased(const ObservedChunk& chunk) override;
  void OnPatched(const ObservedChunk& chunk, const ChunkPatches& patches) override {
    Emit(chunk.name(), BufferEvent::Patched{chunk, patches});
  }
  void OnPatchMissed(const ObservedChunk* chunk, const ChunkPatches& patches,
                     PatchMiss miss) override {
    Emit({patches.sequence, patches.chunk}, BufferEvent::PatchMissed{chunk, patches, miss});
  }
  void OnPacketReturned(const Packet& packet) override {
    Emit({packet.sequence, packet.place.first_chunk}, BufferEvent::Returned{packet});
  }
  void OnPacketOverwritten(const Packet& packet) override;
  void OnPacketAbandoned(SequenceKey sequence, const PacketPlace& place, uint32_t cause) override {
    Emit({sequence, place.first_chunk}, BufferEvent::Abandoned{place, cause});
  }
  void OnLossBit(SequenceKey sequence, ChunkId chunk, uint32_t bit) override {
    Emit({sequence, chunk}, BufferEvent::LossBitSet{bit});
  }
  void OnWrap() override { Emit({}, BufferEvent::Wrapped{}); }
  void OnStalled(SequenceKey sequence, ChunkId chunk, StallReason reason) override {
    Emit({sequence, chunk}, BufferEvent::Stalled{reason});
  }

 private:
  void Emit(ChunkName chunk, const BufferEvent::Body& body);

  const BufferId buffer_;
  const ReplayListeners& listeners_;
  bool draining_ = false;
  // The commit under way.
  std::optional<ChunkName> under_way_;
  std::optional<ChunkName> evicting_;  // the chunk whose space is being taken
  bool relocating_ = false;            // it was in the buffer, and moves
};

/// The user's choices for a buffer in this replay.
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
  const EngineInfo* info = nullptr;          // lives as long as the session
  std::unique_ptr<BufferObserver> observer;  // of the engine; nullptr if no listener needs it
  /// The programs of data sources that write to the buffer; nullptr if there are none.
  std::unique_ptr<protovm::BufferVms> vms;
  std::unique_ptr<VmFeed> vm_feed;  // of the engine, where `observer` is not
  std::unique_ptr<Engine> engine;
  bool freed = false;
  bool is_read = false;  // its session, or the clone that has it, had its first pass
  /// True if packets folded into a state from now on are in no trace that this replay makes.
  bool is_state_written = false;
  std::vector<protovm::VmAccount> former_vms;  // that left with all that the buffer held
  std::optional<uint64_t> session;             // of the tracing service, if the log has several

  /// The buffer in the clone that is replayed.
  struct Cloned {
    bool transferred = false;  // the buffer itself, with all that it has counted
    // Counted up to the clone.
    BufferStats stats;
    std::vector<std::pair<SequenceKey, WriterHistogram>> writers;
  };
  /// In the replay of a clone: set at the instant of the clone. No later record of the log reaches
  /// the buffer.
  std::unique_ptr<const Cloned> cloned;

  /// The engine's counters, as the reader of the buffer gets them: a copy made for a clone counts
  /// reads from 0.
  BufferStats stats() const;
  /// The programs (ProtoVM) that run on what it overwrites, in order of creation.
  void VisitPrograms(const ProgramVisitor& visit) const;
  /// The writers that it has counted, in the order in which the service goes through them.
  std::vector<SequenceKey> Writers() const;
  /// Visits the writers' histograms, as the reader of the buffer gets them: a copy starts without
  /// any.
  void VisitWriterStats(const std::function<void(const WriterStats&)>& visit) const;
};

/// Makes a buffer's engine.
using EngineMaker = std::function<Result<std::unique_ptr<Engine>>(const EngineInfo&,
                                                                  const EngineConfig&, BufferId)>;

/// The tracing service's rules around the buffers: who may write where, what it refuses, packet
/// validation, sequence ids, read passes. Each check applies only once the session has records of
/// that kind, so plain operations allow everything.
class Session {
 public:
  struct Options {
    BufferChoice all;                           // for every buffer
    std::map<BufferKey, BufferChoice> buffers;  // for one, stronger than `all`; by id strongest
    /// Resolves the engines that `all` and `buffers` name. No log can have code loaded.
    EngineLookup find_engine = FindEngine;
    EngineMaker make_engine;  // absent: EngineInfo::create
    /// Replays what the holder of this clone sees. Absent: what the session's own consumer sees.
    std::optional<CloneFacts> clone;
    bool run_programs = true;  // of data sources (ProtoVM), on what is overwritten

    /// Returns what is chosen for a buffer.
    BufferChoice ChoiceFor(BufferId id, uint32_t index) const;
  };

  Session(Options options, ReplayListeners listeners)
      : options_(std::move(options)),
        listeners_(std::move(listeners)),
        is_observed_(listeners_.Any(&ReplayListener::WantsBufferEvents)) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Begins a record: all that follows is because of it.
  void BeginRecord(const Op& op, uint64_t number);
  /// Applies a record. Reads happen where the log has them, through the Read functions.
  Status Apply(const Op& op);

  struct ReadLimits {
    std::optional<uint64_t> max_packets;
    std::optional<uint64_t> max_bytes;  // of the packets themselves
    bool as_in_trace = false;           // bytes count as they go into the trace
  };
  /// A pass over one buffer, until nothing is left or a limit is reached. @return whether it was
  Result<bool> ReadBuffer(BufferId id, const ReadLimits& limits);
  /// Buffers that a pass over all of them reads.
  enum class Reach : uint8_t {
    kOpen,   // those that a reader of the log's time could read
    kFreed,  // and what freed ones held when they were freed
    kClone,  // those of the clone that is replayed, as they were at their instants
  };
  /// A pass of the service over all buffers in order; `max_bytes` counts the packets as they go
  /// into the trace, and buffers after the point where it is reached are not begun.
  /// @param session of the service whose buffers are read; absent: all
  /// @return whether the limit was reached (so that there may be more)
  Result<bool> ReadAllBuffers(std::optional<uint64_t> max_bytes, Reach reach = Reach::kOpen,
                              std::optional<uint64_t> session = std::nullopt);
  /// The service adds its statistics to a pass that it has made. They give an id to each sequence
  /// of these buffers that has none.
  void AddStatistics(Reach reach, std::optional<uint64_t> session);
  Status ReadClone(BufferId id);
  /// Returns true if any buffer has another engine, size or policy than the log gives it.
  bool differs_from_log() const { return differs_from_log_; }
  /// In the replay of a clone: the clone's own reads follow, with sequence ids of its own.
  void BeginCloneReads() { sequence_ids_.clear(); }
  /// No record and no read follows: OnLogEnd.
  Status EndLog();
  /// After EndLog: reads out what the buffers still hold, for the listeners alone. Once;
  /// the engines are of no further use, but for their statistics.
  Status Drain();

  /// By id; freed ones stay listed, with their engine, until another takes the id.
  const std::map<BufferId, SessionBuffer>& buffers() const { return buffers_; }
  /// The clone that is replayed; nullptr if the session itself is.
  const CloneFacts* clone() const { return options_.clone ? &*options_.clone : nullptr; }
  const ServiceStats& stats() const { return stats_; }
  /// Trusted sequence ids of the buffer's session; asking for a sequence that has none gives it the
  /// next.
  SequenceIds& SequenceIdsFor(const SessionBuffer& buffer) {
    return sequence_ids_[buffer.session.value_or(0)];
  }

 private:
  Status SetUpBuffer(const BufferSetUp& setup);
  Result<std::unique_ptr<Engine>> MakeEngine(const SessionBuffer& buffer) const;
  Status SetUpSource(const DataSourceSetUp& source);
  Status SetUpProgram(const ProtoVmSetUp& setup);
  Status BeginFirstPass(const SessionBuffer& read, bool is_taken, uint64_t& bytes);
  void ListSequences(const SessionBuffer& buffer, std::string& listing);
  Status CloneBuffer(const BufferCloned& cloned);
  Status EmptyBuffer(SessionBuffer& buffer, Erasure why);
  /// Returns true if the buffer is set up, but is not, or not any more, in the session or clone
  /// that is replayed.
  bool IsOutOfView(BufferId id) const;
  Status ApplyCommit(const Commit& commit);
  Status ApplyPatches(const Commit& commit);
  Status ApplyChunk(const Commit& commit, const ServiceAccess::Producer* producer,
                    const ChunkToMove& chunk);
  Status ApplyPatch(ProducerId producer, const ChunkToPatch& patch);
  SessionBuffer* FindOpenBuffer(BufferId id);
  /// As FindOpenBuffer. Warns if the buffer is not set up. @param warning with {} for its id
  SessionBuffer* FindOrWarn(BufferId id, fmt::format_string<uint16_t> warning);
  std::vector<SessionBuffer*> BuffersInOrder(Reach reach, std::optional<uint64_t> session);
  void CountBuffers();
  void CountService();
  Result<bool> ReadPackets(SessionBuffer& buffer, const ReadLimits& limits, uint64_t& bytes);
  SessionPacket Judge(const SessionBuffer& buffer, const Packet& packet, SequenceIds& ids);
  Status DrainBuffer(SessionBuffer& buffer);
  /// Warns, unless it did so in these words before.
  template <typename... Arguments>
  void WarnOnce(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    const fmt::string_view words = text;
    if (warned_.emplace(words.data(), words.size()).second)
      listeners_.Call(&ReplayListener::OnWarning,
                      fmt::format(text, std::forward<Arguments>(arguments)...));
  }

  Options options_;
  const ReplayListeners listeners_;
  const bool is_observed_;
  LogMoment now_;
  std::map<BufferId, SessionBuffer> buffers_;
  ServiceAccess access_;
  HeldPatches held_;
  std::map<uint64_t, SequenceIds> sequence_ids_;  // by session of the service; 0: not known
  std::set<uint64_t> read_sessions_;              // of the service: had their first pass
  std::set<BufferId> left_out_;                   // set up, and not in what is replayed
  std::set<BufferId> left_before_;                // likewise, and freed
  bool differs_from_log_ = false;
  bool file_copied_ = false;  // the clone's copy of the session's file is made
  /// Buffers of clones, by the service's number of the clone; those that it has none of yet are
  /// under 0.
  std::map<uint64_t, uint64_t> clone_buffers_;
  ServiceStats stats_;
  FlushTracker flushes_;
  uint64_t sessions_ = 0;  // open, of the service
  CommitRequestParser parser_;
  std::vector<Patch> patches_;  // scratch
  std::set<std::string_view> warned_;
  uint32_t buffers_set_up_ = 0;
  /// The registered data sources, with their programs; empty: it has none.
  std::map<std::pair<ProducerId, std::string>, std::string> programs_;
};

/// The error, with the buffer that it is about.
inline tl::unexpected<Error> InBuffer(BufferId id, Error error) {
  error.message = fmt::format("buffer {}: {}", Raw(id), error.message);
  return tl::unexpected<Error>(std::move(error));
}

/// The error of a buffer whose engine cannot continue.
inline Status CheckEngine(BufferId id, const Engine& engine) {
  if (engine.failure() == nullptr) [[likely]]
    return {};
  return InBuffer(id, *engine.failure());
}

/// Returns the error of an engine that is done with. Asks it for its counters first, which a
/// plug-in may fail to give.
inline Status CheckEngineAtEnd(BufferId id, const Engine& engine) {
  static_cast<void>(engine.stats());
  return CheckEngine(id, engine);
}

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_SESSION_H_
