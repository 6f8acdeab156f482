#!/bin/sh
# Instructions a flit-hop of the mesh, without the noise of a clock: two runs of different length, and their difference,
# so that start-up does not count. Of a whole run, instructions a cycle: bench_system collects its cycles alone. Needs
# valgrind, with its headers for bench_system.
#
#     tests/bench/callgrind.sh BENCH_MESH [COLUMNS ROWS RATE]
#     tests/bench/callgrind.sh BENCH_SYSTEM MACHINE WORKLOAD
set -eu

bench=${1:?"usage: callgrind.sh BENCH_MESH [COLUMNS ROWS RATE] | BENCH_SYSTEM MACHINE WORKLOAD"}
columns=${2:-8} rows=${3:-8} rate=${4:-0.2}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ $# -eq 3 ]; then
    valgrind --tool=callgrind --collect-atstart=no --callgrind-out-file="$work/run" "$bench" "$2" "$3" \
        >"$work/out" 2>"$work/err"
    instructions=$(sed -n 's/^==[0-9]*== Collected : //p' "$work/err")
    sed -n 's/ cycles,.*//p' "$work/out" | awk -v n="$instructions" -v run="$2 $3" \
        '{printf "%s: %.0f instructions a cycle, %.1f million in %d cycles\n", run, n/$1, n/1e6, $1}'
    callgrind_annotate "$work/run" | grep -v '^--' | head -40
    exit
fi

# CYCLES: prints instructions and flit-hops of a run
measure() {
    valgrind --tool=callgrind --callgrind-out-file="$work/$1" "$bench" "$columns" "$rows" "$rate" "$1" \
        >"$work/out" 2>"$work/err"
    instructions=$(sed -n 's/^==[0-9]*== Collected : //p' "$work/err")
    hops=$(sed -n 's/ flit-hops,.*//p' "$work/out")
    echo "$instructions $hops"
}

short=$(measure 1000)
long=$(measure 4000)
echo "$short $long" | awk -v mesh="${columns}x${rows} at $rate" \
    '{printf "%s: %.1f instructions a flit-hop, start-up and end %.1f million\n", mesh, ($3-$1)/($4-$2), ($1-($3-$1)/3)/1e6}'
callgrind_annotate "$work/4000" | grep -v '^--' | head -40
