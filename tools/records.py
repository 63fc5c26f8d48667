#!/usr/bin/env python3
"""Check the sizes of the records in the public headers, which callers are compiled with.

usage: records.py DIR CC EXPECTED [--update]

DIR       the include folder that holds ferry/*.h
CC        a C compiler that finds mpi.h
EXPECTED  file with a line `record bytes` for each record, for 64-bit machines; --update writes it. `bytes|bytes` is for
          records with handles of MPI inside, whose size each MPI chooses
Prints one line for each record that is missing, new or of another size; the exit status is 1 if there was any.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def measure(include, cc):
    """Return record -> bytes, as that compiler sees them."""
    headers = sorted((include / 'ferry').glob('*.h'))
    names = [name for path in headers for name in re.findall(r'^}\s*(ferry_\w+);', path.read_text(), re.M)]
    lines = [f'#include "ferry/{path.name}"' for path in headers]
    lines += ['#include <stdio.h>', 'int main(void)', '{']
    lines += [f'    printf("{name} %zu\\n", sizeof({name}));' for name in names]
    lines += ['    return 0;', '}', '']
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / 'records.c', Path(folder) / 'records'
        source.write_text('\n'.join(lines))
        subprocess.run([cc, '-std=c11', f'-I{include}', str(source), '-o', str(program)], check=True)
        text = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    return dict(line.split() for line in text.splitlines())


def known(path):
    """Return record -> text of its sizes."""
    return dict(line.split() for line in path.read_text().splitlines()) if path.exists() else {}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('include', type=Path)
    parser.add_argument('cc')
    parser.add_argument('expected', type=Path)
    parser.add_argument('--update', action='store_true')
    args = parser.parse_args()
    sizes = measure(args.include, args.cc)
    expected = known(args.expected)
    if args.update:
        expected = {name: expected[name] if size in expected.get(name, '').split('|') else size
                    for name, size in sizes.items()}
        args.expected.write_text(''.join(f'{name} {size}\n' for name, size in sorted(expected.items())))
    wrong = [f'{name}: {expected.get(name, "no")} bytes expected, {sizes.get(name, "no")} found'
             for name in sorted(set(sizes) | set(expected)) if sizes.get(name, 'no') not in expected.get(name, '').split('|')]
    print('\n'.join(wrong + [f'{len(sizes)} records, {len(wrong)} complaints']))
    return 1 if wrong or not sizes else 0


if __name__ == '__main__':
    sys.exit(main())
