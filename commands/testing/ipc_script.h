#ifndef RINGSCOPE_COMMANDS_TESTING_IPC_SCRIPT_H_
#define RINGSCOPE_COMMANDS_TESTING_IPC_SCRIPT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "commands/record/tap.h"
#include "commands/testing/ipc_peer.h"

namespace ringscope::testing {

// What the recorder's fuzzers have in common: an input is a script of steps, each a byte and what
// belongs to it. A script that ends early has zeros there.

/// Of a client's shared memory.
inline constexpr size_t kScriptMemoryBytes = 8 * TestMemory::kPage;

/// A fuzzer's input, taken from the front.
class ScriptInput {
 public:
  explicit ScriptInput(Bytes bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }
  uint8_t Byte();
  uint16_t Word();
  /// Bytes after their count, which has two bytes; or as many as there are.
  Bytes Counted();

 private:
  Bytes rest_;
};

enum class StepKind : uint8_t {
  kClientFrame,   // of any content
  kServiceFrame,  // of any content
  kRequest,       // of the client, for a method
  kReply,         // of the service, to a request
  kMemory,        // the client writes to its shared memory
  kClientBytes,   // without a frame around them
  kServiceBytes,
  kAct,  // what else can happen
};

/// A step, the bytes that it sends included.
struct ScriptStep {
  StepKind kind{};
  bool with_descriptor = false;  // of the shared memory
  uint8_t connection = 0;        // 0 to 7
  uint8_t act = 0;
  std::string bytes;
};
/// Writes to `memory`, if that is the step.
ScriptStep NextStep(ScriptInput& input, const TestMemory& memory);

/// A client's bind, and the reply of a service with all methods of its port: NextStep numbers
/// requests' methods in the same way.
struct Binding {
  std::string request;
  std::string reply;
};
Binding BindingOf(std::string_view port);

/// Whether a frame is a request that the recorder may have added, or the reply to one.
bool IsOfRecorder(const ipc::Frame& frame);
/// The whole, well-formed frames that a stream begins with.
std::vector<std::string> SplitFrames(std::string_view stream);
/// Whether a frame was forwarded as it was; or, if it may be `edited`, with other arguments.
bool IsForwarded(const std::string& sent, const std::string& received, bool edited);

/// Aborts if a record cannot be read as it was written.
class CheckedLog : public RecordSink {
 public:
  void Append(OpBody body) override;

 private:
  std::string first_;
  std::string second_;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_IPC_SCRIPT_H_
