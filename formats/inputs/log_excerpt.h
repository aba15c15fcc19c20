#ifndef RINGSCOPE_FORMATS_INPUTS_LOG_EXCERPT_H_
#define RINGSCOPE_FORMATS_INPUTS_LOG_EXCERPT_H_

#include <memory>
#include <optional>
#include <vector>

#include "core/log/log_range.h"
#include "core/log/op.h"
#include "formats/io/log_source.h"

namespace ringscope {

/// Records that are wanted of a log. Both must hold.
struct WantedRecords {
  std::optional<RecordRange> records;
  std::optional<TimePoint> from, to;
};

/// The part of a log that has all records that are wanted, with some before and after them. It
/// begins with the log's first records.
struct LogExcerpt {
  std::unique_ptr<LogSource> log;
  std::vector<ProducerConnected> skipped_producers;  // that connect in what is left out
};

/// Finds that part by the index. Time: does not depend on the log's length, but for its index.
/// @param source is moved from if an excerpt is found
/// @return nullopt: the log has to be read from its start, as it is no file with an index that can
///   be trusted, or has several sessions, or all of it is needed
Result<std::optional<LogExcerpt>> OpenLogExcerpt(std::unique_ptr<ByteSource>& source,
                                                 const WantedRecords& wanted);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_INPUTS_LOG_EXCERPT_H_
