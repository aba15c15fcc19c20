// Takes any bytes as a text, as a packet, and as descriptors.

#include <cstdlib>

#include "formats/descriptors/changed_config.h"
#include "formats/descriptors/descriptors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace descriptors = ringscope::descriptors;
  const ringscope::Bytes bytes(data, size);
  if (ringscope::ChangedConfig(ringscope::wire::AsText(bytes),
                               {{"buffers[0].size_kb", "8", "", false}})
          .size() < size)
    std::abort();
  const auto config = descriptors::Encode("TraceConfig", ringscope::wire::AsText(bytes), "fuzz");
  if (config) {
    // What was read can be written, and read again.
    const std::string text = descriptors::Text("TraceConfig", ringscope::wire::AsBytes(*config));
    const auto again = descriptors::Encode("TraceConfig", text, "fuzz");
    // (Bytes of a field whose type is not known are written as the message that they may be.)
    if (!again || descriptors::Text("TraceConfig", ringscope::wire::AsBytes(*again)) != text)
      std::abort();
  }
  if (descriptors::Text("TracePacket", bytes).empty() && size > 0) std::abort();
  return 0;
}
