#ifndef RINGSCOPE_FORMATS_INPUTS_RESULT_READER_H_
#define RINGSCOPE_FORMATS_INPUTS_RESULT_READER_H_

#include <memory>

#include "core/compare/output_diff.h"
#include "formats/io/byte_stream.h"

namespace ringscope {

/// Reads what a comparison needs of a `.pftrace`, plain or zstd-compressed. Packets of the service
/// itself are left out; the counters are those of its last TraceStats, buffers numbered as there.
Result<ReplayOutput> ReadTraceResults(std::unique_ptr<ByteSource> source);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_INPUTS_RESULT_READER_H_
