#ifndef RINGSCOPE_FORMATS_TRACE_TRACE_OUTPUT_H_
#define RINGSCOPE_FORMATS_TRACE_TRACE_OUTPUT_H_

#include <string>

#include "formats/io/output_file.h"

namespace ringscope {

// How a trace that ringscope wrote is known from one that a tracing service wrote.

/// The first packet of the trace files that ringscope writes, with its field: a SystemInfo that
/// names this program where that of a service has the service's version.
std::string ToolPacket();
/// Whether a trace begins with it, as any version wrote it.
bool BeginsWithToolPacket(Bytes start);

inline constexpr OutputKind kTraceOutput = {"a trace", false, BeginsWithToolPacket};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_TRACE_OUTPUT_H_
