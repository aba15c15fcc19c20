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
  while (true) {
    const auto packet = (*reader)->Next();
    if (!packet || !*packet) return 0;
    const TracePacket& p = **packet;
    if (p.content.size() > p.bytes.size() || p.content.data() != p.bytes.data()) std::abort();
  }
}
