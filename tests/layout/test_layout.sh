#!/bin/bash
# What the layout of the project promises (docs/design/architecture.md): who includes whom, which symbols
# are visible, headers that compile alone, and a parameter page that equals the table.
. "$CLV_TOP/tests/support/tap.sh"
cd "$CLV_TOP" || exit 1

# ---- layers. Per module: the headers of other modules that it may include, as a pattern.
public_headers='util/[a-z_]*\.h|schedule/(schedule|sched_exec|sched_goal|sched_cost|sched_credit|sched_cache|sched_exits|sched_fast_estimate|sched_host_order)\.h|clocksync/clocksync\.h'
public_headers="$public_headers|pap_predict/pap_predict\\.h"
choose_headers='choose/choose(_algorithms|_collectives|_levels|_parameters|_reasons|_node_plan|_print|_verdict|_wait)?\.h'
trace_headers='apps/trace/[a-z_]*\.h|clocksync/methods/cs_methods\.h'
core='util schedule clocksync pap_predict record choose'
pure_modules="$core apps/trace apps/clc apps/what_if apps/cli"
modules="$pure_modules coll_clv apps/bench apps/tools apps/examples tests"
may_include() {
    case $1 in
    util) echo 'util/.*' ;;
    schedule) echo 'schedule/.*|util/[a-z_]*\.h' ;;
    clocksync) echo 'clocksync/.*|util/[a-z_]*\.h' ;;
    pap_predict) echo 'pap_predict/.*|clocksync/clocksync\.h|util/[a-z_]*\.h' ;;
    # Within pap_predict: what the model proves and what predicts know neither each other's inside
    # nor the service around them.
    pap_predict/net) echo 'pap_predict/net/.*|util/[a-z_]*\.h' ;;
    pap_predict/agree) echo 'pap_predict/agree/.*|pap_predict/pap_predict\.h|clocksync/clocksync\.h|util/[a-z_]*\.h' ;;
    pap_predict/predict) echo 'pap_predict/predict/.*|pap_predict/agree/pap_record_set\.h|pap_predict/pap_predict\.h|util/[a-z_]*\.h' ;;
    apps/trace) echo 'apps/trace/.*|util/[a-z_]*\.h' ;;
    record) echo 'record/.*|clocksync/clocksync\.h|util/[a-z_]*\.h' ;;
    apps/clc) echo 'apps/clc/.*|util/[a-z_]*\.h' ;;
    apps/cli) echo 'apps/cli/.*|util/[a-z_]*\.h' ;;
    choose) echo "choose/.*|util/[a-z_]*\\.h|schedule/(schedule|sched_cost|sched_cache|sched_exits|sched_fast_estimate|sched_host_order)\\.h|pap_predict/pap_predict\\.h|record/record_clva\\.h" ;;
    # The component's own predictor, without the network around it, and what it takes the previous function for.
    apps/what_if) echo "apps/what_if/.*|choose/choose_previous\\.h|$choose_headers|$public_headers|pap_predict/predict/pap_history\\.h" ;;
    coll_clv) echo "coll_clv/.*|$choose_headers|$public_headers|record/record_(clva|ring|drain|pending|early)\\.h" ;;
    apps/examples) echo 'apps/examples/.*|apps/trace/trace\.h|util/[a-z_]*\.h' ;;
    # bench_plan measures the parts of the schedule module against the oracles of the tests.
    apps/bench) echo "apps/bench/.*|apps/cli/.*|schedule/.*|$choose_headers|tests/support/.*|$trace_headers|$public_headers" ;;
    esac
}

# Includes of another module that the module may not have; prints them.
forbidden_includes() {
    local module=$1
    grep -rnE --include='*.[ch]' '^ *# *include "' "$module" |
        grep -E "\"(${modules// /|})/" |
        grep -vE "\"($(may_include "$module"))\""
}

for module in $pure_modules pap_predict/agree pap_predict/net pap_predict/predict \
    coll_clv apps/bench apps/examples; do
    [ -n "$(find "$module" -name '*.[ch]' 2>/dev/null)" ] || continue
    tap_none "$module includes only what it may" forbidden_includes "$module"
done

# Headers that include each other, also over others: prints the pairs that lie on a circle.
circles() {
    grep -roE --include='*.h' '^ *# *include "[^"]*"' "$@" |
        sed 's/:.*include "\([^"]*\)"/ \1/' |
        tsort 2>&1 >/dev/null | sed -n 's/^tsort: \(.*\.h\)$/\1/p'
}
tap_none 'no header includes itself, also over others' circles $pure_modules coll_clv apps/bench apps/tools
# Modules, and modules within modules: the same, file by file taken for its folder.
module_circles() {
    grep -roE --include='*.[ch]' '^ *# *include "[^"]*/[^"]*"' "$@" |
        sed -nE 's/^([a-z_/]*)\/[^/:]*:.*include "([a-z_/]*)\/[^/"]*"/\1 \2/p' |
        awk '$1 != $2' | grep -vE '^pap_predict/[a-z]* pap_predict$' | sort -u |
        tsort 2>&1 >/dev/null | sed -n 's/^tsort: \([a-z_/]*\)$/\1/p'
}
tap_none 'no circle of modules' module_circles $pure_modules
mpi_outside() {
    grep -rnE --include='*.[ch]' '# *include [<"](mpi\.h|ompi|opal)' \
        $pure_modules
    grep -rnE --include='*.[ch]' '# *include [<"](ompi|opal)' apps
}
tap_none 'only coll_clv includes Open MPI, the pure modules no mpi.h' mpi_outside
# A public function of MPI aborts in MPI_Init, where a spawned process makes its first collective calls; and a
# tool that wraps MPI's functions would see what the program never called.
public_mpi() { grep -rnE --include='*.[ch]' '\<P?MPI_[A-Z][a-z][A-Za-z0-9_]* *\(' coll_clv | grep -vE ':[[:space:]]*(/?\*|//)'; }
tap_none "coll_clv calls none of MPI's public functions" public_mpi
# Who provides the collectives of a communicator may have built them from one that is ours (coll_clv_gather.h). Two
# levels are made by Open MPI's functions within a call of ours, and then called as a program would.
own_collectives() {
    grep -rnE --include='*.[ch]' 'c_coll->coll_[a-z_#]+ *\(|\<ompi_comm_(dup|split|create|nextcid|activate|shrink|agree)[a-z_]* *\(' coll_clv |
        grep -v '^coll_clv/coll_clv_levels.c:'
}
tap_none 'coll_clv calls no collective of a communicator' own_collectives
heap_elsewhere() {
    grep -rnE --include='*.c' '\<(malloc|calloc|realloc) *\(' $pure_modules coll_clv | grep -v '^util/util_alloc.c:' | grep -vE ':[[:space:]]*(/?\*|//)'
}
tap_none 'the heap is reached through util_alloc.h' heap_elsewhere

# Programs, their libraries and benchmarks: not in the component.
apps_inside() {
    find apps -name '*.c' | awk -F/ 'FILENAME != "-" { inside[$0] = 1; n++; next } $NF in inside
        END { if (!n) print "the archive has no objects" }' \
        <(ar t "$CLV_BUILD/.libs/libclvcore.a" | sed 's/.*la-//; s/o$/c/') -
}
tap_none 'nothing of apps is in the component' apps_inside

# ---- sizes: none is a fact of one transport
sizes_used() { # files: "FILE NUMBER", without comments; the compiler takes all at once, behind their names
    local file
    for file; do printf '"file %s"\n' "$file"; cat "$file"; done | gcc -fpreprocessed -dD -E -P -x c - 2>/dev/null |
        awk -v sizes='1024 2048 4096 8192 16384 32768 65536 131072 262144 524288 1048576' '
            BEGIN { n = split(sizes, list, " "); for (i = 1; i <= n; i++) is_size[list[i]] = 1 }
            /^#define __/ { next }
            /^"file / { file = substr($2, 1, length($2) - 1); next }
            { n = split($0, words, /[^0-9A-Za-z_.]+/); for (i = 1; i <= n; i++) if (words[i] in is_size) print file, words[i] }'
}
unexplained_sizes() {
    local files
    mapfile -t files < <(find choose schedule coll_clv -name '*.[ch]' -o -name '*.inc')
    diff <(sizes_used "${files[@]}" | LC_ALL=C sort -u) \
        <(sed '/^#/d' tests/layout/sizes | cut -d' ' -f1,2 | LC_ALL=C sort -u)
}
tap_none 'each size in bytes has its reason in tests/layout/sizes' unexplained_sizes
tap_none 'which is a reason' awk '!/^#/ && NF < 3' tests/layout/sizes

# ---- symbols
if [ -f "$CLV_BUILD/component/mca_coll_clv.so" ]; then
    visible() {
        nm -D --defined-only "$CLV_BUILD/component/mca_coll_clv.so" | awk '{print $3}' |
            grep -vxE 'coll_clv_hint_arrival|coll_clv_hint_progress|coll_clv_expected_wait_ns|mca_coll_clv_component|ompi_coll_clv_component_ptr|mca_coll_clv_component_ptr'
    }
    tap_none 'the component shows itself, the hint and the wait, nothing else' visible
    wanted() { nm -D --undefined-only "$CLV_BUILD/component/mca_coll_clv.so" | grep -E ' P?MPI_[A-Z][a-z]'; }
    tap_none "and needs none of MPI's public functions" wanted
    # Objects of the pure modules that no call, constructor or thread of the component can reach.
    unreached() {
        local core=$CLV_BUILD/.libs/libclvcore.a
        comm -23 <(ar t "$core" | sort -u) <(gcc -shared -o "${TMPDIR:-/tmp}/reached.so" -Wl,-t,-t "$CLV_BUILD"/coll_clv/.libs/mca_coll_clv_la-*.o "$core" 2>&1 |
            sed -n 's/.*libclvcore\.a(\{0,1\}.*[()]\([^()]*\.o\).*/\1/p' | sort -u)
    }
    tap_none 'and takes in nothing that it does not use' unreached
    glue_names() {
        nm --defined-only "$CLV_BUILD"/coll_clv/.libs/mca_coll_clv_la-*.o |
            awk '$2 ~ /[A-TV-Z]/ {print $3}' |
            grep -vE '^(mca_coll_clv_|coll_clv_|ompi_coll_clv_component_ptr$)'
    }
    # What pap_predict's thread calls is one function of the module choose, and coll_clv starts no thread:
    # so nothing of Open MPI runs in the background.
    thread_glue() {
        grep -rnE '\.make *=' coll_clv | grep -vE '= *clv_choose_node_plan,'
        grep -rnE 'clv_pap_make_node_plans_t|pthread_create|thrd_create' coll_clv
        nm "$CLV_BUILD/.libs/libclvcore.a" 2>/dev/null | grep -q ' T clv_choose_node_plan$' ||
            echo 'clv_choose_node_plan is not in the pure modules'
        nm -A "$CLV_BUILD"/coll_clv/.libs/mca_coll_clv_la-*.o | grep -E ' [tT] clv_choose_'
    }
    tap_none 'nothing of coll_clv runs on the background thread' thread_glue
    tap_none 'global names of coll_clv begin with coll_clv_ or mca_coll_clv_' glue_names
else
    tap_skip 'symbols of the component' 'it is not built'
fi
core_names() {
    nm --defined-only "$CLV_BUILD"/{.libs/libclvcore,libclv{read,clocks,trace,clc,cli,whatif}}.a 2>/dev/null |
        awk '$2 ~ /[A-TV-Z]/ {print $3}' | grep -v '^clv_'
}
tap_none 'global names of the pure modules begin with clv_' core_names

# ---- headers
ompi_flags=$(make -s -C "$CLV_BUILD" show-ompi-cppflags)
mpi_flags=$(make -s -C "$CLV_BUILD" show-mpi-cppflags)
alone=$(mktemp -d)
trap 'rm -rf "$alone"' EXIT
# One file for each header, which may be empty where what it needs is not there; one run of the compiler for all
# that take the same flags.
all_compile() { # compiler
    local header wrapper status=0
    rm -rf "$alone"/*
    for header in $(find $pure_modules coll_clv apps/bench apps/examples -name '*.h' -not -path '*/shim/*'); do
        case $header in
        coll_clv/*) wrapper=ompi ;;
        apps/bench/* | apps/examples/*) wrapper=mpi ;;
        *) wrapper=none ;;
        esac
        mkdir -p "$alone/$wrapper"
        printf '#include "%s"\nextern int clv_alone;\n' "$header" >"$alone/$wrapper/${header//\//_}.c"
    done
    # shellcheck disable=SC2086
    { compile "$1" none && { [ -z "$mpi_flags" ] || compile "$1" mpi $mpi_flags; } &&
        { [ -z "$ompi_flags" ] || compile "$1" ompi $ompi_flags; } } || status=1
    return $status
}
# clang starts anew for each file, which takes as long as most headers do; its frontend does not.
compile() { # compiler, folder, flags
    local words=(-std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -I. "${@:3}" -fsyntax-only)
    local files=("$alone/$2"/*.c)
    case $1 in
    *clang) eval "$("$1" -### "${words[@]}" "${files[0]}" 2>&1 | tail -n 1)" '"${files[@]:1}"' ;;
    *) "$1" "${words[@]}" "${files[@]}" ;;
    esac
}
for compiler in gcc clang; do
    if command -v $compiler >/dev/null; then
        tap_ok "each header compiles alone with $compiler" all_compile $compiler
    else
        tap_skip "headers with $compiler" "there is no $compiler"
    fi
done

# Headers that another module includes, and the one that programs include, end their opening comment
# with what a caller must know: by that a reader sees that they are public (docs/design/architecture.md),
# and a header without these lines is private to its module. Prints the lines that are missing.
public_ones() {
    echo clv.h
    grep -rE --include='*.[ch]' '^ *# *include "[^"]*/[^"]*"' $pure_modules coll_clv apps/bench apps/tools apps/examples |
        sed -nE 's/^(apps\/[a-z_]*|[a-z_]*)\/[^:]*:.*include "((apps\/[a-z_]*|[a-z_]*)\/[^"]*)".*/\1 \2 \3/p' |
        awk '$1 != $3 {print $2}' | sort -u | xargs ls 2>/dev/null | grep -v '^tests/'
}
untold() {
    public_ones | xargs awk '
        function tell(   i) { for (i = 1; i <= 4; i++) if (file != "" && !(what[i] in said))
            print file " does not say \"" what[i] ": ...\" in its opening comment" }
        BEGIN { split("Units Errors Memory Threads", what, " ") }
        FNR == 1 { tell(); file = FILENAME; split("", said) }
        match($0, /^ \* (Units|Errors|Memory|Threads): ./) { word = $2; sub(/:$/, "", word); said[word] = 1 }
        /\*\// { nextfile }
        END { tell() }'
}
tap_none 'every public header says units, errors, memory and threads' untold
called_private() { public_ones | xargs awk '/\*\//{nextfile} /Private to schedule|Private to the pap_predict module\.|For nobody|private to the decider/{print FILENAME}'; }
tap_none 'and no header that calls itself private is included from another module' called_private

# ---- one version: what util_version.h says is what configure, scripts and programs say
version=$("$CLV_TOP/clv" version | sed 's/^clv //')
other_versions() {
    local program
    [ "$("$CLV_TOP/apps/bench/cluster" --version)" = "cluster (clv) $version" ] || echo apps/bench/cluster
    grep -q "^AC_INIT(\[clv\], \[$version\]" configure.ac || echo configure.ac
    [ "$(sed -n 's/^#define CLV_VERSION_[A-Z]* *//p' util/util_version.h | xargs | tr ' ' .)" = "$version" ] ||
        echo 'the three numbers of util_version.h'
    grep -q "^version: $version\$" CITATION.cff || echo CITATION.cff
    grep -q "^## $version" CHANGELOG.md || echo CHANGELOG.md
    grep -q "^Version: *$version\$" packaging/rpm/openmpi-clv.spec || echo the rpm spec
    grep -q "^ *version(\"$version\")" packaging/spack/packages/clv/package.py || echo "Spack's recipe"
    [[ $(head -n 1 packaging/debian/changelog) == "clv ($version) "* ]] || echo packaging/debian/changelog
    for program in apps/tools/clv-plan apps/tools/clv-predict apps/tools/clv-clock apps/tools/clv-correct apps/tools/clv-view apps/bench/clv-bench apps/bench/clv-bench-compare; do
        [ ! -x "$CLV_BUILD/$program" ] || [ "$("$CLV_BUILD/$program" --version)" = "${program##*/} (clv) $version" ] ||
            echo "$program"
    done
}
tap_none "all say version $version" other_versions

# ---- documentation
same_params() { "$CLV_BUILD/tests/layout/params_doc" | diff - docs/guide/params.md; }
tap_ok 'docs/guide/params.md equals the table (./clv params writes it)' same_params
page_says() { grep -q "$1" docs/guide/params.md; }
tap_ok 'and has the parameters' page_says '`coll_clv_reduce_algorithm`'

# The reasons of the table, as params.md has them, are the headings of the FAQ, and no others are.
reasons() {
    awk -F ' [|] ' '/^## /{ of = /fell_back/ } of && /^[|] [0-9]/{ sub(/ [|]$/, "", $3); print $3 }' docs/guide/params.md | sort
}
explained() { sed -n 's/^### because //p' docs/guide/faq.md | sort; }
unexplained() { diff <(reasons) <(explained); }
tap_none 'every reason that verbose gives has its entry in docs/guide/faq.md' unexplained
tap_ok 'and there are some' test "$(reasons | wc -l)" -ge 18

# "PAGE TARGET" of each link of a page that leads to a file; both relative to the top.
find README.md docs -name '*.md' -exec grep -HoE '\]\([^)# ]+' {} + | sed 's/:](/ /' | grep -v '://' >"$alone/written"
paste -d' ' <(cut -d' ' -f1 "$alone/written") \
    <(awk '{ sub(/[^\/]*$/, "", $1); print $1 $2 }' "$alone/written" | xargs realpath -m --relative-to=.) >"$alone/links"
# Pages that nobody finds who starts at README.md and follows links.
lost_pages() {
    find docs -name '*.md' -o -name '*.1' | awk '
        function visit(page,   n, list, i) {
            if (page in seen) return
            seen[page] = 1; n = split(links[page], list, " ")
            if (page ~ /[.]md$/) for (i = 1; i <= n; i++) visit(list[i]) }
        FILENAME != "-" { links[$1] = links[$1] " " $2; next }
        FNR == 1 { visit("README.md") }
        !($0 in seen) { print $0 " is not linked from README.md on" }' "$alone/links" -
}
tap_none 'every page of docs is reachable by links from README.md' lost_pages
dead_links() {
    local page link
    while read -r page link; do
        [ -e "$link" ] || echo "$page links to $link, which is not there"
    done <"$alone/links"
}
tap_none 'and no link of a page is dead' dead_links
# Links to headings of these pages. GitHub's form of one: small letters, no marks, blanks as hyphens, and a number
# behind what comes again.
dead_anchors() {
    awk '
        function anchor(text) {
            gsub(/\]\([^)]*\)/, "", text); gsub(/[^[:alnum:] _-]/, "", text); gsub(/ /, "-", text)
            return tolower(text)
        }
        FNR == 1 { is_code = 0 }
        /^ *```/ { is_code = !is_code; next }
        is_code { next }
        /^#+ / { sub(/^#+ +/, ""); name = FILENAME "#" anchor($0); if (n[name]++) name = name "-" n[name] - 1; is_there[name] = 1 }
        { rest = $0
          while (match(rest, /\]\([^):# ]*#[^) ]+/)) {
              link = substr(rest, RSTART + 2, RLENGTH - 2); rest = substr(rest, RSTART + RLENGTH)
              folder = page = FILENAME; sub(/[^\/]*$/, "", folder)
              split(link, part, "#"); if (part[1] != "") page = folder part[1]
              while (sub(/[^\/]+\/\.\.\//, "", page)) { }
              wants[++n_links] = page "#" part[2]; from[n_links] = FILENAME } }
        END { for (i = 1; i <= n_links; i++) if (!(wants[i] in is_there)) print from[i] " links to " wants[i] ", which is not there" }' "$@"
}
mapfile -t pages < <(find README.md CONTRIBUTING.md docs -name '*.md')
tap_none 'nor any to a heading' dead_anchors "${pages[@]}"
mkdir "$alone/a"
printf '# The `one`, _two_: three\n# Again\n```\n# code\n```\n# Again\n[x](#again-1) [y](#again-2) [z](#code)\n' >"$alone/a/b.md"
printf '[v](a/b.md#the-one-_two_-three) [w](a/../a/b.md#The)\n' >"$alone/c.md"
sees_anchors() { diff <(dead_anchors "$alone/a/b.md" "$alone/c.md" | sed 's/.*#//; s/,.*//') <(printf '%s\n' again-2 code The); }
tap_ok 'a dead one is seen' sees_anchors

# Stored measurements: names of files, but of no folder of the machine that measured.
foreign_folders() { grep -rnoE --include='*.json*' '[":](/tmp|/home|/root|/work|/var)/[^"]*' docs; }
tap_none 'no stored result names a folder of the machine that made it' foreign_folders

# ---- size: what a newcomer has to look through (none where this is no clone)
n_tracked=$(git ls-files 2>/dev/null | wc -l)
tap_ok "at most 1,000 tracked files: $n_tracked" test "$n_tracked" -le 1000
readme_bytes=$(wc -c <README.md)
tap_ok "README.md has at most 5,500 bytes: $readme_bytes" test "$readme_bytes" -le 5500
long_decisions() { wc -w docs/decisions/*.md | awk '$2 != "total" && $1 >= 300'; }
tap_none 'every decision has less than 300 words' long_decisions

# ---- build lists: every source file is in its module's list
unlisted() {
    find $pure_modules coll_clv -name '*.c' | awk '
        FILENAME != "-" { list = FILENAME; sub(/\/module[.]mk$/, "", list); text[list] = text[list] $0 "\n"; next }
        { split($0, part, "/"); module = part[1] == "apps" ? "apps/" part[2] : part[1]
          if (!index(text[module], $0)) print $0 " is in no module.mk" }' */module.mk apps/*/module.mk -
}
tap_none 'every source of a module is built' unlisted
build_lists_elsewhere() {
    find tests docs -name '*.mk' -o -name 'Makefile*'
}
tap_none 'each build list lies in its module, none under tests' build_lists_elsewhere
# automake names logs without ".sh": of two tests with one log it runs the first twice.
same_log() {
    make -s -C "$CLV_BUILD" list-unit-tests list-script-tests | sed 's/\.sh$//' | sort | uniq -d
}
tap_none 'no two tests share a log' same_log
tap_end
