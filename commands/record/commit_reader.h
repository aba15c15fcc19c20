#ifndef RINGSCOPE_COMMANDS_RECORD_COMMIT_READER_H_
#define RINGSCOPE_COMMANDS_RECORD_COMMIT_READER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "commands/record/producer_memory.h"
#include "core/base/result.h"
#include "core/log/op.h"

namespace ringscope {

/// Makes of a CommitDataRequest what a log holds: every byte of it, and the chunks that it names in
/// shared memory after their names. The flush id is set apart, as its acknowledgement is an event
/// of its own. Reuse one reader: it keeps its memory.
class CommitReader {
 public:
  /// @param memory nullptr: the producer has no shared memory
  /// kCorrupt: not well-formed, or chunk data that the service cannot take.
  Status Read(Bytes request, ProducerMemory* memory);

  /// The request for the log, without its flush id; empty if there was nothing else.
  Bytes for_log() const { return wire::AsBytes(for_log_); }
  /// A request as it was sent, without the flush id.
  static std::string WithoutFlush(Bytes request);
  std::optional<uint64_t> flush() const { return flush_; }

  Origin origin() const { return from_memory_ ? Origin::kShm : Origin::kInline; }
  /// Chunks with data, and their bytes.
  uint64_t chunks() const { return chunks_; }
  uint64_t chunk_bytes() const { return chunk_bytes_; }

 private:
  Status ReadChunk(const wire::Field& field, ProducerMemory* memory);
  /// @return false: there is no such chunk in memory
  bool TakeChunk(const wire::Field& field, smb::ChunkPlace place, ProducerMemory& memory);

  std::string for_log_;
  std::optional<uint64_t> flush_;
  bool from_memory_ = false;
  uint64_t chunks_ = 0;
  uint64_t chunk_bytes_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_COMMIT_READER_H_
