#!/bin/sh
# A Slurm of one node, for a test: start.sh DIR starts munge (unless it runs already), slurmctld and slurmd, with all
# their files under DIR, and waits until the node is idle. SLURM_CONF is DIR/slurm.conf. stop.sh DIR ends what this
# started. Works without systemd and without cgroups. Exit 77: Slurm is not installed or this is not root.
set -eu
dir=$1
node=$(hostname -s)

for program in munged munge slurmctld slurmd sbatch squeue sinfo; do
    command -v "$program" >/dev/null || { echo "$program is not installed (Debian: slurm-wlm, munge)" >&2; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "Slurm's daemons need root" >&2; exit 77; }

if ! munge -n 2>/dev/null | unmunge >/dev/null 2>&1; then
    mkdir -p /run/munge /var/log/munge /etc/munge
    chown munge: /run/munge /var/log/munge /etc/munge
    if [ ! -s /etc/munge/munge.key ]; then
        head -c 1024 /dev/urandom >/etc/munge/munge.key
        chown munge: /etc/munge/munge.key
        chmod 400 /etc/munge/munge.key
    fi
    setpriv --reuid munge --regid munge --clear-groups /usr/sbin/munged --pid-file "/run/munge/munged.pid"
    cp /run/munge/munged.pid "$dir/munged.pid"
fi

cpus=$(nproc)
cat >"$dir/slurm.conf" <<CONF
ClusterName=t
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=${FLITSIM_SLURM_PORT:-16817}
SlurmdPort=$((${FLITSIM_SLURM_PORT:-16817} + 1))
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmUser=root
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
NodeName=$node NodeAddr=127.0.0.1 CPUs=$cpus State=UNKNOWN
PartitionName=p Nodes=$node Default=YES MaxTime=INFINITE State=UP
CONF
mkdir -p "$dir/state" "$dir/spool"
export SLURM_CONF="$dir/slurm.conf"
slurmctld
slurmd

tries=0
until [ "$(sinfo --noheader --format=%T 2>/dev/null)" = idle ]; do
    tries=$((tries + 1))
    [ "$tries" -le 60 ] || { echo "the node does not become idle; see $dir/slurmctld.log" >&2; exit 1; }
    sleep 0.5
done
