# Running `ferry bench` in a test; sourced after common.sh.

# A refused row on a busy machine is a matter of time, not of this test; all else must be right.
bench() {
    checks=$((checks + 1))
    last="bench $*"
    timeout 250 "$program" bench "$@" >out 2>err </dev/null
    got=$?
    [ "$got" -eq 0 ] && return
    [ "$got" -eq 1 ] && grep -q 'refused: faster' out && return
    fail "exit status $got: $last"
}
