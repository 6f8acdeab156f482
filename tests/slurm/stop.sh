#!/bin/sh
# Ends what start.sh DIR started, by the process ids in its files, and waits until they are gone.
dir=$1
for daemon in slurmd slurmctld munged; do
    file=$dir/$daemon.pid
    [ -s "$file" ] || continue
    pid=$(cat "$file")
    kill "$pid" 2>/dev/null
    tries=0
    while kill -0 "$pid" 2>/dev/null && [ "$tries" -lt 40 ]; do
        tries=$((tries + 1))
        sleep 0.25
    done
done
