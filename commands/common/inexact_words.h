#ifndef RINGSCOPE_COMMANDS_COMMON_INEXACT_WORDS_H_
#define RINGSCOPE_COMMANDS_COMMON_INEXACT_WORDS_H_

#include <string>

#include "commands/report/json.h"
#include "core/log/op.h"

namespace ringscope {

/// Why a log may differ from what the service did; empty: it is not marked as inexact.
std::string InexactText(const InexactCounts& counts);
/// The same as {"order": 1, ...}, without those that are 0.
Json InexactJson(const InexactCounts& counts);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_COMMON_INEXACT_WORDS_H_
