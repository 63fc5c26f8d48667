#!/bin/sh
# Failures that only the ranks can find: one line through the launcher, status 1, nothing left.
. "$(dirname "$0")/lib/common.sh"

npy make in.npy '<f8' 40 30

# What the library refuses.
refuse 1 '^ferry: transpose: .*none of the allowed routes \(self\)' env FERRY_ROUTE=self \
    "$program" transpose --np 3 in.npy out.npy
refuse 1 '^ferry: transpose: .*FERRY_ROUTE.*"nonsense"' env FERRY_ROUTE=nonsense \
    "$program" transpose --np 3 in.npy out.npy
refuse 1 '^ferry: info: .*FERRY_NODES.*"nonsense"' env FERRY_NODES=nonsense "$program" info --np 2
refuse 1 '^ferry: info: .*FERRY_NODES.*"nonsense"' env FERRY_NODES=nonsense "$program" info --np 1
[ -e out.npy ] && fail "an output was written"

# Every route, through the whole program.
for route in node_direct node_ring wire_pack; do
    run 0 env FERRY_ROUTE=self,$route "$program" transpose -q --np 3 --force in.npy out.npy
    silent err
    npy transposed in.npy out.npy
done
run 0 env FERRY_NODES=block:2 "$program" transpose -q --np 4 --force in.npy out.npy
npy transposed in.npy out.npy
rm -f out.npy

# The processes of the ranks: those with the output's name in their command line that were told where to report, the
# launcher left out. The brackets keep grep from finding itself.
ranks_of() {
    grep -lsa "[k]illed-$$.npy" /proc/[0-9]*/cmdline | xargs -r grep -Lsa mpiexec | xargs -r grep -lsa -e --report-to |
        sed 's|/proc/||; s|/cmdline||'
}

npy raw long.npy "{'descr': '<f8', 'fortran_order': False, 'shape': (6000, 4000), }" 192000000

# lose_rank HOW: a rank is killed while the job is under way, and its launcher runs on ("seen") or is stopped before, so
# that it cannot hear of it ("unseen").
lose_rank() {
    last="a rank is killed, $1 by the launcher"
    checks=$((checks + 1))
    timeout 100 "$program" transpose --np 2 --verify long.npy "killed-$$.npy" >out 2>err </dev/null &
    pid=$!
    tries=0
    while [ "$(ranks_of | wc -l)" -lt 2 ] && [ "$tries" -lt 2000 ] && kill -0 "$pid" 2>/dev/null; do
        tries=$((tries + 1))
        sleep 0.002
    done
    victim=$(ranks_of | tail -n 1)
    [ "$1" = unseen ] && sleep 0.1 && pkill_launcher STOP
    if [ -n "$victim" ] && kill -KILL "$victim" 2>/dev/null; then
        wait "$pid"
        got=$?
        [ "$got" -eq 1 ] || fail "exit status $got, expected 1: $last"
        once '^ferry: transpose: '
        no_partial
        [ -e "killed-$$.npy" ] && fail "an output was written: $last"
        [ -z "$(ranks_of)" ] || fail "a rank was left: $last"
    else
        pkill_launcher CONT
        wait "$pid"
        echo "too late: $last"
    fi
    rm -f "killed-$$.npy"
    return 0
}

# Send a signal to the launcher of the job.
pkill_launcher() {
    grep -lsa "[k]illed-$$.npy" /proc/[0-9]*/cmdline | xargs -r grep -lsa mpiexec | sed 's|/proc/||; s|/cmdline||' |
        xargs -r kill -"$1"
}

lose_rank seen
lose_rank unseen
finish
