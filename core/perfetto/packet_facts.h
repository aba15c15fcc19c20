#ifndef RINGSCOPE_CORE_PERFETTO_PACKET_FACTS_H_
#define RINGSCOPE_CORE_PERFETTO_PACKET_FACTS_H_

#include "core/base/wire.h"
#include "core/perfetto/chunk.h"
#include "core/perfetto/fields.h"

namespace ringscope {

/// Facts from a TracePacket's top-level fields, as far as its bytes are at hand: of a packet in
/// several fragments only the first one is read.
struct PacketFacts {
  uint32_t content = 0;  // number of the field that holds the packet's data; 0: not known
  std::optional<uint64_t> timestamp;        // in the clock's own units
  std::optional<uint32_t> timestamp_clock;  // absent: the sequence's default
  std::optional<uint32_t> default_clock;    // for the sequence's packets from here on
  uint32_t dropped = 0;                     // previous_packet_dropped as the producer wrote it
  bool clears_state = false;                // incremental state starts from scratch here
  bool needs_state = false;                 // cannot be used without the incremental state
  bool has_interned_data = false;

  friend bool operator==(const PacketFacts&, const PacketFacts&) = default;
};

/// The bytes of a packet in slices: the slice itself where it is the only one, else joined in
/// `scratch`.
Bytes Joined(std::span<const Bytes> slices, std::string& scratch);

/// kMissing: patches will bring sizes of the packet's messages; until then anything can be there.
enum class SizesAre : uint8_t { kThere, kMissing };

/// Reads the top-level fields up to the first that is not whole; that one can still be the content.
/// Where sizes are missing, the first message counts as not whole.
/// @param content gets the message that is the content, as much of it as there is
PacketFacts ReadPacketFacts(Bytes packet, Bytes* content = nullptr,
                            SizesAre sizes = SizesAre::kThere);

/// Name of a packet's kind of content: "track_event", "ftrace_events", ..., "field 71" where the
/// name is not known, "unknown" for 0.
std::string ContentName(uint32_t content);

/// Decides whether packets of one sequence can be interpreted, by trace processor's rules: the
/// state is invalid from the start and after each loss, until a packet clears it.
class IncrementalState {
 public:
  /// Takes in a packet that was read. @param lost whether a loss is reported before it
  void Add(bool clears_state, bool lost) {
    if (clears_state)
      valid_ = true;
    else if (lost)
      valid_ = false;
  }
  bool valid() const { return valid_; }

 private:
  bool valid_ = false;
};

/// Tells packets of one content (PacketFacts) apart by what they are about: a track event by its
/// category and name, a bundle of ftrace by its events, a process tree by its processes.
class PacketKinds {
 public:
  virtual ~PacketKinds() = default;
  /// Reads a packet; those of a sequence come in the order in which they were written.
  /// @param chunk where it begins @param content as ReadPacketFacts finds it
  /// @param packet its first fragment @return the number of its kind; 0: it is not known
  virtual uint32_t Add(BufferId buffer, ChunkName chunk, const PacketFacts& facts, Bytes content,
                       Bytes packet) = 0;
  /// "app/frame"; empty for 0. Fit for a terminal.
  virtual const std::string& NameOf(uint32_t kind) const = 0;
};

/// The names in a TrackDescriptor message. They refer to its bytes.
struct TrackNames {
  std::optional<int32_t> pid;         // of `process`
  std::optional<int32_t> thread_pid;  // of the process of `thread`
  Bytes process;
  Bytes thread;
  uint64_t uuid = 0;
  bool is_of_thread = false;
};

inline TrackNames ReadTrackNames(Bytes descriptor) {
  constexpr uint32_t kThread = 4, kThreadPid = 1, kThreadName = 5;
  using Process = proto::ProcessDescriptor;
  TrackNames names;
  const Bytes process = wire::BytesIn(descriptor, proto::TrackDescriptor::kProcess);
  if (const auto pid = wire::LastVarint(process, Process::kPid))
    names.pid = static_cast<int32_t>(*pid);
  names.process = wire::BytesIn(process, Process::kProcessName);
  const Bytes thread = wire::BytesIn(descriptor, kThread);
  names.thread = wire::BytesIn(thread, kThreadName);
  if (const auto pid = wire::LastVarint(thread, kThreadPid))
    names.thread_pid = static_cast<int32_t>(*pid);
  names.uuid = wire::NumberIn(descriptor, proto::TrackDescriptor::kUuid);
  names.is_of_thread = wire::LastBytes(descriptor, kThread).has_value();
  return names;
}

/// trusted_packet_sequence_id of the service's own packets.
inline constexpr uint32_t kServiceSequenceId = 1;

/// Calls `visit(number, value)` for each field that the service appends to a packet on its way into
/// a trace, in its order.
/// @param dropped previous_packet_dropped @param machine machine_id; 0: the service's own machine
template <typename Visit>
void VisitTrustedFields(Identity identity, uint32_t sequence_id, uint32_t dropped, uint32_t machine,
                        Visit visit) {
  using proto::TracePacket;
  // An int32 on the wire: the upper half of the uids is negative there and takes ten bytes.
  visit(TracePacket::kTrustedUid, static_cast<uint64_t>(static_cast<int32_t>(identity.uid)));
  visit(TracePacket::kTrustedPacketSequenceId, sequence_id);
  if (identity.pid >= 0) visit(TracePacket::kTrustedPid, static_cast<uint64_t>(identity.pid));
  if (machine != 0) visit(TracePacket::kMachineId, machine);
  if (dropped != 0) visit(TracePacket::kPreviousPacketDropped, dropped);
}

/// Appends these fields.
inline void AppendTrustedFields(std::string& out, Identity identity, uint32_t sequence_id,
                                uint32_t dropped, uint32_t machine = 0) {
  VisitTrustedFields(identity, sequence_id, dropped, machine, [&](uint32_t number, uint64_t value) {
    wire::AppendUint(out, number, value);
  });
}

/// Bytes that AppendTrustedFields appends.
inline size_t TrustedFieldsSize(Identity identity, uint32_t sequence_id, uint32_t dropped,
                                uint32_t machine = 0) {
  size_t size = 0;
  VisitTrustedFields(identity, sequence_id, dropped, machine, [&](uint32_t number, uint64_t value) {
    size += wire::UintFieldSize(number, value);
  });
  return size;
}

/// The newest release of Perfetto that is known.
inline constexpr uint32_t kNewestRelease = 58;

/// Returns true if the service lets a packet into the trace: its top-level fields are well-formed,
/// and none is reserved for the service itself. Numbers are cut to 32 bits. Source: the service, as
/// measured.
/// @param release of the service, 54 for v54: later ones reserve more fields
bool IsValidPacket(std::span<const Bytes> slices, uint32_t release = kNewestRelease);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_PACKET_FACTS_H_
