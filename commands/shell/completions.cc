#include <string>

#include "commands/shell/commands.h"
#include "commands/shell/completion.h"
#include "commands/shell/options.h"

namespace ringscope {
namespace {

// The scripts hand the words of the command line to 'ringscope __complete' and offer the words that
// it prints.

/// Bash breaks words at '=', ':' and '@', too, and replaces only what follows the last of them. So
/// the script reads the line itself, and removes from each word what bash keeps.
constexpr const char* kBashScript =
    R"(# Completion of ringscope for bash, made by 'ringscope completions bash'.
_ringscope() {
  local line="${COMP_LINE:0:COMP_POINT}" typed reply word cur
  read -ra typed <<<"$line"
  [[ $line == *[[:space:]] ]] && typed+=('')
  cur="${typed[-1]}"
  local kept="${cur%"${cur##*["${COMP_WORDBREAKS//[^=:@]/}"]}"}"
  [[ $COMP_WORDBREAKS == *[=:@]* ]] || kept=''
  mapfile -t reply < <("$1" __complete -- "${typed[@]:1}" 2>/dev/null)
  COMPREPLY=()
  for word in "${reply[@]}"; do
    if [[ $word == :files ]]; then
      compopt -o default 2>/dev/null
    else
      word="${word%%$'\t'*}"
      [[ $word == *= ]] && compopt -o nospace 2>/dev/null
      COMPREPLY+=("${word#"$kept"}")
    fi
  done
}
complete -F _ringscope ringscope
)";

constexpr const char* kZshScript = R"(#compdef ringscope
# Completion of ringscope for zsh, made by 'ringscope completions zsh'.
_ringscope() {
  local -a reply plain open shown open_shown
  local line files
  reply=("${(@f)$("${words[1]}" __complete -- "${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
  for line in "${reply[@]}"; do
    case $line in
      '') ;;
      :files) files=1 ;;
      *=) open+=("$line") ;;
      *) plain+=("${line%%$'\t'*}") shown+=("${line/$'\t'/  -- }") ;;
    esac
  done
  (( ${#plain} )) && compadd -l -d shown -a plain
  (( ${#open} )) && compadd -S '' -a open
  [[ -n $files ]] && _files
}
if [[ $funcstack[1] == _ringscope ]]; then
  _ringscope "$@"
else
  compdef _ringscope ringscope
fi
)";

constexpr const char* kFishScript =
    R"(# Completion of ringscope for fish, made by 'ringscope completions fish'.
function __ringscope_complete
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    for line in ($typed[1] __complete -- $typed[2..-1] "$current" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$current"
        else
            echo $line
        end
    end
end
complete -c ringscope -f -a '(__ringscope_complete)'
)";

struct CompletionsArgs {
  std::string shell;
};

void SetUp(CLI::App& app, CompletionsArgs& args) {
  InGroup(app, kInputGroup);
  AddChoice(app, "SHELL", args.shell, {"bash", "zsh", "fish"}, "The shell to print the script for",
            Need::kRequired);
}

Result<ExitCode> RunCompletions(const CompletionsArgs& args, Context& context) {
  context.console.Print(args.shell == "bash"  ? kBashScript
                        : args.shell == "zsh" ? kZshScript
                                              : kFishScript);
  return ExitCode::kClean;
}

struct CompleteArgs {
  std::vector<std::string> words;
};

void SetUpComplete(CLI::App& app, CompleteArgs& args) {
  AddTexts(app, "WORD", args.words, "WORD", "The command line so far, after --");
}

Result<ExitCode> RunComplete(const CompleteArgs& args, Context& context) {
  const Completion completion = Complete(args.words);
  for (const Candidate& candidate : completion.candidates) {
    const char* const tab = candidate.description.empty() ? "" : "\t";
    context.console.Print(candidate.word + tab + candidate.description + "\n");
  }
  if (completion.files) context.console.Print(":files\n");
  return ExitCode::kClean;
}

}  // namespace

Command CompletionsCommand() {
  return {"completions",
          "Help",
          "Print a completion script for a shell",
          "Prints a script with which bash, zsh or fish completes ringscope's commands, options, "
          "values and files. Packages install these scripts; print one if you have only the "
          "binary.",
          {{"source <(ringscope completions bash)", "Complete in this bash"},
           {"ringscope completions fish > ~/.config/fish/completions/ringscope.fish",
            "Complete in fish from now on"}},
          Bind(SetUp, RunCompletions),
          {.notice = nullptr}};
}

Command CompleteCommand() {
  return {"__complete",
          "",
          "Print the words that can follow on a command line",
          "Completes the last WORD. Prints a line for each word that can replace it: the word, and "
          "after a tab its description. A line ':files' means names of files.",
          {},
          Bind(SetUpComplete, RunComplete),
          {.notice = nullptr}};
}

}  // namespace ringscope
