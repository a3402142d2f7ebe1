# For shell tests: TAP points, and mpirun that always ends. Source it; finish with tap_end.
#
#   tap_ok NAME COMMAND...     one point: the command's status
#   tap_has NAME WORDS TEXT    one point: TEXT contains WORDS
#   tap_skip NAME WHY
#   mpi_run OPTIONS...         mpirun with the component and Open MPI's own, at most 60 s
tap_count=0
tap_failed=0

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
    local name=$1 output status
    shift
    output=$("$@" 2>&1)
    status=$?
    tap_point $status "$name"
    [ $status -eq 0 ] || printf '%s\n' "$output" | tail -n 30 | sed 's/^/# /'
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

tap_end() {
    echo "1..$tap_count"
    exit $((tap_failed > 0))
}

# For a whole script: nothing to test here.
tap_skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}

# Only our file in the folder, so that no version can stop at it; Open MPI's own are found too.
mpi_setup() {
    [ -f "$CLV_BUILD/component/mca_coll_clv.so" ] || tap_skip_all 'the component is not built'
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    eval "$(CLV_BUILD=$CLV_BUILD "$CLV_TOP/clv" env | grep component_path)"
}

mpi_run() {
    # Open MPI 5 mixes null bytes into what it forwards.
    mpi_run_raw "$@" | tr -d '\0'
    return "${PIPESTATUS[0]}"
}

mpi_run_raw() {
    timeout -k 5 60 mpirun --oversubscribe \
        --mca mca_base_component_path "$OMPI_MCA_mca_base_component_path" "$@" 2>&1 </dev/null
}
