#ifndef RINGSCOPE_FORMATS_INPUTS_RESULT_READER_H_
#define RINGSCOPE_FORMATS_INPUTS_RESULT_READER_H_

#include <memory>

#include "core/compare/output_diff.h"
#include "formats/io/byte_stream.h"

namespace ringscope {

/// Reads `.events.jsonl`, plain or zstd-compressed, whole. Errors name the line and the key.
Result<ReplayOutput> ReadEvents(std::unique_ptr<ByteSource> source);

/// Reads a `.pftrace`, perhaps compressed, without the service's packets; counters of its last
/// TraceStats.
Result<ReplayOutput> ReadTraceResults(std::unique_ptr<ByteSource> source);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_INPUTS_RESULT_READER_H_
