#ifndef RINGSCOPE_FORMATS_OPS_PERFETTO_CASE_H_
#define RINGSCOPE_FORMATS_OPS_PERFETTO_CASE_H_

#include <optional>
#include <span>
#include <string>

#include "core/engine/catalogue.h"
#include "core/log/op.h"
#include "formats/io/output_file.h"

namespace ringscope {

inline constexpr OutputKind kPerfettoCaseOutput = {"a test case", true};

/// Records that two engines take differently, as a unit test of Perfetto's trace buffer.
struct PerfettoCase {
  /// A side of the difference: an engine, and its buffer where it is not the records' one.
  struct Side {
    const EngineInfo* engine = nullptr;
    std::optional<uint64_t> size = {};  // bytes
    std::optional<FillPolicy> policy = {};
  };

  std::string cause;        // the rule, or the kind of the difference: names the test
  std::string what;         // what differs, in a line
  std::span<const Op> ops;  // of one buffer: set-up, commits, patches, reads, clones
  Side a, b;
};

/// Writes a test that expects what side A gives: for trace_buffer_v1_unittest.cc or
/// _v2_unittest.cc. Leaves out identities. @return kUnsupported for several buffers, or if an
/// engine fails
Result<std::string> WritePerfettoCase(const PerfettoCase& test_case);

/// The test's path beside a log: "bug.ops.jsonl" gets "bug.cc".
std::string PerfettoCasePath(const std::string& log);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_OPS_PERFETTO_CASE_H_
