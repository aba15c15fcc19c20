// Feeds any bytes to the frame decoder as a socket would; what it takes for a request is written
// again with other arguments and must read the same.

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "formats/ipc/ipc_frame.h"
#include "formats/ipc/ipc_messages.h"

namespace {

using namespace ringscope;  // NOLINT: a fuzz target is a program of its own

void CheckEdit(const ipc::Frame& frame) {
  const auto* const invoke = std::get_if<ipc::InvokeMethod>(&frame.body);
  if (invoke == nullptr) return;
  std::string edited;
  ipc::AppendWithArgs(edited, frame, invoke->args);
  const auto again = ipc::ParseFrame(wire::AsBytes(edited));
  if (!again || again->request_id != frame.request_id) std::abort();
  const auto& copy = std::get<ipc::InvokeMethod>(again->body);
  if (copy.service != invoke->service || copy.method != invoke->method ||
      copy.drop_reply != invoke->drop_reply || copy.args.size() != invoke->args.size())
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ipc::FrameDecoder decoder;
  while (size > 0) {
    const std::span<uint8_t> space = decoder.Space();
    const size_t slice = std::min({space.size(), size, size_t{data[0]} + 1});
    std::memcpy(space.data(), data, slice);
    decoder.Received(slice);
    data += slice;
    size -= slice;
    while (true) {
      const auto whole = decoder.Next();
      if (!whole) return 0;
      if (!*whole) break;
      const auto frame = ipc::ParseFrame(**whole);
      if (!frame) return 0;
      CheckEdit(*frame);
      if (const auto* const reply = std::get_if<ipc::InvokeMethodReply>(&frame->body)) {
        ipc::AsyncCommand command;
        static_cast<void>(DecodeMessage(reply->reply, command).has_value());
      }
    }
  }
  return 0;
}
