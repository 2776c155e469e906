#!/usr/bin/env bash
# clang-tidy over the product's C files (or those named), from the compile commands of build/release.
set -euo pipefail
cd "$(dirname "$0")/.."

[ -f build/release/compile_commands.json ] || {
    echo "tidy: build/release is missing: run bash tests/run.sh first" >&2
    exit 2
}
if [ $# -eq 0 ]; then
    mapfile -t files < <(git ls-files 'core/*.c' 'kernels/*.c' 'reports/*.c' 'cli/*.c')
else
    files=("$@")
fi
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy -p build/release --quiet 2>/dev/null
echo "tidy: ${#files[@]} files are clean"
