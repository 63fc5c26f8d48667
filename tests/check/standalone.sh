#!/bin/sh
# Each public header compiles alone, first in its file, without a warning, as strict C11 and as C++17.
# usage: standalone.sh INCLUDE-DIR CC CXX [FLAG]...      (the flags find mpi.h)
set -u
include=$1 cc=$2 cxx=$3
shift 3
bad=0 count=0

compile() { printf '%s\n' "$line" | "$@" -Wall -Wextra -Werror "-I$include" -fsyntax-only -; }

for header in "$include"/ferry/*.h; do
    count=$((count + 1))
    line="#include \"ferry/$(basename "$header")\""
    compile "$cc" -x c -std=c11 -pedantic "$@" || bad=$((bad + 1))
    compile "$cxx" -x c++ -std=c++17 "$@" || bad=$((bad + 1))
done
echo "$count headers, $bad failures"
[ "$count" -gt 0 ] && [ "$bad" -eq 0 ]
