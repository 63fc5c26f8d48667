#!/bin/sh
# `ferry bench report vector`: two tables, each with the same sizes for each of three methods.
. "$(dirname "$0")/lib/common.sh"
. "$here/lib/bench.sh"

bench report vector run=8 stride=16
for size in 8192 131072 1048576 16777216; do
    checks=$((checks + 1))
    [ "$(grep -Ec "^ +$((size / 8)) \| +$size \| +[0-9.~]+ \| +[0-9.-]+$" out)" -eq 3 ] || fail "no lines of $size bytes"
done
checks=$((checks + 1))
[ "$(grep -c '^Num of elements | Size of buffer | Time/iteration (us) | Bandwidth (GB/s)$' out)" -eq 2 ] || fail "heads"


finish
