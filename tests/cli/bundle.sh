#!/bin/sh
# `ferry bundle`: its verbs, wrong usage, and files that must be refused. Starts no ranks.
. "$(dirname "$0")/lib/common.sh"

# --- usage
run 0 "$program" bundle --help
shows '^Usage: ferry bundle VERB ' out
for verb in show diff convert check; do
    shows "^  $verb " out
done
shows '^  -f, --force ' out
silent err
run 0 "$program" bundle --version
refuse 2 '^ferry: bundle: no verb, expected show, diff, convert or check' "$program" bundle
refuse 2 '^ferry: bundle: unknown verb "shwo", did you mean "show"\?' "$program" bundle shwo x
refuse 2 '^ferry: bundle: unknown verb "xyzzy", expected show' "$program" bundle xyzzy
refuse 2 '^ferry: bundle: unknown option --forse, did you mean --force\?' "$program" bundle convert --forse a b
refuse 2 '^ferry: bundle: show: 0 file names, expected 1: FILE' "$program" bundle show
refuse 2 '^ferry: bundle: diff: 1 file names, expected 2: A B' "$program" bundle diff a.ferry
refuse 2 '^ferry: bundle: convert: 3 file names, expected 2: IN OUT' "$program" bundle convert a b c
refuse 2 '^ferry: bundle: check has no option --force' "$program" bundle check --force a.ferry
refuse 2 '^ferry: bundle: show has no option --to' "$program" bundle show --to json a.ferry
refuse 2 '^ferry: bundle: show has no option --all' "$program" bundle show --all a.ferry
refuse 2 '^ferry: bundle: --from is "text", expected ferry, json, npz or xml' "$program" bundle show --from text a
refuse 2 '^ferry: bundle: a.txt: the name tells no format' "$program" bundle show a.txt
refuse 2 '^ferry: bundle: .json: the name tells no format' "$program" bundle show .json
refuse 2 '^ferry: bundle: b.txt: the name tells no format, expected .*--to' "$program" bundle convert a.ferry b.txt

# --- a bundle through all formats
cat >a.json <<'TEXT'
{"n": 7, "u": {"$uint64": 7}, "x": 0.1, "text": "\u017elu\u0165", "none": {"$float64": "nan:7ff8000000000001"},
 "field": {"$value": {"$array": "float32", "shape": [2, 3], "data": [1, 2, 3, 4, 5, "inf"]},
           "$attributes": {"unit": "m"}},
 "list": [1, [2, {"deep": true}]], "names": {"$strings": ["a", "bc"]}, "raw": {"$bytes": "AAEC"}}
TEXT
run 0 "$program" bundle convert a.json a.ferry
silent out
silent err
run 0 "$program" bundle convert a.ferry a.npz
run 0 "$program" bundle convert a.npz b.json
run 0 "$program" bundle convert b.json b.ferry
run 0 cmp a.ferry b.ferry
run 0 "$program" bundle diff a.json a.npz
silent out
run 0 "$program" bundle convert --from json --to ferry a.json c.bin
run 0 cmp a.ferry c.bin
run 0 "$program" bundle diff --from ferry a.ferry c.bin

run 0 "$program" bundle show a.ferry
shows 'n.*7' out
shows 'deep' out
shows 'float32' out
shows 'unit' out
run 0 "$program" bundle check a.ferry
shows '^a.ferry: sound, format ferry$' out
shows '^  values +15$' out
shows '^    int64 +3$' out
shows '^    list +2$' out
shows '^  attributed +1$' out
shows '^  bytes +86 ' out
shows '^  depth +4$' out

# --- differences
sed 's/"deep": true/"deep": false/' a.json >d.json
run 1 "$program" bundle diff a.json d.json
shows 'list/1/1/deep' out
silent err
run 1 "$program" bundle diff d.json a.ferry
sed 's/"deep": true/"deep": false, "more": 1/; s/"unit": "m"/"unit": "s"/; s/"x": 0.1/"x": 1/' a.json |
    sed 's/2, 3\], "data"/3, 2], "data"/; s/"names"/"others"/' >e.json
run 1 "$program" bundle diff --all a.json e.json
cp out all
cat >want <<'TEXT'
x: types differ (float64, int64)
field: shapes differ (array, array)
field/@/unit: values differ (string, string)
list/1/1/deep: values differ (bool, bool)
names: only in a.json
list/1/1/more: only in e.json
others: only in e.json
TEXT
run 0 diff want all
run 0 "$program" bundle diff --all a.json a.ferry
silent out
echo '{"a": 1, "b": 2}' >ab.json
echo '{"b": 2, "a": 1}' >ba.json
run 1 "$program" bundle diff --all ab.json ba.json
shows . out
refuse 2 '^ferry: bundle: nowhere.json: cannot be opened: No such file' "$program" bundle diff a.json nowhere.json
refuse 2 '^ferry: bundle: nowhere.json: cannot be opened' "$program" bundle diff nowhere.json a.json

# --- outputs
refuse 1 '^ferry: bundle: b.json: exists already, expected a new name or --force' \
    "$program" bundle convert a.ferry b.json
run 0 cmp a.ferry b.ferry
run 0 "$program" bundle convert --force d.json b.ferry
run 1 cmp -s a.ferry b.ferry
run 0 "$program" bundle convert --force b.ferry b.ferry
run 0 "$program" bundle diff b.ferry d.json
mkdir folder
refuse 1 '^ferry: bundle: folder: a directory' "$program" bundle convert --to json --force a.ferry folder
refuse 1 '^ferry: bundle: nowhere/x.json: cannot be written: No such file' \
    "$program" bundle convert a.ferry nowhere/x.json
refuse 1 '^ferry: bundle: nowhere/x.npz: cannot be written' "$program" bundle convert a.ferry nowhere/x.npz
refuse 1 '^ferry: bundle: nowhere/x.ferry: cannot be written' "$program" bundle convert a.ferry nowhere/x.ferry
refuse 2 '^ferry: bundle: x.xml: xml is only read' "$program" bundle convert a.ferry x.xml
echo '{"a": null}' >null.json
refuse 1 '^ferry: bundle: null.npz: npz, a: null, which .npz cannot hold' "$program" bundle convert null.json null.npz
[ -e null.npz ] && fail "an output was written"

# --- inputs
for file in a.ferry a.json a.npz; do
    head -c 100 "$file" >"cut.${file#a.}"
done
refuse 1 '^ferry: bundle: cut.ferry: image: another total length at byte 16' "$program" bundle check cut.ferry
refuse 1 '^ferry: bundle: cut.json: JSON, line 1, byte [0-9]+:' "$program" bundle check cut.json
refuse 1 '^ferry: bundle: cut.npz: Not a zip archive' "$program" bundle check cut.npz
echo text >text.xml
refuse 1 '^ferry: bundle: text.xml: line 1: ' "$program" bundle check text.xml
refuse 1 '^ferry: bundle: folder: a folder, expected a regular file' "$program" bundle check --from ferry folder
refuse 1 '^ferry: bundle: a.json: image: no magic' "$program" bundle check --from ferry a.json

# --- gretl's files
run 0 "$program" bundle convert "$here/../data/gretl.xml" gretl.json
run 0 "$program" bundle diff gretl.json "$here/../data/gretl.json"
run 1 sh -c "\"$program\" bundle show a.ferry >/dev/full"
finish
