#ifndef RINGSCOPE_COMMANDS_GAPS_GAP_FILTER_OPTIONS_H_
#define RINGSCOPE_COMMANDS_GAPS_GAP_FILTER_OPTIONS_H_

#include <string>
#include <vector>

#include "commands/shell/cli_fwd.h"
#include "core/gaps/gap_filter.h"

namespace ringscope {

/// All names that --fate takes.
std::vector<std::string> FilterFates();

/// Adds --seq, --buffer, --from, --to, --fate, --cause and --content.
void AddGapFilter(CLI::App& app, GapFilter& filter);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GAPS_GAP_FILTER_OPTIONS_H_
