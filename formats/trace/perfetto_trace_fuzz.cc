// Any bytes read as a trace: packets or an error, and content that is the front of each packet.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "formats/trace/perfetto_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ringscope;
  auto reader =
      TraceReader::Open(MakeMemorySource(std::string(reinterpret_cast<const char*>(data), size)));
  if (!reader) return 0;
  for (RawPacket packet; (*reader)->Next(packet).value_or(false);) {
    const Bytes content = SplitAppended(packet.bytes, ViewTracePacket(packet.bytes)).bytes;
    if (content.size() > packet.bytes.size() || content.data() != packet.bytes.data()) std::abort();
  }
  return 0;
}
