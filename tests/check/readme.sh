#!/bin/sh
# The README shows real code: each line of its C blocks stands in examples/first.c, and each file it links to exists.
# usage: readme.sh SOURCE-DIR
set -u
cd "$1" || exit 1
bad=0 lines=0
block=$(sed -n '/^```c$/,/^```$/p' README.md | grep -v '^```')
while IFS= read -r line; do
    lines=$((lines + 1))
    grep -qxF -- "$line" examples/first.c && continue
    echo "not in examples/first.c: $line"
    bad=$((bad + 1))
done <<TEXT
$block
TEXT
for file in $(sed -n 's/[^(]*](\([^):]*\))/\1\n/gp' README.md | grep -E '^[A-Za-z/._]+$'); do
    [ -e "$file" ] && continue
    echo "no such file: $file"
    bad=$((bad + 1))
done
echo "$lines lines, $bad failures"
[ "$lines" -ge 5 ] && [ "$bad" -eq 0 ]
