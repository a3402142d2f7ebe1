#!/bin/bash
# Opt-in: builds this tree and runs its tests under another Debian release, so under another Open MPI.
#
#   tests/versions/other-debian.sh bookworm|trixie|sid [TEST NAME...]
#
# bookworm (4.1) is a bare machine for the set-up of ./clv itself; trixie has Open MPI 5.0, sid
# (unstable) 6.0. The release lives in a folder made with debootstrap
# and kept for the next time (CLV_ROOTS, default ~/.cache/clv/roots; about 1 GiB each). Everything
# runs in its own mount, pid, ipc and uts namespaces: when the script ends, however it ends, its
# mounts and processes are gone. Only a copy of the tree goes in; it is removed at the end.
#
# Needs root, debootstrap, and apt sources of a Debian machine: the mirror is the one apt uses here.
# About 3 minutes the first time, then as long as `./clv test`.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
roots=${CLV_ROOTS:-${XDG_CACHE_HOME:-$HOME/.cache}/clv/roots}
limit=${CLV_TIMEOUT:-2400} # seconds for build and tests

say() { printf 'other-debian: %s\n' "$*" >&2; }
die() { say "$*"; exit 2; }

usage() { die 'usage: tests/versions/other-debian.sh bookworm|trixie|sid [TEST NAME...]'; }

# The main archive among the sources of this machine's apt.
mirror() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' \
        'Component: main' | grep -v security | head -n 1
}

make_root() {
    local suite=$1 root=$2 from
    from=$(mirror)
    [ -n "$from" ] || die "apt on this machine has no Debian mirror"
    say "making $root ..."
    mkdir -p "$(dirname "$root")"
    rm -rf "$root.new"
    timeout 1800 debootstrap --variant=minbase --include=ca-certificates "$suite" "$root.new" \
        "$from" >"$root.log" 2>&1 || die "debootstrap failed, see $root.log"
    mv "$root.new" "$root"
}

# A mirror may lag behind: then the release file of a moving suite counts as expired.
allow_old_mirror() {
    echo 'Acquire::Check-Valid-Until "false";' >"$1/etc/apt/apt.conf.d/90clv"
    cp -L /etc/resolv.conf "$1/etc/resolv.conf"
}

# What git knows and what is new in the working tree, without what builds left behind.
copy_tree() {
    mkdir -p "$2"
    git -C "$1" ls-files -z --cached --others --exclude-standard |
        (cd "$1" && while IFS= read -r -d '' file; do
            [ ! -e "$file" ] || printf '%s\0' "$file"
        done | tar -c --null -T -) | tar -x -C "$2"
}

# Runs inside the namespaces: the few file systems that programs expect, then the command.
inside='
    root=$1; shift
    mount --make-rprivate /
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
    mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
    mount -t sysfs sysfs "$root/sys" 2>/dev/null || mount --rbind /sys "$root/sys"
    exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \
        DEBIAN_FRONTEND=noninteractive "$@"'

run_inside() {
    local root=$1
    shift
    timeout --foreground -k 30 "$limit" unshare --mount --pid --fork --kill-child --ipc --uts \
        bash -c "$inside" bash "$root" "$@"
}

[ $# -ge 1 ] || usage
suite=$1
shift
case $suite in bookworm | trixie | sid) ;; *) usage ;; esac
[ "$(id -u)" -eq 0 ] || die 'needs root'
command -v debootstrap >/dev/null || die 'needs the package debootstrap'

root=$roots/$suite
[ -d "$root/usr" ] || make_root "$suite" "$root"
allow_old_mirror "$root"

work=/root/clv-$$
trap 'rm -rf "${root:?}$work"' EXIT
trap 'exit 130' INT TERM
copy_tree "$top" "$root$work"

say 'updating packages ...'
run_inside "$root" apt-get -qq update || say 'apt-get update failed: using what is there'
say 'building and testing ...'
status=0
run_inside "$root" sh -c "cd $work && ./clv build && test -f build/component/mca_coll_clv.so &&
    ompi_info --version | head -n 1 &&
    ./clv test \"\$@\"" sh "$@" || status=$?
say "$suite: exit status $status"
exit $status
