#ifndef RINGSCOPE_CORE_DOCTOR_WRITER_SHARES_H_
#define RINGSCOPE_CORE_DOCTOR_WRITER_SHARES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/trace/trace_facts.h"

namespace ringscope {

/// Bytes that a sequence of a trace wrote, and packets of it that are left.
struct WriterShare {
  uint32_t sequence = 0;           // trusted_packet_sequence_id
  std::string name;                // process and thread, as far as the trace names them
  std::optional<uint32_t> buffer;  // index
  uint64_t bytes = 0;              // see WriterShares
  uint64_t packets_left = 0;       // in the trace
  uint64_t unusable = 0;           // of these: they lack incremental state
};

/// Who filled the buffers, by bytes, the largest first. The service's own packets are left out.
struct WriterShares {
  /// True if the bytes are of all chunks that were committed, lost or not, as the service counts
  /// them; else they are of the packets in the trace. V1 buffers count only chunks that were read
  /// to their end, and full buffers that discard count only what they took.
  bool of_all = false;
  uint64_t bytes = 0;  // of all sequences
  std::vector<WriterShare> writers;
};
WriterShares WriterSharesOf(const TraceFacts& facts);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_DOCTOR_WRITER_SHARES_H_
