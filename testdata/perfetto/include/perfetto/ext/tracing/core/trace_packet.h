#ifndef STANDIN_TRACE_PACKET_H_
#define STANDIN_TRACE_PACKET_H_

#include "perfetto/ext/tracing/core/slice.h"

namespace perfetto {

class TracePacket {
 public:
  TracePacket() = default;
  TracePacket(TracePacket&&) = default;
  TracePacket& operator=(TracePacket&&) = default;

  const Slices& slices() const { return slices_; }
  size_t size() const { return size_; }
  void AddSlice(const void* start, size_t size);

 private:
  Slices slices_;
  size_t size_ = 0;
};

}  // namespace perfetto

#endif  // STANDIN_TRACE_PACKET_H_
