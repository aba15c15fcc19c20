#ifndef RINGSCOPE_CORE_COMPARE_RECORD_COMPARER_H_
#define RINGSCOPE_CORE_COMPARE_RECORD_COMPARER_H_

#include <memory>

#include "core/compare/diff_section.h"
#include "core/compare/log_differ.h"

namespace ringscope {

/// Compares what both sides did, record by record, from the tapes of their sections. It looks at
/// none of the replays before the end.
class RecordComparer {
 public:
  /// @param options outlive this
  explicit RecordComparer(const DiffOptions& options);
  ~RecordComparer();

  /// The next section, which both sides have replayed.
  /// @return the first error of a side; that a plug-in's process ended is none
  Status Compare(DiffSection& section);
  /// A plug-in's process ended: nothing more can be compared.
  bool has_died() const;
  /// After the last section. @param a, b the sides' replays
  const LogDiff& Finish(const Replay& a, const Replay& b);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_RECORD_COMPARER_H_
