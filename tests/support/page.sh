# For scripts that look at clv-view's page in headless Chromium. Source it; $work is a folder to work in.
#
#   page_ready                 whether there is one; Debian's is installed where it is missing and we are root
#   page_browse OPTIONS...     Chromium, at most two minutes; what it logs is in $work/log
#   page_draw FILE             the page as it is after its script, in $work/dom
#   page_says ID TEXT          in that, the element ID says TEXT
#   page_facts DIR             of --json: "wait %|rank that causes most of it"
#   page_measure FILE OPTIONS  what tests/support/page_measure.js finds, word=value
#   page_axe FILE OPTIONS      what axe-core complains about, a line each; "done" at its end. 2: axe-core cannot be had
page_ready() {
    command -v chromium >/dev/null && return
    [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null || return
    local install='apt-get -qq install -y --no-install-recommends chromium'
    DEBIAN_FRONTEND=noninteractive timeout 240 sh -c "$install || { apt-get -qq update && $install; }" >/dev/null 2>&1
}
page_browse() {
    timeout 120 chromium --headless --no-sandbox --disable-gpu --no-first-run --user-data-dir="$work/profile" \
        --virtual-time-budget=20000 --enable-logging=stderr --v=0 --window-size=1240,1900 "$@" 2>"$work/log"
}
page_draw() { page_browse --dump-dom "file://$1" >"$work/dom"; }
page_says() { grep -q "id=\"$1\"[^>]*>$2<" "$work/dom"; }
# The page with a script behind it; what that writes into the element ID.
page_with() { # id page scripts... -- options
    local id=$1 page=$2
    shift 2
    cp "$page" "$work/with.html"
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        { echo '<script>'; cat "$1"; echo '</script>'; } >>"$work/with.html"
        shift
    done
    page_browse "${@:2}" --dump-dom "file://$work/with.html" | sed -n "/id=\"$id\"/,/<\/p>/p" |
        sed "s/.*id=\"$id\">//; s/<\/p>.*//; /^<\/body>/d"
}
page_measure() { page_with measured "$1" "$CLV_TOP/tests/support/page_measure.js" -- "${@:2}"; }
page_axe() {
    local axe=$CLV_BUILD/axe-core
    [ -s "$axe/package/axe.min.js" ] || {
        mkdir -p "$axe" && (cd "$axe" && timeout 120 npm pack --silent axe-core@4.10.3 && tar xzf axe-core-4.10.3.tgz) >/dev/null 2>&1 || return 2
    }
    cat >"$work/run.js" <<'END'
axe.run(document).then(found => {
    const said = document.createElement('p');
    said.id = 'axe';
    said.textContent = found.violations.map(v => v.id + ', ' + v.nodes.length + ' times: ' + v.nodes[0].target.join(' ') + '\n').join('') + 'done';
    document.body.append(said);
});
END
    page_with axe "$1" "$axe/package/axe.min.js" "$work/run.js" -- "${@:2}"
}
page_facts() {
    "$CLV_BUILD/apps/tools/clv-view" --json "$1" | awk '
        match($0, /"named":[0-9]+,"dropped"/) { named = substr($0, RSTART + 8) + 0 }
        match($0, /"run_ns":[0-9]+,"wait_ns":[0-9]+,"in_mpi_ns":[0-9]+/) && !done {
            split(substr($0, RSTART, RLENGTH), part, /[:,]/); wait = part[4]; mpi = part[6]; done = 1 }
        /^{"rank"/ { match($0, /"caused_ns":[0-9]+/); caused = substr($0, RSTART + 12, RLENGTH - 12) + 0
                     match($0, /"rank":[0-9]+/); if (caused > most) { most = caused; rank = substr($0, RSTART + 7, RLENGTH - 7) } }
        END { printf "%.1f %%|rank %d", 100 * wait / mpi, rank }'
}
