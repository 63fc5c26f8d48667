#!/bin/sh
# `ferry bench bundle`: every kind of content, every rival, and the lines of `report`. Which rivals there are depends on
# what is installed; each is either measured or said to be missing, with a reason. What a figure is, is never tested.
. "$(dirname "$0")/lib/common.sh"
. "$here/lib/bench.sh"

# present NAME: whether out has times of a rival; else it must say why not.
present() {
    grep -Eq "^  $1 +[0-9.~]+ ?[a-z]*s? " out && return 0
    shows "^  $1 +not available: [a-zA-Z/]" out
    return 1
}

# A failed rival is not a missing one.
nothing_failed() {
    checks=$((checks + 1))
    grep -q 'not available: failed' out && fail "a rival failed: $last"
    return 0
}

# Matrices, all rivals, results in files.
bench bundle matrices=2x3x5 --pairs 1 --json r.json --csv r.csv
nothing_failed
for rival in raw-warm raw-fresh xml; do
    present $rival || fail "$rival is always there: $last"
done
wanted=
for rival in raw-warm raw-fresh copy-fresh xml boost boost-content raw-nocma pickle pickle5 gretl gretl-tuned; do
    present $rival && wanted="$wanted $rival"
done
shows 'ratios: raw-warm / ferry [0-9.]+, raw-fresh / ferry-fresh [0-9.]+, ferry / limit [0-9.]+' out
if [ "$mpi" = mpich ]; then
    for rival in boost pickle gretl gretl-tuned; do
        present $rival && echo "$rival: there is one for MPICH"
    done
    present raw-nocma && shows '^  raw-nocma .*UCX_TLS=posix,sysv,self$' out
else
    present raw-nocma || fail "raw-nocma is always there: $last"
    shows '^  raw-nocma .*OMPI_MCA_btl_vader_single_copy_mechanism=none$' out
    present gretl-tuned &&
        shows '^  gretl-tuned .*MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=[0-9]+ MALLOC_TOP_PAD_=[0-9]+$' out
fi
# shellcheck disable=SC2086 # a list of words
python3 - r.json r.csv $wanted <<'PY' || fail "results are not as promised"
import csv, json, sys
(case,) = json.load(open(sys.argv[1]))
wanted = sys.argv[3:]
assert case["case"] == "bundle matrices=2x3x5 op=bcast" and case["verified"] is True, case
rows = {r["name"]: r for r in case["results"]}
assert set(rows) - {"ferry", "ferry-fresh", "ferry-readonly", "limit"} == set(wanted), rows
for name, row in rows.items():
    assert row["bytes"] == 240 and row["rounds"] > 0 and row["median_s"] > 0, row
    own = name in ("raw-nocma", "pickle", "pickle5", "gretl", "gretl-tuned")
    assert ("pairs" in row) == own, row
    if own:
        assert row["pairs"] == (0 if name == "raw-nocma" else 1) and row["note"], row
for ferry in ("ferry", "ferry-fresh"):
    assert set(case["ratios"][ferry]) == set(wanted), case["ratios"]
    assert all(r is None or r > 0 for r in case["ratios"][ferry].values())
assert [t["name"] for t in csv.DictReader(open(sys.argv[2]))] == list(rows)
PY

# Small entries: a last group and a last leaf that are not full; from rank 0 to rank 1 with one to look on.
bench bundle small=428 op=sendrecv np=3 --pairs 1 --rivals raw-warm,xml,boost,pickle5,gretl
nothing_failed
shows '^bundle small=428 op=sendrecv np=3: ' out
present raw-warm || fail "raw-warm is always there: $last"
for rival in boost pickle5 gretl; do
    present $rival
done
shows '^  xml +not available: ' out

# One matrix; of rivals those that are named.
bench bundle matrix=4K np=2 --rivals raw-warm,gretl --pairs 2
nothing_failed
shows '^bundle matrix=4096 op=bcast np=2: ' out
present gretl && shows '^  gretl +[^ ]+ [a-z]+ +[^ ]+ [a-z]+ +[^ ]+ [a-z]+ +2 ' out
grep -Eq '^  (raw-fresh|boost|gretl-tuned|raw-nocma) ' out && fail "a rival that was not asked for: $last"

# Several cases: each its own table of rivals with jobs of their own, results of each with it.
bench bundle small=8 np=2 vector rows=10 bundle matrices=1x2x2 np=3 --rivals raw-nocma,handpack --json r.json
shows '^bundle small=8 op=bcast np=2: rivals in jobs of their own' out
shows '^bundle matrices=1x2x2 op=bcast np=3: rivals in jobs of their own' out
python3 - r.json <<'PY' || fail "results are in the wrong case"
import json, sys
for case in json.load(open(sys.argv[1])):
    names = [r["name"] for r in case["results"]]
    if case["case"].startswith("vector"):
        assert "raw-nocma" not in names, names
    for row in case["results"]:
        if row["name"] == "raw-nocma":
            assert row["bytes"] == {"bundle small=8 op=bcast": 216, "bundle matrices=1x2x2 op=bcast": 64}[case["case"]]
PY

# Inside of a job there are no further jobs.
run 0 sh -c "$launcher 2 '$program' bench bundle matrices=1x2x2 --rivals raw-nocma || grep 'refused: faster' out"
shows '^  raw-nocma +not available: needs a job of its own' out

# A program that fails is told, and its exit status counts; so does one that gets something else.
if [ "$mpi" = openmpi ]; then
    mkdir fake
    printf '#!/bin/sh\nexit 3\n\0libmpi.so.40\0' >fake/gretlmpi
    chmod +x fake/gretlmpi
    run 1 env PATH="$work/fake:$PATH" "$program" bench bundle matrices=1x2x2 --rivals gretl --pairs 1
    shows '^  gretl +not available: failed: .* ended with status 3' out
    printf '#!/bin/sh\necho ferry-bench gretl 0.5\nexit 0\n\0libmpi.so.40\0' >fake/gretlmpi
    run 1 env PATH="$work/fake:$PATH" "$program" bench bundle matrices=1x2x2 --rivals gretl --pairs 1
    shows '^  gretl +not available: failed: its job did not say that what arrived is what was sent' out
fi

# Lines: three ways in turn, of which each gives back what was sent.
run 0 "$program" bench report bundle matrices=4x30x20 np=3
sed '1d; s/time: [0-9.e-]*s$/time: Ts/' out >lines
for way in XML 'raw MPI' ferry; do
    printf '%s\nhave 4 matrices\nbcast time: Ts\ngot 4 matrices\nsend/recv time: Ts\ndiff_arrays gave 0\n' "$way"
done >expected
diff expected lines >/dev/null || fail "lines are not as promised: $last"

# Nothing is left but what was asked for.
no_partial
[ -z "$(find . -name '*.part*')" ] || fail "drafts are left"
finish
