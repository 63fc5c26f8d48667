#!/bin/sh
# Install a build into an empty prefix, then build and run the README's example against it, with CMake and pkg-config.
# A project that has found the other MPI must be refused with a text that names both.
# usage: test_install.sh BUILD-DIR SOURCE-DIR MPI MPICC MPIEXEC [MPIEXEC-FLAG]...
set -u
build=$1 source=$2 mpi=$3 mpicc=$4 mpiexec=$5
shift 5
case $mpi in
    mpich) other=openmpi ;;
    *) other=mpich ;;
esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

fail() {
    echo "FAILED: $*"
    exit 1
}

# Run a command; only when it fails, show what it said.
quietly() {
    "$@" >"$work/log" 2>&1 </dev/null || {
        cat "$work/log"
        fail "$*"
    }
}

# The last log says so, however its lines were broken.
expect_text() {
    tr -s '\n ' ' ' <"$work/log" | grep -qF "$1" && return
    cat "$work/log"
    fail "the text does not say: $1"
}

# Two ranks run the program; each must say what it received.
check_run() {
    quietly "$mpiexec" "$@" # flags, then the program
    for rank in 0 1; do
        grep -q "^rank $rank: dt 0.5, last element 42$" "$work/log" || {
            cat "$work/log"
            fail "rank $rank did not print what was expected"
        }
    done
}

quietly cmake --install "$build" --prefix "$prefix"
config=$(find "$prefix" -name ferry-config.cmake)
libdir=$(dirname "$(dirname "$(dirname "$config")")")
for file in "$prefix/include/ferry/ferry.h" "$prefix/bin/ferry-$mpi" "$libdir/libferry-$mpi.so.0" \
    "$libdir/pkgconfig/ferry-$mpi.pc" "$libdir/libferry-convert-$mpi.so.0" "$libdir/pkgconfig/ferry-convert-$mpi.pc"; do
    [ -e "$file" ] || fail "not installed: $file"
done
quietly "$prefix/bin/ferry-$mpi" --version
readelf -d "$libdir/libferry-$mpi.so.0" >"$work/log"
grep -E 'NEEDED.*lib(xml2|zip|json)' "$work/log" && fail "libferry-$mpi needs what only the formats need"

# pkg-config, as the README tells
PKG_CONFIG_PATH=$libdir/pkgconfig
export PKG_CONFIG_PATH
flags=$(pkg-config --cflags --libs "ferry-$mpi") || fail "pkg-config ferry-$mpi"
# shellcheck disable=SC2086 # a list of words
quietly "$mpicc" -std=c11 -Wall -Wextra -Werror "$source/examples/first.c" -o "$work/first" $flags "-Wl,-rpath,$libdir"
check_run "$@" -n 2 "$work/first"

flags=$(pkg-config --cflags --libs "ferry-convert-$mpi") || fail "pkg-config ferry-convert-$mpi"
# shellcheck disable=SC2086 # a list of words
quietly "$mpicc" -std=c11 -Wall -Wextra -Werror "$source/tests/install/convert.c" -o "$work/convert" $flags \
    "-Wl,-rpath,$libdir"
quietly "$work/convert"
expect_text '"dt": 0.5'

# CMake: the component alone is enough to find the right MPI
mkdir "$work/project"
cp "$source/examples/first.c" "$source/tests/install/convert.c" "$work/project"
sed "s/@MPI@/$mpi/" "$source/tests/install/CMakeLists.txt.in" >"$work/project/CMakeLists.txt"
quietly cmake -S "$work/project" -B "$work/cmake" "-DCMAKE_PREFIX_PATH=$prefix"
quietly cmake --build "$work/cmake"
check_run "$@" -n 2 "$work/cmake/first"
quietly "$work/cmake/convert"
expect_text '"dt": 0.5'

# a component that is not there
sed "s/@MPI@/$other/" "$source/tests/install/CMakeLists.txt.in" >"$work/project/CMakeLists.txt"
cmake -S "$work/project" -B "$work/absent" "-DCMAKE_PREFIX_PATH=$prefix" >"$work/log" 2>&1 &&
    fail "a component that is not installed was found"
expect_text "no ferry for \"$other\""

# the project has found the other MPI before
wrapper=$(command -v "mpicc.$other") || {
    echo "the other MPI is not installed: refusal not tried"
    exit 0
}
sed "s/@MPI@/$mpi/; s/^#other //" "$source/tests/install/CMakeLists.txt.in" >"$work/project/CMakeLists.txt"
cmake -S "$work/project" -B "$work/other" "-DCMAKE_PREFIX_PATH=$prefix" "-DMPI_C_COMPILER=$wrapper" >"$work/log" 2>&1 &&
    fail "ferry for $mpi was accepted in a project with $other"
expect_text "this ferry is for $mpi, but the MPI that the project found is $other"

# a program of the other MPI that gets hold of this library all the same
"$wrapper" -std=c11 -I"$prefix/include" "$source/examples/first.c" -o "$work/mixed" -L"$libdir" "-lferry-$mpi" \
    "-Wl,-rpath,$libdir" >"$work/log" 2>&1 || {
    cat "$work/log"
    fail "a program of $other cannot be linked"
}
"$work/mixed" >"$work/log" 2>&1 </dev/null && fail "libferry-$mpi works in a program of $other"
case $other in
    mpich) running=MPICH ;;
    *) running='Open MPI' ;;
esac
expect_text "libferry-$mpi was loaded into a program that runs under \"$running"

# both in one prefix, when the other build lies beside this one: the project's own MPI decides
if cmake --install "$(dirname "$build")/$other" --prefix "$prefix" >"$work/log" 2>&1; then
    sed "s/COMPONENTS @MPI@//; s/^#other //" "$source/tests/install/CMakeLists.txt.in" >"$work/project/CMakeLists.txt"
    for pair in "$mpi=$mpicc" "$other=$wrapper"; do
        quietly cmake -S "$work/project" -B "$work/${pair%%=*}" "-DCMAKE_PREFIX_PATH=$prefix" "-DMPI_C_COMPILER=${pair#*=}"
        quietly cmake --build "$work/${pair%%=*}"
        quietly readelf -d "$work/${pair%%=*}/first"
        expect_text "[libferry-${pair%%=*}.so.0]"
    done
else
    echo "skipped: both in one prefix, there is no build for $other beside $build"
fi
echo "installed package of $mpi: pkg-config, CMake and three refusals are right"
