#ifndef RINGSCOPE_COMMANDS_TESTING_CHROMIUM_H_
#define RINGSCOPE_COMMANDS_TESTING_CHROMIUM_H_

#include <cstdint>
#include <memory>
#include <string>

#include "commands/record/event_loop.h"
#include "commands/record/socket.h"
#include "core/base/result.h"

namespace ringscope::testing {

/// Chromium without a window, with one empty page. Each of its processes is a producer with
/// Perfetto's own SDK.
class Chromium {
 public:
  static constexpr const char* kProgram = "chromium";

  /// @param producer_socket that its processes connect to
  /// @param folder for its profile and its messages
  static Result<std::unique_ptr<Chromium>> Start(const std::string& producer_socket,
                                                 const std::string& folder);
  /// Ends it.
  ~Chromium();
  Chromium(const Chromium&) = delete;
  Chromium& operator=(const Chromium&) = delete;

  /// Runs a script in the page, and waits for it if it is a promise. @return its result as JSON
  Result<std::string> Run(const std::string& script);

 private:
  Chromium() = default;
  /// A call of the DevTools protocol. @param params JSON. @return the result, as JSON
  Result<std::string> Call(const std::string& method, const std::string& params = "{}");
  Result<std::string> NextMessage();

  UniqueFd commands_;  // to Chromium
  UniqueFd replies_;   // from it
  std::string received_;
  int64_t last_call_ = 0;
  std::string session_;  // of the page
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_CHROMIUM_H_
