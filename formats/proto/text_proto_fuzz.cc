// Parses any bytes as a message in protobuf's text format.

#include <cstdlib>

#include "formats/proto/text_proto.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto message = ringscope::ParseTextProto(text, "fuzz");
  if (message && message->fields.size() > size) std::abort();  // each takes at least a byte
  return 0;
}
