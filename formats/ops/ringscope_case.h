#ifndef RINGSCOPE_FORMATS_OPS_RINGSCOPE_CASE_H_
#define RINGSCOPE_FORMATS_OPS_RINGSCOPE_CASE_H_

#include <string>

#include "formats/ops/case_answers.h"
#include "formats/ops/test_case.h"

namespace ringscope {

/// The stream with fragments as ringscope's tests have them, each filled with one letter.
PlainStream WithRuns(const PlainStream& stream);

/// The case as a test of ringscope's own suite: a file that includes core/testing/chunk_dsl.h.
/// @param answers to the stream of WithRuns
std::string WriteRingscopeCase(const TestCase& test_case, const Both<const EngineInfo*>& engines,
                               const Both<Answers>& answers);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_OPS_RINGSCOPE_CASE_H_
