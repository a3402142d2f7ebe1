# SPDX-License-Identifier: BSD-3-Clause
# What package.sh does in a fresh Debian, as root, with the tree in /root/clv; not a test by itself.
#
# Points whose programs a release lacks are skipped with the reason. Slurm: munge, slurmctld and one
# slurmd, all of this host; their configuration is written here.
set -u
source=/root/clv
cp "$source/tests/support/tap.sh" /tmp/tap.sh
. /tmp/tap.sh
export DEBIAN_FRONTEND=noninteractive
version=$(sed -n 's/^#define CLV_VERSION  *"\(.*\)"/\1/p' "$source/util/util_version.h")
site=/etc/openmpi/openmpi-mca-params.conf

must() {
    local before=$tap_failed
    tap_ok "$@"
    [ $tap_failed -eq "$before" ] || tap_end
}
get() { apt-get -qq install -y --no-install-recommends "$@"; }

# ---- build
release() { # the tarball, as its makers make it
    get gcc make pkg-config autoconf automake libtool openmpi-bin libopenmpi-dev libpmix-dev &&
        "$source/autogen.sh" && mkdir /root/first && cd /root/first && "$source/configure" && make -s dist &&
        tar -xzf clv-*.tar.gz -C /root
}
build() {
    get dpkg-dev lintian && cd "/root/clv-$version" && cp -r packaging/debian . && apt-get -qq build-dep -y --no-install-recommends ./ &&
        dpkg-buildpackage -us -uc -j2
}
judge() {
    cd /root && lintian --version && lintian --fail-on error,warning,info --tag-display-limit 0 --info clv_*.changes
}
must 'the release is made, and unpacked' release
must 'packages are built' build
tap_ok 'lintian has nothing to say' judge

# ---- install; the example is built before its source goes
keep_example() { cp "/root/clv-$version/apps/examples/transport/transport" /usr/local/bin/transport; }
installed_files() { find /usr /etc /opt /srv -xdev -path /etc/slurm -prune -o -print | sort; }
prepare() { # what is here besides
    get slurmctld slurmd slurm-client munge iproute2 && useradd -m tester && keep_example
}
must 'a user, and Slurm' prepare
installed_files >/tmp/before
must 'they are installed' get /root/openmpi-clv_*.deb /root/clv-tools_*.deb /root/libclv-dev_*.deb
rm -rf /root/clv* /root/first /root/*.deb

# ---- a user without rights
as_user() { ${place:-} timeout -k 5 120 su - tester -c "$*" 2>&1 </dev/null | tr -d '\0'; }
example='/usr/local/bin/transport --quiet --batches 12 --particles 2000'
run() { as_user mpirun --oversubscribe -np 4 "$@" "$example"; }
# As one who has loaded the module file, where mpirun hides Open MPI's own folder from its ranks.
setting=
run_asking() { as_user env $setting mpirun --oversubscribe -np 4 "$@" "$example"; }
said=$(as_user clv-plan --version)
tap_has 'the tools say their version' "$version" "$said"
tap_has 'and ompi_info ours' "v$version" "$(as_user "ompi_info | grep -i 'coll: clv'")"
said=$(run)
tap_has 'a job that does not ask for clv: right' check=ok "$said"
tap_lacks 'and nobody hears of it' clv "$said"
if [[ $(as_user mpirun -np 1 ompi_info) == *'coll: clv'* ]]; then
    tap_ok 'mpirun finds it without any setting' true
else
    setting=$(sed -n 's/^setenv \(OMPI_MCA_mca_base_component_path\) "\(.*\)"/\1=\2/p' /usr/share/clv/modulefiles/clv.module)
    tap_skip 'mpirun finds it without any setting' "this one gives its ranks another folder: $setting"
fi
said=$(run_asking --mca coll clv --mca coll_clv_verbose 10)
tap_has 'mpirun --mca coll clv: right' check=ok "$said"
tap_has 'and clv reduces' ': reduce of ' "$said"
said=$(run_asking --mca coll clv --mca coll_clv_sma_window 0)
told_once() { [ "$(grep -c 'allowed: 1 to 64 calls' <<<"$said")" -eq 1 ] || ! echo "$said"; }
tap_ok 'a bad value is told once' told_once
cp "$site" /tmp/site
printf '\ncoll_clv_priority = 45\n' >>"$site" # Debian's ends without a newline
said=$(run_asking --mca coll_clv_verbose 10)
tap_has 'the site asks for it: right' check=ok "$said"
tap_has 'and clv reduces' ': reduce of ' "$said"
said=$(run_asking --mca coll ^clv --mca coll_clv_verbose 10)
tap_has 'a user who does not want it: right' check=ok "$said"
tap_lacks 'and without it' ': reduce of ' "$said"
cp /tmp/site "$site"

# ---- Slurm: two nodes, each with processes, network, name and /dev/shm of its own; the user sits on one
holders=()
on_node() { # node command...
    local of=/proc/${holders[$1]}/ns
    shift
    nsenter --mount="$of/mnt" --uts="$of/uts" --net="$of/net" --pid="$of/pid_for_children" --wd=/ "$@"
}
make_nodes() {
    local node
    for node in 1 2; do
        unshare --pid --fork --kill-child --mount --mount-proc --uts --net sleep 3600 &
        holders[node]=$!
    done
    sleep 1
    ip link add eth0 netns "${holders[1]}" type veth peer name eth0 netns "${holders[2]}" || return 1
    for node in 1 2; do
        echo "10.111.7.$node host$node" >>/etc/hosts
        on_node $node sh -c "hostname host$node && mount -t tmpfs -o mode=1777 tmpfs /dev/shm && mount -t tmpfs -o mode=1777 tmpfs /tmp &&
            ip link set lo up && ip addr add 10.111.7.$node/24 dev eth0 && ip link set eth0 up" || return 1
    done
}
configure_slurm() {
    mkdir -p /etc/slurm /var/log/slurm /run/munge /var/spool/slurmctl /var/spool/slurmdhost{1,2} &&
        chown munge: /run/munge && printf 'CgroupPlugin=disabled\n' >/etc/slurm/cgroup.conf
    # It uses none in what follows, but wants to know which; 22.05 had no word for that.
    [[ $(slurmd -V) != 'slurm-wlm 22.'* ]] || echo 'CgroupPlugin=cgroup/v1' >/etc/slurm/cgroup.conf
    cat >/etc/slurm/slurm.conf <<'END'
ClusterName=clv
SlurmctldHost=host1
SlurmUser=root
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd-%n.log
StateSaveLocation=/var/spool/slurmctl
SlurmdSpoolDir=/var/spool/slurmd%n
SlurmdPidFile=/run/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
ReturnToService=2
NodeName=host[1-2] CPUs=4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
END
}
start_slurm() {
    configure_slurm && make_nodes || return 1
    runuser -u munge -- munged --force && on_node 1 slurmctld || return 1
    on_node 1 slurmd -N host1 && on_node 2 slurmd -N host2 || return 1
    for _ in $(seq 30); do
        [ "$(on_node 1 sinfo -h -t idle -o %D)" != 2 ] || return 0
        sleep 1
    done
    on_node 1 sinfo -R
    return 1
}
output=/tmp/output
start_slurm >$output 2>&1 </dev/null # not by must: what it starts goes on, and it leaves $holders
tap_report $? 'Slurm runs on two emulated hosts'
tail -n 20 /var/log/slurm/* /var/log/munge/* >/tmp/logs 2>&1
[ "$(on_node 1 sinfo -h -t idle -o %D)" = 2 ] || { sed 's/^/# /' /tmp/logs; kill "${holders[@]}"; tap_end; }
place='on_node 1'
srun() { as_user "$1 srun --mpi=pmix -N2 -n4 $example"; }
asks='OMPI_MCA_coll=clv OMPI_MCA_coll_clv_verbose=10'
said=$(srun '')
tap_has 'srun without clv: right' check=ok "$said"
tap_lacks 'and nobody hears of it' clv "$said"
said=$(srun "$asks OMPI_MCA_coll_clv_reduce_min_bytes=1")
tap_has 'srun with clv: right' check=ok "$said"
tap_has 'and clv reduces' ': reduce of ' "$said"
tap_ok 'by forecasts' grep -qE 'because (predicted|no plan is clearly better)' <<<"$said"
said=$(srun 'OMPI_MCA_coll_clv_priority=45 OMPI_MCA_coll_clv_sma_window=0')
tap_has 'srun with a bad value: the job runs without it' check=ok "$said"
tap_ok 'which is told once on each node' test "$(grep -c 'allowed: 1 to 64 calls' <<<"$said")" -eq 2
cat >/home/tester/job <<END
#!/bin/sh
#SBATCH -N2 -n4 -o /home/tester/said
env $setting mpirun --bind-to none --mca coll clv --mca coll_clv_verbose 10 $example
END
as_user sbatch --wait /home/tester/job >/dev/null
said=$(cat /home/tester/said 2>&1)
tap_has 'sbatch and mpirun: right' check=ok "$said"
tap_has 'and clv reduces' ': reduce of ' "$said"
place=

# ---- and gone
tap_ok 'purged' apt-get -qq purge -y openmpi-clv clv-tools libclv-dev
left() { installed_files | diff /tmp/before - ; }
tap_none 'nothing is left' left
said=$(run)
tap_has 'and jobs run as before' check=ok "$said"
kill "${holders[@]}"
tap_end
