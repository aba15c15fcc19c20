#ifndef RINGSCOPE_FORMATS_INPUTS_OPEN_LOG_H_
#define RINGSCOPE_FORMATS_INPUTS_OPEN_LOG_H_

#include <memory>
#include <string>
#include <vector>

#include "core/compare/output_diff.h"
#include "formats/io/byte_stream.h"
#include "formats/io/log_source.h"

namespace ringscope {

class CommitLogObserver;

/// Opens a .tblog or .ops.jsonl by its content, perhaps compressed; "-" for standard input.
Result<std::unique_ptr<LogSource>> OpenLog(const std::string& path);
/// @param observer sees something only if the input is a commit log
Result<std::unique_ptr<LogSource>> OpenLog(std::unique_ptr<ByteSource> source,
                                           CommitLogObserver* observer = nullptr);

/// Reads what a comparison needs of a `.pftrace`, plain or zstd-compressed. Packets of the service
/// itself are left out; the counters are those of its last TraceStats, buffers numbered as there.
/// @param damage gets the places that were skipped; nullptr if a damaged file is an error
Result<ReplayOutput> ReadTraceResults(std::unique_ptr<ByteSource> source,
                                      std::vector<Damage>* damage = nullptr);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_INPUTS_OPEN_LOG_H_
