#ifndef RINGSCOPE_FORMATS_TRACE_TRACE_IMPORT_H_
#define RINGSCOPE_FORMATS_TRACE_TRACE_IMPORT_H_

#include <cstddef>
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
#include "core/trace/trace_scan.h"
#include "formats/trace/packet_sorter.h"
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
  uint64_t counted_losses = 0;            // places where the trace's statistics count losses
  uint64_t beyond_limits = 0;             // packets of more sequences than are possible
  uint64_t empty = 0;                     // packets without content, left out
  uint64_t malformed = 0;                 // packets left out
  std::map<uint32_t, uint64_t> left_out;  // packets of the service, by their content's field
};

struct TraceImportOptions {
  std::string name;  // of the trace, for the log's description
  PacketSorter::Options sorter;
};

/// Makes the records of a commit log from the packets of a session of a trace: as if their
/// producers had written them into shared memory at the times of the last events in them. First Add
/// every packet, then Write.
/// Memory: the sorter's, and for each sequence at most one chunk (kMaxPending in all) and a few
/// hundred bytes.
class TraceImport {
 public:
  using Append = std::function<Status(const Op&)>;

  explicit TraceImport(TraceImportOptions options)
      : options_(std::move(options)), sorter_(options_.sorter) {}

  /// Adds a packet of the trace, in the file's order. Of one that is in the sorter's file
  /// (`in_file`) no copy is kept.
  Status Add(const RawPacket& packet, const TracePacketView& view);
  /// Gives `append` the records of the log, its header first.
  Status Write(const Append& append);

  const TraceImportReport& report() const { return report_; }

  static constexpr size_t kMaxSequences = 32'767;           // writer ids of a producer
  static constexpr size_t kMaxPending = size_t{128} << 20;  // bytes

 private:
  /// In place of a sequence's, for packets of the service; the others count from 1.
  static constexpr uint32_t kServiceSlot = 0;

  struct Producer {
    Identity identity;
    uint16_t writers = 0;
    bool connected = false;  // its record is written
  };
  struct Sequence {
    uint32_t id = 0;  // trusted_packet_sequence_id
    ProducerId producer{};
    WriterId writer{};
    ChunkPacker packer;
    BufferId buffer{};
    uint64_t last_ns = 0;  // of the packet before, as it was sorted; 0: not known
    uint64_t own_ns = 0;   // of the packet before that has a time
    std::optional<uint64_t> written_ns = {};  // time of the last packet written
    bool has_packet = false;
  };

  Status AddService(const RawPacket& packet, const TracePacketView& view);
  void LeaveOut(uint32_t content);
  void NoteTime(uint64_t time_ns);
  Sequence* SequenceOf(const TracePacketView& packet);
  Result<StoredPlace> PlaceOf(Bytes bytes, std::optional<uint64_t> in_file);

  Status WriteSetUp(const TraceSession& session, const Append& append);
  Status WriteServicePacket(Bytes packet, const Append& append);
  Status WritePacket(const TimedPacket& packet, const TraceFacts& facts, const Append& append);
  Status Connect(ProducerId id, const TraceFacts& facts, const Append& append);
  Status CloseChunks(const Append& append);
  Status WriteEnd(const TraceFacts& facts, const Append& append);
  Status Pack(Sequence& sequence, std::optional<Bytes> packet, const Append& append);
  template <typename Body>
  Status Put(const Append& append, Body body) {
    return append({.time_ns = now_ns_, .body = std::move(body)});
  }

  const TraceImportOptions options_;
  TraceImportReport report_;
  TraceScan scan_;
  PacketSorter sorter_;
  std::unordered_map<uint32_t, uint32_t> slots_;  // sequence id: place in sequences_
  std::vector<Sequence> sequences_;
  size_t last_ = 0;  // place of the sequence asked for last: most packets are of the same
  std::map<std::pair<uint32_t, int32_t>, ProducerId> producer_of_;
  std::vector<Producer> producers_;   // by id, from 1
  std::optional<uint64_t> first_ns_;  // known times of the trace
  std::optional<uint64_t> latest_ns_;
  uint64_t read_ns_ = 0;       // of the last read of the buffers
  bool disabled_ = false;      // tracing, by the service's events
  bool reads_during_ = false;  // some came before that
  uint64_t now_ns_ = 0;        // while writing
  size_t pending_ = 0;         // bytes in all packers
  std::string scratch_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_TRACE_IMPORT_H_
