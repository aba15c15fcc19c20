#ifndef RINGSCOPE_CORE_LOG_SESSION_INDEX_H_
#define RINGSCOPE_CORE_LOG_SESSION_INDEX_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/log/op.h"
#include "core/log/record_filter.h"
#include "core/log/service_reads.h"
#include "core/log/verdict.h"
#include "core/perfetto/chunk.h"

namespace ringscope {

// Clones of a tracing session (CloneSession). Each buffer has its own instant, its BufferCloned.

/// A clone, from its records. Its holder sees its buffers, each up to its instant.
struct CloneFacts {
  uint64_t clone = 0;               // its number, from 1
  std::optional<uint64_t> session;  // that was cloned
  std::set<BufferId> buffers;       // that it has
  bool failed = false;              // the service did not make it
  std::string error;                // why, if it failed
  /// The service wrote it into a file, after a copy of the session's file.
  bool is_in_file = false;
  std::vector<uint64_t> passes;  // bytes that limited its holder's reads, if recorded

  /// Returns true if the clone ends here: the service's reply to its request.
  bool IsEnd(const Op& op) const {
    const auto* ended = std::get_if<CloneEnded>(&op.body);
    return ended != nullptr && ended->clone == clone;
  }
};

/// Collects the clones of a session's records.
class CloneScan {
 public:
  void Add(const Op& op);
  /// Returns those with buffers and those that failed, by number.
  std::vector<CloneFacts> clones() const;

 private:
  std::map<uint64_t, CloneFacts> clones_;
};

/// Returns the clone of a number; kUsage if there is no such clone, or it failed.
Result<CloneFacts> FindMadeClone(const std::vector<CloneFacts>& clones, uint64_t clone);

/// The facts of a session, from one pass over its records.
struct SessionIndex {
  struct Buffer {
    uint64_t size = 0;  // bytes
    FillPolicy policy = FillPolicy::kRingBuffer;
    uint32_t index = 0;  // in the trace config
  };

  // From the records before the first commit.
  std::string config = {};       // the first TraceConfig message; empty: none
  bool sets_up_buffers = false;  // the log has the session's buffers
  /// From when times count, ns of the log's clock, see SessionStart; absent: no record up to the
  /// first commit has a time.
  std::optional<uint64_t> start_ns = {};

  std::map<BufferId, Buffer> buffers = {};  // as the log sets them up
  bool has_reads = false;                   // that touch the buffers, see ServiceReads
  bool has_limited_reads = false;  // passes over all buffers that may leave something there
  bool streams = false;            // into a file
  bool has_programs = false;       // ProtoVM
  uint64_t commits = 0;
  /// Bytes of all commit requests: no buffer holds more.
  uint64_t commit_bytes = 0;
  std::vector<uint64_t> tracing = {};  // tracing sessions, by the recorder's numbers
  std::vector<CloneFacts> clones = {};
  std::vector<RecordingVerdict> verdicts = {};  // in what the recording is not exact

  std::optional<BufferId> Find(BufferKey key) const {
    for (const auto& [id, buffer] : buffers)
      if (key.Names(id, buffer.index)) return id;
    return std::nullopt;
  }
};

/// Gathers the facts of a session from its records. A commit costs next to nothing, so that each
/// pass over a session can have one.
class SessionIndexBuilder {
 public:
  /// @param tracing the tracing session whose records are to be left; absent: all
  explicit SessionIndexBuilder(std::optional<uint64_t> tracing = {}) {
    if (tracing) Select(*tracing);
  }

  /// Leaves the records of this tracing session, from the next record on.
  void Select(uint64_t tracing) {
    tracing_ = tracing;
    filter_.emplace(tracing);
  }
  /// Takes the next record, in which a filter may change something.
  /// @return false if the record is only about other tracing sessions
  bool Add(Op& op);
  /// The facts so far, without clones and verdicts.
  const SessionIndex& facts() const { return facts_; }
  /// All facts so far.
  SessionIndex Index() const {
    SessionIndex index = facts_;
    index.clones = clones_.clones();
    index.verdicts = Verdicts();
    return index;
  }
  std::vector<RecordingVerdict> Verdicts() const;

 private:
  std::optional<uint64_t> tracing_;
  std::optional<SessionFilter> filter_;
  SessionIndex facts_;
  SessionStart start_;
  uint32_t set_up_ = 0;  // buffers
  ServiceReads service_{/*all=*/false, /*period_ns=*/0};
  CloneScan clones_;
  VerdictBuilder verdicts_;
};

/// Reads the records of a session to their end.
Result<SessionIndex> IndexSession(OpSource& ops);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_SESSION_INDEX_H_
