#ifndef RINGSCOPE_FORMATS_OPS_PERFETTO_CASE_H_
#define RINGSCOPE_FORMATS_OPS_PERFETTO_CASE_H_

#include "core/base/wire.h"
#include "core/compare/log_differ.h"
#include "core/engine/catalogue.h"
#include "core/log/op.h"
#include "formats/io/output_file.h"

namespace ringscope {

inline constexpr OutputKind kPerfettoCaseOutput = {
    "a test case", true, [](Bytes start) {
      const std::string_view text = wire::AsText(start);
      return text.starts_with("// ") && text.find("\nTEST_F(TraceBuffer") != text.npos;
    }};

/// Records, and mostly two engines that take them differently, as a unit test of Perfetto's buffer.
struct PerfettoCase {
  /// A side of the difference: an engine, and its buffer where it is not the records' one.
  struct Side {
    const EngineInfo* engine = nullptr;
    std::optional<uint64_t> size = {};  // bytes
    std::optional<FillPolicy> policy = {};

    friend bool operator==(const Side&, const Side&) = default;
  };

  std::string cause;          // the rule, or the kind of the difference: names the test
  std::string what;           // what differs, in a line
  std::vector<StoredOp> ops;  // of one buffer: set-up, commits, patches, reads, clones
  Both<Side> sides;           // equal ones: the test shows what the engine does

  /// The buffer of a side, as it is set up.
  BufferSetUp BufferOf(ringscope::Side side) const;
};

/// Writes a test that expects what side A gives: for trace_buffer_v1_unittest.cc or
/// _v2_unittest.cc. Leaves out identities, and what packets contain unless the difference needs it.
/// @return kUnsupported for several buffers, if an engine fails, or if a test of side A cannot show
/// the difference
Result<std::string> WritePerfettoCase(const PerfettoCase& test_case);

/// The test's path beside a log: "bug.ops.jsonl" gets "bug.cc".
std::string PerfettoCasePath(const std::string& log);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_OPS_PERFETTO_CASE_H_
