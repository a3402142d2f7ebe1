# Sourced by the scripts here that run reduce_cases or execute_cases; not a test.
#
# Everything started is started through `launch` or `launch_behind`, in a time limit, and ended by
# its own process id. Output of a run is in $output, and shown when a test fails.
set -u
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
# Waiting ranks give up their core: on a busy machine two spinning ones can starve the launcher.
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_coll_clv_shared_processors=no
eval "$("$CLV_TOP/clv" env 2>/dev/null)"
PATH=$CLV_TOP/tests/support/bin:$PATH

scratch=$(mktemp -d)
output=$scratch/output
trap 'rm -rf "$scratch"' EXIT
n=0

# launch RANKS ARGUMENTS...: mpirun with a time limit, against hanging only; $seconds changes it.
launch() {
    local ranks=$1
    shift
    timeout -k 5 "${seconds:-${CLV_LIMIT:-300}}" mpirun -n "$ranks" "$@" >"$output" 2>&1 </dev/null
}

# report STATUS NAME: a TAP line, and the end of the output when it failed.
report() {
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $n - $2"
    else
        echo "not ok $n - $2"
        tail -n 30 "$output" | sed 's/^/# /'
    fi
}

skip() {
    n=$((n + 1))
    echo "ok $n - $1 # SKIP $2"
}

# has TEXT: the last run said so.
has() {
    grep -qF -- "$1" "$output"
}

all_right='reduce_cases: all right'

# Options that select a point-to-point layer which works inside one machine; UCX without the memory
# hooks, which rewrite munmap while another thread may be in it.
pml_options() {
    case $1 in
    ob1) echo --mca pml ob1 ;;
    tcp) echo --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include lo ;;
    ucx)
        echo --mca pml ucx --mca opal_common_ucx_tls any --mca opal_common_ucx_devices any \
            --mca opal_common_ucx_opal_mem_hooks 0 -x UCX_MEM_EVENTS=no
        ;;
    cm) echo --mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include 'tcp;ofi_rxm' ;;
    esac
}

# pml_works PML: this Open MPI can start with it at all.
pml_works() {
    # shellcheck disable=SC2046
    seconds=60 launch 2 $(pml_options "$1") "$CLV_BUILD/tests/mpi/reduce_cases" -c zero_counts
}
