#ifndef RINGSCOPE_COMMANDS_SHELL_COMMANDS_H_
#define RINGSCOPE_COMMANDS_SHELL_COMMANDS_H_

#include "commands/shell/command.h"

namespace ringscope {

// Every command, each defined in its own room; commands/shell/registry.cc is their table.

Command AdviseCommand();
Command CompletionsCommand();
Command DiffCommand();
Command DoctorCommand();
Command DumpCommand();
Command EnginesCommand();
Command ExportCommand();
Command FuzzCommand();
Command GapsCommand();
Command GraphCommand();
Command HelpCommand();
Command ImportCommand();
Command InfoCommand();
Command PluginCommand();
Command ProtovmCommand();
Command RecordCommand();
Command ReplayCommand();
Command ReportCommand();
Command StatsCommand();
Command SweepCommand();
Command TimelineCommand();
Command TryCommand();
Command VerifyCommand();

/// Hidden: completion scripts call it while a command line is typed.
Command CompleteCommand();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_COMMANDS_H_
