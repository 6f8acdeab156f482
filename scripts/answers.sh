#!/bin/sh
# Writes docs/answers.md to standard output: for every shipped sweep its question, the command, the table of a run, the
# answer with figures taken from that table, and whether it agrees with the known answer. The figures and the verdict
# are computed; a sentence whose condition no longer holds says "differs".
#
#     scripts/answers.sh [FLITSIM] >docs/answers.md
set -eu

cd "$(dirname "$0")/.."
flitsim=${1:-build/release/flitsim}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# COLUMN CONDITION: that figure of the one row for which the condition holds
figure() {
    "$flitsim" table "$work/$name" --columns "$1" --where "$2" --format csv | sed -n '2s/\r$//p'
}

# A number over another one, with two digits
ratio() {
    awk "BEGIN {printf \"%.2f\", $1 / $2}"
}

load() {
    printf '%.3f' "$1"
}

percent() {
    awk "BEGIN {printf \"%.1f\", 100 * $1}"
}

# CONDITION(awk) WHY: the verdict; WHY is said in either case
verdict() {
    if awk "BEGIN {exit !($1)}"; then
        printf '**Agrees.** %s\n\n' "$2"
    else
        printf '**Differs.** Expected: %s\n\n' "$2"
    fi
}

text_of() {
    sed -n "s/^  \"$1\": \"\(.*\)\",\$/\1/p" "configs/sweeps/$name.json"
}

answer_burst_size() {
    one=$(figure cycles 'memory.write_burst == 1 && memory.write_slots == 4')
    eight=$(figure cycles 'memory.write_burst == 8 && memory.write_slots == 4')
    many=$(figure counts.mem_wr_req 'memory.write_burst == 1 && memory.write_slots == 4')
    few=$(figure counts.mem_wr_req 'memory.write_burst == 8 && memory.write_slots == 4')
    held=$(figure 'units[0].cycles.drain_full' 'memory.write_burst == 1 && memory.write_slots == 4')
    more=$(figure cycles 'memory.write_burst == 1 && memory.write_slots == 16')
    echo "Bursts of 8: $eight cycles against $one with single words; 16 words add little. More than 4 write slots matter"
    echo "only to short bursts ($one to $more cycles)."
    echo
    verdict "$many / $few == 8 && $held > 1000 && $eight < $one" \
        "4,096 sub-tiles go in $many descriptors of one word or $few of eight, which is 128 to 72 flits a 64 sub-tiles; single words hold the emitting sweep for $held cycles."
}

answer_fifo_depth() {
    shallow=$(figure traffic.accepted 'noc.fifo_depth == 2 && noc.holding_slots == 1 && workload.pattern == "uniform"')
    deep=$(figure traffic.accepted 'noc.fifo_depth == 32 && noc.holding_slots == 1 && workload.pattern == "uniform"')
    deeper=$(figure traffic.accepted 'noc.fifo_depth == 64 && noc.holding_slots == 1 && workload.pattern == "uniform"')
    slots=$(figure traffic.accepted 'noc.fifo_depth == 8 && noc.holding_slots == 0 && workload.pattern == "uniform"')
    echo "Eight flits with a holding slot for every output ($(load "$slots") accepted) do more than 64 flits with one slot ($(load "$deeper"))."
    echo "At a hot spot neither helps: its sink is the limit."
    echo
    verdict "$deeper / $deep < 1.01 && $slots > $deeper && $deep > $shallow" \
        "Depth 2 to 32 lifts the accepted load of uniform traffic from $(load "$shallow") to $(load "$deep"), twice that hardly further; slots lift it where depth cannot."
}

answer_fused_vs_plain() {
    cube='workload == "gemm:m=256,k=256,n=256,transform=upload" && machine == "ref2"'
    fused=$(figure cycles "$cube && workload.emit")
    plain=$(figure cycles "$cube && !workload.emit")
    echo "On two clusters the 256-cube takes $fused cycles fused and $plain with drains of their own, a factor of"
    echo "$(ratio "$plain" "$fused"). The gain is the drain of each tile, so it shrinks with K."
    echo
    verdict "$plain / $fused > 1.04 && $plain / $fused < 1.4" \
        "Published 362.0 to 391.1 GFLOP/s, a factor of 1.08, on an earlier machine; same sign, $(ratio "$plain" "$fused") here, within the 30 % asked of each pair."
}

answer_head_of_line() {
    one=$(figure traffic.latency.mean 'workload.rate == 0.16 && workload.pattern == "mixhot" && noc.holding_slots == 1')
    all=$(figure traffic.latency.mean 'workload.rate == 0.16 && workload.pattern == "mixhot" && noc.holding_slots == 0')
    got=$(figure traffic.accepted 'workload.rate == 0.16 && workload.pattern == "mixhot" && noc.holding_slots == 1')
    freed=$(figure traffic.accepted 'workload.rate == 0.16 && workload.pattern == "mixhot" && noc.holding_slots == 0')
    calm=$(figure traffic.accepted 'workload.rate == 0.16 && workload.pattern == "neighbour" && noc.holding_slots == 1')
    echo "Offered 0.16, a mesh with one hot spot accepts $(load "$got") where neighbour traffic gets $(load "$calm") through; a slot"
    echo "an output gives $(load "$freed") and a mean latency of $(printf %.0f "$all") instead of $(printf %.0f "$one") cycles."
    echo
    verdict "$all < $one && $freed > $got && $got < $calm / 2" \
        "What waits behind a flit for the hot spot is held up, and a slot an output frees part of it."
}

answer_l1_tile_depth() {
    tile64=$(figure peak_fraction 'cluster.tiles == 64 && cluster.l1_a == 128')
    tile1024=$(figure peak_fraction 'cluster.tiles == 1024 && cluster.l1_a == 128')
    tile4096=$(figure peak_fraction 'cluster.tiles == 4096 && cluster.l1_a == 128')
    small=$(figure plan.nk 'cluster.tiles == 256 && cluster.l1_a == 32')
    echo "128 and 256 entries are enough: 512 a side read no word less and start later. Tiles of 1,024 sub-tiles reach"
    echo "$(percent "$tile1024") % of peak, 64 reach $(percent "$tile64") %, and 4,096 leave one cluster without work ($(percent "$tile4096") %)."
    echo
    verdict "$tile1024 / $tile64 > 1.5 && $tile4096 < $tile1024 && $small == 1" \
        "From 64 sub-tiles up the rate about doubles; 32 entries a side force 16x16 tiles and one K block a chunk; at 4,096 there are fewer tiles than clusters."
}

answer_link_latency() {
    near=$(figure cycles 'noc.link_latency == 0 && schedule == "overlapped"')
    far=$(figure cycles 'noc.link_latency == 8 && schedule == "overlapped"')
    near_serial=$(figure cycles 'noc.link_latency == 0 && schedule == "serial_small"')
    far_serial=$(figure cycles 'noc.link_latency == 8 && schedule == "serial_small"')
    slope=$(ratio "$far" "$near")
    slope_serial=$(ratio "$far_serial" "$near_serial")
    echo "Overlapped, eight more cycles a hop cost $((far - near)) of $near cycles: the schedule hides them. Serial fetch of"
    echo "4 and 8 entries at a time pays $((far_serial - near_serial)) of $near_serial cycles more."
    echo
    verdict "$far / $near < 1.02 && ($far_serial - $near_serial) / $near_serial > 5 * ($far - $near) / $near" \
        "Nearly flat with double buffering (times $slope), steep with serial fetch (times $slope_serial). Serial fetch with the planner's own large FILLs stays nearly flat too: one request brings all entries, so that a hop's latency is paid once a FILL."
}

answer_memory_ports() {
    one=$(figure peak_fraction 'ports == "1" && memory.binding == "nearest" && memory.attachment == "per_port"')
    four=$(figure peak_fraction 'ports == "4" && memory.binding == "nearest" && memory.attachment == "per_port"')
    nearest=$(figure cycles 'ports == "2" && memory.binding == "nearest" && memory.attachment == "per_port"')
    balanced=$(figure cycles 'ports == "2" && memory.binding == "balanced" && memory.attachment == "per_port"')
    shared=$(figure peak_fraction 'ports == "4" && memory.binding == "nearest" && memory.attachment == "converged"')
    echo "A port for each of the four clusters: $(percent "$four") % of peak against $(percent "$one") % through one. With two ports balanced"
    echo "binding takes $balanced cycles, nearest $nearest. One channel behind all ports binds: $(percent "$shared") %."
    echo
    verdict "$four > $one && $balanced < $nearest && $shared < $four" \
        "A port a row gains, nearest is not balanced, and the converged channel is the limit where it is used (published: 80.8 to 87.6 % for one to two ports at two clusters)."
}

answer_mesh_sizing() {
    two=$(figure peak_fraction 'mesh == "1x2"')
    four=$(figure peak_fraction 'mesh == "1x4"')
    eight=$(figure peak_fraction 'mesh == "2x4"')
    tall=$(figure cycles 'mesh == "2x4"')
    wide=$(figure cycles 'mesh == "4x2"')
    rate=$(figure gflops 'mesh == "2x4"')
    rate4=$(figure gflops 'mesh == "1x4"')
    echo "Rows before columns: eight clusters take $tall cycles as 2x4 and $wide as 4x2. Each doubling still adds rate"
    echo "($(printf %.0f "$rate4") to $(printf %.0f "$rate") GFLOP/s from four to eight) at a falling share of peak."
    echo
    verdict "$tall < $wide && $two > $four && $four > $eight && $rate > $rate4" \
        "$(percent "$two"), $(percent "$four"), $(percent "$eight") % of peak at 2, 4 and 8 clusters (published 87.6, 79.4, 67.9 to 75.5 %, on an older layout with other shapes at 2 and 4); 2x4 before 4x2."
}

echo "# Answers"
echo
echo "What the shipped sweeps answer, from runs of them. \`scripts/answers.sh >docs/answers.md\` writes this page anew: it"
echo "runs the sweeps, takes the figures from their tables, and checks each answer against the known one."
for file in configs/sweeps/*.json; do
    name=$(basename "$file" .json)
    type "answer_$name" >/dev/null 2>&1 || continue
    "$flitsim" sweep "$name" --out "$work/$name" --quiet
    printf '\n## %s\n\n%s\n\n' "$name" "$(text_of question)"
    printf '    flitsim sweep %s --out DIR\n    flitsim table DIR\n\n' "$name"
    printf '```\n'
    "$flitsim" table "$work/$name"
    printf '```\n\nKnown: %s\n\n' "$(text_of known)"
    "answer_$name"
done | cat -s
