#ifndef RINGSCOPE_COMMANDS_REPLAYS_LOG_STREAMS_H_
#define RINGSCOPE_COMMANDS_REPLAYS_LOG_STREAMS_H_

#include <string>
#include <vector>

#include "commands/shell/context.h"
#include "core/compare/plain_stream.h"

namespace ringscope {

/// What a buffer of a log's session had to do.
struct LogStream {
  std::string log;
  uint64_t session = 0;  // number in the log, from 1
  BufferId buffer{};
  PlainStream stream;
};

/// The operations of all buffers of the logs' sessions, without the sessions around them: as the
/// service's rules let them through, with the reads of a replay. Buffers without operations are
/// left out. kUsage: no buffer has any
/// @param most bytes of payloads that are kept in memory; a warning says that the rest is left out
Result<std::vector<LogStream>> ReadLogStreams(const std::vector<std::string>& logs, uint64_t most,
                                              Context& context);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAYS_LOG_STREAMS_H_
