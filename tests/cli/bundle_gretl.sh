#!/bin/sh
# What gretl itself writes is read, value for value. Skipped without gretlcli.
. "$(dirname "$0")/lib/common.sh"

if ! command -v gretlcli >/dev/null 2>&1; then
    echo "skipped: gretlcli is not installed"
    exit 77
fi
sed "s|OUT|$work/gretl|" "$here/lib/sample.inp" >sample.inp
run 0 env "HOME=$work" gretlcli -b sample.inp
[ -s gretl.xml ] || fail "gretl wrote no file"

# The same by hand. gretl keeps no order of keys, so each is looked at by itself.
run 0 "$program" bundle convert gretl.xml gretl.json
run 0 "$program" bundle convert gretl.xml.gz gz.json
run 0 cmp gretl.json gz.json
cat >want.py <<'TEXT'
import json
found = json.load(open("gretl.json"))
def matrix(kind, shape, data):
    made = {"$array": kind, "shape": shape, "data": data}
    if shape[0] > 1 and shape[1] > 1: # else there is one order only
        made["order"] = "column"
    return made
want = {
    "x": {"$value": 3.5, "$attributes": {"note": "a note"}},
    "tenth": 0.1,
    "na": {"$float64": "nan"},
    "s": "hello <world> & more",
    "m": {"$value": matrix("float64", [3, 2], [1, 3, "nan", 2, 4.25, "inf"]),
          "$attributes": {"rownames": {"$strings": ["r1", "r2", "r3"]}, "colnames": {"$strings": ["c1", "c2"]}}},
    "c": matrix("complex128", [2, 2], [1, 3, 5, 7, 2, 4, 6, 8]),
    "e": matrix("float64", [0, 3], []),
    "S": {"$strings": ["a", "b c", ""]},
    "M": [matrix("float64", [1, 1], [1]), matrix("float64", [1, 2], [2, 3])],
    "B": [{"z": 9}],
    "inner": {"k": -7},
    "y": {"$array": "float64", "shape": [5], "data": [1, 2, "nan", 4, 5]},
    "L": {"$array": "int32", "shape": [2], "data": [0, 2]},
}
for key in sorted(set(found) | set(want)):
    assert found.get(key) == want.get(key), (key, found.get(key), want.get(key))
TEXT
run 0 python3 want.py
run 0 "$program" bundle convert gretl.xml all.ferry
run 0 "$program" bundle diff gretl.xml all.ferry
refuse 2 'g.xml: xml is only read' "$program" bundle convert all.ferry g.xml
finish
