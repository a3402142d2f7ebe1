#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The recipes that no machine here builds with, as far as Debian's tools go: the rpm spec is parsed, linted
# and built (rpmbuild --nodeps, against the Open MPI of this machine), its packages have what they should
# and run; Spack's recipes run on a stub of Spack, and configure knows every option that they give; the
# patches for Open MPI apply, its page is valid. REUSE, too.
#
#   tests/quality/recipes.sh [TARBALL]    of `make dist`; without one it is made
#
# Installs rpm, rpmlint, python3, python3-docutils and reuse where they are missing, as root; points whose
# tools are not there are skipped. Builds first. Prints TAP; 5 minutes, most of them for the rpm.
set -u
export LC_ALL=C
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/support/tap.sh"
build=${CLV_BUILD:-$top/build}
tarball=${1:-}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$top" || exit 2
"$top/clv" build >&2 || exit 2

need() { # command package
    command -v "$1" >/dev/null || { [ "$(id -u)" -eq 0 ] && apt-get -qq install -y --no-install-recommends "$2" >/dev/null 2>&1; }
    command -v "$1" >/dev/null
}
point() { # command package NAME COMMAND...
    if need "$1" "$2"; then tap_ok "${@:3}"; else tap_skip "$3" "there is no $1"; fi
}

# ---- rpm
spec=packaging/rpm/openmpi-clv.spec
version=$(sed -n 's/^#define CLV_VERSION  *"\(.*\)"/\1/p' util/util_version.h)
no_complaints() { ! rpmlint -r packaging/rpm/openmpi-clv.rpmlintrc $spec | tee /dev/stderr | grep -E ': [EW]: '; }
release() {
    [ -n "$tarball" ] && return
    make -s -C "$build" dist && mkdir "$work/dist" && mv "$build/clv-$version.tar.gz" "$work/dist" &&
        tarball=$work/dist/clv-$version.tar.gz
}
builds() {
    mkdir -p "$work/rpm/SOURCES" && cp "$tarball" "$work/rpm/SOURCES" &&
        timeout 1800 rpmbuild -bb --nodeps --define "_topdir $work/rpm" --define 'ompi /usr' $spec
}
package_of() { echo "$work"/rpm/RPMS/*/"$1-$version"-*.rpm; }
holds() { # PACKAGE PATTERN...: files of each pattern
    local pattern files
    files=$(rpm -qpl "$(package_of "$1")") || return
    for pattern in "${@:2}"; do grep -qE "$pattern" <<<"$files" || { echo "no $pattern in:"; echo "$files"; return 1; }; done
}
unpacked() { # all of them, into one folder
    local package
    mkdir -p "$work/unpacked" && for package in openmpi-clv clv-tools clv-devel; do
        rpm2archive - <"$(package_of $package)" | tar -xzC "$work/unpacked" || return
    done
}
tools_run() {
    local tool
    for tool in "$work"/unpacked/usr/bin/clv-*; do
        [ "$(OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$tool" --version)" = "${tool##*/} (clv) $version" ] || { echo "$tool"; return 1; }
    done
}
point rpmspec rpm 'rpm parses its spec' rpmspec -P $spec
tap_has 'its version is ours' "Version: *$version" "$(grep '^Version:' $spec | tr -s ' ' | sed 's/: /: */')"
point rpmlint rpmlint 'rpmlint has nothing to say' no_complaints
[ -z "$tarball" ] || tarball=$(cd "$(dirname "$tarball")" && pwd)/$(basename "$tarball")
if need rpmbuild rpm; then
    release >"$work/dist.log" 2>&1 || tail -n 5 "$work/dist.log"
    tap_ok 'rpm builds its packages' builds
    tap_ok 'openmpi-clv has component, pages, module file' holds openmpi-clv '/mca_coll_clv\.so$' '/doc/clv/README\.md$' '/doc/clv/docs/guide/faq\.md$' '/clv\.module$'
    tap_ok 'clv-tools has tools, manuals, completion' holds clv-tools '/bin/clv-view$' '/bin/clv-bench$' '/man1/clv-view\.1' '/completions/clv-view$'
    tap_ok 'clv-devel has header, pkg-config file, hints' holds clv-devel '/clv\.h$' '/pkgconfig/clv\.pc$' '/languages/clv_hint\.f90$'
    tap_ok 'they unpack' unpacked
    tap_ok 'and every tool runs' tools_run
else
    tap_skip 'rpm builds its packages' 'there is no rpmbuild'
fi

# ---- Spack: the recipes see stubs of what they import, and say what they would do
cat >"$work/stub.py" <<'END'
import importlib.util, sys, types

class Spec(dict):
    def __init__(self, text): self.text = text
    def __contains__(self, word): return word in self.text
    def __getitem__(self, name): return types.SimpleNamespace(prefix=types.SimpleNamespace(lib=f"/{name}/lib", __str__=None))

class Prefix(str):
    lib = "/prefix/lib"

class AutotoolsPackage:
    def __init__(self, text):
        self.spec, self.prefix = Spec(text), Prefix("/prefix")

class Openmpi(AutotoolsPackage):
    def configure_args(self): return ["--of-spack"]

said = []
module = types.ModuleType("spack.package")
module.AutotoolsPackage = AutotoolsPackage
module.join_path = lambda *parts: "/".join(parts)
for word in ("version", "variant", "depends_on", "license"):
    setattr(module, word, lambda *what, word=word, **how: said.append((word, what, how)))
openmpi = types.ModuleType("spack.pkg.builtin.openmpi")
openmpi.Openmpi = Openmpi
for name in ("spack", "spack.pkg", "spack.pkg.builtin"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["spack.package"], sys.modules["spack.pkg.builtin.openmpi"] = module, openmpi

def load(path):
    spec = importlib.util.spec_from_file_location("recipe", path)
    recipe = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recipe)
    return recipe

folder = sys.argv[1]
clv = load(f"{folder}/clv/package.py").Clv
print(*[what[0] for word, what, how in said if word == "version"])
for text in ("+component+hwloc+otf2", "~component+hwloc~otf2"):
    print(*clv(text).configure_args())
print(*load(f"{folder}/openmpi/package.py").Openmpi("").configure_args())
END
recipes() { python3 "$work/stub.py" packaging/spack/packages; }
point python3 python3 "Spack's recipes run" recipes
said=$(recipes 2>/dev/null)
tap_has 'its version is ours' "$version" "$(head -n 1 <<<"$said")"
tap_has "Spack's Open MPI keeps its internal headers" --with-devel-headers "$said"
unknown() { # options that configure has not
    local help
    help=$("$top/configure" --help)
    { sed -n 2,3p <<<"$said"; sed -n '/^%configure/,/^%make/p' $spec; } | grep -o -- '--with[a-z0-9-]*' |
        sed 's/--without-/--with-/' | sort -u | while read -r option; do
        grep -qE -- "$option|${option/with-/without-}" <<<"$help" || echo "$option"
    done
}
tap_none 'configure knows every option that they give' unknown

# ---- Open MPI's own: patches and page
series() {
    mkdir -p "$work/openmpi/ompi/mca/coll" "$work/openmpi/docs/tuning-apps/collectives" && cd "$work/openmpi" &&
        touch ompi/mca/coll/coll.h && printf 'List:\n\n - ``han`` : hierarchical.\n' >docs/tuning-apps/collectives/components.rst &&
        git init -q && git -c user.name=x -c user.email=x@y add -A && git -c user.name=x -c user.email=x@y commit -qm tree &&
        CLV_BUILD=$build "$top/packaging/openmpi/series.sh" "$work/openmpi" "$work/patches" &&
        git -c user.name=x -c user.email=x@y am -q "$work"/patches/*.patch &&
        grep -q ':doc:`clv`' docs/tuning-apps/collectives/components.rst && [ "$(git log --format=%B -3 | grep -c ^Signed-off-by)" -eq 3 ]
}
unknown_words() { # parameters and variables on the page that do not exist
    grep -o 'coll_clv_[a-z_]*' packaging/openmpi/clv.rst | sort -u |
        grep -vxFf <("$build/tests/layout/params_doc" --names; "$build/tests/layout/params_doc" --pvars; "$build/tests/layout/params_doc" --arrays)
}
point git git 'the series for Open MPI applies, signed off' series
point rst2html python3-docutils "the page for Open MPI's manual is valid" rst2html --strict packaging/openmpi/clv.rst /dev/null
tap_none 'and names nothing that does not exist' unknown_words
point reuse reuse 'reuse lint' reuse lint
tap_end
