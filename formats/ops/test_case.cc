#include "formats/ops/test_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "formats/ops/case_answers.h"
#include "formats/ops/perfetto_case.h"
#include "formats/ops/ringscope_case.h"

namespace ringscope {

Result<CaseStyle> ParseCaseStyle(std::string_view text) {
  for (size_t i = 0; i < kEnumNames<CaseStyle>.size(); ++i)
    if (text == kEnumNames<CaseStyle>[i]) return static_cast<CaseStyle>(i);
  return Fail(ErrorCode::kUsage, fmt::format("there is no style '{}' of test cases", text), {},
              fmt::format("choose {}", fmt::join(kEnumNames<CaseStyle>, ", ")));
}

CaseStyle StyleFor(const EngineInfo& engine) {
  return engine.name == "v1" ? CaseStyle::kPerfettoV1 : CaseStyle::kPerfettoV2;
}

std::string TestCasePath(const std::string& log) {
  for (const std::string_view end : {".ops.jsonl", ".jsonl"})
    if (log.ends_with(end) && log.size() > end.size())
      return log.substr(0, log.size() - end.size()) + ".cc";
  return log + ".cc";
}

Result<std::string> WriteTestCase(const TestCase& test_case, const Both<const EngineInfo*>& engines,
                                  CaseStyle style) {
  if (style == CaseStyle::kOps)
    return Fail(ErrorCode::kUsage, "operations alone are not a test case");
  Both<Answers> answers;
  for (const Side side : kSides) {
    PlainStream stream =
        style == CaseStyle::kRingscope ? WithRuns(test_case.stream) : test_case.stream;
    if (side == Side::kB && test_case.buffer_of_b) {
      stream.size = test_case.buffer_of_b->size;
      stream.policy = test_case.buffer_of_b->policy;
    }
    RS_ASSIGN_OR_RETURN(answers[side], AnswersOf(*engines[side], stream));
  }
  if (style == CaseStyle::kRingscope) return WriteRingscopeCase(test_case, engines, answers);
  return WritePerfettoCase(test_case, engines, answers, style);
}

}  // namespace ringscope
