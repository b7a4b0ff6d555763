#!/bin/bash
# sbatch docs/scale/slurm.sh: eight tasks of an array share one folder; a task that is killed or
# preempted is started again by Slurm. MEM_FLAGS may be "--live --resume".
#SBATCH --job-name=mem
#SBATCH --array=1-8
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --cpus-per-task=1
#SBATCH --time=04:00:00
#SBATCH --output=mem-%A-%a.log
set -eu
mem eval ${MEM_SPECS:-experiments/*.yaml} ${MEM_FLAGS-} --shard auto --parallel "${SLURM_CPUS_PER_TASK:-1}" --out "${MEM_OUT:-reports}"
