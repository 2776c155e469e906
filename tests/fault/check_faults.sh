#!/usr/bin/env bash
# What hardly ever happens: a signal while an output is written, and memory that runs out at any allocation. Whatever it
# is, the exit code is that of the contract, an output that was there stays as it was, and nothing else is left behind.
#   bash tests/fault/check_faults.sh TARE LIBFAULT
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tare=$(realpath "${1:?the program to test}")
fault=$(realpath -e "${2:?the library to load before the C library}") || exit 2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
export LC_ALL=C OMP_NUM_THREADS=1
failed=0

fail() {
    echo "FAILED: $*"
    sed 's/^/    /' err
    failed=$((failed + 1))
}

# The output by its bytes, and the folder as it was.
check_left() { # name, output as it must be
    cmp -s "$out" "$2" || fail "$1: the output is neither the old one nor whole"
    rm -f "$out"
    [ "$(ls)" = "$listing" ] || fail "$1: left behind: $(ls | tr '\n' ' ')"
}

check_signal() { # signal, command…
    local signal=$1 code
    shift
    cp old "$out"
    (LD_PRELOAD=$fault FAULT_FSYNC_SIGNAL=$signal exec "$tare" "$@" -o "$out") >/dev/null 2>err
    code=$?
    [ $code -eq $((128 + signal)) ] || fail "signal $signal, $1: exit $code"
    [ "$(cat err)" = "tare: interrupted: nothing more is written" ] || fail "signal $signal, $1: other words"
    check_left "signal $signal, $1" old
}

check_memory() { # how many allocations, expected exit, command…
    local last=$1 want=$2 n code
    shift 2
    "$tare" "$@" -o "$out" >/dev/null 2>err || [ $? -eq "$want" ] || fail "$1: does not work at all"
    mv "$out" new
    for n in $(seq 1 "$step" "$last"); do
        cp old "$out"
        (LD_PRELOAD=$fault FAULT_MALLOC=$n exec "$tare" "$@" -o "$out") >/dev/null 2>err
        code=$?
        if [ $code -eq "$want" ]; then # a library can do without
            check_left "allocation $n, $1" new
        else
            [ $code -eq 4 ] || fail "allocation $n, $1: exit $code"
            [ -s err ] || fail "allocation $n, $1: no word"
            check_left "allocation $n, $1" old
        fi
    done
}

step=${TARE_FAULT_STEP:-31}
cp "$here/../fixtures/tiny/good.h5" dump.h5
cp "$here/../fixtures/tiny/sharpened.h5" changed.h5
echo "what was there before" >old
touch new err
"$tare" run -q --dump dump.h5 --reproducible -o base.h5 2>err || fail "no run to begin with"
"$tare" run -q --dump changed.h5 --reproducible -o run.h5 2>err || fail "no run to compare"
listing=$(ls)

for signal in 1 2 15; do
    out=out.h5 check_signal $signal run -q --dump dump.h5
    out=out.html check_signal $signal report base.h5
done
out=out.h5 check_memory 2000 0 run -q --dump dump.h5 --reproducible
out=out.json check_memory 2300 0 gate run.h5 --baseline base.h5
[ $failed -eq 0 ]
