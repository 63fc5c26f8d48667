#!/bin/sh
# What killed jobs leave: no file in shared memory, no process. $3 moments for each way to end (default 2).
. "$(dirname "$0")/lib/common.sh"

tests=$(dirname "$program")/../tests
moments=${3:-2}
[ -x "$tests/exchange" ] || { echo "skipped: no $tests/exchange"; exit 77; }

# In a /dev/shm of its own, where nobody else's files are counted.
if [ -z "${LITTER_INSIDE:-}" ] && unshare -m mount -t tmpfs tmpfs /dev/shm 2>/dev/null; then
    LITTER_INSIDE=1
    export LITTER_INSIDE
    rm -rf "$work"
    cd /
    exec unshare -m sh -c 'mount -t tmpfs tmpfs /dev/shm && exec sh "$@"' sh "$here/litter.sh" "$@"
fi

# Processes of the job are known by a word in their environment; $1 is what their program is called.
mark=LITTER_JOB=$$-$(date +%s)
members() {
    grep -lsa "$mark" /proc/[0-9]*/environ 2>/dev/null | while IFS=/ read -r _ _ pid _; do
        state=$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null | cut -c1)
        [ -n "$state" ] && [ "$state" != Z ] || continue
        case $(cat "/proc/$pid/comm" 2>/dev/null) in $1) echo "$pid" ;; esac
    done
}

await() { # SECONDS COMMAND...: until it succeeds
    tries=$(($1 * 20))
    shift
    until "$@"; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        sleep 0.05
    done
}
under_way() { [ "$(grep -c '^round' out)" -eq 3 ]; }
ended() { ! kill -0 "$pid" 2>/dev/null; }
alone() { [ -z "$(members exchange)" ]; }

# kill_with KIND
kill_with() {
    one=$(members exchange | head -n 1)
    # shellcheck disable=SC2046,SC2086  # lists of numbers
    case $1 in
    rank) [ -n "$one" ] && kill -KILL $one ;;
    segv) [ -n "$one" ] && kill -SEGV $one ;;
    ranks) kill -KILL $(members exchange) ;;
    launcher) kill -KILL "$pid" ;;
    all) kill -KILL "$pid" $(members '*') ;;
    esac 2>/dev/null
}

# end KIND WAY DELAY: a job under FERRY_SHM=WAY, killed so, that many milliseconds after its start, or after its first round.
end() {
    last="$*"
    checks=$((checks + 1))
    # shellcheck disable=SC2086
    env "$mark" FERRY_SHM="$2" $launcher 3 "$tests/exchange" 1 stay >out 2>err </dev/null &
    pid=$!
    if [ "$3" = round ]; then
        await 20 under_way || fail "the job did not get under way: $last"
    else
        sleep "$(awk "BEGIN { print $3 / 1000 }")"
    fi
    kill_with "$1"
    # Launchers may overlook that a rank has ended, or be told before they know of any: not what this is about.
    await 4 ended || kill -KILL "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    if ! await 15 alone; then
        fail "processes are left: $(members exchange): $last"
        # shellcheck disable=SC2046
        kill -KILL $(members '*') 2>/dev/null
    fi
    left=$(find /dev/shm -name '*ferry*')
    [ -z "$left" ] || fail "files are left: $left: $last"
    rm -f $left
    strange=$(find . -type f ! -name out ! -name err ! -name 'core*')
    [ -z "$strange" ] || fail "files are left: $strange: $last"
}

seed=${FERRY_SEED:-$$}
echo "FERRY_SEED=$seed"
for kind in rank segv ranks launcher all; do
    i=0
    while [ "$i" -lt "$moments" ]; do
        seed=$(((seed * 1103515245 + 12345) % 2147483648))
        end $kind auto $((seed / 1000 % 800))
        i=$((i + 1))
    done
    end $kind named round
done
finish
