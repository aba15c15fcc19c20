#ifndef RINGSCOPE_FORMATS_TRACE_TRACE_IMPORT_H_
#define RINGSCOPE_FORMATS_TRACE_TRACE_IMPORT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/log/op.h"
#include "core/perfetto/chunk_packer.h"
#include "core/trace/trace_facts.h"
#include "core/trace/trace_scan.h"
#include "formats/io/byte_stream.h"
#include "formats/io/log_source.h"
#include "formats/io/output_file.h"
#include "formats/log/commit_log_writer.h"
#include "formats/trace/packet_sorter.h"

namespace ringscope {

/// The buffers of a trace's session, and which sequence wrote into which.
struct TraceSession {
  /// Size of a buffer whose size the trace does not state: what most configs ask for.
  static constexpr uint64_t kDefaultBufferSize = uint64_t{64} << 20;

  explicit TraceSession(const TraceFacts& facts);

  /// Index of the buffer that a sequence wrote into; nullopt if not in the trace. The trace's
  /// statistics and listing count more than a config in which all data sources have one target.
  std::optional<BufferId> BufferOf(uint32_t sequence_id) const;

  std::string config;                // empty: not in the trace
  std::vector<BufferSetUp> buffers;  // at least one; an engine that is not known is empty
  uint64_t guessed_sizes = 0;        // of buffers
  std::string lost_in_buffers;       // in words, by the last statistics; empty: nothing is counted

 private:
  std::unordered_map<uint32_t, BufferId> listed_;  // by sequence id
  std::optional<BufferId> only_target_;            // of all data sources of the config
};

/// The losses that the last statistics count, as gaps of a log, without times.
std::vector<RecorderGap> CountedLosses(const TraceFacts& facts);

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

  /// Adds a packet of the trace, in the file's order.
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

struct TraceLogOptions {
  std::string path;                         // of the trace; "-": standard input
  std::string folder = TemporaryFolder();   // for packets that do not fit in memory
  int level = kDefaultLevel;                // zstd's
  unsigned threads = CompressionThreads();  // the log does not depend on it
  bool without_payload = false;             // see PayloadMask
  /// Progress, in bytes of the trace. May be empty.
  std::function<void(uint64_t done, uint64_t total)> on_read = {};
};

/// A commit log that was made of a trace.
struct TraceLog {
  std::vector<TraceImportReport> sessions;  // in the order of the file; at least one
  std::vector<Damage> damage;               // of the trace; at most LogSource::kMaxDamage entries
  uint64_t damage_count = 0;                // all of it
  uint64_t records = 0;
  uint64_t bytes = 0;
};

/// Writes the packets of a Perfetto trace as a commit log: a session for each in the file. Damage
/// is skipped; bytes of which nothing is a packet are an error.
Result<TraceLog> WriteTraceLog(const TraceLogOptions& options, std::unique_ptr<ByteSource> source,
                               ByteSink& sink);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_TRACE_IMPORT_H_
