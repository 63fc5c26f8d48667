#!/bin/sh
# .npz files against NumPy itself: it reads what is written, and what it writes is read. Skipped without NumPy.
. "$(dirname "$0")/lib/common.sh"

# A Python of the user's own may hide the one that NumPy was installed for.
python=
for one in python3 /usr/bin/python3; do
    [ -z "$python" ] && "$one" "$here/lib/npz_tool.py" have 2>/dev/null && python=$one
done
if [ -z "$python" ]; then
    echo "skipped: NumPy is not installed"
    exit 77
fi
npz() { run 0 "$python" "$here/lib/npz_tool.py" "$@"; }

# Theirs to ours and back, and through the other formats.
npz make theirs.npz
npz makez theirsz.npz
run 0 "$program" bundle convert theirs.npz ours.npz
npz same theirs.npz ours.npz
run 0 "$program" bundle convert theirsz.npz oursz.npz
run 0 cmp ours.npz oursz.npz
run 0 "$program" bundle convert theirs.npz a.ferry
run 0 "$program" bundle convert a.ferry b.json
run 0 "$program" bundle convert b.json c.npz
run 0 cmp ours.npz c.npz
run 0 "$program" bundle diff theirs.npz b.json
silent out

# Every kind of name and value.
cat >in.json <<'TEXT'
{"x": 0.5, "m": {"$array": "int16", "shape": [2, 2], "order": "column", "data": [1, 2, 3, 4]},
 "child": {"s": "\u017e", "l": [7, {"z": {"$complex128": [1, 2]}}, []],
 "t": {"$value": {"$strings": ["a", "bc"]}, "$attributes": {"unit": "m"}}}, "b": {"$bytes": "AAEA"}, "nothing": {}}
TEXT
run 0 "$program" bundle convert in.json out.npz
npz expect out.npz
run 0 "$program" bundle diff in.json out.npz
echo '{}' >empty.json
run 0 "$program" bundle convert empty.json empty.npz
run 0 "$python" -c 'import numpy; assert numpy.load("empty.npz").files == []'
printf '%s' '{"v": {"$bytes": ""}, "s": "", "t": {"$strings": []}}' >small.json
run 0 "$program" bundle convert small.json small.npz
cat >small.py <<'TEXT'
import numpy
found = numpy.load("small.npz")
assert found["v"].tobytes() == b"" and found["s"] == "" and found["t"].shape == (0,)
TEXT
run 0 "$python" small.py
run 0 "$program" bundle diff small.json small.npz

# What bundles have not is refused by name.
while IFS='@' read -r kind pattern; do
    npz odd odd.npz "$kind"
    refuse 1 "^ferry: bundle: odd.npz: entry $pattern" "$program" bundle convert odd.npz no.ferry
    [ -e no.ferry ] && fail "written all the same: $kind"
done <<'TABLE'
object@o.npy: dtype "\|O" holds Python objects
half@h.npy: dtype "<f2", which bundles have not
date@d.npy: dtype "<M8\[D\]", which bundles have not
fields@f.npy: the dtype has fields
nine@n.npy: more than 8 dimensions
square@s.npy: strings in more than one dimension
clash@a/b.npy: .*array
names@a//b.npy: a name with an empty step
TABLE
finish
