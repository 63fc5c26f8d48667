#!/bin/sh
# Help, versions, wrong usage: exit status and exactly one line. Starts no ranks.
. "$(dirname "$0")/lib/common.sh"

run 0 "$program" --version
shows "^ferry [0-9]+\.[0-9]+\.[0-9]+ \($mpi\)\$" out
silent err
run 0 "$program" --help
shows '^Usage: ferry ' out
for sub in info bench transpose tune bundle; do
    shows "^  $sub " out
done
for sub in info bench transpose tune; do
    run 0 "$program" "$sub" --help
    shows "^Usage: ferry $sub " out
    shows '^  -h, --help ' out
    silent err
    run 0 "$program" "$sub" --version
    shows "^ferry [0-9.]+ \($mpi\)\$" out
    refuse 2 "^ferry: $sub: unknown or ambiguous option --zzzz, expected" "$program" "$sub" --zzzz
    refuse 2 "^ferry: $sub: unknown option -Z, expected" "$program" "$sub" -Z
    refuse 2 "^ferry: $sub: --np is \"0\", expected a number from 1 to 4096" "$program" "$sub" --np 0
    refuse 2 "^ferry: $sub: --np is \"-3\", expected" "$program" "$sub" --np=-3
    refuse 2 "^ferry: $sub: --np is \"2x\", expected" "$program" "$sub" --np=2x
    refuse 2 "^ferry: $sub: --np is \"99999999999999999999\", expected" "$program" "$sub" -n 99999999999999999999
    refuse 2 "^ferry: $sub: option --np needs an argument, expected N" "$program" "$sub" --np
    refuse 2 "^ferry: $sub: option --quiet takes no argument" "$program" "$sub" --quiet=3
    refuse 2 "^ferry: $sub: --color is \"pink\", expected auto, always or never" "$program" "$sub" --color=pink
done
# Hidden options are for ranks; the help is for people.
run 0 "$program" transpose --help
grep -q partial= out && fail "a hidden option is in the help"

refuse 2 '^ferry: no subcommand, expected info, bench, transpose, tune or bundle' "$program"
refuse 2 '^ferry: unknown subcommand "transpsoe", did you mean "transpose"\?' "$program" transpsoe
refuse 2 '^ferry: unknown subcommand "xyzzy", expected info, bench, transpose, tune or bundle' "$program" xyzzy
refuse 2 '^ferry: unknown option --versoin, did you mean --version\?' "$program" --versoin
refuse 2 '^ferry: unknown subcommand "two\?lines"' "$program" "two
lines"
refuse 2 '^ferry: transpose: 0 file names, expected 2' "$program" transpose
refuse 2 '^ferry: transpose: 1 file names, expected 2' "$program" transpose a.npy
refuse 2 '^ferry: transpose: 3 file names, expected 2' "$program" transpose a.npy b.npy c.npy
refuse 2 '^ferry: transpose: unknown option --forse, did you mean --force\?' "$program" transpose --forse a.npy b.npy
refuse 2 '^ferry: info: "more" is too much' "$program" info more
run 1 sh -c "\"$program\" --help >/dev/full"
shows '^ferry: what was printed cannot be written' err

# Colours: on demand, never into a file, never with NO_COLOR on a terminal.
escape=$(printf '\033')
run 2 "$program" --color=always xyzzy
shows "$escape" err
run 2 "$program" xyzzy
grep -q "$escape" err && fail "colours in a file"
if script -qec true /dev/null >/dev/null 2>&1; then # where there are pseudo-terminals
    run 0 env -u NO_COLOR TERM=xterm script -qec "'$program' xyzzy || true" /dev/null
    shows "$escape" out
    run 0 env NO_COLOR=1 TERM=xterm script -qec "'$program' xyzzy || true" /dev/null
    grep -q "$escape" out && fail "colours in spite of NO_COLOR"
    run 0 env -u NO_COLOR TERM=dumb script -qec "'$program' xyzzy || true" /dev/null
    grep -q "$escape" out && fail "colours on a dumb terminal"
fi
finish
