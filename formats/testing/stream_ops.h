#ifndef RINGSCOPE_FORMATS_TESTING_STREAM_OPS_H_
#define RINGSCOPE_FORMATS_TESTING_STREAM_OPS_H_

#include <string>

#include "core/base/result.h"
#include "core/testing/engine_agreement.h"
#include "formats/testing/plain_stream.h"

namespace ringscope::testing {

// Random streams as operations, and back.

struct RecordedStream {
  StreamTraits traits;
  EngineAgreement::Written written;  // empty: not known
  PlainSteps steps;
};

/// All of a stream, as CheckAgreement takes it.
RecordedStream Record(WrittenStream stream, int steps);

/// @return the claim that does not hold, as CheckAgreement; those about a whole stream apart
std::string CheckRecorded(const RecordedStream& stream);

/// Leaves out steps as long as what remains still breaks the same claim.
RecordedStream CutDown(RecordedStream stream);

Status WriteOps(const RecordedStream& stream, const std::string& path);
/// Reads what WriteOps wrote: of one buffer, in order. What was written by whom is not known then.
Result<RecordedStream> ReadOps(const std::string& path);

}  // namespace ringscope::testing

#endif  // RINGSCOPE_FORMATS_TESTING_STREAM_OPS_H_
