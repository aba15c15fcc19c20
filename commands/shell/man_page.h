#ifndef RINGSCOPE_COMMANDS_SHELL_MAN_PAGE_H_
#define RINGSCOPE_COMMANDS_SHELL_MAN_PAGE_H_

#include <string>
#include <string_view>

#include "commands/shell/command.h"

namespace ringscope {

/// The man page of a command, in mdoc. NAME, SYNOPSIS, OPTIONS, EXIT STATUS and EXAMPLES come from
/// the table of commands. The body adds what the table does not have, as sections in mdoc:
///
///   .Dd November 22, 2026   the date of the page
///   .Sh DESCRIPTION         follows the command's description
///   .Sh OPTIONS    each `.It --option` or `.It LOG` follows that option's description
///   .Sh EXAMPLES   follows the command's examples
///   .Sh SEE ALSO   comes last; other sections follow OPTIONS
///
/// @return kCorrupt: the body explains an option that the command does not have
Result<std::string> ManPage(const Command& command, std::string_view body);

/// The page of the tool itself, with the list of commands after the body's DESCRIPTION.
Result<std::string> OverviewPage(std::string_view body);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_MAN_PAGE_H_
