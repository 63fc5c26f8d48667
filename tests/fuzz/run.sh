#!/bin/sh
# Fuzz the decoder of images for a while, with clang's libFuzzer and sanitizers.
# usage: run.sh SOURCE-DIR SECONDS
# What is found anew goes to a folder that is deleted; an input that breaks something is kept in the current folder.
set -u
source=$1 seconds=$2
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
clang=${CLANG:-clang}

printf 'int LLVMFuzzerTestOneInput(const char *d, long n) { return n < 0 && *d; }\n' >"$scratch/probe.c"
if ! "$clang" -fsanitize=fuzzer,address "$scratch/probe.c" -o "$scratch/probe" >/dev/null 2>&1; then
    echo "skipped: no clang with libFuzzer ($clang)"
    exit 77
fi

# The container alone, without moves and files: what needs MPI stays out.
files=$(for name in array attribute bundle compare decode encode head index item list merge path pattern \
    place print step tree type utf8 value; do echo "$source/src/bundle/$name.c"; done)
# shellcheck disable=SC2086
"$clang" -g -O1 -std=gnu11 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
    -I"$source/include" -I"$source/src" "$source/tests/fuzz/decode.c" $files "$source"/src/base/*.c \
    -DFERRY_MPI_NAME='"none"' -DFERRY_MPIEXEC='"none"' -lpthread -o "$scratch/decode" || exit 1
mkdir "$scratch/found"
"$scratch/decode" -max_total_time="$seconds" -max_len=8192 -rss_limit_mb=1024 -malloc_limit_mb=64 -print_final_stats=1 \
    -artifact_prefix=./fuzz- "$scratch/found" "$source/tests/fuzz/corpus" >"$scratch/log" 2>&1
status=$?
tail -n 40 "$scratch/log" | grep -E 'ERROR|SUMMARY|stat::number_of_executed_units|stat::peak_rss_mb|runtime error|cov:' |
    tail -n 8
exit $status
