#ifndef RINGSCOPE_COMMANDS_COMPARE_PLAIN_DIFFERENCE_H_
#define RINGSCOPE_COMMANDS_COMPARE_PLAIN_DIFFERENCE_H_

#include <functional>
#include <optional>
#include <vector>

#include "commands/compare/diff_logs.h"
#include "core/compare/fuzz_run.h"
#include "formats/ops/test_case.h"

namespace ringscope {

/// The operations of one buffer that show what the session shows, without the session around them:
/// they are tried in no time, and can be taken to Perfetto's own tests.
struct PlainDifference {
  Both<const EngineInfo*> engines;  // as the sides have them
  FuzzPlan plan;                    // with the sides' buffers
  /// The size is that of the smaller of both buffers.
  PlainStream stream;
  FuzzFinding finding;

  /// A side's buffer for a stream of this size: in the session's proportions.
  BufferSetting ShapeOf(Side side, uint64_t stream_size) const;
  bool HasOneShape() const;

  Both<BufferSetting> shapes;  // in the session
};

/// What the buffer that differs first had to do; nullopt: the session around it matters, too, or
/// sides that are read at different moments.
Result<std::optional<PlainDifference>> FindPlainDifference(const std::vector<StoredOp>& ops,
                                                           const DiffArgs& args,
                                                           const SessionDiff& diff);

/// Makes the stream the smallest that shows it. @param stop see Shrink
void ShrinkPlain(PlainDifference& plain, const std::function<bool()>& stop);

/// The options with which the stream, as a log, shows the same.
DiffArgs ArgsOfPlain(const DiffArgs& args, const PlainDifference& plain);

/// The stream as a test case; nullopt: it shows nothing. Fails as WriteTestCase.
Result<std::optional<std::string>> CaseOfPlain(const PlainDifference& plain, CaseStyle style);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_COMPARE_PLAIN_DIFFERENCE_H_
