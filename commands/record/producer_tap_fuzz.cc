// Frames of a producer and of the service, of any content, through a producer's tap: no crash,
// frames are forwarded as they are or edited where that is due, and the log's records can be read.

#include "commands/testing/sockets_in_memory.h"
#include "commands/testing/tap_script.h"
#include "formats/ipc/ipc_frame.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ringscope::testing::RunTapScript({data, size}, ringscope::ipc::kProducerPort);
  return 0;
}
