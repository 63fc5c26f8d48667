#!/usr/bin/env python3
"""Check which symbols the library gives to others and which it takes from others.

usage: symbols.py LIBRARY OBJECTS EXPECTED [--update] [--exports-only]

LIBRARY   the shared library as built
OBJECTS   file with one line per object of it: .../src/<module>/<file>.c.o
EXPECTED  file with the names that the library exports, one a line, the same for every MPI; --update writes it
--exports-only is for libraries built on this one, which the other rules do not bind

Checks that
  - the exported names are those of EXPECTED;
  - system calls are entered in base only, where they are counted, and allocation in base/alloc.c and base/sys.c only;
  - MPI is reached from the modules of the engine only, by PMPI names only (so that profilers see the caller's calls);
  - the library needs no other library than MPI and the C library.
Prints one line for each symbol that breaks a rule; the exit status is 1 if there was any.
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

ENGINE = {'mpi', 'context', 'memory', 'route', 'plan'}  # modules that may call MPI
ALLOCATING = {'base/alloc.c', 'base/sys.c'}
ALLOCATION = set('''
    malloc calloc realloc reallocarray free aligned_alloc posix_memalign memalign valloc strdup strndup asprintf
    vasprintf getline getdelim open_memstream'''.split())
SYSTEM = set('''
    mmap mmap64 munmap mremap madvise mprotect msync mlock munlock mincore memfd_create shm_open shm_unlink open
    open64 openat openat64 creat creat64 close read write pread pread64 pwrite pwrite64 readv writev preadv
    pwritev lseek lseek64 ftruncate ftruncate64 fallocate fallocate64 posix_fallocate posix_fallocate64 fcntl
    fcntl64 ioctl dup dup2 pipe pipe2 stat stat64 lstat lstat64 fstat fstat64 access unlink unlinkat rename
    mkdir opendir readdir readdir64 readlink fopen fopen64 fdopen fread fwrite fgets fgetc fscanf fclose popen
    socket socketpair bind listen accept accept4 connect send sendto sendmsg recv recvfrom recvmsg shutdown poll
    ppoll select pselect epoll_create1 epoll_wait eventfd signalfd timerfd_create fork vfork execve execv execvp
    posix_spawn system waitpid kill raise syscall prctl ptrace process_vm_readv process_vm_writev getrandom
    getpid gettid nanosleep clock_nanosleep usleep sleep sched_yield clock_gettime gettimeofday
    sched_getaffinity sched_setaffinity getrusage'''.split())
NEEDED = re.compile(r'lib(c|pthread|mpich|mpi)\.so|ld-linux')
ANY_MPI = re.compile(r'P?MPI_|MPIR_|MPIX_|ompi_|OMPI_')


def nm(*args):
    """Names that nm prints, versions cut off."""
    text = subprocess.run(['nm', *map(str, args)], check=True, capture_output=True, text=True).stdout
    return [line.split()[-1].split('@')[0] for line in text.splitlines() if line.strip()]


def check_exports(library, expected_file, update):
    names = sorted(set(nm('-D', '--defined-only', library)))
    if update:
        expected_file.write_text('\n'.join(names) + '\n')
    expected = set(expected_file.read_text().split())
    yield from (f'exported, but not in {expected_file.name}: {name}' for name in names if name not in expected)
    yield from (f'in {expected_file.name}, but not exported: {name}' for name in sorted(expected - set(names)))
    yield from (f'exported without the prefix ferry_: {name}' for name in names if not name.startswith('ferry_'))


def check_needs(library):
    dynamic = subprocess.run(['readelf', '-d', str(library)], check=True, capture_output=True, text=True).stdout
    for name in re.findall(r'\(NEEDED\).*\[(.*)\]', dynamic):
        if not NEEDED.match(name):
            yield f'the library needs {name}'


def check_object(path):
    module, file = re.search(r'/src/([^/]+)/([^/]+\.c)\.o$', path).groups()
    place = f'{module}/{file}'
    for name in nm('-u', path):
        if name in SYSTEM and module != 'base':
            yield f'{place}: system call {name} outside of base'
        if name in ALLOCATION and place not in ALLOCATING:
            yield f'{place}: {name} outside of {" and ".join(sorted(ALLOCATING))}'
        if ANY_MPI.match(name) and module not in ENGINE:
            yield f'{place}: {name} in a module that does not call MPI'
        if re.match(r'MPIX?_', name):
            yield f'{place}: {name} is called by its MPI name, not by P{name}'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('library', type=Path)
    parser.add_argument('objects', type=Path)
    parser.add_argument('expected', type=Path)
    parser.add_argument('--update', action='store_true')
    parser.add_argument('--exports-only', action='store_true')
    args = parser.parse_args()
    objects = [] if args.exports_only else args.objects.read_text().splitlines()
    complaints = [*check_exports(args.library, args.expected, args.update)]
    complaints += [] if args.exports_only else check_needs(args.library)
    for path in objects:
        complaints += check_object(path)
    print('\n'.join(complaints + [f'{len(objects)} objects, {len(complaints)} complaints']))
    return 1 if complaints else 0


if __name__ == '__main__':
    sys.exit(main())
