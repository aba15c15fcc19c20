#ifndef RINGSCOPE_FORMATS_OPS_PERFETTO_CASE_H_
#define RINGSCOPE_FORMATS_OPS_PERFETTO_CASE_H_

#include <string>

#include "formats/ops/case_answers.h"
#include "formats/ops/test_case.h"

namespace ringscope {

/// The case in the words of Perfetto's tests of this buffer: kPerfettoV2 or kPerfettoV1.
std::string WritePerfettoCase(const TestCase& test_case, const Both<const EngineInfo*>& engines,
                              const Both<Answers>& answers, CaseStyle style);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_OPS_PERFETTO_CASE_H_
