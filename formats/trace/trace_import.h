#ifndef RINGSCOPE_FORMATS_TRACE_TRACE_IMPORT_H_
#define RINGSCOPE_FORMATS_TRACE_TRACE_IMPORT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/log/op.h"
#include "core/perfetto/chunk_packer.h"
#include "core/perfetto/incremental_state.h"
#include "core/perfetto/packet_facts.h"
#include "core/protovm/traced_program.h"
#include "core/trace/packet_view.h"
#include "core/trace/event_times.h"
#include "core/trace/trace_clocks.h"
#include "formats/trace/packet_sorter.h"
#include "formats/trace/perfetto_trace.h"
#include "formats/trace/trace_session.h"

namespace ringscope {

/// The result of importing a trace.
struct TraceImportReport {
  uint64_t packets = 0;       // of producers
  uint64_t packet_bytes = 0;  // of these, as their producers wrote them
  uint64_t sequences = 0;
  uint64_t producers = 0;
  uint64_t chunks = 0;
  uint64_t buffers = 0;
  bool has_config = false;         // the trace has the buffers
  uint64_t guessed_sequences = 0;  // whose buffer is not in the trace
  uint64_t guessed_sizes = 0;      // of buffers
  uint64_t untimed = 0;            // packets without a known time: placed after the preceding one
  uint64_t late = 0;  // packets with a time before that of the preceding one: placed after it
  uint64_t gaps = 0;  // losses that the trace reports
  uint64_t counted_losses = 0;  // places where the trace's statistics count losses
  uint64_t beyond_limits = 0;   // packets of more sequences or producers than are possible
  uint64_t empty = 0;           // packets without content, left out
  uint64_t malformed = 0;       // packets left out
  std::map<uint32_t, uint64_t> left_out;  // packets of the service, by their content's field
};

struct TraceImportOptions {
  std::string name;  // of the trace, for the log's description
  PacketSorter::Options sorter;
};

/// Makes the records of a commit log from the packets of a trace: as if their producers had written
/// them into shared memory at the times of the last events in them. First Add every packet, then
/// Write.
///
/// Memory: the sorter's, and for each sequence at most one chunk (kMaxPending in all) and a few
/// hundred bytes.
class TraceImport {
 public:
  using Append = std::function<Status(const Op&)>;

  explicit TraceImport(TraceImportOptions options);

  /// Adds a packet of the trace, in the file's order. Of one that is in the sorter's file
  /// (`in_file`) no copy is kept.
  Status Add(const TracePacket& packet);
  /// Adds a packet that was read as a brief one.
  /// @param content of its producer; may be empty if it is in the sorter's file
  Status Add(const BriefPacket& packet, Bytes content, std::optional<uint64_t> in_file);
  /// Gives `append` the records of the log, its header first.
  Status Write(const Append& append);

  const TraceImportReport& report() const { return report_; }
  /// Bytes of the packets written so far, and of all, for progress.
  uint64_t written_bytes() const { return written_bytes_; }
  uint64_t total_bytes() const { return sorter_.bytes(); }

  static constexpr size_t kMaxSequences = 100'000;
  static constexpr size_t kMaxPending = size_t{128} << 20;  // bytes
  static constexpr size_t kMaxHeld = 100'000;               // packets that wait for a time

 private:
  /// In place of a sequence's, for packets of the service; the others count from 1.
  static constexpr uint32_t kServiceSlot = 0;

  struct Producer {
    Identity identity;
    std::string name;
    uint32_t writers = 0;
    bool connected = false;  // its record is written
  };
  /// Bundles of ftrace events that the kernel's buffers were drained into at once, one CPU after
  /// the other: they are committed together, when the last is written.
  struct Drain {
    uint64_t last_cpu = 0;
    uint64_t time_ns = 0;  // of the last event of all
    std::vector<StoredPlace> bundles;
  };
  struct Held {
    uint64_t number = 0;  // in the order of the file
    uint32_t dropped = 0;
    StoredPlace place;
  };
  struct Sequence {
    uint32_t id = 0;  // trusted_packet_sequence_id
    size_t producer = 0;
    WriterId writer{};
    uint32_t buffer = 0;
    SequenceTime time;
    IncrementalState state;
    std::optional<uint64_t> last_ns;  // of the packet before, as it was sorted
    uint64_t own_ns = 0;              // of the packet before that has a time
    std::vector<Held> held;           // before the first packet that has a time
    Drain drain;                      // that is being read; no bundles: none
    std::optional<ChunkPacker> packer;
    std::optional<uint64_t> written_ns;  // time of the last packet written
    bool has_packet = false;
  };

  /// A program (ProtoVM) whose state the trace has.
  struct Program {
    std::string program, state;
    uint32_t memory_limit_kb = 0;
    std::vector<uint32_t> sequences;  // ids
  };

  // Reading.
  void AddPrograms(Bytes protovms);
  Status AddService(const TracePacket& packet, const PacketFacts& facts);
  /// Counts a packet of the sequence. @return its loss bits, as far as they are a loss
  uint32_t NotePacket(Sequence& sequence, size_t bytes, uint32_t dropped);
  Status AddAt(Sequence& sequence, std::optional<uint64_t> time, uint32_t dropped,
               const StoredPlace& place);
  /// Returns the place of a packet's bytes, which are stored if they are not in the sorter's file.
  Result<StoredPlace> PlaceOf(Bytes bytes, size_t size, std::optional<uint64_t> in_file);
  void LeaveOut(uint32_t content);
  std::optional<uint64_t> TimeOf(const TracePacketView& packet, Sequence& sequence);
  std::optional<uint64_t> TimeOf(const BriefPacket& packet, uint32_t dropped, Sequence& sequence);
  void NoteTime(uint64_t time_ns);
  Status NoteRead(uint64_t time_ns);
  Sequence* SequenceOf(uint32_t id, Identity identity);
  std::optional<size_t> ProducerOf(Identity identity);
  void NoteProcessName(Bytes content, const Sequence& sequence);
  Status AddToDrain(Sequence& sequence, uint64_t cpu, uint64_t time_ns, const StoredPlace& bundle);
  Status EndDrain(Sequence& sequence);
  Status EndAllDrains();
  Status ReleaseHeld(Sequence& sequence, uint64_t time_ns);
  Status ReleaseAllHeld(uint64_t time_ns);
  Status Sort(const Sequence& sequence, uint64_t time_ns, uint32_t dropped,
              const StoredPlace& place);

  // Writing.
  Status WriteSetUp(const Append& append);
  Status WritePrograms(const Append& append);
  Status WriteEvent(Bytes packet, const Append& append);
  Status WriteRecordOfService(Bytes packet, const Append& append);
  Status WritePacket(const TimedPacket& packet, const Append& append);
  Status Connect(size_t index, const Append& append);
  /// Commits every chunk that is not full.
  Status CloseChunks(const Append& append);
  Status WriteEnd(const Append& append);
  /// Packs a packet, or without one closes the open chunk, and commits what is complete.
  Status Pack(Sequence& sequence, std::optional<Bytes> packet, const Append& append);
  template <typename Body>
  Status Put(const Append& append, Body body) {
    return append({.time_ns = now_ns_, .body = std::move(body)});
  }

  TraceImportOptions options_;
  TraceImportReport report_;
  TraceSession session_;
  MachineClocks clocks_;
  protovm::ListedSequences listed_;
  std::vector<Program> programs_;
  size_t program_bytes_ = 0;
  EventTimes event_times_;
  std::vector<std::string> configs_;
  std::unordered_map<uint32_t, uint32_t> slots_;  // sequence id: place in sequences_
  std::vector<Sequence> sequences_;
  std::map<std::pair<uint32_t, int32_t>, size_t> producer_of_;
  std::vector<Producer> producers_;
  PacketSorter sorter_;
  size_t held_ = 0;                   // packets that wait
  std::optional<uint64_t> first_ns_;  // known times of the trace
  std::optional<uint64_t> latest_ns_;
  std::optional<uint64_t> read_ns_;  // of the last read of the buffers
  std::string scratch_;

  uint64_t now_ns_ = 0;  // while writing
  uint64_t written_bytes_ = 0;
  size_t pending_ = 0;         // bytes in all packers
  bool disabled_ = false;      // tracing, by the service's events
  bool reads_during_ = false;  // some came before that
  std::string request_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_TRACE_IMPORT_H_
