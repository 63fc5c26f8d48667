#!/usr/bin/env python3
"""Write and compare .npz files with NumPy itself. Exits with 77 when NumPy is not installed.

have               does nothing else
make FILE          what numpy.savez writes: all types and orders, and strings
makez FILE         the same, compressed
odd FILE KIND      a file that must be refused
same A B           both hold the same arrays under the same names: types, shapes, orders, bytes
expect FILE        FILE holds what `ferry bundle convert` makes of the JSON of tests/cli/bundle_numpy.sh
"""
import sys

try:
    import numpy as np
except ImportError:
    sys.exit(77)

TYPES = ['?', 'i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8', 'f4', 'f8', 'c8', 'c16']


def arrays():
    rng = np.random.default_rng(1)
    found = {}
    for name in TYPES:
        plain = np.frombuffer(rng.bytes(24 * np.dtype(name).itemsize), name).reshape(2, 3, 4)
        if name == '?':
            plain = rng.integers(0, 2, (2, 3, 4)).astype('?')
        found[f'n/{name}'] = plain
        found[f'n/{name} column'] = np.asfortranarray(plain)
        found[f'n/{name} big'] = plain.astype(np.dtype(name).newbyteorder('>'))
        found[f'n/{name} single'] = plain[1, 2, 3]
        found[f'n/{name} empty'] = np.zeros((0, 5), name)
    found['text'] = np.array('žluť 🚢')
    found['none'] = np.array('')
    found['texts'] = np.array(['a', '', 'žluť', '🚢🚢'])
    found['big texts'] = found['texts'].astype('>U8')
    found['raw'] = np.array(b'\xff\xfe')
    found['raws'] = np.array([b'a', b'\xff', b''])
    found['void'] = np.array(b'\0\1\2\0', dtype='V4')
    return found


def odd(path, kind):
    made = {
        'object': {'o': np.array([None, 1], dtype=object)},
        'half': {'h': np.zeros(3, 'f2')},
        'date': {'d': np.array(['2020-01-01'], dtype='M8[D]')},
        'fields': {'f': np.zeros(3, [('a', 'i4'), ('b', 'f8')])},
        'nine': {'n': np.zeros((1,) * 9)},
        'square': {'s': np.array([['a', 'b']])},
        'clash': {'a': np.zeros(3), 'a/b': np.zeros(3)},
        'names': {'a//b': np.zeros(3)},
    }
    np.savez(path, **made[kind])


def comparable(array):
    """Type, shape, order and bytes; NumPy's byte order is a matter of taste."""
    array = array.astype(array.dtype.newbyteorder('<'), order='K')
    column = array.flags.f_contiguous and not array.flags.c_contiguous
    return array.dtype.str, array.shape, column, array.tobytes(order='A')


def same(a, b):
    with np.load(a) as one, np.load(b) as other:
        assert sorted(one.files) == sorted(other.files), (one.files, other.files)
        for name in one.files:
            left, right = one[name], other[name]
            if left.dtype.kind in 'US':  # the width is that of the longest string
                assert left.dtype.kind == right.dtype.kind and left.shape == right.shape, name
                assert left.tolist() == right.tolist(), name
            else:
                assert comparable(left) == comparable(right), name


def expect(path):
    with np.load(path) as found:
        assert found.files == ['x', 'm', 'child/s', 'child/l/[0]', 'child/l/[1]/z', 'child/l/[2]/[]/', 'child/t',
                               'child/t/@/unit', 'b', 'nothing/'], found.files
        assert found['x'] == 0.5 and found['x'].shape == () and found['x'].dtype == 'f8'
        assert found['m'].dtype == 'i2' and found['m'].flags.f_contiguous and found['m'].tolist() == [[1, 3], [2, 4]]
        assert found['child/s'] == 'ž' and found['child/l/[0]'] == 7 and found['child/l/[1]/z'] == 1 + 2j
        assert found['child/t'].tolist() == ['a', 'bc'] and found['child/t/@/unit'] == 'm'
        assert found['b'].tobytes() == b'\0\1\0'


if __name__ == '__main__':
    command, words = sys.argv[1], sys.argv[2:]
    if command == 'make':
        np.savez(words[0], **arrays())
    elif command == 'makez':
        np.savez_compressed(words[0], **arrays())
    elif command != 'have':
        {'odd': odd, 'same': same, 'expect': expect}[command](*words)
