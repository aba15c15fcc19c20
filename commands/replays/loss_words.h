#ifndef RINGSCOPE_COMMANDS_REPLAYS_LOSS_WORDS_H_
#define RINGSCOPE_COMMANDS_REPLAYS_LOSS_WORDS_H_

#include <optional>
#include <string>

#include "commands/view/json_fields.h"
#include "core/base/text.h"
#include "core/gaps/counter_trace.h"
#include "core/gaps/gap_report.h"
#include "core/session/session_notes.h"

namespace ringscope {

/// "producer 3 'app'"; without a name: "producer 3".
std::string ProducerText(ProducerId producer, const std::string& name);
/// "1.837 s", as the notes show times; "?" if not known.
std::string TimeText(const SessionNotes& notes, const std::optional<uint64_t>& time_ns);
/// "0.707 s to 1.543 s", or one time.
std::string SpanText(const SessionNotes& notes, const std::optional<uint64_t>& from,
                     const std::optional<uint64_t>& to, const char* between = " to ");
/// "0.707 s to 1.543 s"; where times are not known: "record 3 to record 5".
std::string SpanText(const SessionNotes& notes, const MomentSpan& span);

/// "record 12 (1.837 s)"
std::string MomentText(const SessionNotes& notes, const LogMoment& moment);

/// "overwritten before they were read"; of one packet: "... before it was read".
std::string CauseText(const CauseCount& cause);

/// Why a counter went up: "it has 2 fragments, but its header counts 3". Of the chunk, the packet
/// or the sequence that the rise names.
std::string ReasonText(const CounterRise& rise);
/// "2:5#7", as far as it is known; "-": not.
std::string WhoText(const CounterRise& rise);
void ListFields(JsonFieldWriter& io, const CounterRise& rise);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAYS_LOSS_WORDS_H_
