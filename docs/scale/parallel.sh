#!/bin/sh
# docs/scale/parallel.sh SHARDS OUT SPEC…: one large machine. GNU parallel starts a shard that
# failed again, at most twice more, and lets the others finish.
set -eu
shards=$1 out=$2
shift 2
seq "$shards" | parallel --quote --retries 3 mem eval "$@" --parallel 1 --out "$out" --shard "{}/$shards"
mem judge "$@" --out "$out"
