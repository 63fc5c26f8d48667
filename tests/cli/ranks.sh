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

# ranks_of MARK: the processes whose command line begins with the program and has MARK in it, the parent left out.
real=$(readlink -f "$program")
ranks_of() {
    REAL=$real MARK=$1 awk 'index($0, ENVIRON["REAL"]) == 1 && index($0, "--report-to=") && index($0, ENVIRON["MARK"]) {
        split(FILENAME, part, "/")
        print part[3]
    }' /proc/[0-9]*/cmdline 2>/dev/null
}

# A rank is killed while the job is under way.
npy raw long.npy "{'descr': '<f8', 'fortran_order': False, 'shape': (6000, 4000), }" 192000000
"$program" transpose --np 2 --verify long.npy "killed-$$.npy" >out 2>err </dev/null &
pid=$!
last="a rank is killed"
tries=0
while [ "$(ranks_of "killed-$$.npy" | wc -l)" -lt 2 ] && [ "$tries" -lt 2000 ] && kill -0 "$pid" 2>/dev/null; do
    tries=$((tries + 1))
    sleep 0.002
done
victim=$(ranks_of "killed-$$.npy" | tail -n 1)
if [ -n "$victim" ] && kill -KILL "$victim" 2>/dev/null; then
    wait "$pid"
    got=$?
    [ "$got" -eq 1 ] || fail "exit status $got, expected 1: $last"
    [ "$(grep -c '^ferry: transpose: ' err)" -eq 1 ] || fail "not said once: $last"
    no_partial
    [ -e "killed-$$.npy" ] && fail "an output was written: $last"
else
    wait "$pid"
    echo "too late: $last"
fi
checks=$((checks + 1))
finish
