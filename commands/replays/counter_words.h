#ifndef RINGSCOPE_COMMANDS_REPLAYS_COUNTER_WORDS_H_
#define RINGSCOPE_COMMANDS_REPLAYS_COUNTER_WORDS_H_

#include <string>

#include "commands/view/json.h"
#include "core/gaps/counter_trace.h"

namespace ringscope {

/// Why a counter went up: "it has 2 fragments, but its header counts 3". Of the chunk, the packet
/// or the sequence that the rise names.
std::string ReasonText(const CounterRise& rise);
/// "chunk #7 of 2:5", as far as it is known; "-": not.
std::string WhoText(const CounterRise& rise);

Json RiseJson(const CounterRise& rise);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAYS_COUNTER_WORDS_H_
