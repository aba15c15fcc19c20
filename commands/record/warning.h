#ifndef RINGSCOPE_COMMANDS_RECORD_WARNING_H_
#define RINGSCOPE_COMMANDS_RECORD_WARNING_H_

#include <cstdint>
#include <functional>
#include <string>

namespace ringscope {

/// What a message to the user is about.
enum class WarningKind : uint8_t {
  kClient,   // what a client does, and why its connection is ended
  kRefused,  // a client that cannot be joined to the service
  kBuffer,   // a buffer that is not known
  kService,  // the service ends, or accepts clients again
  kLog,      // the log cannot be written fast enough
};
struct Warning {
  WarningKind kind{};
  int32_t pid = -1;  // of the client that it is about; -1: of none, or it is not known
  std::string text;
};
using Warn = std::function<void(const Warning&)>;

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_WARNING_H_
