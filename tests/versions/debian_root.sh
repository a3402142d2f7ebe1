# Sourced by the scripts here that build and run under another Debian release; not a test.
#
# A release lives in a folder made with debootstrap and kept for the next time (CLV_ROOTS, default
# ~/.cache/clv/roots; about 1 GiB each). What runs in it runs in mount, pid, ipc and uts namespaces
# of its own: when the script ends, however it ends, its mounts and processes are gone.
#
# The script defines say, and $limit: seconds for what runs inside. Needs root, debootstrap, and apt
# sources of a Debian machine: the mirror is the one apt uses here. About 3 minutes the first time.
. "${BASH_SOURCE[0]%/*}/trees.sh"
roots=${CLV_ROOTS:-${XDG_CACHE_HOME:-$HOME/.cache}/clv/roots}

die() { say "$*"; exit 2; }

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

# Runs inside the namespaces: the few file systems that programs expect, then the command. The folder
# becomes the root of the namespace, not only of the processes: what enters a namespace made within, as
# the emulated hosts do, would else find itself in the release outside.
inside='
    root=$1; shift
    mount --make-rprivate /
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
    mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
    mount -t sysfs sysfs "$root/sys" 2>/dev/null || mount --rbind /sys "$root/sys"
    cd "$root" && pivot_root . . && umount -l . || exit 2
    exec chroot . env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \
        DEBIAN_FRONTEND=noninteractive "$@"'

run_inside() {
    local root=$1
    shift
    timeout --foreground -k 30 "$limit" unshare --mount --pid --fork --kill-child --ipc --uts \
        bash -c "$inside" bash "$root" "$@"
}

# ready_root SUITE: leaves its folder in $root.
ready_root() {
    [ "$(id -u)" -eq 0 ] || die 'needs root'
    command -v debootstrap >/dev/null || die 'needs the package debootstrap'
    root=$roots/$1
    [ -d "$root/usr" ] || make_root "$1" "$root"
    allow_old_mirror "$root"
    say 'updating packages ...'
    run_inside "$root" apt-get -qq update || say 'apt-get update failed: using what is there'
}

# go_inside NAME SUITE MODE...: builds this tree in that release, runs tests/versions/NAME.sh there with "here" and
# the modes, and ends with its status. What lies in CLV_LIMIT and CLV_CASES goes along.
go_inside() {
    local name=$1 suite=$2 work=/root/clv-$1-$$ status=0
    shift 2
    ready_root "$suite"
    trap 'rm -rf "${root:?}$work"' EXIT
    trap 'exit 130' INT TERM
    copy_tree "$top" "$root$work"
    say 'building ...'
    run_inside "$root" env ${CLV_LIMIT:+CLV_LIMIT="$CLV_LIMIT"} ${CLV_CASES:+CLV_CASES="$CLV_CASES"} sh -c "cd $work && ./clv build &&
        CLV_BUILD=$work/build tests/versions/$name.sh here \"\$@\"" sh "$@" || status=$?
    exit $status
}

# fresh_root SUITE WORK: a release in which nobody has installed anything yet, in $root; what is changed
# in it lies in the folder WORK and goes with it. In a mount namespace of our own: enter_namespace first.
fresh_root() {
    roots=$roots-bare
    ready_root "$1"
    mkdir -p "$2/changes" "$2/rest" "$2/root"
    mount -t overlay overlay -o "lowerdir=$root,upperdir=$2/changes,workdir=$2/rest" "$2/root" ||
        die 'this kernel has no overlay file system'
    root=$2/root
}

# enter_namespace SCRIPT ARGUMENTS...: starts the script once more where its mounts end with it.
enter_namespace() {
    [ -n "${CLV_OWN_MOUNTS:-}" ] ||
        CLV_OWN_MOUNTS=1 exec unshare --mount --propagation private bash "$@"
}
