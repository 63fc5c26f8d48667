#!/bin/sh
# Transposed files, checked by a program of its own: element types, shapes, numbers of ranks, both ways to start.
. "$(dirname "$0")/lib/common.sh"

turn() {
    file=$1
    shift
    rm -f out.npy
    run 0 "$@" "$file" out.npy
    case $* in
    *" -v "*) shows '^ferry: starting .* -n ' err ;;
    *) silent err ;;
    esac
    no_partial
    checks=$((checks + 1))
    npy transposed "$file" out.npy
}

# Every kind of type, and its name kept; sizes that have kernels of their own and odd ones.
while read -r descr rows columns np; do
    npy make in.npy "$descr" "$rows" "$columns"
    turn in.npy "$program" transpose --verify --np "$np"
    shows "^$rows x $columns of [0-9]+ bytes? -> out.npy, .* in [0-9.]+ s, verified\$" out
done <<'TABLE'
|u1 37 101 1
|b1 64 64 2
<i2 257 129 2
>u2 128 65 3
<f4 33 47 4
<i8 65 31 3
<f8 128 96 2
<c16 17 19 2
|S3 40 41 3
<U5 21 9 2
|V16 9 50 4
<M8[ns] 30 20 1
|S64 13 11 2
|V100 5 7 3
TABLE

# Shapes: one row, one column, fewer rows than ranks, nothing.
while read -r rows columns np; do
    npy make in.npy '<f8' "$rows" "$columns"
    turn in.npy "$program" transpose -q --verify --np "$np"
    silent out
done <<'TABLE'
1 1 1
1 1 3
1 1000 2
1000 1 4
3 5 4
0 5 2
5 0 3
0 0 1
TABLE

# Headers of versions 2 and 3, and with any white space and order.
npy make in.npy '<i4' 12 34 2
turn in.npy "$program" transpose --np 2
npy make in.npy '<i4' 12 34 3
turn in.npy "$program" transpose --np 1
npy raw in.npy "  { \"shape\":(6 ,4,)  ,'fortran_order' : False,'descr':\"<f4\" } " 96
turn in.npy "$program" transpose --np 2

# The default number of ranks, a user's own launcher, more to say, the disk.
npy make in.npy '<f8' 301 203
turn in.npy "$program" transpose
turn in.npy "$program" transpose --sync --verify -v --np 3
# shellcheck disable=SC2086  # several words
if $launcher 1 true 2>/dev/null; then
    turn in.npy $launcher 4 "$program" transpose --verify
    rm -f out.npy
    run 2 $launcher 2 "$program" transpose --np 3 in.npy out.npy
    once '^ferry: transpose: --np is 3, but the launcher started 2 ranks'
fi

# Existing output.
cp in.npy kept.npy
refuse 1 'kept.npy: exists already' "$program" transpose in.npy kept.npy
cmp -s in.npy kept.npy || fail "an existing output was changed without --force"
chmod 640 kept.npy
run 0 "$program" transpose --force in.npy kept.npy
npy transposed in.npy kept.npy
[ "$(stat -c %a kept.npy)" = 640 ] || fail "the mode of a replaced file is $(stat -c %a kept.npy), expected 640"
cp in.npy same.npy
ln -s same.npy link.npy
run 0 "$program" transpose --force same.npy link.npy
npy transposed in.npy same.npy
[ -L link.npy ] || fail "a symbolic link was replaced"

# Names: spaces, a folder, a long one, one that looks like an option.
npy make 'with space.npy' '<i2' 6 7
mkdir 'a folder'
run 0 "$program" transpose 'with space.npy' 'a folder/out file.npy'
npy transposed 'with space.npy' 'a folder/out file.npy'
long=$(printf '%0250d' 0).npy
run 0 "$program" transpose -q --np 1 'with space.npy' "$long"
npy transposed 'with space.npy' "$long"
run 0 "$program" transpose -q --np 1 -- 'with space.npy' --out
npy transposed 'with space.npy' ./--out
(umask 077 && "$program" transpose -q --np 1 'with space.npy' private.npy)
[ "$(stat -c %a private.npy)" = 600 ] || fail "the mode of a new file is $(stat -c %a private.npy), expected 600"
finish
