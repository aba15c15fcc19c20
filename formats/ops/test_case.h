#ifndef RINGSCOPE_FORMATS_OPS_TEST_CASE_H_
#define RINGSCOPE_FORMATS_OPS_TEST_CASE_H_

#include <optional>
#include <string>
#include <string_view>

#include "core/base/enum_names.h"
#include "core/compare/log_diff.h"
#include "core/compare/plain_stream.h"
#include "core/engine/catalogue.h"
#include "formats/io/output_file.h"

namespace ringscope {

/// In whose words a stream becomes a test.
enum class CaseStyle : uint8_t {
  kPerfettoV2,  // trace_buffer_v2_unittest.cc of Perfetto
  kPerfettoV1,  // trace_buffer_v1_unittest.cc
  kRingscope,   // the tests of ringscope's own engines
  kOps,         // none: the operations alone
};
template <>
inline constexpr std::array kEnumNames<CaseStyle> = {"perfetto-v2", "perfetto-v1",
                                                     "gtest-ringscope", "ops"};

/// A style by its name; kUsage: there is none.
Result<CaseStyle> ParseCaseStyle(std::string_view text);

/// The styles, as options show them.
inline constexpr const char* kCaseStyleType = "perfetto-v2|perfetto-v1|gtest-ringscope|ops";

/// The style of the tests that Perfetto has for an engine. Plug-ins are taken for a V2.
CaseStyle StyleFor(const EngineInfo& engine);

inline constexpr OutputKind kTestCaseOutput = {"a test case", true};

/// Beside a log: "bug.ops.jsonl" gets "bug.cc".
std::string TestCasePath(const std::string& log);

struct BufferSetting {
  uint64_t size = 0;  // bytes
  FillPolicy policy = FillPolicy::kRingBuffer;
};

/// A stream that two engines take differently.
struct TestCase {
  std::string cause;  // the rule, or the kind of the difference: names the test
  std::string what;   // differs, in a line
  PlainStream stream;
  /// Side B's buffer, where it is not like the stream's.
  std::optional<BufferSetting> buffer_of_b = {};
};

/// The stream as a test in these words: it expects what engine A gives, so that it passes
/// where the buffer behaves as A, and fails where it behaves as B. Above it, the chunks and both
/// buffers are drawn. kUnsupported: an engine fails on the stream. kUsage: kOps, which has no test.
Result<std::string> WriteTestCase(const TestCase& test_case, const Both<const EngineInfo*>& engines,
                                  CaseStyle style);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_OPS_TEST_CASE_H_
