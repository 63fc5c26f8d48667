#!/bin/sh
# `ferry bench vector|halo|overlap`: every row is there and verified, for shapes that leave remainders; lists of values,
# pictures. What a figure is, is never tested.
. "$(dirname "$0")/lib/common.sh"
. "$here/lib/bench.sh"

rivals="datatype handpack handpack-simd mpi-pack persistent neighbor"

# rows FILE CASES NAME...: a result of each case, with exactly these rows.
rows() {
    checks=$((checks + 1))
    python3 - "$@" <<'PY' || fail "results are not as promised: $last"
import json, sys
cases = json.load(open(sys.argv[1]))
assert len(cases) == int(sys.argv[2]), [c["case"] for c in cases]
for case in cases:
    assert case["verified"] is True, case
    names = [r["name"] for r in case["results"]]
    assert sorted(set(names) - {"ferry-adopted"}) == sorted(sys.argv[3:]), (case["case"], names)
    assert all(r["rounds"] > 0 and r["bytes"] > 0 for r in case["results"]), case
PY
}

# All neighbours of a grid of 2x2x1, blocks in which both sides send the same cells, two fields.
bench halo n=5 w=3 e=4 fields=2 dir=all np=4 --json r.json
# shellcheck disable=SC2086 # a list of words
rows r.json 1 ferry ferry-private limit $rivals
shows '^halo d=3 n=5 w=3 e=4 fields=2 dir=all np=4: 38.6 KB arrive' out

# A rank that is its own neighbour, and dimensions that are left out.
bench halo d=2 n=9 w=2 dir=all np=1 --json r.json --rivals neighbor,handpack-simd
rows r.json 1 ferry ferry-private limit neighbor handpack-simd

# Lists: a case of each value; an odd last rank looks on. A picture of both kinds, with more
# ranks than cores: then no time is too short to be drawn.
bench vector rows=21,1K run=1,3 e=4 np=3 --rivals handpack-simd --json r.json
rows r.json 4 ferry ferry-private limit handpack-simd
shows '^vector rows=1024 run=3 stride=64 e=4 np=3: ' out
if command -v gnuplot >/dev/null; then
    for kind in svg png; do
        bench vector np=3 rows=64,4K --rivals datatype --plot "it's.$kind"
        [ -s "it's.$kind" ] || fail "no picture: $last"
    done
    for word in datatype limit 'rows=64'; do
        shows "$word" "it's.svg"
    done
    mkdir broken
    printf '#!/bin/sh\nexit 3\n' >broken/gnuplot
    chmod +x broken/gnuplot
    refuse_plot() {
        run 1 env PATH="$work/broken:$PATH" "$program" bench vector np=3 rows=64 --rivals none --plot p.svg
        shows 'gnuplot drew nothing; it ended with status 3' err
        [ -e p.svg ] && fail "a picture is left"
        no_partial
    }
    refuse_plot
fi

# What was hidden.
bench overlap rows=100 run=3 tests=5 --json r.json
rows r.json 1 compute ferry ferry-tested ferry-untested isend isend-tested
shows '^  hidden: ferry-tested -?[0-9.]+, ferry-untested -?[0-9.]+, isend-tested -?[0-9.]+$' out
python3 - r.json <<'PY' || fail "what was hidden is not in the results"
import json, sys
assert set(json.load(open(sys.argv[1]))[0]["hidden"]) == {"ferry-tested", "ferry-untested", "isend-tested"}
PY
bench overlap rows=100 --rivals none
grep -q isend out && fail "a rival that was not asked for: $last"

# A job of another program that does not end.
if [ "$mpi" = openmpi ]; then
    mkdir fake
    printf '#!/bin/sh\nsleep 90\n\0libmpi.so.40\0' >fake/gretlmpi
    chmod +x fake/gretlmpi
    run 1 env PATH="$work/fake:$PATH" "$program" bench bundle matrices=1x2x2 --rivals gretl --pairs 1 --limit 2
    shows '^  gretl +not available: failed: took longer than 2 s and was ended' out
fi

no_partial
finish
