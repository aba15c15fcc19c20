#ifndef RINGSCOPE_FORMATS_IPC_IPC_FRAME_H_
#define RINGSCOPE_FORMATS_IPC_IPC_FRAME_H_

#include <map>
#include <variant>
#include <vector>

#include "core/base/enum_names.h"
#include "core/base/result.h"
#include "core/base/wire.h"

namespace ringscope::ipc {

// Frames of Perfetto's inter-process protocol: a u32 size, then an IPCFrame message of that size.
// Views read them without copying; what they do not know is kept where a frame is rewritten.
// Source: Perfetto's wire protocol, field numbers as on its sockets.

inline constexpr size_t kFramePrefix = 4;             // bytes: the size, little-endian
inline constexpr size_t kMaxFrameBytes = 128 * 1024;  // prefix included
inline constexpr std::string_view kProducerPort = "ProducerPort";
inline constexpr std::string_view kConsumerPort = "ConsumerPort";

struct BindService {
  std::string_view service_name;
};
struct Method {
  uint64_t id = 0;
  std::string_view name;
};
struct BindServiceReply {
  bool success = false;
  uint64_t service = 0;
  std::vector<Method> methods;
};
struct InvokeMethod {
  uint64_t service = 0;
  uint64_t method = 0;
  Bytes args;
  bool drop_reply = false;
};
struct InvokeMethodReply {
  bool success = false;
  bool has_more = false;
  Bytes reply;
};
/// A frame of any other kind, or of none: it is passed on unread.
struct OtherFrame {};

/// A frame and its content; all of it points into the frame's bytes.
struct Frame {
  Bytes whole;  // prefix and message
  uint64_t request_id = 0;
  std::variant<OtherFrame, BindService, BindServiceReply, InvokeMethod, InvokeMethodReply> body;
};

/// Reads a whole frame. kCorrupt: the message, or the part of it that is read, is not well-formed.
Result<Frame> ParseFrame(Bytes whole);

/// Cuts a byte stream into frames. The receiver writes into Space() and passes the count to
/// Received().
class FrameDecoder {
 public:
  /// Returns the space to receive into: at least `kMinSpace` bytes. Frames that Next() returned
  /// become invalid.
  std::span<uint8_t> Space();
  void Received(size_t bytes) { end_ += bytes; }

  /// The next whole frame, prefix included; nullopt if more bytes are needed. Valid until Space().
  /// kCorrupt: its prefix announces more than kMaxFrameBytes; nothing more can be read.
  Result<std::optional<Bytes>> Next();
  /// Returns the bytes that were received and not returned.
  Bytes rest() const { return {buffer_.get() + begin_, end_ - begin_}; }
  /// Position in the stream of the byte that Next() looks at next.
  uint64_t position() const { return consumed_; }
  /// Position in the stream after the last byte received.
  uint64_t received() const { return consumed_ + (end_ - begin_); }

 private:
  static constexpr size_t kMinSpace = 64 * 1024;

  /// Not a vector: what is not received is never touched, so an idle connection takes no memory.
  std::unique_ptr<uint8_t[]> buffer_;
  size_t size_ = 0;   // of the buffer
  size_t begin_ = 0;  // of what has not been returned
  size_t end_ = 0;
  uint64_t consumed_ = 0;  // bytes of the stream before begin_
};

/// Appends a frame. @param number of the body's field in IPCFrame
void AppendFrame(std::string& out, uint64_t request_id, uint32_t number, std::string_view body);
/// Appends a frame with a request of one's own.
void AppendInvoke(std::string& out, uint64_t request_id, const InvokeMethod& invoke);
/// Appends the frame, an InvokeMethod, with other arguments and all else as it is, fields that are
/// not known included.
void AppendWithArgs(std::string& out, const Frame& frame, Bytes args);

/// The methods that a recorder knows. Their ids are the service's; they are matched by name.
enum class MethodName : uint8_t {
  kUnknown,
  // ProducerPort
  kInitializeConnection,
  kRegisterDataSource,
  kUnregisterDataSource,
  kUpdateDataSource,
  kCommitData,
  kGetAsyncCommand,
  kRegisterTraceWriter,
  kUnregisterTraceWriter,
  kNotifyDataSourceStarted,
  kNotifyDataSourceStopped,
  kActivateTriggers,
  kSync,
  // ConsumerPort
  kEnableTracing,
  kStartTracing,
  kDisableTracing,
  kReadBuffers,
  kFreeBuffers,
  kFlush,
  kCloneSession,
  kDetach,
  kAttach,
  kObserveEvents,
  kQueryServiceState,
  kQueryCapabilities,
  kGetTraceStats,
};

/// Ids of a service's methods, as it answered to a bind.
class MethodTable {
 public:
  void Learn(const BindServiceReply& reply);
  /// kUnknown before the service has answered, too.
  MethodName Find(const InvokeMethod& invoke) const;
  /// nullopt if this service does not have it.
  std::optional<uint64_t> IdOf(MethodName name) const;
  uint64_t service() const { return service_; }

 private:
  uint64_t service_ = 0;
  std::map<uint64_t, MethodName> names_;
};

}  // namespace ringscope::ipc

template <>
inline constexpr std::array ringscope::kEnumNames<ringscope::ipc::MethodName> = {
    "",
    "InitializeConnection",
    "RegisterDataSource",
    "UnregisterDataSource",
    "UpdateDataSource",
    "CommitData",
    "GetAsyncCommand",
    "RegisterTraceWriter",
    "UnregisterTraceWriter",
    "NotifyDataSourceStarted",
    "NotifyDataSourceStopped",
    "ActivateTriggers",
    "Sync",
    "EnableTracing",
    "StartTracing",
    "DisableTracing",
    "ReadBuffers",
    "FreeBuffers",
    "Flush",
    "CloneSession",
    "Detach",
    "Attach",
    "ObserveEvents",
    "QueryServiceState",
    "QueryCapabilities",
    "GetTraceStats"};

#endif  // RINGSCOPE_FORMATS_IPC_IPC_FRAME_H_
