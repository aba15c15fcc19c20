#ifndef RINGSCOPE_CORE_COMPARE_STREAM_NOTATION_H_
#define RINGSCOPE_CORE_COMPARE_STREAM_NOTATION_H_

#include "core/log/op.h"

namespace ringscope {

/// The size that a writer leaves in place of a packet it aborted: kWriterDropSize.
inline constexpr std::string_view kAbortMarker = "\xFF\xFF\xFF\x7F";

/// An operation on one buffer, without a session around it. It refers to bytes of others.
struct StreamStep {
  enum class Kind : uint8_t { kCommit, kPatch, kRead, kClone };
  Kind kind = Kind::kCommit;
  ChunkCommit commit;
  ChunkPatches patches;
  uint64_t max_packets = UINT64_MAX;  // of a read
};

/// The buffer of the operations that OpOf makes.
inline constexpr BufferId kStreamBuffer{0};

/// The set-up of the buffer, as the first record of a log.
StoredOp SetUpOf(uint64_t size, FillPolicy policy);
/// The step as a record of a log.
StoredOp OpOf(const StreamStep& step);

// Operations on a buffer in one line, like "A1 B1 B3 A2 | read 2 | >A3:100+20ps | patch A3 | read":
//
//   A1          commits chunk 1 of writer A, with one packet; the chunk takes 512 bytes
//   A1:100+20   with packets of 100 and 20 bytes; "x" in place of a size: the writer aborted it
//   A1:-        without a packet; "A1:8~16": 16 bytes of padding after the packets
//   >A2  A2>    its first packet continues from the chunk before, its last one on the next
//   A2p         it needs patching
//   A2s         it is scraped: its writer has not completed it
//   patch A2    patches the last packet; "patch A2+": further patches follow
//   read        reads all; "read 2": two packets
//   clone       clones the buffer, and reads the clone
//   flush       asks producers to commit, the buffer does not see it
//   |           ends a step

/// The operations of a step of such a line.
struct ExampleStep {
  std::string text;
  std::vector<StoredOp> operations;
};
Result<std::vector<ExampleStep>> ParseExample(std::string_view text);
/// The operations of all steps as a log, with the set-up of their buffer.
std::vector<StoredOp> ToOps(const std::vector<ExampleStep>& steps, uint64_t size,
                            FillPolicy policy);

/// The bytes of a packet, or of its fragment: those of an even number are a well-formed message,
/// and packets of several chunks differ.
/// @param fragment index in the chunk
std::string ExampleBytes(size_t size, const ChunkName& chunk, size_t fragment);
/// The operations of a log in the notation, sizes and order as they are, the bytes of packets and
/// patches left out. @return nullopt if the notation cannot say them
std::optional<std::string> InNotation(const std::vector<StoredOp>& ops);
/// The name of a writer: "A"; "1:300" of one that the notation has no letter for.
std::string WriterName(SequenceKey sequence);
/// A chunk as the notation has it, without sizes: ">A2ps".
std::string ChunkText(SequenceKey sequence, ChunkId chunk, uint8_t flags, bool complete);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_STREAM_NOTATION_H_
