#ifndef RINGSCOPE_FORMATS_TESTING_GENERATE_TRACE_H_
#define RINGSCOPE_FORMATS_TESTING_GENERATE_TRACE_H_

#include <cstdint>

#include "formats/io/byte_stream.h"

namespace ringscope::testing {

/// A trace made up at any size, for measurements and round trips.
struct GeneratedTrace {
  uint64_t packet_bytes = uint64_t{64} << 20;  // of the producers' packets, to write
  uint32_t sequences = 50;
  uint32_t buffers = 1;
  uint32_t max_packet = 400;         // bytes; a few packets are up to 300 KiB
  bool sequence_by_sequence = true;  // as a buffer of version 1 is read; else in order of time
  bool random_clocks = false;        // some sequences use other clocks than CLOCK_BOOTTIME
  bool compressed = false;           // packets are inside compressed packets, of both kinds
  uint32_t seed = 1;
};

/// Writes the trace to `out`. The same values give the same trace.
Status GenerateTrace(const GeneratedTrace& trace, ByteSink& out);

}  // namespace ringscope::testing

#endif  // RINGSCOPE_FORMATS_TESTING_GENERATE_TRACE_H_
