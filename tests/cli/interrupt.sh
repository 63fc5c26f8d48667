#!/bin/sh
# A job that is interrupted, or that breaks: exit status, one line, no partial file, no process left.
. "$(dirname "$0")/lib/common.sh"

# Large enough to be still under way for a while after the partial file appears.
npy raw in.npy "{'descr': '<f8', 'fortran_order': False, 'shape': (6000, 4000), }" 192000000

run 0 "$program" transpose -q --np 2 in.npy whole.npy

alive() {
    kill -0 "$1" 2>/dev/null
}

# The partial file exists: ranks are being started, or at work.
await_partial() {
    tries=0
    until find . -name '*.partial' | grep -q .; do
        tries=$((tries + 1))
        [ "$tries" -gt 2000 ] && return 1
        alive "$1" || return 1
        sleep 0.005
    done
}

# interrupt SIGNAL STATUS DELAY: during a transposition.
interrupt() {
    checks=$((checks + 1))
    last="SIG$1 after $3 s"
    rm -f out.npy
    "$program" transpose --np 2 --verify in.npy out.npy >out 2>err </dev/null &
    pid=$!
    await_partial "$pid" || fail "no partial file was seen"
    sleep "$3"
    if ! kill -"$1" "$pid" 2>/dev/null; then
        echo "too late: $last"
        wait "$pid"
        return
    fi
    wait "$pid"
    got=$?
    [ "$got" -eq "$2" ] || fail "exit status $got, expected $2: $last"
    [ "$(wc -l <err)" -eq 1 ] || fail "not one line on stderr: $last"
    shows '^ferry: transpose: interrupted by signal' err
    silent out
    no_partial
    # A signal may come between the end of the work and the end of the program; then all is there.
    if [ -e out.npy ] && ! cmp -s out.npy whole.npy; then
        fail "an incomplete output was written: $last"
    fi
    return 0
}

interrupt INT 130 0
interrupt INT 130 0.1
interrupt TERM 143 0.05
interrupt HUP 129 0

# The parent is killed: the launcher and its ranks end. Processes are known by the output's name in their command line.
mark=killed-$$.npy
others() {
    grep -qsa "[k]illed-$$.npy" /proc/[0-9]*/cmdline # the brackets keep grep from finding itself
}
"$program" transpose --np 2 in.npy "$mark" >out 2>err </dev/null &
pid=$!
await_partial "$pid"
tries=0
until others || ! alive "$pid" || [ "$tries" -gt 200 ]; do
    tries=$((tries + 1))
    sleep 0.005
done
kill -KILL "$pid" 2>/dev/null || echo "too late: the job was over before it could be killed"
wait "$pid" 2>/dev/null
tries=0
while others && [ "$tries" -lt 100 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
others && fail "processes outlive a killed parent"
checks=$((checks + 1))
rm -f ./.*.partial "$mark"

# Every wait of a bench ends as well.
"$program" bench --np 2 transpose n=3000x3000 e=8 >out 2>err </dev/null &
pid=$!
sleep 1
if kill -INT "$pid" 2>/dev/null; then
    wait "$pid"
    got=$?
    last="bench"
    [ "$got" -eq 130 ] || fail "exit status $got, expected 130: bench"
    shows '^ferry: bench: interrupted by signal 2' err
fi
finish
