#ifndef RINGSCOPE_FORMATS_TESTING_GENERATE_LOG_H_
#define RINGSCOPE_FORMATS_TESTING_GENERATE_LOG_H_

#include <cstdint>

#include "formats/io/byte_stream.h"

namespace ringscope::testing {

/// A session made up at any size, for measurements: producers with writers that fragment packets,
/// patch them, are scraped now and then; payloads that compress about as real track events do.
struct GeneratedLog {
  uint64_t chunk_bytes = uint64_t{64} << 20;  // chunk headers and payloads to write
  uint32_t writers = 50;
  uint64_t buffer_size = uint64_t{64} << 20;
  uint32_t seed = 1;
};

/// Writes the log to `out`. The same values give the same log.
Status GenerateLog(const GeneratedLog& log, ByteSink& out);

}  // namespace ringscope::testing

#endif  // RINGSCOPE_FORMATS_TESTING_GENERATE_LOG_H_
