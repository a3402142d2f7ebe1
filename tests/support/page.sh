# For scripts that look at clv-view's page in headless Chromium. Source it; $work is a folder to work in.
#
#   page_ready                 whether there is one; Debian's is installed where it is missing and we are root
#   page_browse OPTIONS...     Chromium, at most two minutes; what it logs is in $work/log
#   page_draw FILE             the page as it is after its script, in $work/dom
#   page_says ID TEXT          in that, the element ID says TEXT
#   page_facts DIR             of --json: "wait %|rank that was last most"
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
page_facts() {
    "$CLV_BUILD/tools/clv-view" --json "$1" | awk '
        match($0, /"named":[0-9]+,"dropped"/) { named = substr($0, RSTART + 8) + 0 }
        match($0, /"run_ns":[0-9]+,"wait_ns":[0-9]+,"in_mpi_ns":[0-9]+/) && !done {
            split(substr($0, RSTART, RLENGTH), part, /[:,]/); wait = part[4]; mpi = part[6]; done = 1 }
        /^{"rank"/ { match($0, /"last":[0-9]+/); last = substr($0, RSTART + 7, RLENGTH - 7) + 0
                     match($0, /"rank":[0-9]+/); if (last > most) { most = last; rank = substr($0, RSTART + 7, RLENGTH - 7) } }
        END { printf "%.1f %%|rank %d", 100 * wait / mpi, rank }'
}
