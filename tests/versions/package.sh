#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: the package in a fresh Debian. There the release is made, the packages are built from it as
# Debian's builders do and judged by lintian; they are installed, source and build removed, and a user
# without rights runs the example under mpirun and under Slurm (srun with PMIx, sbatch), as one who asks
# for clv, as one whose site asks for all, and as one who never heard of it. Then the packages are purged,
# and nothing is left.
#
#   tests/versions/package.sh bookworm|trixie|sid
#
# Where the release lives: debian_root.sh; what is done inside: package_inside.sh. Only a copy of the tree
# goes in, and nothing stays. Prints TAP; about 8 minutes, the first time 3 more.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
limit=${CLV_TIMEOUT:-2400} # seconds for all that runs inside

say() { printf 'package: %s\n' "$*" >&2; }
. "$top/tests/versions/debian_root.sh"

suite=${1:-}
case $suite in bookworm | trixie | sid) ;; *) die 'usage: tests/versions/package.sh bookworm|trixie|sid' ;; esac
enter_namespace "$0" "$@"

work=$(mktemp -d -p "${CLV_WORK:-/var/tmp}")
trap 'umount -l "$work/root" 2>/dev/null; rm -rf "${work:?}"' EXIT
trap 'exit 130' INT TERM
fresh_root "$suite" "$work"
copy_tree "$top" "$root/root/clv"
run_inside "$root" bash /root/clv/tests/versions/package_inside.sh
