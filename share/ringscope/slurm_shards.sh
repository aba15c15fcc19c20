#!/usr/bin/env bash
# Runs a command over many logs as an array job of Slurm, and joins the results in a job that
# follows it:
#   slurm_shards.sh N FOLDER COMMAND...   for example: slurm_shards.sh 8 results gaps captures/
# FOLDER is on a file system that all nodes share. It gets part-I.json of each of the N shards,
# their messages, and result.txt. A task that fails is run again, and so is one whose node fails.
# The second job runs whatever became of the first: a shard without a result is named in result.txt,
# and the job ends with status 3. Prints the numbers of the two jobs. RINGSCOPE names the tool.
set -euo pipefail
if (($# < 3)) || [[ ! $1 =~ ^[1-9][0-9]*$ ]]; then
  sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
count=$1 folder=$2
shift 2
mkdir -p "$folder"
tool=${RINGSCOPE:-ringscope}
run_shard=$(cd "$(dirname "$0")" && pwd)/run_shard.sh

quoted() { local IFS=' '; echo "${*@Q}"; }
shards=$(sbatch --parsable --job-name=ringscope-shards --array="1-$count" --requeue \
  --output="$folder/shard-%a.log" \
  --wrap "RINGSCOPE=${tool@Q} ${run_shard@Q} \$SLURM_ARRAY_TASK_ID/$count ${folder@Q} $(quoted "$@")")
merge=$(sbatch --parsable --job-name=ringscope-merge --dependency="afterany:$shards" \
  --output="$folder/merge.log" \
  --wrap "${tool@Q} merge ${folder@Q}/part-*.json >${folder@Q}/result.txt")
echo "$shards $merge"
