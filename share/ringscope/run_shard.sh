#!/usr/bin/env bash
# Runs one shard of a command over many logs, and keeps its result:
#   run_shard.sh I/N FOLDER COMMAND...   for example: run_shard.sh 2/8 results gaps captures/
# The result is FOLDER/part-I.json once it is complete, never a half of it. A shard that has its
# result is not run again; one that fails is run again, RINGSCOPE_TRIES times in all (default 3).
# RINGSCOPE names the tool (default: ringscope). Exit status: 0 there is a result; 1 there is none.
set -euo pipefail
if (($# < 3)) || [[ ! $1 =~ ^([1-9][0-9]*)/([1-9][0-9]*)$ ]]; then
  sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
shard=$1 index=${BASH_REMATCH[1]} folder=$2
shift 2
result=$folder/part-$index.json
mkdir -p "$folder"
[[ ! -e $result ]] || exit 0

unfinished=$(mktemp "$folder/.part-$index.XXXXXX")
trap 'rm -f "$unfinished"' EXIT
for ((try = 1; try <= ${RINGSCOPE_TRIES:-3}; ++try)); do
  status=0
  "${RINGSCOPE:-ringscope}" "$@" --shard "$shard" --format json >"$unfinished" || status=$?
  # 3: something was found. 1, and still a whole document: all of its logs are damaged.
  if ((status == 0 || status == 3)) ||
    { ((status == 1)) && [[ $(tail -c 2 "$unfinished") == '}' ]]; }; then
    chmod "$(printf '%o' $((0666 & ~$(umask))))" "$unfinished"
    mv "$unfinished" "$result"
    exit 0
  fi
  echo "run_shard: shard $shard ended with status $status, try $try" >&2
  ((status != 2)) || break # the command line is wrong, and stays so
done
exit 1
