#compdef ringscope
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
