#ifndef RINGSCOPE_CORE_COMPARE_DIFF_SECTION_H_
#define RINGSCOPE_CORE_COMPARE_DIFF_SECTION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <variant>

#include "core/base/reused_memory.h"
#include "core/compare/log_diff.h"
#include "core/compare/side_tape.h"
#include "core/log/op.h"

namespace ringscope {

/// Consecutive records of a log, and what each side did with them.
struct DiffSection {
  struct Record {
    Op op;
    uint64_t number = 0;
  };

  ReusedList<Record> records;
  ByteCopies bytes;      // of these
  bool at_end = false;   // the reads at the end follow the records
  Both<SideTape> tapes;  // of each side; written by its replay, read once that has all records

  void Add(const Op& op, uint64_t number) {
    Record& record = records.Add();
    record.op = op;
    record.number = number;
    if (auto* const commit = std::get_if<Commit>(&record.op.body))
      commit->request = bytes.Copy(commit->request);
  }
  void Clear() {
    records.Clear();
    bytes.Clear();
    at_end = false;
    tapes.a.Clear();
    tapes.b.Clear();
  }
};

/// Has a side replay a section.
using SideWork = std::function<void(Side, DiffSection&)>;

/// Where the sides replay their sections, each side one after the other: perhaps in two threads.
class SideRunner {
 public:
  virtual ~SideRunner() = default;
  /// Has both sides replay the section, now or later. It stays where it is until it was waited for.
  virtual void Put(DiffSection& section) = 0;
  /// Waits until both sides have replayed the oldest section that was not waited for yet.
  virtual void Wait() = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_DIFF_SECTION_H_
