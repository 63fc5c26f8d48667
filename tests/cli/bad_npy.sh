#!/bin/sh
# Input and output files that `ferry transpose` must refuse: one line, status 1, nothing written.
. "$(dirname "$0")/lib/common.sh"

bad() {
    pattern=$1
    shift
    refuse 1 "^ferry: transpose: $pattern" "$program" transpose "$@"
    [ -e out.npy ] && fail "an output was written: $last" && rm -f out.npy
    return 0
}

npy make good.npy '<i2' 7 5
npy make big.npy '<f8' 64 64

# No file, or no regular one.
bad 'none.npy: cannot be opened: No such file' none.npy out.npy
bad '\.: a directory, expected a regular file' . out.npy
mkfifo pipe
bad 'pipe: a pipe or device, expected a regular file' pipe out.npy

# Beginnings.
: >empty.npy
bad 'empty.npy: the file has 0 bytes, expected a .npy header' empty.npy out.npy
echo 'this is a text file' >text.npy
bad 'text.npy: the file does not begin as a .npy file' text.npy out.npy
head -c 40 good.npy >cut.npy
bad 'cut.npy: the header is cut off: 30 bytes, expected 118' cut.npy out.npy
head -c 11 good.npy | sed 's/Y./Y\x02/' >cut2.npy
bad 'cut2.npy: the header is cut off after 11 bytes' cut2.npy out.npy
sed 's/NUMPY./NUMPY\x04/' good.npy >version.npy
bad 'version.npy: .npy version 4.0, expected 1 to 3' version.npy out.npy
printf '\223NUMPY\002\000\377\377\377\377{}' >long.npy
bad 'long.npy: the header says it has 4294967295 bytes, expected at most' long.npy out.npy

# Data.
head -c 190 good.npy >short.npy
bad 'short.npy: the data is cut off: 62 bytes, expected 70' short.npy out.npy

# Dictionaries; "F8 " stands for the usual beginning.
usual="{'descr': '<f8', 'fortran_order': False, 'shape': "
i=0
while IFS='@' read -r pattern header; do
    i=$((i + 1))
    case $header in
    "F8 "*) header=$usual${header#F8 } ;;
    esac
    npy raw "h$i.npy" "$header" 4096
    bad "h$i.npy: $pattern" "h$i.npy" out.npy
done <<'TABLE'
dtype "[|]O" holds Python objects@{'descr': '|O', 'fortran_order': False, 'shape': (3, 4), }
the header has ".*", expected a dtype@{'descr': 3, 'fortran_order': False, 'shape': (3, 4), }
the dtype has fields@{'descr': [('a', '<i4'), ('b', '<f8')], 'fortran_order': False, 'shape': (3, 4), }
dtype "float64" is not known@{'descr': 'float64', 'fortran_order': False, 'shape': (3, 4), }
dtype "<f" is not known@{'descr': '<f', 'fortran_order': False, 'shape': (3, 4), }
dtype "<f8x" is not known@{'descr': '<f8x', 'fortran_order': False, 'shape': (3, 4), }
dtype "<S0" has a size@{'descr': '<S0', 'fortran_order': False, 'shape': (3, 4), }
dtype "<S99999999999999999999" has a size@{'descr': '<S99999999999999999999', 'fortran_order': False, 'shape': (3, 4), }
elements of 4097 bytes, expected at most 4096@{'descr': '<V4097', 'fortran_order': False, 'shape': (1, 0), }
is in Fortran order@{'descr': '<f8', 'fortran_order': True, 'shape': (3, 4), }
the header has "Maybe.*", expected True or False@{'descr': '<f8', 'fortran_order': Maybe, 'shape': (3, 4), }
shape \(3, 4, 5\) has 3 dimensions, expected 2@F8 (3, 4, 5), }
shape \(7,\) has 1 dimension, expected 2@F8 (7,), }
shape \(\) has 0 dimensions, expected 2@F8 (), }
dimension 0 of the shape is -3, expected 0 to@F8 (-3, 4), }
dimension 1 of the shape is 9223372036854775808@F8 (1, 9223372036854775808), }
shape \(4294967296, 4294967296\) of 8-byte elements has more than 2.63 bytes@F8 (4294967296, 4294967296), }
the data is cut off: 4096 bytes, expected 68719476736@F8 (131072, 65536), }
the header has "4\), \}.*", expected ',' or '\)'@F8 (3 4), }
the header has no key 'shape'@{'descr': '<f8', 'fortran_order': False, }
the header has the key 'more'@F8 (3, 4), 'more': 1, }
the header has the key 'descr'@{'descr': '<f8', 'fortran_order': False, 'descr': '<f8', 'shape': (3, 4), }
the header has "x.*", expected the end@F8 (3, 4), } x
the header ends early@F8 (3, 4),
TABLE

# Outputs.
bad 'good.npy: is the input itself' good.npy good.npy
ln -s good.npy link.npy
bad 'link.npy: is the input itself' good.npy link.npy
bad 'big.npy: exists already, expected a new name or --force' good.npy big.npy
mkdir folder
bad 'folder: a directory' good.npy folder
bad 'folder: a directory' --force good.npy folder
bad '/dev/null: a pipe or device' --force good.npy /dev/null
bad 'nowhere/out.npy: cannot be written: No such file' good.npy nowhere/out.npy
bad 'good.npy/out.npy: cannot be written: Not a directory' good.npy good.npy/out.npy
ln -s nowhere/x dangling.npy
bad 'dangling.npy: a symbolic link to nothing' good.npy dangling.npy
if [ "$(id -u)" -ne 0 ]; then
    mkdir -m 555 closed
    bad 'closed/out.npy: cannot be written: Permission denied' good.npy closed/out.npy
fi

# A file system without room, where mounting is allowed.
mkdir full
if mount -t tmpfs -o size=16k none full 2>/dev/null; then
    bad 'full/out.npy: needs 32896 bytes, but its file system has [0-9]+ free' big.npy full/out.npy
    [ -z "$(ls -A full)" ] || fail "something is left on the full file system"
    umount full
else
    echo "no mounts allowed: the full file system is not tested"
fi

# More memory than any machine has; the file is sparse.
npy raw huge.npy "{'descr': '<f8', 'fortran_order': False, 'shape': (16777216, 65536), }" 0
if truncate -s 9000000000000 huge.npy 2>/dev/null; then
    bad 'huge.npy: 17592186044416 bytes of memory are needed, but [0-9]+ can be had' huge.npy out.npy
    rm -f huge.npy
fi

# shellcheck disable=SC2086  # several words
# The same under a user's own launcher: one line, from one rank, on all ranks the same status.
if $launcher 1 true 2>/dev/null; then
    run 1 $launcher 3 "$program" transpose short.npy out.npy
    once '^ferry: transpose: rank 0: short.npy: the data is cut off'
    run 1 $launcher 2 "$program" transpose good.npy nowhere/out.npy
    once '^ferry: transpose: rank 0: nowhere/out.npy: cannot be written'
fi
finish
