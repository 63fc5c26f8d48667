#!/bin/sh
# `ferry bench`: what is refused before any rank is started. One line, status 2.
. "$(dirname "$0")/lib/common.sh"

bad() {
    pattern=$1
    shift
    refuse 2 "^ferry: bench: $pattern" "$program" bench "$@"
}

# Words and keys.
bad 'no case is given; expected bundle, vector, halo, overlap or transpose'
bad 'no case is given' ''
bad 'unknown case "hallo"; expected bundle, vector, halo, overlap or transpose' hallo
bad '"d=3" comes before any case; expected bundle' d=3 halo
bad 'halo: unknown key "m"; expected d, n, w, e, fields, dir, or np' halo m=3
bad 'halo: d is given twice; expected once' halo d=3 d=3
bad 'vector: unknown key ""; expected rows' vector =3
bad 'the word "a+\.\.\." has 200 characters; expected fewer' "$(printf '%0200d' 0 | tr 0 a)"

# Numbers.
bad 'halo: d=0; expected a number from 1 to 3' halo d=0
bad 'halo: d=4; expected a number from 1 to 3' halo d=4
bad 'halo: n=99999999999999999999; expected a number from 1 to' halo n=99999999999999999999
bad 'halo: n=9223372036854775807K; expected a number from 1 to' halo n=9223372036854775807K
bad 'halo: n=; expected a number' halo n=
bad 'halo: n=12q; expected a number' halo n=12q
bad 'vector: rows=-5; expected a number from 1 to' vector rows=-5
bad 'vector: rows=0; expected a number from 1 to' vector rows=0
bad 'bundle: matrices=1x2; expected 3 numbers from 1 to .*, joined by x, such as 20x1000x100' bundle matrices=1x2
bad 'bundle: matrices=1x2x3x4; expected 3 numbers' bundle matrices=1x2x3x4
bad 'transpose: n=7x; expected 2 numbers' transpose n=7x
bad 'transpose: e=65; expected a number from 1 to 64' transpose e=65
bad 'bundle: op=scatter; expected bcast or sendrecv' bundle op=scatter
bad 'bundle: small=2; expected a number from 4 to' bundle small=2
bad 'bundle: matrix=7; expected a number from 8 to' bundle matrix=7
bad 'bundle: matrix=2x3; expected a number' bundle matrix=2x3
bad 'halo: fields=9; expected a number from 1 to 8' halo fields=9
bad 'vector: rows=; expected a number' vector rows=1,,2
bad 'vector: rows=; expected a number' vector rows=1,
bad 'vector: rows is given twice' vector rows=1,2 rows=3
bad 'these are 1600 cases; expected at most 1000' vector \
    rows=$(seq -s, 1 40) stride=$(seq -s, 2 41)
bad 'overlap: stride=3; expected at least 2 \* run=4' overlap run=2 stride=3
bad 'overlap: tests=0; expected a number from 1' overlap tests=0
bad 'halo: dir=w; expected x, y, z or all' halo dir=w

# Values that do not go together.
bad 'vector: stride=3; expected at least 2 \* run=4' vector run=2 stride=3
bad 'vector: rows \* run is 4294967294; expected at most 2147483647' vector rows=2147483647 run=2
bad 'halo: dir=z needs d=3 or more; got d=2' halo d=2 dir=z
bad 'halo: w=9 is wider than the block, n=8; expected w <= n' halo n=8 w=9
bad 'halo: a face has 1152921504606846976 cells; expected at most 2147483647' halo n=1G

bad 'bundle: small=6; expected a multiple of 4' bundle small=6
bad 'bundle: matrix=12; expected a multiple of 8' bundle matrix=12
bad 'bundle: expected one of matrices, small and matrix' bundle small=8 matrix=8
bad 'bundle: expected one of matrices, small and matrix' bundle matrices=1x1x1 small=8
bad 'report: case halo; expected bundle or vector' report halo
bad 'report: rows is given; expected none' report vector rows=8
bad 'report: run \* e is 16000; expected at most 8192' report vector run=2000 stride=4000
bad 'report: small is given; expected matrices or matrix' report bundle small=8
bad 'report: prints lines only; expected neither --json, --csv nor --plot' report bundle --json x.json
bad 'no case is given' report

# More memory than there is, also where the product passes 64 bits.
bad 'transpose n=1000000x2000000 e=8 np=2 needs 64000000000000 bytes of memory; there are [0-9]+$' \
    transpose n=1000000x2000000 e=8
bad 'bundle matrix=1099511627776 op=bcast np=2 needs [0-9]+ bytes of memory; there are' bundle matrix=1024G
bad 'bundle .* needs 18446744073709551615 bytes of memory' bundle matrices=2147483647x2147483647x2147483647

# Ranks.
bad 'vector: np=0; expected a number from 1 to 4096' vector np=0
bad 'vector: np=1; expected 2 or more ranks' vector np=1
bad 'bundle: np=1; expected 2 or more ranks' bundle --np 1

# Rivals and outputs.
bad '--rivals: unknown rival "boots"; expected all, none, raw-warm, raw-fresh, raw-nocma, copy-fresh, xml, boost, boost-content, pickle, pickle5, gretl, gretl-tuned$' \
    bundle --rivals boots
bad '--rivals: unknown rival ""; expected' bundle --rivals ''
bad '--rivals: unknown rival "gretl"; expected all, none, datatype, handpack, handpack-simd, mpi-pack, persistent, neighbor$' halo --rivals gretl
bad '--pairs' bundle --pairs 0
bad '--pairs 1001; expected a number from 1 to 1000' bundle --pairs 1001
bad '--pairs' bundle --pairs x
bad '--rivals: unknown rival "xml"; expected all, none, datatype, handpack' halo vector --rivals xml
bad '--plot x.pdf: expected a name that ends with .svg or .png' halo --plot x.pdf
bad '--limit' bundle --limit 0
refuse 2 '^ferry: bench: --plot: gnuplot is not in PATH; expected it installed, or --csv FILE' \
    env PATH="$work" "$program" bench halo --plot x.png
bad 'output none/x.json cannot be written: No such file' halo --json none/x.json
bad 'output \. is a folder; expected the name of a file' halo --csv .
bad '--json and --csv are both same; expected two files' halo --json same --csv same

run 0 "$program" bench --help
for word in bundle vector halo transpose rows= matrices= small=N matrix=N gretl-tuned report datatype handpack-simd mpi-pack persistent neighbor isend overlap fields= --limit blocked-alltoall xml; do
    shows "$word" out
done
finish
