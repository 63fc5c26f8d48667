#!/bin/sh
# `ferry bench`: cases verified and measured, results in every form. What a figure is, is never tested.
. "$(dirname "$0")/lib/common.sh"
. "$here/lib/bench.sh"

# Cases of two sizes, one argument or several, in one list and in the order given.
bench "halo d=3 n=12 w=2 e=4 dir=y" vector rows=100 run=2 e=3 np=3 transpose n=61x34 e=2 bundle matrices=3x5x7 \
    op=sendrecv --np 2 --rivals datatype,handpack,blocked-alltoall,raw-warm,raw-fresh,xml --json r.json --csv r.csv
shows '^halo d=3 n=12 w=2 e=4 fields=1 dir=y np=2: .* every element verified$' out
shows '^vector rows=100 run=2 stride=64 e=3 np=3: ' out
shows '^  blocked-alltoall ' out
python3 - r.json r.csv "$mpi" <<'PY' || fail "results are not as promised"
import csv, json, sys
cases = json.load(open(sys.argv[1]))
want = [("halo d=3 n=12 w=2 e=4 fields=1 dir=y", 2, 2 * 2 * 2 * 12 * 12 * 4, "ferry ferry-private ferry-adopted datatype handpack limit"),
        ("vector rows=100 run=2 stride=64 e=3", 3, 2 * 100 * 2 * 3, "ferry ferry-private ferry-adopted datatype handpack limit"),
        ("transpose n=61x34 e=2", 2, 61 * 34 * 2, "ferry ferry-private blocked-alltoall limit"),
        ("bundle matrices=3x5x7 op=sendrecv", 2, 3 * 5 * 7 * 8, "ferry ferry-fresh raw-warm raw-fresh xml limit")]
assert [(c["case"], c["np"]) for c in cases] == [w[:2] for w in want], cases
for c, (case, np, size, names) in zip(cases, want):
    assert c["mpi"] == sys.argv[3] and c["mpi_version"][0].isdigit() and c["verified"] is True, c
    assert c["cores"] >= 1
    rows = {r["name"]: r for r in c["results"]}
    assert list(rows) == names.split(), rows
    for r in rows.values():
        assert r["bytes"] == size, (r, size)
        assert r["rounds"] >= 3 and 0 <= r["min_s"] <= r["max_s"] and r["min_s"] <= r["median_s"] <= r["max_s"], r
    assert set(c["ratios"]) == {n for n in rows if n.startswith("ferry")}, c["ratios"]
    for row, ratios in c["ratios"].items():
        assert set(ratios) == {n for n in rows if not n.startswith("ferry") and n != "limit"}
        for rival, ratio in ratios.items():
            if ratio is not None:
                assert abs(ratio - rows[rival]["median_s"] / rows[row]["median_s"]) <= 1e-6 * ratio, (row, rival)
table = list(csv.DictReader(open(sys.argv[2])))
assert len(table) == sum(len(c["results"]) for c in cases)
assert [t["name"] for t in table] == [r["name"] for c in cases for r in c["results"]]
assert all(int(t["bytes"]) > 0 and float(t["median_s"]) >= 0 for t in table)
PY

# Fewer rivals; a thin block whose two sources share cells; more shares than rows.
bench halo d=2 n=3 w=2 e=1 dir=x --rivals handpack --json r.json
shows '^  handpack ' out
grep -q '^  datatype ' out && fail "a rival that was not asked for"
bench transpose n=2x5 e=64 np=3 halo d=1 n=9 np=1 bundle matrices=1x1x1 op=bcast np=3 --rivals none -q
grep -Eq '^  (blocked-alltoall|handpack|xml) ' out && fail "rivals in spite of none"
bench vector rows=50 -v
shows '^  none ' out
shows '^plan [0-9]+ on rank 0' out

# Inside of a job.
run 0 sh -c "$launcher 2 '$program' bench vector rows=64 --rivals none --json in.json || grep -q refused out"
[ -s in.json ] || fail "no results of a job: $last"
run 2 sh -c "$launcher 2 '$program' bench vector np=3"
shows 'vector: np=3, but this job has 2 ranks; expected np=2' err

# Nothing is left but what was asked for.
no_partial
[ -z "$(find . -name '*.part*')" ] || fail "drafts are left"
finish
