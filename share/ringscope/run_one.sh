#!/usr/bin/env bash
# Runs a command for one input, and keeps its result as JSON lines:
#   run_one.sh FOLDER INPUT COMMAND...   for example: run_one.sh results a.tblog doctor
# The result is a file of FOLDER once it is complete, never a half of it. An input that has its
# result is not run again. RINGSCOPE names the tool (default: ringscope). Exit status: 0 there is a
# result; 1 there is none; 255 the command line is wrong, which ends xargs.
set -euo pipefail
if (($# < 3)); then
  sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
  exit 255
fi
folder=$1 input=$2
shift 2
result=$folder/${input//\//%}.jsonl
mkdir -p "$folder"
[[ ! -e $result ]] || exit 0

unfinished=$(mktemp "$folder/.unfinished.XXXXXX")
trap 'rm -f "$unfinished"' EXIT
status=0
"${RINGSCOPE:-ringscope}" "$@" --format jsonl "$input" >"$unfinished" || status=$?
case $status in
  0 | 3) mv "$unfinished" "$result" ;; # 3: something was found
  2) exit 255 ;;
  *) exit 1 ;;
esac
