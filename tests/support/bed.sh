# For shell tests on emulated hosts: one bed, and commands inside it. Source it after tap.sh and mpi_setup.
#
#   bed_up HOSTS OPTIONS...    a bed of our own; skips the whole script where there can be none
#   with OPTIONS... -- PROGRAM...  a bed for that one program; what it said in $said
#   can_with                   skips the whole script where there can be none
#   on_head COMMAND...         a shell's words on the head node: process ids in $bed are those of there
#   on_host I COMMAND...       and on host I, which sees its own processes only
#   bed_job SECONDS HOW OPTIONS... [-- EVENT...]
#                              tests/mpi/channel_down for SECONDS; once that is under way the function
#                              EVENT runs.
#                              Its last line in $said, all of it in $output
#   number NAME                of $said
cluster=$CLV_TOP/apps/bench/cluster
export CLV_CLUSTER_STATE
CLV_CLUSTER_STATE=$(mktemp -d) || exit 1
output=$CLV_CLUSTER_STATE/output
trap '"$cluster" down --all >/dev/null 2>&1; rm -rf "$CLV_CLUSTER_STATE"' EXIT
trap 'exit 130' INT TERM
bed=$CLV_CLUSTER_STATE/tests

bed_up() {
    hosts=$1
    "$cluster" up "$@" --name tests >"$output" 2>&1
    [ $? -ne 4 ] || tap_skip_all "$(sed -n 's/^cluster: //p' "$output" | head -1)"
}
with() { said=$(tap_limited "$cluster" with "$@" 2>&1 </dev/null); }
can_with() {
    with 1 -- true
    [ $? -ne 4 ] || tap_skip_all "$(sed -n 's/^cluster: //p' <<<"$said" | head -1)"
}
# Beside other tests ranks go first, where a process may say so: they sleep most of the time, and what is told
# from time limits is about them.
first=()
! chrt -r 1 true 2>/dev/null || first=(--realtime)
on_head() { "$cluster" exec --name tests -- bash -c "$*" 2>>"$output"; }
on_host() { on_head "$bed/agent h$1 '${*:2}'"; }

# A second switch, and an eth1 on each host.
second_network() {
    on_head "set -e; ip link add eth1 type bridge; ip link set eth1 up
        for ((i = 0; i < $hosts; i++)); do
            read -r pid _ <$bed/host.\$i
            ip link add q\$i type veth peer name eth1 netns \$pid
            ip link set q\$i master eth1 up
            $bed/agent h\$i \"ip addr add 10.78.0.\$((i + 1))/24 dev eth1; ip link set eth1 up\"
        done" || tap_skip_all "no second network: $(head -n 1 "$output")"
}

bed_job() {
    local seconds=$1 how=$2 pid status options=()
    shift 2
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    : >"$output.job" # or the one before would seem under way until the job has begun
    "$cluster" run --name tests "${first[@]}" --timeout $((2 * seconds + 60)) "${options[@]}" -- \
        "$CLV_BUILD/tests/mpi/channel_down" "$seconds" "$how" >"$output.job" 2>&1 </dev/null &
    pid=$!
    if [ $# -gt 1 ]; then
        until grep -qs 'under way' "$output.job" || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
        "${@:2}"
    fi
    wait $pid
    status=$?
    said=$(grep '^channel_down:' "$output.job")
    cp "$output.job" "$output"
    return $status
}
number() { sed -n "s/.* $1=\([0-9]*\).*/\1/p" <<<"$said"; }
