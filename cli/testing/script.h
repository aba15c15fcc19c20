#ifndef RINGSCOPE_CLI_TESTING_SCRIPT_H_
#define RINGSCOPE_CLI_TESTING_SCRIPT_H_

#include <string>
#include <vector>

namespace ringscope {

/// What a line of a script printed, and how it ended.
struct ScriptResult {
  std::string out;
  std::string err;
  int status = 0;
};

/// Runs a line like `ringscope dump --format ops a.tblog | ringscope import - -o b.tblog` in
/// memory, in the current folder. Single and double quotes group words; the last part may be `|
/// head -N`,
/// `> FILE` sends its output to a file. Messages of all parts are in `err`.
ScriptResult RunScriptLine(const std::string& line);

/// Splits a line into words, `|` and `>` being words of their own.
std::vector<std::string> SplitWords(const std::string& line);

}  // namespace ringscope

#endif  // RINGSCOPE_CLI_TESTING_SCRIPT_H_
