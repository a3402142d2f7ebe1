#!/bin/bash
# apps/bench/grid on made-up cells with known answers, and on a bed that only writes results: what fails, what
# is undecided, the worst first, the page, going on after a stop, and measuring a loss again. TAP. No
# MPI; 10 s.
set -u
: "${CLV_TOP:?}" "${CLV_BUILD:?}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
output=$work/output
. "$CLV_TOP/tests/support/tap.sh"
[ -e "$CLV_BUILD/component/mca_coll_clv.so" ] || tap_skip_all 'the component is not built'
grid() { "$CLV_TOP/apps/bench/grid" "$@" >"$output" 2>&1; }

# Ten blocks around `ms`, the same ten of every algorithm; `wide` scatters clv's by a tenth either way.
line() { # bytes algorithm ms [wide]
    awk -v bytes="$1" -v algorithm="$2" -v ms="$3" -v wide="${4:-}" 'BEGIN {
        printf "{\"mode\":\"loop\",\"collective\":\"reduce\",\"ranks\":8,\"bytes\":%d,\"pattern\":\"uniform\",\"delay\":\"1x\",\"delay_ns\":1,\"couple\":\"none\",\"compute\":\"1x\",\"algorithm\":\"%s\",\"iteration_ns\":[", bytes, algorithm
        for (i = 0; i < 10; i++) printf "%s%.0f", i ? "," : "", 1e6 * ms * (1 + 0.03 * (i % 3)) * (1 + 0.001 * i) * (wide == "" ? 1 : 1 + 0.1 * (i % 2 ? 1 : -1))
        print "],\"network_bound\":true}" }'
}
cell() { # name bytes clv_ms [wide]: against default 100 ms, pipeline 50 ms, ring 80 ms
    { line "$2" default 100; line "$2" clv "$3" "${4:-}"
      [ "$2" -lt 262144 ] || { line "$2" pipeline 50; line "$2" ring 80; }; } >"$work/cells/$1.json"
}
says() { grep -qF -- "$1" "$output"; }

mkdir "$work/cells"
cell 8-4K-uniform-none-1 4096 103
cell 8-8K-one-late-bcast-1 8192 101 wide
cell 8-16K-uniform-none-1 16384 101.9
cell 8-1M-uniform-none-1 1048576 53
cell 8-2M-uniform-none-1 2097152 52
grid --print --folder "$work/cells"
[ $? -eq 1 ] && says '5 cells: **1 fail**, 1 undecided, 3 hold' && says 'Against the best stock setting, from 256 KiB on: 1 fail, 0 undecided, 1 hold' &&
    says '| 8-4K-uniform-none-1 | 1.030 | 1.030 - 1.030 | fails |' && grep -q '^| 8-8K-one-late-bcast-1 | 1.0[0-9]* | [0-9.]* - [0-9.]* | undecided | default' "$output" &&
    says '| 8-1M-uniform-none-1 | 0.530 | 0.530 - 0.530 | holds | pipeline | 1.060 | 1.060 - 1.060 | fails |' &&
    says '| 8-2M-uniform-none-1 | 0.520 | 0.520 - 0.520 | holds | pipeline | 1.040 | 1.040 - 1.040 | holds |'
tap_report $? "judged by the limits, against the default and the best stock setting of the cell"
[ "$(grep -m 1 -A 2 '^| cell' "$output" | tail -n 1 | cut -d' ' -f2)" = 8-4K-uniform-none-1 ]
tap_report $? "the largest ratio comes first"

printf 'before\n<!-- grid reduce -->\nold\n<!-- end -->\nafter\n' >"$work/page.md"
grid --print --folder "$work/cells" --page "$work/page.md"
[ "$(head -n 2 "$work/page.md" | tail -n 1)" = '<!-- grid reduce -->' ] && [ "$(tail -n 1 "$work/page.md")" = after ] &&
    ! grep -q '^old' "$work/page.md" && grep -q '8-4K-uniform' "$work/page.md"
tap_report $? "the page gets the verdicts between its marks"

# Beds that only write: what was asked goes to `asked`; 8K takes 110, or cannot be measured while `broken`.
cat >"$work/bed" <<END
#!/bin/sh
while [ \$# -gt 0 ]; do case \$1 in with) hosts=\$2 ;; --couple) couple=\$2 ;; --sizes) size=\$2 ;; --seed) seed=\$2 ;; --patterns) pattern=\$2 ;; --compute) c=\$2 ;; --json) file=\$2 ;; --collective) collective=\$2 ;; --algorithms) algorithms=\$2 ;; --send-buffer) buffer=\$2 ;; --pml) pml=\$2 ;; esac; shift; done
echo "\$size \$pattern \$c \$seed" >>"$work/asked"
echo "\$collective \$size \$algorithms" >>"$work/asked-of"
echo "\${buffer:-none} \${pml:-none}" >>"$work/asked-beds"
[ "\$size" != 8K ] || [ ! -e "$work/broken" ] || { echo half >"\$file"; exit 1; }
ms=100; [ "\$size" != 8K ] || [ "\$seed" != 1 ] || ms=110
case \$size in *K) bytes=\$((\${size%K} * 1024)) ;; *M) bytes=\$((\${size%M} * 1048576)) ;; *) bytes=\$size ;; esac
sed "s/:100,/:\$ms,/; s/\"ranks\":8/\"ranks\":\$hosts/; s/\"bytes\":4096/\"bytes\":\$bytes/; \
    s/\"pattern\":\"uniform/\"pattern\":\"\$pattern/; s/\"couple\":\"none/\"couple\":\"\$couple/; s/\"compute\":\"1x/\"compute\":\"\$c/" \
    "$work/bed-\$ms" >"\$file"
END
chmod +x "$work/bed"
for ms in 100 110; do { line 4096 default 100; line 4096 clv $ms; } >"$work/bed-$ms"; done
export CLV_GRID_CLUSTER=$work/bed
part=(--folder "$work/new" --hosts 8 --sizes 4K,8K --patterns uniform,one-late --couples none)
: >"$work/broken"
grid "${part[@]}"
[ $? -eq 1 ] && [ "$(sort "$work/asked" | tr '\n' ';')" = '4K one-late 1x 1;4K uniform 1x 1;8K one-late 1x 1;8K uniform 1x 1;8K uniform 4x 1;' ] &&
    [ "$(ls "$work/new"/*.json | wc -l)" -eq 2 ] && says 'failed; see'
tap_report $? "a cell that cannot be measured leaves no result and the others go on"
rm "$work/broken" "$work/asked"
grid "${part[@]}"
[ $? -eq 1 ] && [ "$(sort "$work/asked" | tr '\n' ';')" = '8K one-late 1x 1;8K uniform 1x 1;8K uniform 4x 1;' ] && says '5 cells: **3 fail**'
tap_report $? "a run that goes on measures only what is not there"
rm "$work/asked"
grid "${part[@]}" --repeat
[ $? -eq 0 ] && [ "$(sort "$work/asked" | tr '\n' ';')" = '8K one-late 1x 1001;8K uniform 1x 1001;8K uniform 4x 1001;' ] &&
    says '5 cells: **0 fail**, 0 undecided, 5 hold' && says '3 were measured again'
tap_report $? "losses are measured again with a new seed, and that verdict counts"
cp "$output" "$work/shown" && mkdir "$work/kept" && grid --print --folder "$work/new" --keep "$work/kept" && grid --print --folder "$work/kept" &&
    diff <(grep -v '^grid: ' "$work/shown") "$output" && [ "$(grep -c again "$work/kept/grid-reduce.jsonl")" -eq 6 ] && [ "$(wc -l <"$work/kept/grid-reduce.jsonl")" -eq 11 ]
tap_report $? "what is kept of them, the newest only, gives the same verdicts"
rm "$work/asked-of"
grid --folder "$work/others" --collective allreduce --hosts 8 --sizes 4K,1M --patterns balanced --couples none
[ $? -eq 0 ] && [ "$(sort "$work/asked-of" | tr '\n' ';')" = 'allreduce 1M default,clv;allreduce 4K default,clv;' ]
tap_report $? "another collective is measured against the default only"
part=(--hosts 8 --sizes 4K --patterns balanced --couples none)
rm "$work/asked-beds"
grid --folder "$work/plain" "${part[@]}" && grid --folder "$work/buffer" "${part[@]}" --send-buffer 8M &&
    printf '%s\n' '<!-- grid reduce-ucx -->' '<!-- end -->' >"$work/ucx.md" &&
    grid --folder "$work/ucx" "${part[@]}" --pml ucx --page "$work/ucx.md" && grep -q '8-4K-balanced' "$work/ucx.md" &&
    [ "$(tr '\n' ';' <"$work/asked-beds")" = 'none none;8M none;none ucx;' ]
tap_report $? "a bed is told of another send buffer or PML, and of none unless asked for"

# A bed that says how many of it there are, and waits until there have been as many as $CLV_BESIDE.
cat >"$work/slow-bed" <<END
#!/bin/bash
trap 'echo stopped >>"$work/stopped"; exit 130' TERM
touch "$work/beds/\$\$"
ls "$work/beds" | wc -l >>"$work/side-by-side"
for i in \$(seq 300); do
    ! grep -qx "\$CLV_BESIDE" "$work/side-by-side" || break
    sleep 0.1
done
rm "$work/beds/\$\$"
exec "$work/bed" "\$@"
END
chmod +x "$work/slow-bed"
mkdir "$work/beds"
export CLV_GRID_CLUSTER=$work/slow-bed
part=(--hosts 8 --sizes 1M --patterns uniform,one-late,sudden,balanced --couples none --stock pipeline)
rm "$work/asked-of"
CLV_BESIDE=3 grid --folder "$work/beside" "${part[@]}" --jobs 3
[ "$(sort -n "$work/side-by-side" | tail -n 1)" = 3 ] && [ "$(ls "$work/beside"/*.json | wc -l)" -eq 4 ] &&
    [ "$(sort -u "$work/asked-of")" = 'reduce 1M default,clv,pipeline' ]
tap_report $? "so many cells side by side as were asked for, of the settings that were asked for"
stopped_beds() { cat "$work/stopped" 2>/dev/null | wc -l; }
rm -f "$work/beds"/*
CLV_BESIDE=99 "$CLV_TOP/apps/bench/grid" --folder "$work/stopped-grid" "${part[@]}" --jobs 2 >"$output" 2>&1 &
stopped=$!
for _ in $(seq 600); do [ "$(ls "$work/beds" | wc -l)" -eq 2 ] && break; sleep 0.1; done
kill -TERM $stopped
wait $stopped
status=$?
for _ in $(seq 300); do [ "$(stopped_beds)" -eq 2 ] && break; sleep 0.1; done
[ $status -eq 130 ] && [ "$(stopped_beds)" -eq 2 ] && ! ls "$work/stopped-grid"/*.json 2>/dev/null
tap_report $? "who stops it stops the beds"
unset CLV_GRID_CLUSTER

grid --plan --folder "$work/none" && says '720 cells to measure' && grid --plan --fixed --folder "$work/none" && says '60 cells to measure' &&
    grid --plan --fixed --hosts 16 --sizes 64K --couples none --folder "$work/none" && says '2 cells to measure'
tap_report $? "the whole grid, the sixty that are fixed, and a part of them"
# A sample: none of the fixed cells, a larger one begins with a smaller one, another collective has its own.
drawn() { # n collective: names of the cells that a bed was asked for
    rm -rf "$work/drawn" "$work/asked"
    CLV_GRID_CLUSTER=$work/bed grid --folder "$work/drawn" --collective "$2" --sizes 4K,8K --sample "$1"
    (cd "$work/drawn" && printf '%s\n' *.json | sort)
}
few=$(drawn 6 bcast) more=$(drawn 12 bcast)
[ "$(wc -l <<<"$more")" -eq 12 ] && [ -z "$(comm -23 <(echo "$few") <(echo "$more"))" ] && [ "$few" != "$(drawn 6 reduce)" ] && says 'that are not fixed, 6 are among them'
tap_report $? "a sample of the cells that are not fixed grows by the same ones first"
fixed_again=$(CLV_GRID_CLUSTER=$work/bed grid --folder "$work/fixed" --collective bcast --sizes 4K,8K --fixed; cd "$work/fixed" && printf '%s\n' *.json | sort)
[ "$(wc -l <<<"$fixed_again")" -eq 12 ] && ! says 'not fixed' && [ -z "$(comm -12 <(echo "$fixed_again") <(drawn 400 bcast))" ]
tap_report $? "and has none of the fixed ones"
grid --print --folder "$work/fixed" --collective bcast --hosts 8 --patterns uniform --couples none
! says 'not fixed' && says '12 cells'
tap_report $? "which are fixed does not depend on the part that is asked for"
refuses() { # text options ...
    local text=$1
    shift
    grid --folder "$work/none" "$@"
    [ $? -eq 2 ] && says "$text"
}
refuses 'unknown option' --what && refuses 'must be a whole number' --minutes x && refuses 'must be a whole number' --hosts eight && refuses 'cannot write' --page /nowhere/page && refuses '--collective is' --collective scan &&
    refuses 'must be like 8M' --send-buffer much && refuses 'without --fixed' --fixed --sample 4
tap_report $? "wrong use is told, exit 2"
tap_end
