#!/bin/sh
# A matrix of more than 2^31 bytes. Skipped with one line where memory or disk are too small for it.
. "$(dirname "$0")/lib/common.sh"

# Rows and columns of one-byte elements; the file is sparse but for stripes of random bytes.
rows=50000
columns=46000
need_kib=5200000
memory_kib=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)
disk_kib=$(df -Pk . | awk 'NR == 2 { print $4 }')
if [ "$memory_kib" -lt "$((need_kib + 1000000))" ] || [ "$disk_kib" -lt "$need_kib" ]; then
    echo "skipped: needs $need_kib KiB of memory and of disk, there are $memory_kib and $disk_kib"
    exit 77
fi

python3 - in.npy $rows $columns "$here/lib" <<'PYTHON' || fail "the input cannot be made"
import os, sys
sys.path.insert(0, sys.argv[4])
import npy_tool
path, rows, columns = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
npy_tool.raw(path, "{'descr': '|u1', 'fortran_order': False, 'shape': (%d, %d), }" % (rows, columns), 0)
with open(path, 'r+b') as file:
    head = file.seek(0, 2)
    file.truncate(head + rows * columns)
    for i in range(40):
        file.seek(head + rows * columns // 40 * i)
        file.write(os.urandom(1000003))
PYTHON
run 0 "$program" transpose --np 2 --verify in.npy out.npy
silent err
shows "^$rows x $columns of 1 byte -> out.npy, 2.30 GB in .*, verified\$" out
no_partial

# Elements around 2^31, and the corners, by a program of its own.
python3 - in.npy out.npy $rows $columns <<'PYTHON' || fail "elements differ"
import random, sys
rows, columns = int(sys.argv[3]), int(sys.argv[4])
head = 128
places = [(0, 0), (rows - 1, columns - 1), (0, columns - 1), (rows - 1, 0)]
places += [divmod(2 ** 31 + k, columns) for k in range(-2000, 2000)]
places += [(random.randrange(rows), random.randrange(columns)) for k in range(20000)]
with open(sys.argv[1], 'rb') as a, open(sys.argv[2], 'rb') as b:
    for r, c in places:
        a.seek(head + r * columns + c)
        b.seek(head + c * rows + r)
        if a.read(1) != b.read(1):
            sys.exit('element [%d][%d] differs' % (r, c))
PYTHON
finish
