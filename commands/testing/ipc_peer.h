#ifndef RINGSCOPE_COMMANDS_TESTING_IPC_PEER_H_
#define RINGSCOPE_COMMANDS_TESTING_IPC_PEER_H_

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/record/socket.h"
#include "commands/testing/smb_memory.h"
#include "commands/testing/trace_config_message.h"
#include "core/log/op.h"
#include "formats/ipc/ipc_messages.h"
#include "formats/testing/ipc_frames.h"

namespace ringscope::testing {

/// Ids of the recorder's own requests begin here.
inline constexpr uint64_t kFirstOfRecorder = 0xF0000000;

/// A frame as it arrived, prefix included.
struct ReceivedFrame {
  std::string bytes;
  std::vector<UniqueFd> fds;
  /// Points into `bytes`.
  ipc::Frame Parse() const { return ipc::ParseFrame(wire::AsBytes(bytes)).value(); }
};

/// Returns true if the peer has closed its end and nothing is left to receive.
bool IsClosed(int socket);

/// Two connected sockets that do not block.
std::pair<UniqueFd, UniqueFd> MakeSocketPair();

/// One end of a connection that waits: for tests that go step by step. What should have come and
/// does not, for half a minute, is as if the peer had gone.
class BlockingPeer {
 public:
  explicit BlockingPeer(UniqueFd fd);

  int fd() const { return fd_.get(); }
  /// @return false: the peer has gone
  bool Send(std::string_view bytes, int with_fd = -1);
  /// nullopt if the peer has gone.
  std::optional<ReceivedFrame> Read();
  /// Whether nothing more comes but the connection's end; what comes is dropped.
  bool ReadToEnd();
  /// Ends this side.
  void Close() { fd_.Reset(); }

  /// All bytes that came through here.
  const std::string& received() const { return received_; }
  /// Bytes that one receive takes at most.
  void set_read_size(size_t bytes) { read_size_ = bytes; }

 private:
  bool ReceiveSome();

  UniqueFd fd_;
  std::string pending_;
  std::vector<UniqueFd> fds_;
  std::string received_;
  size_t read_size_ = 65536;
};

BlockingPeer ConnectPeer(const std::string& socket);
/// The next client; waits for it.
BlockingPeer AcceptPeer(const Listener& listener);

/// A name for a socket that no other test uses, in the abstract namespace.
std::string UniqueSocketName(const std::string& purpose);

template <typename Message>
std::string Encode(const Message& message) {
  std::string out;
  EncodeMessage(message, out);
  return out;
}
template <typename Message>
Message Decode(Bytes bytes) {
  Message message;
  if (!DecodeMessage(bytes, message)) std::abort();
  return message;
}

/// EnableTracing's arguments for a session with one V2 buffer of 64 KiB, which source.p writes to.
std::string EnableTracingArgs(FillPolicy policy);

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_IPC_PEER_H_
