#!/bin/sh
# `ferry tune`: the record shown, measured, written, read again and removed; folders and files of no use. A machine that
# is too busy to be measured is refused, which is right too: then nothing may be written.
. "$(dirname "$0")/lib/common.sh"
cache=$work/cache
export XDG_CACHE_HOME="$cache"

# The file's name, from what --reset says.
run 0 "$program" tune --reset
shows '^there is no file: /.*/cache/ferry/tune-[a-z0-9-]+\.txt$' out
file=$(sed 's/^there is no file: //' out)
case $file in
*"$mpi".txt) ;;
*) fail "the MPI is not in the file's name: $file" ;;
esac

run 0 "$program" tune --show
silent err
shows '^in use: built-in \(no file; "ferry tune" makes one\)$' out
shows '^ring_start_ns +[0-9.]+ +ns +[a-z]' out
shows '^slot_bytes +32768 +bytes' out
[ "$(wc -l <out)" -gt 10 ] || fail "fewer numbers than there are"
run 0 env FERRY_TUNE=off "$program" tune --show --np 2
shows '^in use: built-in \(FERRY_TUNE is off\)$' out
[ -e "$cache" ] && fail "showing has made a folder"

# measure EXTRA...: 0 or 1 as the machine is quiet or not; the table is complete either way when there is one.
measure() {
    checks=$((checks + 1))
    last="tune $*"
    timeout 100 "$program" tune --seconds 2 "$@" >out 2>err </dev/null
    got=$?
    if [ "$got" -eq 0 ]; then
        silent err
        shows '^ +before +after +quartiles +unit$' out
        shows '^direct_wide_far_ns +[0-9.]+ +[0-9.]+ +[0-9.e+]+\.\.[0-9.e+]+ +ns ' out
        return 0
    fi
    [ "$got" -eq 1 ] || fail "exit status $got: $last"
    shows '^ferry: tune: .*[Nn]othing was written$' err
    [ "$(wc -l <err)" -eq 1 ] || fail "$(wc -l <err) lines on stderr, expected 1: $last"
    echo "the machine is busy: $(cat err)"
    return 1
}

measure --dry-run && shows '^nothing was written \(--dry-run\)$' out
[ -e "$file" ] && fail "--dry-run has written $file"
if measure; then
    shows "^written: $file\$" out
    head -n 1 "$file" | grep -qx 'ferry tuning record, version 1' || fail "the first line of $file"
    [ "$(find "$cache" -type f | wc -l)" -eq 1 ] || fail "more than one file is left"
    FERRY_TUNE=off measure --dry-run && shows "^in use: file \($file\)\$" out
    run 0 "$program" tune --show --np 2
    silent err
    shows "^in use: file \($file\)\$" out
    run 0 "$program" info
    shows '^  tuning +file$' out
    shows "^  tuning reason +$file\$" out
    sed -i 's/^ring_start_ns .*/ring_start_ns 777.000/' "$file"
    run 0 "$program" tune --show
    shows '^ring_start_ns +777 +ns' out
else
    [ -e "$file" ] && fail "a refused measurement has written $file"
    mkdir -p "$(dirname "$file")"
fi

# A file of no use: one warning for all ranks, and built-in numbers.
echo 'ring_start_ns 777.000' >"$file"
for words in "tune --show --np 2" "info --np 3"; do
    # shellcheck disable=SC2086  # several words
    run 0 "$program" $words
    [ "$(wc -l <err)" -eq 1 ] || fail "$(wc -l <err) warnings, expected 1: $last"
    shows "^ferry: warning: the tuning record is ignored: $file: line 1 is \"ring_start_ns 777.000\", expected ferry" err
    shows 'built-in' out
done
run 0 "$program" tune --reset
shows "^removed: $file\$" out
[ -e "$file" ] && fail "$file is still there"
mkdir -p "$file"
refuse 1 "^ferry: tune: $file: cannot be removed: " "$program" tune --reset
rmdir "$file"

# Nowhere to write: said before anything is measured.
echo >"$work/taken"
refuse 1 "^ferry: tune: $work/taken/ferry: no tuning record can be written there: Not a directory" \
    env XDG_CACHE_HOME="$work/taken" "$program" tune --seconds 300
refuse 1 '^ferry: tune: there is no folder for the tuning record: neither XDG_CACHE_HOME nor HOME ' \
    env -u HOME XDG_CACHE_HOME=somewhere "$program" tune --reset
if [ "$(id -u)" -ne 0 ]; then
    mkdir "$work/shut" && chmod 555 "$work/shut"
    refuse 1 "^ferry: tune: $work/shut: no tuning record can be written there: Permission denied" \
        env XDG_CACHE_HOME="$work/shut" "$program" tune --seconds 300
fi

# Wrong usage, and ranks that have nobody.
refuse 2 '^ferry: tune: "more" is too much' "$program" tune more
refuse 2 '^ferry: tune: --show, --reset and --dry-run are given together' "$program" tune --show --reset
refuse 2 '^ferry: tune: --np is 1, expected at least 2' "$program" tune --np 1
refuse 2 '^ferry: tune: --seconds is 4000, expected at most 600' "$program" tune --seconds 4000
# shellcheck disable=SC2086  # several words
if $launcher 1 true 2>/dev/null; then
    run 1 $launcher 1 "$program" tune
    shows '^ferry: tune: no two ranks share memory, so there is nothing to measure: there is one rank' err
    run 2 $launcher 1 "$program" tune --reset
fi
finish
