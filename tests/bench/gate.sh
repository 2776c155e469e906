#!/usr/bin/env bash
# How fast the gate decides: builds release and prints each figure beside a rival's.
#   bash tests/bench/gate.sh [--python PYTHON]
# --python  an interpreter with numpy and scipy: times scipy.stats.permutation_test too. OpenBLAS is found by itself, or
#           named in BENCH_BLAS (that of SciPy's wheels too: scipy.libs/libscipy_openblas-….so).
set -euo pipefail
cd "$(dirname "$0")/../.."

python=
while [ $# -gt 0 ]; do
    case $1 in
        --python) python=${2:?--python needs an interpreter}; shift 2 ;;
        *)
            echo "gate.sh: unknown option '$1'; use --python PYTHON" >&2
            exit 2
            ;;
    esac
done

mkdir -p build
cmake -G Ninja -S . -B build/release -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=ON >build/bench.log 2>&1 ||
    { cat build/bench.log >&2; exit 1; }
cmake --build build/release --target tare gate_bench >build/bench.log 2>&1 || { cat build/bench.log >&2; exit 1; }

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
build/release/tests/gate_bench maxt | tee "$tmp/figures"
[ -z "$python" ] || "$python" tests/bench/gate_peer.py | tee -a "$tmp/figures"
build/release/tests/gate_bench runs "$tmp"
for pair in "cand default" "cand tests/bench/gate_policy.json" "moved tests/bench/gate_policy.json"; do
    read -r cand policy <<<"$pair"
    for _ in 1 2 3; do
        start=$(date +%s.%N)
        build/release/tare gate "$tmp/$cand.h5" --baseline "$tmp/base.h5" --policy "$policy" --json >"$tmp/verdict.json" 2>/dev/null ||
            [ $? -le 1 ]
        end=$(date +%s.%N)
        echo "$start $end"
    done | awk -v p="$policy" -v c="$cand" '{ t = $2 - $1; if (!n++ || t < best) best = t }
        END { printf "{\"bench\": \"gate\", \"tasks\": 100, \"cells\": 1024, \"metrics\": 12, \"candidate\": \"%s\", \"policy\": \"%s\", \"seconds\": %.3f}\n", c, p, best }' |
        tee -a "$tmp/figures"
done

# Each figure against what it must reach; on a shared machine only ratios of what ran side by side say much.
awk '
    function say(what, got, holds) { printf "%-58s %10.3g  %s\n", what, got, holds ? "met" : "missed" }
    { match($0, /"bench": "[a-z]*"/); bench = substr($0, RSTART + 10, RLENGTH - 11)
      match($0, /"seconds": [0-9.]+/); s = RSTART ? substr($0, RSTART + 11, RLENGTH - 11) + 0 : 0 }
    bench == "maxt" { maxt = s; match($0, /"peak_mb": [0-9]+/); mb = substr($0, RSTART + 11, RLENGTH - 11) + 0 }
    bench == "sgemm" && s > 0 { say("max-T over the SGEMM of its shape (at most 2)", maxt / s, maxt / s <= 2) }
    bench == "sgemm" { say("max-T, peak memory in MB (below 200)", mb, mb < 200) }
    bench == "scipy" { say("SciPy over max-T (at least 300)", s / maxt, s / maxt >= 300) }
    bench == "gate" { say("whole gate, seconds (below 2)", s, s < 2) }' "$tmp/figures"
