#ifndef RINGSCOPE_CORE_EXAMINE_NEEDED_NAMES_H_
#define RINGSCOPE_CORE_EXAMINE_NEEDED_NAMES_H_

#include <unordered_map>

#include "core/ledger/ledger.h"

namespace ringscope {

/// A process whose names were written and are not in the trace, though events of it are.
struct NeededProcess {
  int32_t pid = 0;
  std::string name;
  uint64_t first_ns = UINT64_MAX;  // of its events, by their own clock
  uint64_t last_ns = 0;            // 0: it has none
};

/// Finds the events of ftrace that need a process tree that was lost. Give it to the ledger.
/// Memory: O(processes and threads of the process trees).
class NeededNames : public LedgerSink {
 public:
  void OnChunkWritten(BufferId buffer, WrittenCommit& written) override;
  void OnReturned(const PacketAccount& account, const SessionPacket& packet) override;

  /// Returns the processes with most time first.
  std::vector<NeededProcess> Result() const;

 private:
  struct Process : NeededProcess {
    bool is_in_trace = false;
  };

  void AddTree(Bytes tree, bool is_in_trace);
  void AddBundle(Bytes bundle);
  void AddEvent(uint64_t pid, uint64_t time_ns);

  std::map<int32_t, Process> processes_;
  std::unordered_map<int32_t, int32_t> process_of_;  // by thread
  size_t missing_ = 0;                               // processes that are not in the trace
  std::string joined_;                               // scratch
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_EXAMINE_NEEDED_NAMES_H_
