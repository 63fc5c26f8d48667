#!/usr/bin/env python3
"""Make and compare .npy files with the standard library alone, independently of the program under test.

make FILE DESCR ROWS COLUMNS [VERSION]   a matrix of pseudo-random bytes, C order
raw FILE HEADER DATA_BYTES [VERSION]     any header text, and that many bytes of data
transposed A B                           B must be A transposed, element by element; says where it is not
"""
import ast
import random
import re
import struct
import sys


def write(path, text, data, version=1):
    prefix = 10 if version == 1 else 12
    head = text.encode('utf-8' if version == 3 else 'latin1')
    head += b' ' * (-(prefix + len(head) + 1) % 64) + b'\n'
    length = struct.pack('<H' if version == 1 else '<I', len(head))
    with open(path, 'wb') as file:
        file.write(b'\x93NUMPY' + bytes([version, 0]) + length + head + data)


def element_bytes(descr):
    kind, size = re.fullmatch(r'[<>|=]?([a-zA-Z])(\d+)(?:\[.*\])?', descr).groups()
    return int(size) * (4 if kind == 'U' else 1)


def read(path):
    with open(path, 'rb') as file:
        data = file.read()
    assert data[:6] == b'\x93NUMPY', path + ': no magic'
    prefix, form = (10, '<H') if data[6] == 1 else (12, '<I')
    length, = struct.unpack(form, data[8:prefix])
    start = prefix + length
    assert start % 64 == 0 and data[start - 1:start] == b'\n', path + ': header not padded'
    head = ast.literal_eval(data[prefix:start].decode('latin1').strip())
    assert set(head) == {'descr', 'fortran_order', 'shape'}, path + ': keys'
    return head, data[start:]


def make(path, descr, rows, columns, version='1'):
    rows, columns = int(rows), int(columns)
    data = random.Random(rows * 7919 + columns).randbytes(rows * columns * element_bytes(descr))
    text = "{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }" % (descr, rows, columns)
    write(path, text, data, int(version))


def raw(path, text, count, version='1'):
    write(path, text, bytes(int(count)), int(version))


def transposed(a, b):
    (head_a, data_a), (head_b, data_b) = read(a), read(b)
    rows, columns = head_a['shape']
    e = element_bytes(head_a['descr'])
    assert head_b == dict(head_a, shape=(columns, rows)), 'header is %r' % head_b
    assert len(data_b) == rows * columns * e, 'data has %d bytes' % len(data_b)
    for c in range(columns):
        column = b''.join(data_a[(r * columns + c) * e:(r * columns + c + 1) * e] for r in range(rows))
        if column != data_b[c * rows * e:(c + 1) * rows * e]:
            sys.exit('%s: row %d is not column %d of %s' % (b, c, c, a))


if __name__ == '__main__':
    {'make': make, 'raw': raw, 'transposed': transposed}[sys.argv[1]](*sys.argv[2:])
