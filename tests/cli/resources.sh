#!/bin/sh
# Jobs that are short of something, or are forbidden something: the data is right by another way, the program says which and
# why, and nobody writes to stderr or is ended by a signal.
. "$(dirname "$0")/lib/common.sh"

tests=$(dirname "$program")/../tests
[ -x "$tests/exchange" ] || { echo "skipped: no $tests/exchange"; exit 77; }
skip() { echo "skipped: $*"; }

# Where the MPI itself cannot do without what is missing, it goes another way.
plain="UCX_TLS=self,sysv OMPI_MCA_btl=self,tcp"

# job RANKS COMMAND...: ends; out and err are what it said, got is its exit status.
job() {
    last="$*"
    checks=$((checks + 1))
    ranks=$1
    shift
    # shellcheck disable=SC2086  # several words
    timeout -k 2 60 env $plain $launcher "$ranks" "$@" >out 2>err </dev/null
    got=$?
}

# The last job succeeded, found shared memory by $1, said $2 of it, and ferry was silent.
by() {
    [ "$got" -eq 0 ] || fail "exit status $got: $last"
    shows "^right $1: $2" out
    grep -qi ferry err && fail "ferry wrote to stderr: $last"
    return 0
}

# What works at all here: a job of MPI alone may not.
possible() {
    # shellcheck disable=SC2086
    timeout -k 2 20 env $plain $launcher 2 "$@" true >/dev/null 2>&1
}

job 2 "$tests/exchange" 8
by memfd '$'

# Nobody may look into the processes: no process_vm_readv, no files through /proc. And no anonymous files at all.
if [ -e "$tests/restrict.so" ] && timeout 20 env RESTRICT=dump LD_PRELOAD="$tests/restrict.so" true 2>/dev/null; then
    job 2 env RESTRICT=dump LD_PRELOAD="$tests/restrict.so" "$tests/exchange" 8
    by socket 'not by memfd: .*Permission denied'
    job 2 env RESTRICT=dump LD_PRELOAD="$tests/restrict.so" NO_COLOR=1 "$program" info
    shows '^  shared memory  +socket$' out
    shows '^  shared memory reason  +not by memfd: .*Permission denied' out
    shows '^  node_direct  +works' out
    grep -qi ferry err && fail "ferry wrote to stderr: $last"
    job 2 env FERRY_SHM=memfd RESTRICT=dump LD_PRELOAD="$tests/restrict.so" "$tests/exchange" 8
    by none '.*Permission denied'
    job 2 env RESTRICT=memfd LD_PRELOAD="$tests/restrict.so" "$tests/exchange" 8
    by named 'not by memfd: .*Operation not permitted'
    job 2 env RESTRICT=memfd FERRY_SHM=memfd LD_PRELOAD="$tests/restrict.so" NO_COLOR=1 "$program" info
    shows '^  shared memory  +none$' out
    shows '^  node_direct  +off: .*Operation not permitted' out
else
    skip "nothing can be taken away here"
fi

# Ranks in user namespaces, and in namespaces of processes, of their own.
for kind in -Ur -pf; do
    if possible unshare $kind; then
        job 2 unshare $kind "$tests/exchange" 8
        by '(socket|named)' 'not by memfd: '
    else
        skip "no unshare $kind here"
    fi
done

# Few open files.
plain=
possible sh -c 'ulimit -n 64' && {
    last="ulimit -n 64"
    # shellcheck disable=SC2086
    (ulimit -n 64 && timeout -k 2 60 $launcher 2 "$tests/exchange" 8) >out 2>err </dev/null
    got=$?
    by memfd '$'
}

# A small /dev/shm: right data, or a refusal with both numbers, but never a signal (exit status above 128), and nothing left.
small() {
    last="/dev/shm of $1 MB, $2 ranks"
    checks=$((checks + 1))
    # shellcheck disable=SC2016  # for the inner shell
    timeout -k 2 60 env FERRY_SHM="$3" UCX_TLS=self,sysv OMPI_MCA_btl=self,tcp unshare -m sh -c '
        mount -t tmpfs -o size="$1"m tmpfs /dev/shm || exit 77
        shift
        "$@"
        status=$?
        ls /dev/shm >left
        exit $status' sh "$1" $launcher "$2" "$tests/exchange" 8 >out 2>err </dev/null
    got=$?
    if [ "$got" -eq 3 ]; then
        shows '[0-9]+ bytes of shared memory cannot be had, [0-9]+ are left' out
    else
        [ "$got" -eq 0 ] || fail "exit status $got: $last"
        shows '^right ' out
    fi
    grep -qs ferry left && fail "left in /dev/shm: $(grep ferry left): $last"
    grep -qi ferry err && fail "ferry wrote to stderr: $last"
    return 0
}
if unshare -m mount -t tmpfs tmpfs /dev/shm 2>/dev/null; then
    for megabytes in 1 4 64; do
        small $megabytes 4 named
        small $megabytes 2 auto
    done
else
    skip "no mount namespace here"
fi
finish
