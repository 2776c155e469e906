#!/usr/bin/env bash
# What tare run costs, and how exact it is, on an endpoint that streams on a known schedule and logs what it really sent:
# builds release and prints each figure beside what is aimed at and what the least possible client does (README.md).
#   bash tests/bench/endpoint.sh [--rounds N] [--rows LIST] [--guidellm PROGRAM] [--aiperf PROGRAM]
# --rounds    of which medians are taken; 3
# --rows      some of cpu,share64,share256,share1000,times,start,streams; all
# --guidellm, --aiperf
#             these too, in the same turns; each takes some ten seconds to start
set -euo pipefail
cd "$(dirname "$0")/../.."

mkdir -p build
cmake -G Ninja -S . -B build/release -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=ON >build/bench.log 2>&1 ||
    { cat build/bench.log >&2; exit 1; }
cmake --build build/release --target tare mock_server endpoint_floor >build/bench.log 2>&1 ||
    { cat build/bench.log >&2; exit 1; }
exec python3 tests/bench/endpoint.py build/release "$@"
