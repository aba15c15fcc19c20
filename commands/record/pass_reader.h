#ifndef RINGSCOPE_COMMANDS_RECORD_PASS_READER_H_
#define RINGSCOPE_COMMANDS_RECORD_PASS_READER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/ids.h"

namespace ringscope {

/// Finds the passes of the service in its replies to ReadBuffers. A pass with a large packet comes
/// in several replies. Before the buffers' packets it has those of the service itself, which count
/// towards the bytes that end a pass.
class PassReader {
 public:
  /// @param reply to ReadBuffers
  /// @return bytes of the service's own packets at the pass's beginning; nullopt: it has not ended
  std::optional<uint64_t> Add(Bytes reply);

 private:
  void OnPacket();

  std::string packet_;          // as much as has arrived, until a buffer's packet was found
  bool within_packet_ = false;  // its rest is in the next reply
  bool found_other_ = false;    // a packet that is not the service's
  uint64_t own_bytes_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_PASS_READER_H_
