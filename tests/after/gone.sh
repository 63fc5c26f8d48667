#!/bin/sh
# Ranks that end while others wait for them: see gone.c. The launcher must not end the others: it is stopped before.
# usage: gone.sh PROGRAM MPI MPIEXEC [FLAG]...
set -u
program=$1 mpi=$2
shift 2
launch=$*
case $mpi in
mpich) launch="$launch -disable-auto-cleanup" ;;
openmpi) launch="$launch --mca orte_enable_recovery 1 --mca orte_abort_on_non_zero_status 0" ;;
esac
ulimit -c 0
failed=0

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

content() {
    grep -hs ' is content' "$folder"/* | wc -l
}

# job LIMIT RANKS NODES MOMENT END: all ranks but the last must be content, and it too when it lives on. The launcher may
# end before them, or not at all.
job() {
    survivors=$(($2 - 1))
    [ "$5" = pause ] && survivors=$2
    rm -f "$folder"/*
    # shellcheck disable=SC2086
    FERRY_NODES=$3 FERRY_TIMEOUT=$1 timeout -k 1 20 $launch -n "$2" "$program" "$4" "$5" "$folder" >"$folder/out" 2>&1 </dev/null &
    tries=0
    while [ "$(content)" -lt "$survivors" ] && [ "$tries" -lt 150 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    [ -e "$folder/launcher" ] && kill -KILL "$(cat "$folder/launcher")" 2>/dev/null
    kill $! 2>/dev/null
    wait $! 2>/dev/null
    [ "$(content)" = "$survivors" ] && return
    echo "FERRY_NODES=$3, $2 ranks, $4, $5: not all of $survivors ranks are content"
    cat "$folder"/*
    failed=1
}

# Within a node, whatever the moment.
for moment in round stream broadcast compile agree bundle; do
    job 0 3 auto "$moment" kill
done
job 0 2 auto round crash
job 0 2 auto round exit

# Nobody can see what happens on another node, or that a rank has stopped.
for moment in round stream broadcast compile agree bundle; do
    job 1 2 block:1 "$moment" kill
done
job 1 3 auto round stop

# A rank that only stops for a while is waited for.
job 20 3 auto round pause
job 20 2 block:1 bundle pause
exit $failed
