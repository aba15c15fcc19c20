# Completion of ringscope for bash, made by 'ringscope completions bash'.
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
