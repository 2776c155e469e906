#!/usr/bin/env bash
# Level and power of the gate's tests by simulation: builds release, prints rates with 95 % intervals beside naive tests.
#   bash tests/study/level.sh [SEED [PAIRS]]      default: seed 1, 2000 pairs of runs a setting; a minute or two
set -euo pipefail
cd "$(dirname "$0")/../.."

mkdir -p build
cmake -G Ninja -S . -B build/release -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=ON >build/study.log 2>&1 ||
    { cat build/study.log >&2; exit 1; }
cmake --build build/release --target level_study >build/study.log 2>&1 || { cat build/study.log >&2; exit 1; }
build/release/tests/level_study "$@"
