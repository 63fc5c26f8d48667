# What the tests of the program share. Sourced; $1 is the program, $2 the MPI it was built for.
# shellcheck shell=sh
set -u
program=$1
mpi=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
cd "$work" || exit 1
failures=0
checks=0

fail() {
    failures=$((failures + 1))
    echo "FAILED: $*"
    [ -s out ] && sed 's/^/  out: /' out
    [ -s err ] && sed 's/^/  err: /' err
    return 0
}

# run STATUS COMMAND...: the exit status must be STATUS; streams go to the files out and err.
run() {
    wanted=$1
    shift
    checks=$((checks + 1))
    last="$*"
    timeout 100 "$@" >out 2>err </dev/null
    got=$?
    [ "$got" -eq "$wanted" ] || fail "exit status $got, expected $wanted: $last"
}

# refuse STATUS PATTERN COMMAND...: fails with exactly one line on stderr, that matches, nothing on stdout, and leaves
# no partial file.
refuse() {
    wanted=$1
    pattern=$2
    shift 2
    run "$wanted" "$@"
    lines=$(wc -l <err)
    [ "$lines" -eq 1 ] || fail "$lines lines on stderr, expected 1: $last"
    [ -s out ] && fail "something on stdout: $last"
    grep -q "^ferry: " err || fail "stderr does not begin with \"ferry: \": $last"
    grep -Eq -- "$pattern" err || fail "stderr does not say \"$pattern\": $last"
    no_partial
}

# shows PATTERN FILE: a line of FILE matches.
shows() {
    checks=$((checks + 1))
    grep -Eq -- "$1" "$2" || fail "$2 does not say \"$1\": $last"
}

# once PATTERN: exactly one line of err matches.
once() {
    checks=$((checks + 1))
    [ "$(grep -Ec -- "$1" err)" -eq 1 ] || fail "err does not say once \"$1\": $last"
}

silent() {
    checks=$((checks + 1))
    [ -s "$1" ] && fail "$1 is not empty: $last"
    return 0
}

no_partial() {
    checks=$((checks + 1))
    if find . -name '*.partial' | grep -q .; then
        fail "a partial file is left: $(find . -name '*.partial')"
        find . -name '*.partial' -exec rm -f {} +
    fi
}

# As a user starts a job: $launcher N COMMAND...
if [ "$mpi" = openmpi ]; then
    launcher="mpiexec.openmpi --quiet --allow-run-as-root --oversubscribe -n"
else
    launcher="mpiexec.$mpi -n"
fi

npy() {
    python3 "$here/lib/npy_tool.py" "$@" || fail "npy_tool.py $*"
}

finish() {
    echo "$checks checks, $failures failed"
    [ "$failures" -eq 0 ]
    exit $?
}
