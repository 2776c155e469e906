#!/usr/bin/env bash
# Every C and CUDA source must be as clang-format 14 would write it: git ls-files -z '*.c' … | xargs -0 clang-format -i
set -euo pipefail
cd "$(dirname "$0")/.."

command -v clang-format >/dev/null || {
    echo "check_format: clang-format is missing: apt-get install clang-format" >&2
    exit 1
}
git ls-files -z '*.c' '*.h' '*.cu' '*.cuh' '*.cpp' | xargs -0 clang-format --dry-run -Werror
echo "check_format: every source is formatted"
