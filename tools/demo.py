#!/usr/bin/env python3
"""Parts of the demonstration that need more than a shell.

usage: demo.py write FILE ROWS COLUMNS    a .npy matrix of 16-bit numbers
       demo.py check IN OUT               rows of OUT, picked at random, are columns of IN
       demo.py table JSON...              results of `ferry bench --json` as one table
"""
import json
import random
import struct
import sys
from array import array

TODAY = {'bundle': ('raw-fresh', 'xml'), 'vector': ('datatype', 'handpack'), 'halo': ('datatype', 'handpack'),
         'transpose': ('blocked-alltoall',)}
OURS = {'bundle': 'ferry-fresh'}  # receiving into memory that nobody touched before, as today's ways do


def header(rows, columns):
    text = "{'descr': '<u2', 'fortran_order': False, 'shape': (%d, %d), }" % (rows, columns)
    text += ' ' * (-(len(text) + 11) % 64) + '\n'
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(text)) + text.encode()


def read_header(file):
    start = file.read(10)
    text = file.read(struct.unpack('<H', start[8:10])[0]).decode()
    shape = text[text.index('(') + 1:text.index(')')].split(',')
    return int(shape[0]), int(shape[1]), file.tell()


def write(path, rows, columns):
    noise = array('H', (k * k * 40503 + k * 7919 & 0xffff for k in range(65536 + columns)))
    data = noise.tobytes()
    with open(path, 'wb') as file:
        file.write(header(rows, columns))
        for row in range(rows):
            at = 2 * (row * 25717 % 65536)
            file.write(data[at:at + 2 * columns])


def check(source, target):
    """An independent look at a few columns; `ferry transpose --verify` has compared every element."""
    with open(source, 'rb') as a, open(target, 'rb') as b:
        rows, columns, start_a = read_header(a)
        turned_rows, turned_columns, start_b = read_header(b)
        if (turned_rows, turned_columns) != (columns, rows):
            sys.exit('shape %d x %d became %d x %d' % (rows, columns, turned_rows, turned_columns))
        picked = [0, columns - 1] + [random.randrange(columns) for _ in range(3)]
        for column in picked:
            b.seek(start_b + 2 * column * rows)
            found = b.read(2 * rows)
            for row in range(rows):
                a.seek(start_a + 2 * (row * columns + column))
                if a.read(2) != found[2 * row:2 * row + 2]:
                    sys.exit('element (%d, %d) differs' % (row, column))
        print('columns %s of the input are rows of the output' % ', '.join(map(str, picked)))


def seconds(value):
    for unit, scale in (('s', 1), ('ms', 1e3), ('us', 1e6)):
        if value * scale >= 1:
            break
    return '%.3g %s' % (value * scale, unit)


def rows_of(case):
    """One line per way of today that the case is compared with; for strided data the better of the two."""
    word = case['case'].split()[0]
    times = {r['name']: r['median_s'] for r in case['results']}
    ours = times[OURS.get(word, 'ferry')]
    rivals = [name for name in TODAY[word] if name in times]
    if word in ('vector', 'halo'):
        rivals = sorted(rivals, key=times.get)[:1]
    for name in rivals:
        yield (case['case'].replace(' np=%d' % case['np'], ''), '%s x%d' % (case['mpi'], case['np']), seconds(ours),
               '%s (%s)' % (seconds(times[name]), name), '%.2f' % (times[name] / ours), seconds(times['limit']),
               '%.2f' % (times['limit'] / ours), '' if times[name] >= ours else 'ferry loses')


def table(paths):
    lines = [('job', 'ranks', 'ferry', "today's way", 'ratio', 'limit', 'of limit', '')]
    for path in paths:
        with open(path) as file:
            lines += [row for case in json.load(file) for row in rows_of(case)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    for line in lines:
        print('  '.join(text.ljust(width) for text, width in zip(line, widths)).rstrip())


if __name__ == '__main__':
    action, arguments = (sys.argv[1], sys.argv[2:]) if len(sys.argv) > 1 else ('', [])
    if action == 'write' and len(arguments) == 3:
        write(arguments[0], int(arguments[1]), int(arguments[2]))
    elif action == 'check' and len(arguments) == 2:
        check(*arguments)
    elif action == 'table' and arguments:
        table(arguments)
    else:
        sys.exit(__doc__)
