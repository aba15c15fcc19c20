#!/usr/bin/env bash
# Runs a command for each input of a list, as an array job of Slurm:
#   slurm_run.sh FOLDER LIST COMMAND...   for example: slurm_run.sh results logs.txt doctor
# FOLDER and LIST are on a file system that all nodes share. FOLDER gets a result for each line of
# LIST (see run_one.sh) and the messages. A task whose node fails is run again. To repeat what has no
# result, submit the same again. Prints the number of the job. RINGSCOPE names the tool.
set -euo pipefail
if (($# < 3)); then
  sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
folder=$1 list=$2
shift 2
mkdir -p "$folder"
run_one=$(cd "$(dirname "$0")" && pwd)/run_one.sh
tool=${RINGSCOPE:-ringscope}
sbatch --parsable --job-name=ringscope --array="1-$(wc -l <"$list")" --requeue \
  --output="$folder/task-%a.log" \
  --wrap "RINGSCOPE=${tool@Q} ${run_one@Q} ${folder@Q} \"\$(sed -n \${SLURM_ARRAY_TASK_ID}p ${list@Q})\" ${*@Q}"
