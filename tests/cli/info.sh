#!/bin/sh
# What `ferry info` shows: alone, with ranks, as JSON; warnings for settings that do not exist.
. "$(dirname "$0")/lib/common.sh"

for np in 1 2 3; do
    run 0 "$program" info --np "$np"
    silent err
    shows "^  mpi  +$mpi\$" out
    shows "^  ranks  +$np\$" out
    shows '^  cores  +[1-9]' out
    shows '^  memory  +[0-9.]+ [MGT]B$' out
    shows '^  kernels  +(scalar|avx2|avx512|neon)$' out
    shows '^  self  +works' out
    shows '^  FERRY_ROUTE  +all \((default|environment)\): ' out
    run 0 "$program" info --json --np "$np"
    silent err
    python3 - out "$np" "$mpi" <<'PYTHON' || fail "JSON: $last"
import json, sys
facts = json.load(open(sys.argv[1]))
assert facts['job']['ranks'] == int(sys.argv[2]), facts['job']
assert facts['ferry']['mpi'] == sys.argv[3], facts['ferry']
assert facts['machine']['cores'] >= 1 and facts['machine']['memory_bytes'] > 1 << 20, facts['machine']
routes = {route['name']: route for route in facts['routes']}
assert {'self', 'node_ring', 'node_direct', 'wire_pack'} <= set(routes), routes
assert all(route['usable'] or route['reason'] for route in routes.values()), routes
settings = {setting['name']: setting for setting in facts['settings']}
assert {'FERRY_ROUTE', 'FERRY_NODES', 'FERRY_CPU', 'FERRY_TIMEOUT', 'FERRY_POOL'} <= set(settings), settings
assert all(s['origin'] in ('default', 'environment') and s['help'] for s in settings.values()), settings
PYTHON
done

# The default starts two ranks; settings come from the environment; routes that are off say why.
run 0 env FERRY_ROUTE=self,wire_pack "$program" info
shows '^  ranks  +2$' out
shows '^  FERRY_ROUTE  +self,wire_pack \(environment\): ' out
shows '^  wire_pack  +works' out
shows '^  node_ring  +off: .' out
run 0 env FERRY_CPU=scalar "$program" info
shows '^  kernels  +scalar$' out

# An unknown setting: one warning for the job, with the nearest name.
for np in 1 3; do
    run 0 env FERRY_ROUTES=all "$program" info --np "$np"
    [ "$(wc -l <err)" -eq 1 ] || fail "$(wc -l <err) warnings, expected 1: $last"
    shows 'FERRY_ROUTES.*FERRY_ROUTE([^S]|$)' err
done

# A user's own launcher, and the other MPI's.
# shellcheck disable=SC2086  # several words
if $launcher 1 true 2>/dev/null; then
    run 0 $launcher 2 "$program" info
    shows '^  ranks  +2$' out
fi
case $mpi in
mpich) other="mpiexec.openmpi --quiet --allow-run-as-root --oversubscribe -n" ;;
*) other="mpiexec.mpich -n" ;;
esac
if $other 1 true 2>/dev/null; then
    run 2 $other 2 "$program" info
    once '^ferry: info: the launcher started 2 ranks, but'
fi
finish
