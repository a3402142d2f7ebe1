# For shell tests: TAP points, and mpirun that always ends. Source it; finish with tap_end.
#
#   tap_ok NAME COMMAND...     one point: the command's status
#   tap_has NAME WORDS TEXT    one point: TEXT contains WORDS
#   tap_none NAME COMMAND...   one point: COMMAND prints nothing; what it prints is the complaint
#   tap_report STATUS NAME     one point: a status known already, explained by the file $output
#   tap_skip NAME WHY
#   tap_limited COMMAND...     ended after $tap_limit seconds, which fails the script
#   mpi_run OPTIONS...         mpirun with the component and Open MPI's own; limited
#
# For figures that other work on the machine spoils (see "figures" below):
#   tap_tries MEASURE JUDGE    runs MEASURE until JUDGE succeeds, three times at most
#   tap_figure NAME COMMAND... as tap_ok, but skipped when it fails and the machine was busy
tap_count=0
tap_failed=0

# Seconds for a command that could hang. Only a guard: several times what the slowest one needs
# beside ten busy processes on two cores.
tap_limit=${CLV_LIMIT:-300}

tap_point() { # status name
    tap_count=$((tap_count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tap_count - $2"
    else
        echo "not ok $tap_count - $2"
        tap_failed=$((tap_failed + 1))
    fi
}

tap_ok() {
    local tap_name=$1 tap_said tap_status # the command may be a function and see these
    shift
    tap_said=$("$@" 2>&1)
    tap_status=$?
    tap_point $tap_status "$tap_name"
    [ $tap_status -eq 0 ] || printf '%s\n' "$tap_said" | tail -n 30 | sed 's/^/# /'
}

tap_none() {
    local tap_found
    tap_found=$("${@:2}")
    tap_point $(("${#tap_found}" > 0)) "$1"
    [ -z "$tap_found" ] || printf '%s\n' "$tap_found" | tail -n 30 | sed 's/^/# /'
}

tap_report() {
    tap_point "$1" "$2"
    [ "$1" -eq 0 ] || sed 's/^/# /' "$output"
}

tap_has() {
    case $3 in
    *"$2"*) tap_point 0 "$1" ;;
    *)
        tap_point 1 "$1"
        printf '# there is no "%s" in:\n' "$2"
        printf '%s\n' "$3" | tail -n 30 | sed 's/^/#   /'
        ;;
    esac
}

tap_lacks() {
    case $3 in
    *"$2"*)
        tap_point 1 "$1"
        printf '# there is "%s" in:\n' "$2"
        printf '%s\n' "$3" | tail -n 30 | sed 's/^/#   /'
        ;;
    *) tap_point 0 "$1" ;;
    esac
}

tap_skip() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

# The command may run in a subshell, so a file of this script says that one was ended.
tap_ended=${TMPDIR:-/tmp}/ended.$$

tap_limited() {
    local tap_began=$SECONDS tap_status
    timeout -k 5 "$tap_limit" "$@"
    tap_status=$?
    [ $((SECONDS - tap_began)) -lt "$tap_limit" ] || echo "after $tap_limit s: $*" >>"$tap_ended"
    return $tap_status
}

tap_end() {
    if [ -f "$tap_ended" ]; then
        tap_point 1 'every command ends by itself'
        sed 's/^/# ended /' "$tap_ended"
        rm -f "$tap_ended"
    fi
    echo "1..$tap_count"
    exit $((tap_failed > 0))
}

# ---- figures. Too few processors, or more than a tenth of all taken by others (the hypervisor
# included) while we measured, is a reason to believe no figure that came out wrong.

# Hundredths of seconds: of everybody on all processors, and how often a quota has stopped us.
machine_ticks() {
    awk '$1 == "cpu" { print $2 + $3 + $4 + $7 + $8 + $9 }' /proc/stat
}
own_ticks() { # of this shell and all descendants that have ended
    sed 's/.*) //' "/proc/$$/stat" | awk '{ print $12 + $13 + $14 + $15 }'
}
throttled() {
    local file
    for file in /sys/fs/cgroup/cpu.stat /sys/fs/cgroup/cpu/cpu.stat; do
        [ ! -r $file ] || sed -n 's/^nr_throttled //p' $file
    done | awk '{ sum += $1 } END { print sum + 0 }'
}

# tap_busy: why no figure is to be believed; empty when there is no reason.
note_busy() { # what the four were before: machine, own, throttled, microseconds
    local wall=$(((${EPOCHREALTIME/[.,]/} - $4) / 10000)) cores others
    cores=$(grep -c '^cpu[0-9]' /proc/stat)
    others=$((100 * ($(machine_ticks) - $1 - ($(own_ticks) - $2)) / (wall * cores + 1)))
    tap_busy=
    [ "$(nproc)" -ge 2 ] || tap_busy='only one processor'
    [ "$(throttled)" -eq "$3" ] || tap_busy='a quota stopped us'
    [ "$others" -le 10 ] || tap_busy="others took $others % of the processors"
}

tap_tries() {
    local try before
    for try in 1 2 3; do
        before=("$(machine_ticks)" "$(own_ticks)" "$(throttled)" "${EPOCHREALTIME/[.,]/}")
        "$1"
        note_busy "${before[@]}"
        "$2" && return
        echo "# try $try of 3 misses${tap_busy:+: $tap_busy}"
    done
}

tap_figure() {
    if [ -n "${tap_busy:-}" ] && ! "${@:2}" >/dev/null 2>&1; then
        tap_skip "$1" "machine too busy: $tap_busy"
    else
        tap_ok "$@"
    fi
}

# For a whole script: nothing to test here.
tap_skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}

# What `clv env` sets, with the launcher of the tests (bin/mpirun) still the first in PATH.
clv_environment() {
    eval "$(CLV_BUILD=$CLV_BUILD "$CLV_TOP/clv" env 2>/dev/null)"
    PATH=$CLV_TOP/tests/support/bin:$PATH
}

# Only our file in the folder, so that no version can stop at it; Open MPI's own are found too.
# Communicators are set up in their first call, as tests make few; test_setup.sh and the scripts of
# reduce_common.sh have it as users do. Plans are tested wherever this runs, so the machine counts as large enough;
# test_processors.sh has that as users do.
mpi_setup() {
    [ -f "$CLV_BUILD/component/mca_coll_clv.so" ] || tap_skip_all 'the component is not built'
    export OMPI_MCA_coll_clv_setup_bytes=0
    export OMPI_MCA_coll_clv_shared_processors=no
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    clv_environment
}

mpi_run() {
    # Open MPI 5 mixes null bytes into what it forwards.
    mpi_run_raw "$@" | tr -d '\0'
    return "${PIPESTATUS[0]}"
}

mpi_run_raw() {
    tap_limited mpirun --oversubscribe \
        --mca mca_base_component_path "$OMPI_MCA_mca_base_component_path" "$@" 2>&1 </dev/null
}
