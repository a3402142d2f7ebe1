#!/bin/bash
# Opt-in: builds this tree and runs its tests under another Debian release, so under another Open MPI.
#
#   tests/versions/other-debian.sh bookworm|trixie|sid [TEST NAME...]
#
# bookworm (4.1) is a bare machine for the set-up of ./clv itself; trixie has Open MPI 5.0, sid
# (unstable) 6.0. Where the release lives and what it needs: debian_root.sh. Only a copy of the tree
# goes in; it is removed at the end. As long as `./clv test`, the first time 3 minutes more.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
limit=${CLV_TIMEOUT:-2400} # seconds for build and tests

say() { printf 'other-debian: %s\n' "$*" >&2; }
. "$top/tests/versions/debian_root.sh"

usage() { die 'usage: tests/versions/other-debian.sh bookworm|trixie|sid [TEST NAME...]'; }

[ $# -ge 1 ] || usage
suite=$1
shift
case $suite in bookworm | trixie | sid) ;; *) usage ;; esac
ready_root "$suite"

work=/root/clv-$$
trap 'rm -rf "${root:?}$work"' EXIT
trap 'exit 130' INT TERM
copy_tree "$top" "$root$work"

say 'building and testing ...'
status=0
run_inside "$root" sh -c "cd $work && ./clv build && test -f build/component/mca_coll_clv.so &&
    ompi_info --version | head -n 1 &&
    ./clv test \"\$@\"" sh "$@" || status=$?
say "$suite: exit status $status"
exit $status
