#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The component as a series of patches for Open MPI's tree: what it is made of and no more (no tools, no
# tests, no other build), one patch for the modules that know no MPI, one for the component, one for the
# page of the manual. Each is signed off by who runs this.
#
#   packaging/openmpi/series.sh OPENMPI FOLDER
#
# OPENMPI  Open MPI's source tree, of which only docs/tuning-apps/collectives/components.rst is read
# FOLDER   where the patches go; there `git am FOLDER/*.patch` in that tree takes them
#
# Needs git with a name and an address, and a build (./clv build), which knows the files.
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${CLV_BUILD:-$top/build}
[ $# -eq 2 ] || { sed -n '3,/^set/{/^#/s/^#\( \|$\)//p}' "$0" >&2; exit 2; }
[ -f "$1/ompi/mca/coll/coll.h" ] || { echo "series: $1 is no source tree of Open MPI" >&2; exit 2; }
list=docs/tuning-apps/collectives/components.rst
openmpi=$(cd "$1" && pwd)
mkdir -p "$2"
folder=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
home=$work/ompi/mca/coll/clv
make -s -C "$build" Makefile >/dev/null # or what makes it anew would be among the names
files() { make -s -C "$build" "show-$1-files" | tr ' ' '\n' | sed '/^$/d' | sort; }

take() { # files: into the component's folder
    (cd "$top" && tar -c "$@") | tar -x -C "$home"
}
sources() { # name files: a variable of a Makefile.am
    printf '%s =' "$1"
    shift
    printf ' \\\n\t%s' "$@"
    printf '\n'
}
commit() { git -C "$work" add -A && git -C "$work" commit -q --allow-empty -s -m "$1"; }

# What of our Makefile.am is about Open MPI's tree: from its else to its end, with files instead of modules.
write_makefile() {
    mapfile -t core < <(files core)
    mapfile -t component < <(files component)
    cat <<'END'
# SPDX-License-Identifier: BSD-3-Clause

AM_CPPFLAGS = -D_GNU_SOURCE -I$(srcdir)
AUTOMAKE_OPTIONS = subdir-objects
BUILT_SOURCES = coll_clv_help_text.h
CLEANFILES = coll_clv_help_text.h
EXTRA_DIST = coll_clv/help_text.awk
coll_clv_help_text.h: $(srcdir)/coll_clv/help-coll-clv.txt $(srcdir)/coll_clv/help_text.awk
	$(AM_V_GEN)awk -f $(srcdir)/coll_clv/help_text.awk $(srcdir)/coll_clv/help-coll-clv.txt >$@.new && mv $@.new $@

END
    sources clv_core_sources "${core[@]}"
    sources clv_component_sources "${component[@]}"
    cat <<'END'
if CLV_HAVE_HWLOC
AM_CPPFLAGS += -DCLV_HAVE_HWLOC='"coll_clv/coll_clv_hwloc.h"'
endif
noinst_LTLIBRARIES = libclvcore.la
libclvcore_la_SOURCES = $(clv_core_sources)
libclvcore_la_CFLAGS = $(AM_CFLAGS) $(CLV_HIDDEN)
END
    sed -n '/^else !CLV_STANDALONE/,/^endif !CLV_STANDALONE/p' "$top/Makefile.am" | sed '1d;$d'
}
write_configure() {
    sed 's/^    AM_CONDITIONAL(\[CLV_STANDALONE\].*//; /AM_CONDITIONAL(\[CLV_HAVE_\(OMPI\|MPI\|CMOCKA\|SIMGRID\|OTF2\)\]/d
        /^# The in-tree home/,/^# The standalone/d' "$top/configure.m4"
}

mkdir -p "$home" "$work/${list%/*}"
git -C "$work" init -q
for item in name email; do git -C "$work" config "user.$item" "$(git -C "$top" config "user.$item")"; done
[ ! -f "$openmpi/$list" ] || cp "$openmpi/$list" "$work/$list"
commit 'what is there'
take $(files core)
commit 'coll/clv: what it knows without MPI

Records of arrivals, agreement, forecasts, clocks, plans and the choice among them. Nothing here calls
Open MPI; the component of the next patch does.'
take $(files component) coll_clv/help-coll-clv.txt coll_clv/help_text.awk LICENSE
write_makefile >"$home/Makefile.am"
write_configure >"$home/configure.m4"
printf 'owner: the clv authors\nstatus: active\n' >"$home/owner.txt"
commit 'coll/clv: collectives along predicted arrivals

MPI_Reduce, MPI_Allreduce and MPI_Bcast by plans made for the predicted arrivals of all ranks. Off unless
coll_clv_priority is set.'
cp "$top/packaging/openmpi/clv.rst" "$work/${list%/*}/clv.rst"
[ ! -f "$work/$list" ] || sed -i 's|^ - ``han`` .*| - ``clv``: component that learns when ranks arrive and runs collectives along\n   their arrivals. See :doc:`clv` for more details.\n&|' "$work/$list"
commit 'docs: coll/clv'
git -C "$work" format-patch -q -3 -o "$folder"
ls "$folder"
