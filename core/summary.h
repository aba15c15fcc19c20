#ifndef RINGSCOPE_CORE_SUMMARY_H_
#define RINGSCOPE_CORE_SUMMARY_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/commit_request.h"
#include "core/op.h"

namespace ringscope {

/// What a log holds of one sequence in one buffer.
struct SequenceSummary {
  SequenceKey sequence;
  BufferId buffer{};
  uint64_t commits = 0;   // chunks committed, re-commits included
  uint64_t chunks = 0;    // distinct chunk ids (a chunk sent again soon after counts once)
  uint64_t packets = 0;   // that begin in these chunks, by the headers' counts and flags
  uint64_t bytes = 0;     // of payload, re-commits included
  uint64_t patches = 0;   // four-byte patches sent
  std::optional<uint64_t> first_time_ns;
  std::optional<uint64_t> last_time_ns;

  friend bool operator==(const SequenceSummary&, const SequenceSummary&) = default;
};

/// What a log holds of one session: made while it is written, kept in its index, and made again by
/// a scan where there is no index.
struct SessionSummary {
  LogHeader header;
  uint64_t first_record = 0;  // number in the file
  uint64_t records = 0;
  std::optional<uint64_t> first_time_ns;
  std::optional<uint64_t> last_time_ns;
  std::array<uint64_t, kOpKinds> counts{};  // records by kind, in OpBody's order
  std::vector<BufferSetUp> buffers;         // in order of set-up
  std::vector<ProducerConnected> producers; // in order of connection
  std::vector<SequenceSummary> sequences;   // in order of first commit
  uint64_t chunks = 0;
  uint64_t chunk_bytes = 0;  // chunk headers and payloads
  uint64_t patches = 0;
  uint64_t recorder_gaps = 0;

  friend bool operator==(const SessionSummary&, const SessionSummary&) = default;
};

/// Builds a SessionSummary record by record. Memory: O(sequences).
class SummaryBuilder {
 public:
  /// @param first_record number of the session's first record in the file
  explicit SummaryBuilder(uint64_t first_record = 0) { summary_.first_record = first_record; }

  void Add(const Op& op);
  const SessionSummary& summary() const { return summary_; }

 private:
  /// The last chunk ids of a sequence, so that a chunk sent again counts once.
  struct Recent {
    static constexpr size_t kKept = 8;
    std::array<uint32_t, kKept> ids{};
    std::array<uint16_t, kKept> packets{};
    uint8_t used = 0;
    uint8_t next = 0;
  };

  SequenceSummary& SequenceOf(SequenceKey key, BufferId buffer, size_t* index);
  void AddCommit(const Commit& commit, std::optional<uint64_t> time_ns);

  SessionSummary summary_;
  std::map<std::pair<uint32_t, uint16_t>, size_t> sequence_index_;
  std::vector<Recent> recent_;
  CommitRequestParser parser_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SUMMARY_H_
