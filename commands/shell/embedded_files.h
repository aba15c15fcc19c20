#ifndef RINGSCOPE_COMMANDS_SHELL_EMBEDDED_FILES_H_
#define RINGSCOPE_COMMANDS_SHELL_EMBEDDED_FILES_H_

#include <string_view>

// Files of the source tree that are part of the program.
namespace ringscope {

/// The page of `report`, with places {{title}}, {{nonce}}, {{answers}}, {{gaps}}, {{words}} and
/// {{data}}.
std::string_view ReportPage();
// The scripts hand the words of the command line to 'ringscope __complete' and offer the words that
// it prints. Bash breaks words at '=', ':' and '@', too, and replaces only what follows the last of
// them: its script reads the line itself, and removes from each word what bash keeps.
std::string_view BashScript();
std::string_view ZshScript();
std::string_view FishScript();
/// The script of `plugin build`, the adapter for Perfetto's buffers that it compiles, and the
/// header that this includes.
std::string_view BuildPluginScript();
std::string_view AdapterSource();
std::string_view PluginHeader();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_EMBEDDED_FILES_H_
