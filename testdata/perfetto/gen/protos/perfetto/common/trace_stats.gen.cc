#include "protos/perfetto/common/trace_stats.gen.h"

namespace perfetto::protos::gen {

void TraceStats_BufferStats::set_chunks_relocated(uint64_t value) { chunks_relocated_ = value; }

}  // namespace perfetto::protos::gen
