#include "perfetto/ext/tracing/core/trace_packet.h"

namespace perfetto {

void TracePacket::AddSlice(const void* start, size_t size) {
  slices_.emplace_back(start, size);
  size_ += size;
}

}  // namespace perfetto
