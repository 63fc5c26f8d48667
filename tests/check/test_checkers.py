#!/usr/bin/env python3
"""The checkers see what they are there for: each must complain of something wrong and must not of something right.

usage: test_checkers.py TOOLS CC
"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS, CC = Path(sys.argv[1]), sys.argv[2]
COMMENT = '''/**
 * Do it.
 *
 * @param a  first
 * @param f  second
 * @return nothing much
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
'''
PROTOTYPE = 'FERRY_API int ferry_do(const int *a, void (*f)(int, int));\n'


class Checker(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run_tool(self, name, *args):
        done = subprocess.run([sys.executable, TOOLS / name, *args], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


class Modules(Checker):
    def check(self, include, table='a:\nb: a\n<mpi.h>: b\n'):
        self.write('src/a/a.h', '\n')
        self.write('src/b/b.h', '#include "a/a.h"\n#include <mpi.h>\n#include "ferry/status.h"\n')
        self.write('src/a/a.c', include + '\n')
        return self.run_tool('modules.py', self.folder / 'src', '--allow', self.write('table', table))

    def test_right(self):
        self.assertEqual(self.check('#include "a/a.h"')[0], 0)

    def test_wrong_module(self):
        status, text = self.check('#include "b/b.h"')
        self.assertEqual(status, 1)
        self.assertIn('a/a.c:1 includes b/b.h', text)

    def test_wrong_system_header(self):
        self.assertEqual(self.check('# include <mpi.h>')[0], 1)

    def test_cycle(self):
        status, text = self.check('', 'a: b\nb: a\n')
        self.assertEqual(status, 1)
        self.assertIn('a -> b -> a', text)

    def test_unknown_module(self):
        self.assertEqual(self.check('', 'b: a\n')[0], 1)


class Headers(Checker):
    def check(self, text):
        self.write('ferry/x.h', text)
        return self.run_tool('headers.py', self.folder / 'ferry')

    def test_right(self):
        self.assertEqual(self.check(COMMENT + PROTOTYPE)[0], 0)

    def test_each_line_is_needed(self):
        for line in COMMENT.splitlines(keepends=True):
            if any(word in line for word in ('/**', '@', 'Collective', 'Threads')):
                with self.subTest(line=line):
                    self.assertEqual(self.check(COMMENT.replace(line, '') + PROTOTYPE)[0], 1)

    def test_parameter_too_many(self):
        self.assertEqual(self.check(COMMENT.replace('@return', '@param b\n * @return') + PROTOTYPE)[0], 1)

    def test_comment_apart(self):
        self.assertEqual(self.check(COMMENT + '\n' + PROTOTYPE)[0], 1)

    def test_macro(self):
        macro = '#define MAKE(T) \\\n    FERRY_API int ferry_get_##T(int a);\n'
        self.assertEqual(self.check(COMMENT + macro + 'MAKE(x)\n')[0], 0)
        self.assertEqual(self.check(macro + 'MAKE(x)\n')[0], 1)

    def test_nothing(self):
        self.assertEqual(self.check('\n')[0], 1)


class Symbols(Checker):
    def check(self, source, place='copy/copy.c', expected='ferry_do\n'):
        path = self.write(f'src/{place}', source)
        self.objects = self.write('objects', f'{path}.o\n')
        library = self.folder / 'libx.so'
        subprocess.run([CC, '-fPIC', '-fno-builtin', '-c', path, '-o', f'{path}.o'], check=True)
        subprocess.run([CC, '-shared', f'{path}.o', '-o', library], check=True)
        return self.run_tool('symbols.py', library, self.objects, self.write('symbols.txt', expected))

    def test_right(self):
        self.assertEqual(self.check('int ferry_do(void) { return 0; }')[0], 0)

    def test_export_missing_or_new(self):
        self.assertEqual(self.check('static int x; int ferry_it(void) { return x; }')[0], 1)
        self.assertEqual(self.check('int ferry_do(void) { return 0; } int other(void) { return 0; }')[0], 1)

    def test_calls(self):
        for call, wrong, right in (('close', 'copy/copy.c', 'base/log.c'), ('malloc', 'base/log.c', 'base/alloc.c'),
                                   ('PMPI_Send', 'bundle/image.c', 'mpi/send.c')):
            source = f'void *{call}(int); void *ferry_do(void); void *ferry_do(void) {{ return {call}(0); }}'
            with self.subTest(call=call):
                self.assertEqual(self.check(source, wrong)[0], 1)
                self.assertEqual(self.check(source, right)[0], 0)

    def test_mpi_name(self):
        status, text = self.check('int MPI_Send(void); int ferry_do(void) { return MPI_Send(); }', 'mpi/send.c')
        self.assertEqual(status, 1)
        self.assertIn('not by PMPI_Send', text)


class Records(Checker):
    def check(self, expected):
        self.write('include/ferry/x.h', 'typedef struct ferry_pair {\n    long a, b;\n} ferry_pair;\n')
        return self.run_tool('records.py', self.folder / 'include', CC, self.write('records.txt', expected))

    def test_right(self):
        self.assertEqual(self.check('ferry_pair 16\n')[0], 0)

    def test_wrong(self):
        for expected in ('', 'ferry_pair 8\n', 'ferry_pair 16\nferry_other 8\n'):
            self.assertEqual(self.check(expected)[0], 1)


class Names(Checker):
    def check(self, text):
        for name in ('ferry', 'convert', 'experimental'):
            self.write(f'include/ferry/{name}.h', f'#define FERRY_{name.upper()} 1\nint ferry_{name}_do(void);\n')
        settings = self.write('setting.h', 'X(POOL, "FERRY_POOL")\n')
        return self.run_tool('names.py', self.folder / 'include', settings, CC, '--', self.write('a.md', text))

    def test_right(self):
        self.assertEqual(self.check('`ferry_ferry_do`, `ferry_convert_do`, FERRY_POOL, FERRY_EXPERIMENTAL, ferry_*, '
                                    '[x](setting.h)')[0], 0)

    def test_wrong(self):
        for text in ('ferry_ferry_did', 'FERRY_POND', '[x](other.h)'):
            with self.subTest(text=text):
                status, said = self.check('\n' + text)
                self.assertEqual(status, 1)
                self.assertIn('a.md:2: ', said)


class Blocks(Checker):
    def check(self, document, example='    a();\n    b();\n'):
        return self.run_tool('blocks.py', self.write('a.md', document), self.write('a.c', example), self.folder / 'out.c')

    def test_right(self):
        self.assertEqual(self.check('```c\n    a();\n    b();\n```\n\n```c\n    c();\n```\n')[0], 0)
        self.assertIn('    c();\n', (self.folder / 'out.c').read_text())

    def test_comments(self):
        self.assertEqual(self.check('```c\n    a();\n```\n\n<!-- given: int x; -->\n```c\n    c();\n```\n\n<!-- then: d(); -->\n'
                                    '```c\n    e();\n```\n')[0], 0)
        out = (self.folder / 'out.c').read_text()
        self.assertRegex(out, r'(?s)\{[^}]*int x;[^}]*c\(\);[^}]*d\(\);\n\}.*\{[^}]*e\(\);')
        self.assertEqual(out.count('int x;') + out.count('d();'), 2)

    def test_wrong(self):
        for document in ('```c\n    b();\n    a();\n```\n\n```c\n    c();\n```\n', '```c\n    a();\n```\n'):
            with self.subTest(document=document):
                self.assertNotEqual(self.check(document)[0], 0)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
