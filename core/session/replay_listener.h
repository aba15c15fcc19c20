#ifndef RINGSCOPE_CORE_SESSION_REPLAY_LISTENER_H_
#define RINGSCOPE_CORE_SESSION_REPLAY_LISTENER_H_

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/enum_names.h"
#include "core/base/ids.h"
#include "core/base/log_moment.h"
#include "core/engine/engine.h"
#include "core/log/op.h"
#include "core/log/service_access.h"

namespace ringscope {

/// "7:3#120": sequence 7:3, chunk 120.
std::string ToString(ChunkName name);

/// Why a chunk left its buffer.
enum class Erasure : uint8_t {
  kConsumed,     // all of it was read, or abandoned, by a read pass
  kOverwritten,  // its space was needed for the commit `by`
  kCleared,      // it was consumed on the way to the chunk `with`, whose space was needed for `by`
  kMoved,        // it is re-committed at the write cursor
  kTransferred,  // with all others: a clone took the buffer over
  kDropped,      // with all others: the buffer was cleared for a clone
};

/// One thing that happened inside a buffer. All that it refers to is valid during the call only.
struct BufferEvent {
  struct Committed {
    const ObservedChunk& state;
    bool moved;  // from another place in the buffer
  };
  struct Rewritten {
    const ObservedChunk& state;
  };
  struct Relocated {
    const ObservedChunk& state;
  };
  struct Discarded {
    DiscardReason reason;
  };
  struct Evicting {
    const ObservedChunk& state;
    ChunkName by;  // the commit that needs the space
  };
  struct Erased {
    const ObservedChunk& state;
    Erasure why;
    std::optional<ChunkName> by = {};    // kOverwritten, kCleared: the commit that needs the space
    std::optional<ChunkName> with = {};  // kCleared: the chunk whose space is needed

    /// Returns true if the chunk left with all others, for a clone.
    bool is_for_clone() const { return why == Erasure::kTransferred || why == Erasure::kDropped; }
    /// Returns true if nothing of the chunk was lost.
    bool is_read() const { return why == Erasure::kConsumed || why == Erasure::kMoved; }
  };
  struct Patched {
    const ObservedChunk& state;
    const ChunkPatches& sent;
  };
  struct PatchMissed {
    const ObservedChunk* state;  // nullptr: the chunk is not in the buffer
    const ChunkPatches& sent;
    PatchMiss reason;
  };
  struct Returned {
    const Packet& packet;
  };
  struct Abandoned {
    PacketPlace place;
    uint32_t cause;  // a LossBit
  };
  struct LossBitSet {
    uint32_t bit;
  };
  struct Wrapped {};
  struct Stalled {
    StallReason reason;
  };
  /// A packet was overwritten, and a program (ProtoVM) took it.
  struct Folded {
    const Packet& packet;
    std::optional<ChunkName> by;  // the commit that needs the space
  };
  using Body = std::variant<Committed, Rewritten, Relocated, Discarded, Evicting, Erased, Patched,
                            PatchMissed, Returned, Abandoned, LossBitSet, Wrapped, Stalled, Folded>;

  const LogMoment& at;
  BufferId buffer;
  ChunkName chunk;  // of a packet: where it begins; of a wrap: none
  Body body;

  /// Returns the chunk that was committed, in place of an earlier commit of it or not; else
  /// nullptr.
  const ObservedChunk* arrived() const {
    if (const auto* committed = As<Committed>()) return &committed->state;
    const auto* const rewritten = As<Rewritten>();
    return rewritten == nullptr ? nullptr : &rewritten->state;
  }
  /// Returns the event if it is of this kind, else nullptr.
  template <typename Kind>
  const Kind* As() const {
    return std::get_if<Kind>(&body);
  }
};

/// "the chunk after 7:3#120": what a sequence waits for. @param chunk at which it stalls
inline std::string WaitsFor(StallReason reason, const std::string& chunk) {
  return RowOf(reason).text + chunk;
}

/// A packet that a buffer returned, with what the service adds to it.
struct SessionPacket {
  BufferId buffer{};
  const Packet* packet = nullptr;
  uint32_t sequence_id = 0;  // trusted_packet_sequence_id; 0 for an invalid packet
  uint32_t machine = 0;      // machine_id of its producer; 0: the service's own machine
  bool valid = true;         // passed the service's validation
};

/// States that the first pass over a session's buffers writes in front of what it reads, if their
/// data sources have programs (ProtoVM).
struct ProtoVmsRead {
  std::optional<uint64_t> session;  // of the tracing service, if the log has several
  Bytes listing;                    // a TraceProvenance message: the sequences known by now
  Bytes protovms;                   // a ProtoVms message
};

class Session;
struct SessionBuffer;

/// Receives what a replay does, in order. A buffer's own events come between OnChunk and
/// OnChunkDone, OnReadBegun and OnReadDone, and before OnPatch. Where a buffer ends, it is drained:
/// read out to know what it still held, which is not part of the log.
class ReplayListener {
 public:
  virtual ~ReplayListener() = default;

  /// Returns true if it needs OnBufferEvent or OnDrainEvent; else buffers are unobserved. Constant.
  virtual bool WantsBufferEvents() const { return false; }

  /// The record is about to be applied.
  virtual void OnRecord(const Op&, const LogMoment&) {}
  /// A buffer was set up; it stays where it is until OnBufferReplaced or the session's end.
  virtual void OnBufferSetUp(SessionBuffer&) {}
  /// Another buffer is about to take this one's id. It was drained.
  virtual void OnBufferReplaced(SessionBuffer&) {}
  /// A chunk is about to go into the buffer, unless the service refuses it.
  virtual void OnChunk(BufferId, const ChunkCommit&, std::optional<Refusal>) {}
  /// The buffer has taken (or discarded) the chunk that OnChunk announced.
  virtual void OnChunkDone(BufferId, const ChunkCommit&) {}
  virtual void OnPatch(BufferId, bool /*ok*/) {}
  /// The states of the session's programs, at the beginning of its first pass.
  virtual Status OnProtoVms(const ProtoVmsRead&) { return {}; }
  /// The record asks for the states of the buffer's programs.
  virtual void OnProtoVmStates(const SessionBuffer&) {}
  virtual void OnReadBegun(BufferId) {}
  virtual Status OnPacket(const SessionPacket&) { return {}; }
  /// In the replay of a clone: the session itself read this packet before the clone was made.
  /// OnReadDone does not follow.
  virtual void OnTakenPacket(const SessionPacket&) {}
  /// The read stops at its limit: more may be left. OnReadDone follows.
  virtual void OnReadLimited(BufferId) {}
  virtual void OnReadDone(BufferId, uint64_t /*packets*/) {}
  /// A pass over all buffers of a session has left nothing. @param session as of ReadAllBuffers
  virtual void OnAllRead(const Session&, std::optional<uint64_t> /*session*/) {}
  /// A clone of the buffer is about to be read.
  virtual void OnCloneBegun(const SessionBuffer&) {}
  virtual void OnClonePacket(const SessionPacket&) {}
  virtual void OnCloneDone(BufferId, uint64_t /*packets*/, const BufferStats&) {}
  /// Something happened inside a buffer, because of a record of the log or a read.
  virtual void OnBufferEvent(const BufferEvent&) {}

  /// All records and reads are done, and the buffers are as these left them.
  virtual Status OnLogEnd(Session&) { return {}; }
  /// The buffer is about to be drained; its engine is of no further use afterwards.
  virtual void OnDrainBegun(BufferId) {}
  /// Something happened inside a buffer because it is drained.
  virtual void OnDrainEvent(const BufferEvent&) {}
  virtual void OnDrainPacket(BufferId, const Packet&) {}
  /// The log is at its end, and all buffers were drained.
  virtual void OnDrained() {}

  /// Something the user should know; each kind is reported once.
  virtual void OnWarning(const std::string&) {}
};

/// Listeners, which must outlive the list, and are called in this order.
template <typename Listener>
class ListenerList {
 public:
  ListenerList(Listener& listener) : listeners_{&listener} {}  // NOLINT: one is a list
  ListenerList(std::initializer_list<Listener*> listeners) : listeners_(listeners) {}
  ListenerList(std::vector<Listener*> listeners)  // NOLINT: likewise
      : listeners_(std::move(listeners)) {}

  /// Calls the member function of each: `Call(&ReplayListener::OnReadBegun, id)`.
  template <typename... Parameters, typename... Arguments>
  void Call(void (Listener::*function)(Parameters...), Arguments&&... arguments) const {
    for (Listener* listener : listeners_) (listener->*function)(arguments...);
  }
  /// Calls a member function of each that can fail: the first error ends it.
  template <typename Parameter, typename Argument>
  Status Call(Status (Listener::*function)(Parameter), Argument&& argument) const {
    for (Listener* listener : listeners_) RS_RETURN_IF_ERROR((listener->*function)(argument));
    return {};
  }
  /// Returns true if the member function returns true for one of them.
  bool Any(bool (Listener::*function)() const) const {
    return std::ranges::any_of(listeners_, function);
  }

 private:
  std::vector<Listener*> listeners_;
};

/// A ledger comes before the listeners that it reports to.
using ReplayListeners = ListenerList<ReplayListener>;

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_REPLAY_LISTENER_H_
