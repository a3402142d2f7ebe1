# For scripts that look at clv-view's page in headless Chromium. Source it; $work is a folder to work in.
#
#   page_ready                 whether there is one; Debian's is installed where it is missing and we are root
#   page_browse OPTIONS...     Chromium, at most two minutes; what it logs is in $work/log
#   page_draw FILE             the page as it is after its script, in $work/dom
#   page_says ID TEXT          in that, the element ID says TEXT
#   page_facts DIR             of --json: "wait %|rank that causes most of it"
#   page_measure FILE OPTIONS  what a reader sees, measured: word=value (below)
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
# The page with a script behind it; what that writes into the element ID. All of it is in $work/dom, as from page_draw.
page_with() { # id page scripts... -- options
    local id=$1 page=$2
    shift 2
    cp "$page" "$work/with.html"
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        { echo '<script>'; cat "$1"; echo '</script>'; } >>"$work/with.html"
        shift
    done
    page_browse "${@:2}" --dump-dom "file://$work/with.html" | tee "$work/dom" | sed -n "/id=\"$id\"/,/<\/p>/p" |
        sed "s/.*id=\"$id\">//; s/<\/p>.*//; /^<\/body>/d"
}
# A script behind the page measures what a reader sees, and writes it as words into an element of its own.
#      font      smallest text, in px as it is drawn
#      gap       largest height of a band of a section that nothing is drawn in, in px
#      beyond    px that the page is wider than its window
#      contrast  smallest contrast of what charts and text are drawn in to what is behind, and of
#                the two kinds of bars to each other
#      clicks    things that only a mouse can reach
#      canvas    its role
page_measure() {
    cat >"$work/measure.js" <<'END'
(() => {
'use strict';
const visible = e => e.getClientRects().length > 0;
const leaves = [...document.querySelectorAll('body *')].filter(e => visible(e) && !['SCRIPT', 'STYLE'].includes(e.tagName));
const words = leaves.filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()));
const scale = e => e.ownerSVGElement ? e.ownerSVGElement.getBoundingClientRect().width / e.ownerSVGElement.viewBox.baseVal.width : 1;
const font = Math.min(...words.map(e => parseFloat(getComputedStyle(e).fontSize) * scale(e)));

const drawn = 'h2, p, td, th, canvas, button, summary, svg text, svg rect, svg line, svg polyline';
const gapOf = section => {
    const box = section.getBoundingClientRect(), parts = [...section.querySelectorAll(drawn)].filter(visible).map(e => e.getBoundingClientRect()).sort((a, b) => a.top - b.top);
    let end = box.top, gap = 0;
    for (const part of parts) { gap = Math.max(gap, part.top - end); end = Math.max(end, part.bottom); }
    return Math.max(gap, box.bottom - end);
};
const gap = Math.max(0, ...[...document.querySelectorAll('section')].filter(visible).map(gapOf));

const paint = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
const light = name => {
    paint.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name);
    paint.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...paint.getImageData(0, 0, 1, 1).data].map(c => c / 255).map(c => c <= .04045 ? c / 12.92 : Math.pow((c + .055) / 1.055, 2.4));
    return .2126 * r + .7152 * g + .0722 * b + .05;
};
const contrast = (a, b) => Math.max(light(a), light(b)) / Math.min(light(a), light(b));
const least = Math.min(...['--ink', '--soft', '--own', '--wait', '--mark'].map(name => contrast(name, '--bg')), contrast('--own', '--wait'));

const clicks = leaves.filter(e => e.onclick && !['BUTTON', 'CANVAS', 'SUMMARY'].includes(e.tagName)).length;
const canvas = document.querySelector('canvas');
const said = document.createElement('p');
said.id = 'measured';
said.textContent = 'font=' + Math.floor(font * 10) / 10 + ' gap=' + Math.ceil(gap) + ' beyond=' + Math.max(0, document.documentElement.scrollWidth - innerWidth) +
    ' contrast=' + Math.floor(least * 10) / 10 + ' clicks=' + clicks + ' canvas=' + canvas.getAttribute('role') + (canvas.getAttribute('aria-label') ? '' : '-nameless');
document.body.append(said);
})();
END
    page_with measured "$1" "$work/measure.js" -- "${@:2}"
}
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
