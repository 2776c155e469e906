#!/usr/bin/env bash
# How fast attention is measured: builds release and prints each figure beside a rival's, measured in turns, and whether
# the ratio that is aimed at is met (README.md).
#   bash tests/bench/attention.sh [--dump FILE]… [--python PYTHON]
# --dump    an attention dump; without one a synthetic float16 dump of 6 layers, 4 heads, 1510 tokens is made
# --python  an interpreter with numpy and h5py, and torch if it is to be compared: times those as well, on the dumps
#           that are HDF5. OpenBLAS is found by itself, or named in BENCH_BLAS.
set -euo pipefail
cd "$(dirname "$0")/../.."

dumps=() python=
while [ $# -gt 0 ]; do
    case $1 in
        --dump) dumps+=("$(realpath "${2:?--dump needs a file}")"); shift 2 ;;
        --python) python=${2:?--python needs an interpreter}; shift 2 ;;
        *)
            echo "attention.sh: unknown option '$1'; use --dump FILE, --python PYTHON" >&2
            exit 2
            ;;
    esac
done

mkdir -p build
cmake -G Ninja -S . -B build/release -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=ON >build/bench.log 2>&1 ||
    { cat build/bench.log >&2; exit 1; }
cmake --build build/release --target attention_bench tare >build/bench.log 2>&1 || { cat build/bench.log >&2; exit 1; }
bench=$PWD/build/release/tests/attention_bench tare=$PWD/build/release/tare

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
if [ ${#dumps[@]} -eq 0 ]; then
    python3 tests/bench/attention_dump.py "$tmp/synthetic.safetensors"
    dumps=("$tmp/synthetic.safetensors")
fi

"$bench" kernels
"$bench" scores
for dump in "${dumps[@]}"; do
    cat "$dump" >/dev/null
    "$bench" file "$dump" "$tare"
    "$bench" peak "$dump" "$tare"
done
if [ -n "$python" ]; then
    "$python" tests/bench/attention_peers.py "$bench" "${dumps[@]}"
else
    echo "PyTorch, NumPy and h5py: not timed; name an interpreter that has them with --python"
fi
