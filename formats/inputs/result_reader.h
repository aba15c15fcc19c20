#ifndef RINGSCOPE_FORMATS_INPUTS_RESULT_READER_H_
#define RINGSCOPE_FORMATS_INPUTS_RESULT_READER_H_

#include <memory>
#include <vector>

#include "core/compare/output_diff.h"
#include "formats/io/byte_stream.h"
#include "formats/io/log_source.h"

namespace ringscope {

/// Reads what a comparison needs of a `.pftrace`, plain or zstd-compressed. Packets of the service
/// itself are left out; the counters are those of its last TraceStats, buffers numbered as there.
/// @param damage gets the places that were skipped; nullptr: a damaged file is an error
Result<ReplayOutput> ReadTraceResults(std::unique_ptr<ByteSource> source,
                                      std::vector<Damage>* damage = nullptr);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_INPUTS_RESULT_READER_H_
