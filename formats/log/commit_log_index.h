#ifndef RINGSCOPE_FORMATS_LOG_COMMIT_LOG_INDEX_H_
#define RINGSCOPE_FORMATS_LOG_COMMIT_LOG_INDEX_H_

#include "core/log/summary.h"
#include "formats/io/byte_stream.h"
#include "formats/io/message_codec.h"

namespace ringscope::commit_log {

/// One data frame in the index.
struct IndexEntry {
  uint64_t compressed_size = 0;  // from the frame's header to its checksum
  uint64_t content_size = 0;
  uint64_t first_record = 0;
  uint64_t records = 0;
  std::optional<uint64_t> first_time_ns;  // the earliest of the records' times
  std::optional<uint64_t> last_time_ns;   // the latest
  uint64_t frame_hash = 0;                // XXH64 of the compressed frame

  void AddRecord(std::optional<uint64_t> time_ns) {
    ++records;
    if (!time_ns) return;
    first_time_ns = std::min(first_time_ns.value_or(*time_ns), *time_ns);
    last_time_ns = std::max(last_time_ns.value_or(*time_ns), *time_ns);
  }
  friend bool operator==(const IndexEntry&, const IndexEntry&) = default;
};

/// The index of one file: where which records are, and what they add up to.
struct Index {
  uint64_t records = 0;
  std::vector<IndexEntry> frames;
  std::vector<SessionSummary> sessions;  // empty if they were too large, or there were no records
};

void Fields(auto& field, Like<IndexEntry> auto& m) {
  NumberFields(field, m.compressed_size, m.content_size, m.first_record, m.records, m.first_time_ns,
               m.last_time_ns, m.frame_hash);
}

void Fields(auto& field, Like<Index> auto& m) {
  NumberFields(field, m.records, m.frames, m.sessions);
}

/// The first frame of each file.
std::string StartFrame();

/// XXH64 with seed 0.
uint64_t Hash(Bytes bytes);

/// Builds the content of a seek table frame, which has an entry for each frame before it.
class SeekTableBuilder {
 public:
  /// @param checksum low half of the XXH64 of the content
  void AddDataFrame(uint64_t frame_bytes, uint64_t content_bytes, uint32_t checksum);
  void AddSkippableFrame(uint64_t frame_bytes);
  std::string Content() const;

 private:
  std::string entries_;
};

/// Returns the summaries as fields of an Index message; nullopt if they are too large for an index.
std::optional<std::string> EncodeSessions(const std::vector<SessionSummary>& sessions);

/// Builds the frames that end a file: index and seek table. Memory: about 55 bytes per data frame.
class IndexBuilder {
 public:
  /// A skippable frame before the index.
  void AddSkippableFrame(size_t frame_bytes) { seek_.AddSkippableFrame(frame_bytes); }
  void AddDataFrame(const IndexEntry& entry, uint32_t content_checksum);
  /// Returns the two frames, without summaries that are too large. Call once.
  std::string Finish(uint64_t records, const std::vector<SessionSummary>& sessions);

 private:
  std::string entries_;  // encoded IndexEntry fields
  SeekTableBuilder seek_;
};

/// Decodes the content of an index frame; checks its checksum.
Result<Index> DecodeIndex(Bytes content);
/// Reads the index from a file's end alone; nullopt if none is there that can be trusted.
Result<std::optional<Index>> ReadIndex(ByteSource& source);
/// The number of records that an index frame's content gives, if its checksum is right.
std::optional<uint64_t> IndexRecords(Bytes content);
/// Returns true if the content of a seek table frame is well-formed.
bool IsSeekTable(Bytes content);

}  // namespace ringscope::commit_log

#endif  // RINGSCOPE_FORMATS_LOG_COMMIT_LOG_INDEX_H_
