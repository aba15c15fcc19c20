#ifndef RINGSCOPE_FORMATS_TRACE_TRACE_FILE_SCAN_H_
#define RINGSCOPE_FORMATS_TRACE_TRACE_FILE_SCAN_H_

#include "core/reads/ready_times.h"
#include "core/trace/trace_scan.h"
#include "formats/io/byte_stream.h"

namespace ringscope {

/// Gets a packet of a trace.
using PacketWatch = std::function<void(const RawPacket&, const TracePacketView&)>;

/// Larger packets are left out.
inline constexpr uint64_t kMaxScannedPacket = uint64_t{16} << 20;

/// A trace file that was read to its end, or as far as it could be.
struct ScannedTrace {
  std::vector<TraceFacts> sessions;  // in the order of the file; at least one
  uint64_t file_bytes = 0;           // read of the file, compressed where it is
  /// Where what is cut off begins, decompressed; absent: the file is whole.
  std::optional<uint64_t> cut_off_at;
  /// Where the tracks begin that ringscope added, decompressed: they are no part of the sessions.
  std::optional<uint64_t> own_at = {};
};

/// Reads a `.pftrace`, plain or compressed as a whole by zstd or gzip, with compressed packets in
/// it or without. Damage is part of the facts; a file that has no packet at all is an error.
/// Each of several sessions in it is read by itself.
/// Memory: less than 100 MiB, whatever is in the file, but for the window of a file that was
/// compressed with one of more than 8 MiB (zstd --ultra, --long).
/// @param progress see TraceReader::ReadSessions
/// @param watch gets each packet of producers; may be empty
/// @param copy gets the file as it is, decompressed; may be nullptr
Result<ScannedTrace> ScanTraceFile(std::unique_ptr<ByteSource> source,
                                   const std::function<void(uint64_t, uint64_t)>& progress = {},
                                   const PacketWatch& watch = {}, ByteSink* copy = nullptr);

/// Scans the trace that a TraceWriter writes, without a file.
class TraceScanSink : public ByteSink {
 public:
  using ByteSink::Write;
  /// @param bytes whole packets
  Status Write(Bytes bytes) override;
  TraceFacts Finish() { return scan_.Finish(); }

 private:
  TraceScan scan_;
  uint64_t offset_ = 0;
};

/// Reads a `.pftrace` that the service wrote into a file, reduced to what FindReads needs.
Result<WrittenFile> ReadWrittenFile(std::unique_ptr<ByteSource> source);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_TRACE_FILE_SCAN_H_
