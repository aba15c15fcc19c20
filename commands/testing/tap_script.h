#ifndef RINGSCOPE_COMMANDS_TESTING_TAP_SCRIPT_H_
#define RINGSCOPE_COMMANDS_TESTING_TAP_SCRIPT_H_

#include <string_view>

#include "core/base/wire.h"

namespace ringscope::testing {

/// Puts the frames of a script through a tap, and aborts if one is not forwarded as it is to be, or
/// a record of the log cannot be read. The first byte has options.
/// @param port ipc::kProducerPort or ipc::kConsumerPort
void RunTapScript(Bytes script, std::string_view port);

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_TAP_SCRIPT_H_
