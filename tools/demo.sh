#!/bin/sh
# The three jobs, run and verified, and one table at the end. usage: demo.sh REPOSITORY
# Both builds lie in its folder build. Four ranks under Open MPI, two under MPICH.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)/build
work=$(mktemp -d "${TMPDIR:-/tmp}/ferry-demo.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

failed=0 # a row that is refused, or a wrong element: the rest is still shown, the exit status tells

say() { printf '\n%s\n' "$*"; }

# ranks MPI NP PROGRAM ARGS: start a program that is not ferry itself
ranks() {
    mpi=$1 np=$2
    shift 2
    case $mpi in
        openmpi) mpiexec.openmpi --oversubscribe --allow-run-as-root -n "$np" "$@" ;;
        *) mpiexec.mpich -n "$np" "$@" ;;
    esac
}

job() {
    mpi=$1 np=$2
    ferry=$build/$mpi/bin/ferry
    say "== $np ranks under $mpi"
    say "(a) a bundle of 20 matrices of 1000 x 100 doubles: broadcast, then sent back from rank 1 to rank 0"
    ranks "$mpi" "$np" "$build/$mpi/examples/bundle"
    "$ferry" bench --np "$np" --json "$work/bundle.$mpi.json" --rivals raw-fresh,xml \
        bundle matrices=20x1000x100 op=bcast bundle matrices=20x1000x100 op=sendrecv || failed=1
    say "(b) columns of doubles, and the faces of a cube of 128^3 cells"
    "$ferry" bench --np "$np" --json "$work/strided.$mpi.json" --rivals datatype,handpack \
        vector rows=1024 stride=64 vector rows=8192 stride=64 vector rows=131072 stride=64 vector rows=2097152 stride=8 \
        halo d=3 n=128 w=1 dir=x halo d=3 n=128 w=1 dir=y halo d=3 n=128 w=1 dir=z || failed=1
    say "(c) a matrix of 10080 x 20160 16-bit numbers in a file, turned over by 'ferry transpose', every element compared"
    [ -e "$work/in.npy" ] || python3 "$here/demo.py" write "$work/in.npy" 10080 20160
    rm -f "$work/out.npy"
    "$ferry" transpose --np "$np" --verify "$work/in.npy" "$work/out.npy"
    python3 "$here/demo.py" check "$work/in.npy" "$work/out.npy"
    rm -f "$work/out.npy"
    "$ferry" bench --np "$np" --json "$work/transpose.$mpi.json" --rivals blocked-alltoall transpose n=10080x20160 e=2 || failed=1
}

job openmpi 4
job mpich 2
say "== Summary"
python3 "$here/demo.py" table "$work"/*.json
exit "$failed"
